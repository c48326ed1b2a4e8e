#!/usr/bin/env bash
# back.sh EXTRACTOR: proves what the changelog says about the way back: v0.1.0, built here from its revision, refuses the job store that EXTRACTOR has
# opened, in a sentence, and leaves it as it is.
set -euo pipefail
extractor=$(realpath "$1")
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/checkout" "$work/state"
revision=$(sed -n 's/^revision=//p' "$here/record.sh")
git -C "$here/../../.." archive "$revision" | tar -x -C "$work/checkout"
(cd "$work/checkout" && go build -o "$work/v0.1.0" ./cmd/extractor)
python3 -c 'import sqlite3, sys; sqlite3.connect(sys.argv[1]).executescript(open(sys.argv[2]).read())' "$work/state/jobs.db" "$here/jobs.sql"
export STATE_DIR=$work/state SHARED_DIR=$work/shared RABBITMQ_URI=amqp://localhost:1 CLOWDER_URL=http://localhost:1 RAY_ADDRESS=http://localhost:1
"$work/v0.1.0" jobs list >/dev/null
"$extractor" jobs list | grep -q ' running '
before=$(sha256sum <"$work/state/jobs.db")
if said=$("$work/v0.1.0" serve 2>&1); then
	echo "v0.1.0 started on a newer job store" >&2 && exit 1
fi
echo "$said"
grep -q 'changed by a newer version of this program' <<<"$said"
[ "$(sha256sum <"$work/state/jobs.db")" = "$before" ]
