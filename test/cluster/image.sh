#!/usr/bin/env bash
# image.sh NAME PROGRAM...: brings static programs as an image onto the node, in a second. The first is what it starts;
# it runs as user 65532, as a nonroot base image does: `runAsNonRoot` wants a number.
. "$(dirname "$0")/common.sh"
[ $# -ge 2 ] || { echo "usage: image.sh NAME PROGRAM..." >&2 && exit 2; }
image=$1
shift
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
chmod 755 "$root" # it becomes /
mkdir -p "$root/etc/ssl/certs"
cp -L /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/" 2>/dev/null || true
cp "$@" "$root/"
"$here/image.py" root "$image" "$root" "{\"User\": \"65532:65532\", \"Entrypoint\": [\"/$(basename "$1")\"]}"
