// Package kuberay runs the main job in a whole Kubernetes: the node of make cluster-up with the real KubeRay operator, the
// Helm chart, the service in its pod, and a Ray of real pods on a shared volume. Only Clowder is played. It is run by
// make e2e-kuberay.
package kuberay
