#!/usr/bin/env bash
# up.sh: a Kubernetes of one node with KubeRay and a Ray image; prints its KUBECONFIG. Nothing is pulled: programs are built
# from Go modules, images from Debian's and Python's packages. What is there is left alone, so it can be called at any time.
# From nothing about ten minutes on two cores, with programs and images in the cache half a minute.
#
# Root on Debian 12, with Go. All files lie in one folder of the cache; the machine gets a bridge, two rules of iptables and
# kube-proxy's tables of nftables until down.sh.
. "$(dirname "$0")/common.sh"
[ "$(id -u)" -eq 0 ] || { echo "cluster-up: a Kubernetes node needs root; run it as root or in a virtual machine" >&2 && exit 1; }
up=$(running)
[ "${up:-$cluster}" = "$cluster" ] || { echo "cluster-up: a node of other versions runs; make cluster-down takes it away" >&2 && exit 1; }
mkdir -p "$node"/{log,run,keys,access,shared}
exec 8>"$node.lock" && flock 8 # two callers at once: the second finds it up

"$here/binaries.sh" >/dev/null
if alive kubelet || ! "$here/kind.sh" up; then
	"$here/packages.sh"
	"$here/network.sh" up
	"$here/containerd.sh"
	"$here/controlplane.sh"
	"$here/kubelet.sh"
fi
"$here/rayimage.sh"
"$here/storage.sh"
"$here/operator.sh"
echo "$KUBECONFIG"
