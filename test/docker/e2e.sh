#!/usr/bin/env bash
# e2e.sh PYTHON: builds the images, brings the first look of deploy/compose up, trains on a dataset through it as a user does,
# and takes it down. PYTHON has the packages of the trainer, for an engine that pulls no images.
. "$(dirname "$0")/common.sh"
python=$1
export VERSION=e2e COMPOSE_PROFILES=first-look CLOWDER_PORT=0 # a free one
seconds() { printf "%4d s  %s\n" "$SECONDS" "$*"; }

ran_before=$(alive && echo yes || true)
"$here/compose.sh" version >/dev/null & # may have to build it
"$here/engine.sh" up
wait $!
files=("$repo/deploy/compose/docker-compose.yml")
if use_own; then files+=("$here/own-engine.yml"); fi
if docker image inspect clowder-ray/packages:stand-in >/dev/null 2>&1; then
	files+=("$here/stand-ins.yml")
	PACKAGES=$("$python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
	export PACKAGES
fi
work=$(mktemp -d)
compose() { "$here/compose.sh" --progress quiet --project-name clowder-ray-e2e --env-file "$work/env" "${files[@]/#/--file=}" "$@"; }

end() {
	local code=$?
	[ $code -eq 0 ] || compose logs --tail 50 >&2
	compose down --volumes --timeout 30 >&2
	[ -n "$ran_before" ] || "$here/engine.sh" down
	rm -rf "$work"
	seconds "down"
	exit $code
}
trap end EXIT

for name in RABBITMQ_PASS RAY_AUTH_TOKEN; do echo "$name=$(openssl rand -hex 24)"; done >"$work/env"
echo RABBITMQ_USER=clowder >>"$work/env"
seconds "an engine: Docker $(docker version --format '{{.Server.Version}}'), $("$here/compose.sh" version)"

cd "$repo"
go test -tags docker -count=1 ./test/docker
seconds "the Compose file is as promised"
compose build --quiet
seconds "images built"
compose up --wait --quiet-pull
seconds "all parts are up"
key=$(compose logs --no-log-prefix clowder-double | sed -n 's/^{"url".*"key":"\([^"]*\)".*/\1/p')
CLOWDER_KEY=$key go run ./test/demo -clowder "http://$(compose port clowder-double 80)" -out var/e2e-compose
seconds "trained and uploaded"
