// Package cluster is the Kubernetes that the integration tests run on.
//
// A Plane is a real control plane on loopback: etcd and kube-apiserver with KubeRay's definitions, and on demand
// kube-controller-manager and the real KubeRay operator. It has no node: PlayKubelet plays one that starts every pod at
// once, and the dashboards that the operator asks are an http.Handler of the test. It owns its processes and one temporary
// folder. The processes end with Stop, and also when the one that started them dies without calling Stop.
//
// A whole node with real pods is what the scripts beside it make (make cluster-up): up.sh starts it, down.sh takes it away.
//
// It is no part of the product and is linked into none of its programs.
package cluster
