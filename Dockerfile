# The service: one static program, no shell, no root. The trainer travels inside it and is laid onto the shared volume.
FROM golang:1.26-bookworm AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
ARG VERSION=dev
RUN CGO_ENABLED=0 go build -trimpath -ldflags "-s -w -X main.version=${VERSION}" -o /extractor ./cmd/extractor

FROM scratch
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/
COPY --from=build /extractor /extractor
ENV SHARED_DIR=/shared STATE_DIR=/state LISTEN=:8780 LOG_FORMAT=json
USER 65532:65532
VOLUME ["/shared", "/state"]
EXPOSE 8780
ENTRYPOINT ["/extractor"]
CMD ["serve"]
