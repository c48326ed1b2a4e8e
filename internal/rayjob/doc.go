// Package rayjob owns what the ways of running a training on Ray have in common: the name of a run, one attempt at it,
// what the attempt executes, and the verdict on it. It holds no client; jobsapi talks to the dashboard of a Ray cluster.
//
// It promises that one attempt is one job on Ray, adopted and not doubled after a crash, and that no status that Ray may
// one day invent is taken for an end: whatever is not understood means keep waiting. No text of a user reaches a shell:
// the entrypoint is one fixed command, built from parts that are checked against a strict set of characters.
//
// It knows nothing of RabbitMQ, Clowder or the files that a training reads and writes.
package rayjob
