# Stand-ins for the base images, for an engine that cannot pull any. ROOT is a Debian with its Python, its RabbitMQ and CA
# certificates; each target adds what the real image has beside that and that is relied on.
ARG ROOT
# hadolint ignore=DL3006
FROM ${ROOT} AS golang
COPY . /usr/local/go
ENV GOPATH=/go GOTOOLCHAIN=local PATH=/go/bin:/usr/local/go/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin

# hadolint ignore=DL3006
FROM ${ROOT} AS python
RUN ln -s /usr/bin/python3 /usr/local/bin/python
CMD ["python"]

# What deploy/images/ray installs into /opt/venv, but for the packages themselves, which are mounted from the host.
FROM python AS packages
RUN python -m venv --without-pip /opt/venv \
    && printf '#!/opt/venv/bin/python\nfrom ray.scripts.scripts import main\nmain()\n' > /opt/venv/bin/ray && chmod +x /opt/venv/bin/ray

# hadolint ignore=DL3006
FROM ${ROOT} AS rabbitmq
RUN echo 'loopback_users = none' > /etc/rabbitmq/rabbitmq.conf
ENV RABBITMQ_LOGS=-
VOLUME ["/var/lib/rabbitmq"]
# hadolint ignore=DL3066
USER rabbitmq
CMD ["/usr/lib/rabbitmq/bin/rabbitmq-server"]
