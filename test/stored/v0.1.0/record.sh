#!/usr/bin/env bash
# record.sh: makes the files in this folder with the program of v0.1.0 itself, on a real RabbitMQ and a real Ray: two trainings, a prediction, a job
# that fails, a training that is killed at a checkpoint, and a job that waits. RAY_PYTHON is the Python of make setup.
set -euo pipefail
# No tag was ever set. This is the last revision before the first change of 0.2.0, which added a package of Python.
revision=6bdaf4cd22d8d9d0136f002b5a586326bb8d9b3a
here=$(cd "$(dirname "$0")" && pwd)
cd "$here/../../.."
work=${WORK:-$(mktemp -d)}
if [ ! -d "$work/checkout" ]; then
	mkdir -p "$work/checkout"
	git archive "$revision" | tar -x -C "$work/checkout"
fi
mkdir -p "$work/checkout/test/record"
cp "$here/record_test.go" "$work/checkout/test/record/"
rm -rf "$work/out" && mkdir -p "$work/out"
(cd "$work/checkout" && RECORD_OUT=$work/out go test -tags 'integration record' -count=1 -timeout 20m ./test/record)

rm -rf "$here/shared"
mkdir -p "$here/shared"
cp "$work/out/names.json" "$here/"
cp -r "$work/out/shared/runs" "$work/out/shared/registry" "$here/shared/"
rm -rf "$here"/shared/runs/*/tensorboard # its files are named after the machine
for result in "$here"/shared/runs/*/result.json; do
	rm -rf "$(dirname "$result")/checkpoints" # nobody reads them
done
python3 - "$work/out/state/jobs.db" >"$here/jobs.sql" <<-'P'
	import sqlite3, sys

	db = sqlite3.connect(sys.argv[1])
	for (statement,) in db.execute("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY type DESC, rowid"):
	    print(f"{statement};")
	columns = "run, version, state, active, created, updated, secret, sealed_by"  # the column dataset is computed
	values = " || ', ' || ".join(f"quote({column})" for column in columns.split(", "))
	for line in db.execute(f"SELECT {values} || ', CAST(' || quote(CAST(record AS TEXT)) || ' AS BLOB)' FROM jobs ORDER BY created"):
	    print(f"INSERT INTO jobs ({columns}, record) VALUES ({line[0]});")
	print("INSERT INTO meta VALUES ('{}', '{}');".format(*db.execute("SELECT * FROM meta").fetchone()))
	print("PRAGMA user_version = {};".format(*db.execute("PRAGMA user_version").fetchone()))
P
