#!/usr/bin/env bash
# kind.sh up|down: the node as a container of Docker, where kind is installed and its node image can be pulled; else it fails.
# Untested where this was written: that machine reaches no registry. The rest of up.sh sees no difference.
. "$(dirname "$0")/common.sh"
command -v kind >/dev/null || exit 1

case $1 in
up)
	if ! kind get clusters -q | grep -qx clowder-ray; then
		docker pull -q "$KIND_NODE" >/dev/null 2>&1 || exit 1
		# The shared volumes have the same path inside and outside.
		kind create cluster --name clowder-ray --image "$KIND_NODE" --kubeconfig "$KUBECONFIG" --wait 120s --config - <<-E >&2
			kind: Cluster
			apiVersion: kind.x-k8s.io/v1alpha4
			nodes: [{role: control-plane, extraMounts: [{hostPath: "$node/shared", containerPath: "$node/shared"}]}]
		E
	fi
	echo clowder-ray-control-plane >"$node/kind"
	;;
down)
	kind delete cluster --name clowder-ray
	rm -f "$node/kind"
	;;
esac
