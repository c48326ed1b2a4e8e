#!/usr/bin/env bash
# compose.sh ARGUMENTS...: Docker Compose v2: the plugin, a program of that name, or one built from its Go module (once).
. "$(dirname "$0")/common.sh"
use_own || true
version=v2.40.3
built=$cache/bin/docker-compose-$version

if docker compose version >/dev/null 2>&1; then
	exec docker compose "$@"
elif docker-compose version --short 2>/dev/null | grep -Eq '^v?([2-9]|[1-9][0-9])\.'; then
	exec docker-compose "$@"
elif [ ! -x "$built" ]; then
	echo "building Docker Compose $version (once)" >&2
	mkdir -p "$cache/bin"
	cd "$cache" # not in the module of this project
	source=$(go mod download -json "github.com/docker/compose/v2@$version" | sed -n 's/^\t"Dir": "\(.*\)",$/\1/p')
	(cd "$source" && CGO_ENABLED=0 go build -trimpath -o "$built.new" -ldflags "-s -w -X github.com/docker/compose/v2/internal.Version=$version" ./cmd)
	mv "$built.new" "$built"
	cd "$OLDPWD"
fi
exec "$built" "$@"
