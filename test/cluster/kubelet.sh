#!/usr/bin/env bash
# kubelet.sh: what makes the machine a node: the kubelet, service addresses (kube-proxy) and names (CoreDNS).
. "$(dirname "$0")/common.sh"
cd "$node"

# No cache: the name of a Ray head is asked for before it exists.
cat >Corefile <<E
.:53 {
  bind $address
  errors
  health 127.0.0.1:18080
  kubernetes cluster.local in-addr.arpa {
    kubeconfig $node/access/coredns
    ttl 0
  }
  forward . /etc/resolv.conf
}
E
kubectl create clusterrolebinding coredns --clusterrole=view --user=coredns --dry-run=client -o yaml | kubectl apply -f - >/dev/null
start coredns coredns -conf Corefile
# nftables mode leaves two tables and nothing else.
start kube-proxy kube-proxy --kubeconfig=access/kube-proxy --hostname-override="$name" --proxy-mode=nftables --cluster-cidr="$pods" \
	--bind-address="$address" --healthz-bind-address=127.0.0.1 --metrics-bind-address=127.0.0.1 --nodeport-addresses=primary \
	--conntrack-max-per-core=0

# The node's status is written once, so that it keeps the number of CPUs which is set below. Its lease says that it is alive.
# Images are never collected: there is no registry to get them back from.
cat >kubelet.yaml <<E
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
address: $address
authentication: {anonymous: {enabled: false}, webhook: {enabled: true}, x509: {clientCAFile: "$node/keys/kubelet-ca.crt"}}
authorization: {mode: Webhook}
containerRuntimeEndpoint: "unix://$node/run/containerd.sock"
cgroupDriver: cgroupfs
failCgroupV1: false
failSwapOn: false
clusterDNS: [$address]
clusterDomain: cluster.local
resolvConf: /etc/resolv.conf
healthzPort: 0
nodeStatusUpdateFrequency: 24h
nodeStatusReportFrequency: 24h
makeIPTablesUtilChains: false
imageGCHighThresholdPercent: 100
evictionHard: {memory.available: 100Mi, nodefs.available: 1%, imagefs.available: 1%}
E
if ! alive kubelet; then
	# The node and the pods of an earlier start still say that they are ready. New ones take their place.
	kubectl delete node "$name" --ignore-not-found >/dev/null
	kubectl delete pods --all --all-namespaces --force --grace-period=0 >/dev/null 2>&1
fi
start kubelet kubelet --config=kubelet.yaml --kubeconfig="access/$name" --hostname-override="$name" --node-ip="$address" \
	--root-dir="$node/kubelet" --cert-dir="$node/keys/kubelet"
until_ok 180 kubectl get node "$name"
kubectl wait --for=condition=Ready "node/$name" --timeout=180s >/dev/null
# The pods of a training may request whole CPUs, as by default, on a machine that has two: they share these.
cpus() { kubectl patch node "$name" --subresource=status -p '{"status":{"capacity":{"cpu":"8"},"allocatable":{"cpu":"8"}}}'; }
until_ok 10 cpus >/dev/null
