#!/usr/bin/env bash
# Prints the figures of docs/benchmarks.md. Wants a quiet machine; takes about ten minutes, and as many more where no test of
# RayJobs was run before: the last part builds the programs of a Kubernetes control plane.
set -euo pipefail
cd "$(dirname "$0")/../.."
bench() { # bench TIME PATTERN PACKAGE
	go test -tags integration -run '^$' -timeout 30m -benchtime "$1" -bench "$2" "$3" | grep -E '^Benchmark|^---|FAIL'
}
echo "== from a message to its first status and to the submission on Ray (real RabbitMQ, the service as a process)"
bench 500x Delivery ./test/bench
echo "== where the time of one run goes, from its message to its last status (real RabbitMQ, real Ray; a Clowder that takes a second for each upload)"
go run ./test/demo | sed -n '/^Where the time went/,/^$/p;/^| /p'
echo "== the same up to the first step of a network, with one and two workers, with warm processes and without (until: seconds after the message)"
for workers in 1 2; do
	for warm in 4 0; do
		echo "-- workers $workers, WARM_WORKERS $warm"
		WARM_WORKERS=$warm go run ./test/demo -parameters "{\"model\": \"bert-tiny\", \"epochs\": 1, \"num_workers\": $workers}" |
			sed -n '/^| seconds/,/prepares the first step/p'
	done
done
echo "== twelve files, their charts and their metadata, delivered to a Clowder that takes a second for each upload"
bench 3x Results ./internal/platform/clowder
echo "== trivial jobs, the service beside an extractor made with pyclowder (x: our figure divided by that of pyclowder polling each 2 ms)"
go test -tags integration -run '^$' -benchtime 3x -timeout 30m -bench Versus ./test/bench
echo "== 200 jobs of a Clowder v2, and 100 of it beside 100 of a Clowder v1 (jobs a second from end to end)"
bench 3x BothVersions ./test/bench
echo "== a restart on ten thousand jobs that all wait on Ray"
bench 1x Crowd ./test/bench
echo "== one record made durable; one message taken and acknowledged; one published and confirmed"
bench 2000x . ./internal/job
bench 2000x . ./internal/queue
echo "== downloads and uploads beside curl on the same server (x-curl: our rate divided by curl's)"
bench 5x . ./internal/clowder
echo "== the same datasets listed and downloaded from Clowder v1 and v2"
bench 3x . ./internal/clowder/v1
echo "== a thousand people look at one run in the studio (memory of server and viewers; p99 from the first to get an event to the last)"
bench 20x Viewers ./internal/studio/live
echo "== one text answered by a network of the shape of BERT-tiny, warm and by a process that has to start first"
bench 50x Answer ./internal/answer
echo "== the first page of a dataset with ten thousand runs"
bench 100x FirstPage ./internal/studio/runs
echo "== a thousand looks at running jobs, one request to Ray"
bench 100x . ./internal/rayjob/jobsapi
echo "== 500 running jobs of the Jobs API while nothing changes, without a limit of memory and in a container of 90 MB (root)"
bench 1x RunningJobs ./test/bench
echo "== 500 RayJobs on a real API server: made, and then watched while nothing changes"
bench 1x RayJobs ./test/bench
