# The service: one static binary, no shell, no root. It contains the trainer and installs it on the shared volume. --target clowderd
# builds the double of Clowder for trials and tests instead. --target with-packages adds Python and uv, which install requirements.txt of
# users (SCRIPT_REQUIREMENTS). Requires BuildKit.
ARG GO_IMAGE=golang:1.26-bookworm
# Its Python must be of the version on Ray, see deploy/images/ray.
ARG PYTHON_IMAGE=python:3.11-slim-bookworm

FROM ${GO_IMAGE} AS source
WORKDIR /src
ENV CGO_ENABLED=0 GOCACHE=/cache/build GOMODCACHE=/cache/modules
COPY . .

FROM source AS build
ARG VERSION=dev
RUN --mount=type=cache,sharing=locked,target=/cache \
    go build -trimpath -ldflags "-s -w -X main.version=${VERSION}" -o /out/extractor ./cmd/extractor
# A new volume takes its owner from the folder in the image. Ray's image has another user in the same group, which can write only into
# run folders.
RUN install -d -o 1000 -g 1000 /out/volumes/shared /out/volumes/state

FROM source AS build-clowderd
RUN --mount=type=cache,sharing=locked,target=/cache \
    go build -trimpath -ldflags "-s -w" -o /out/clowderd ./test/clowderd

FROM scratch AS clowderd
COPY --from=build-clowderd /out/clowderd /clowderd
USER 1000:1000
ENTRYPOINT ["/clowderd"]

FROM ${PYTHON_IMAGE} AS with-packages
COPY trainer/requirements.txt /tmp/requirements.txt
# uv alone, in the version of the lock file.
RUN awk '/^[^ ]/ { wanted = /^uv==/ } wanted' /tmp/requirements.txt > /tmp/uv.txt \
    && pip install --no-cache-dir --no-deps --require-hashes -r /tmp/uv.txt && rm /tmp/requirements.txt /tmp/uv.txt
COPY --from=build /out/extractor /extractor
COPY --from=build --chown=1000:1000 /out/volumes/ /
ENV SHARED_DIR=/shared STATE_DIR=/state LISTEN=:8780 LOG_FORMAT=json SCRIPT_PYTHON=/usr/local/bin/python
USER 1000:1000
VOLUME ["/shared", "/state"]
EXPOSE 8780
HEALTHCHECK --interval=30s --timeout=5s --start-period=30s CMD ["/extractor", "ready"]
ENTRYPOINT ["/extractor"]
CMD ["serve"]

FROM scratch
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/
COPY --from=build /out/extractor /extractor
COPY --from=build --chown=1000:1000 /out/volumes/ /
ENV SHARED_DIR=/shared STATE_DIR=/state LISTEN=:8780 LOG_FORMAT=json
USER 1000:1000
VOLUME ["/shared", "/state"]
EXPOSE 8780
HEALTHCHECK --interval=30s --timeout=5s --start-period=30s CMD ["/extractor", "ready"]
ENTRYPOINT ["/extractor"]
CMD ["serve"]
