#!/usr/bin/env bash
# down.sh: stops what up.sh started and takes its network, mounts and control groups away. The cluster's objects, images and shared
# volumes stay for the next time; with PURGE=1 all go but the programs.
. "$(dirname "$0")/common.sh"
up=$(running) # perhaps of other versions than those of today
cluster=${up:-$cluster}
bin=$cluster/bin node=$cluster/node
export PATH=$bin:$PATH KUBECONFIG=$node/access/admin

# containers: ends those that the kubelet has left, with their network namespaces.
containers() {
	local id namespace
	ctr() { command ctr -a "$node/run/containerd.sock" -n k8s.io "$@"; }
	for id in $(ctr tasks ls -q); do
		ctr tasks rm -f "$id" || true
	done
	for id in $(ctr containers ls -q); do
		for namespace in $(ctr containers info "$id" | grep -oE '/var/run/netns/cni-[0-9a-f-]+' | sort -u); do
			umount "$namespace" && rm -f "$namespace"
		done
		ctr containers rm "$id" || true
	done
}

if [ -f "$node/kind" ]; then
	"$here/kind.sh" down
elif [ -d "$node" ]; then
	stop controller-manager scheduler # nobody makes new pods; the kubelet takes the old ones down with their network and mounts
	! alive kubelet || timeout 60 kubectl delete pods -A --all --grace-period=1 >/dev/null 2>&1 || true
	stop kubelet
	! alive containerd || containers >/dev/null 2>&1
	stop kube-proxy coredns apiserver etcd containerd
	# the kubelet binds its own folder to itself
	{ grep -oE " $node/(kubelet|run|containerd)(/[^ ]+)?" /proc/mounts || true; } | sort -r | xargs -r umount
	"$here/network.sh" down
	find /sys/fs/cgroup -depth -type d -path '*kubepods*' -exec rmdir {} + 2>/dev/null || true
fi
[ "${PURGE:-}" != 1 ] || rm -rf "$node"
