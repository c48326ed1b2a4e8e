// Package rayjob owns what all backends share: the name of a run, one attempt at it, the command of the attempt, and the
// verdict on it. It holds no client: jobsapi talks to the dashboard of a Ray cluster, kuberay to Kubernetes.
//
// It promises that one attempt is one job on Ray: after a crash the job is adopted and not started twice. An unknown status
// never counts as an end; the service keeps waiting. No text of a user reaches a shell: the entrypoint is one fixed command
// whose parts are checked against a strict set of characters.
//
// It knows nothing of RabbitMQ, Clowder or the files that a training reads and writes.
package rayjob
