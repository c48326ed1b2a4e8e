// Package kuberay runs attempts as RayJobs of KubeRay: each with a Ray cluster of its own, which is gone afterwards, or on
// a standing RayCluster that a profile names.
//
// It owns the manifests, the reading of what the operator, the pods and Kueue say, and the order of deletion. It promises
// one RayJob per attempt, adopted and not doubled after a crash; that no status it does not know is taken for an end; and
// that nothing of an attempt stays behind once it is released, even where the operator is not there to help. It needs
// rights in one namespace only.
//
// It knows nothing of RabbitMQ, Clowder or the files that a training reads and writes.
package kuberay
