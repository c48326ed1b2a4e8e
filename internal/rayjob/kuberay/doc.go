// Package kuberay runs attempts as RayJobs of KubeRay: each with a Ray cluster of its own, which is deleted afterwards, or on
// a standing RayCluster that a profile names.
//
// It owns the manifests, the interpretation of RayJob statuses, and the order of deletion; package explain words the state of
// the cluster. It promises one RayJob per attempt, which is adopted and not created twice after a crash; an unknown status
// never counts as an end; and nothing of a released attempt is left, even if the KubeRay operator is down. It needs access
// rights in one namespace only.
//
// It knows nothing of RabbitMQ, Clowder or the files that a training reads and writes.
package kuberay
