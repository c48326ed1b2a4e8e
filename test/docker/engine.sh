#!/usr/bin/env bash
# engine.sh up: makes sure that there is a Docker Engine with the base images. The machine's own is taken if it has them or
# pulls them; else Debian's docker.io is started beside it, as root, with stand-ins for what it cannot pull either.
# engine.sh down: stops the engine that up started. Its data stays, so that the next start takes seconds.
. "$(dirname "$0")/common.sh"

has_bases() {
	local image
	for image in "$go_image" "$python_image" "$rabbitmq_image"; do
		docker image inspect "$image" >/dev/null 2>&1 || docker pull -q "$image" >&2 || return 1
	done
}

start_own() {
	local missing=()
	[ -x /usr/sbin/dockerd ] || missing+=(docker.io iptables)
	command -v debootstrap >/dev/null || missing+=(debootstrap)
	if [ ${#missing[@]} -gt 0 ]; then
		echo "installing ${missing[*]}" >&2
		apt-get -o DPkg::Lock::Timeout=300 update -qq
		DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300 install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
	fi
	mkdir -p "$own"
	if ! alive; then
		setsid dockerd --data-root "$own/data" --exec-root "$own/exec" -H "$own_host" --pidfile "$own/pid" \
			--bridge none --iptables=false --ip-masq=false >"$own/log" 2>&1 </dev/null &
	fi
	for _ in $(seq 60); do
		use_own && docker info >/dev/null 2>&1 && return
		sleep 0.5
	done
	echo "the Docker Engine does not start; the end of its log, $own/log:" >&2
	tail -5 "$own/log" >&2
	exit 1
}

stop_own() {
	alive || return 0
	local pid
	pid=$(cat "$own/pid")
	kill "$pid"
	timeout 30 tail --pid="$pid" -f /dev/null || kill -9 "$pid"
}

case ${1:-} in
up)
	if docker info >/dev/null 2>&1 && has_bases; then
		stop_own # so that nothing takes it for the one in use
		exit 0
	fi
	start_own
	has_bases 2>/dev/null || "$here/bases.sh" || { stop_own && exit 1; }
	;;
down) stop_own ;;
*) echo "usage: engine.sh up|down" >&2 && exit 2 ;;
esac
