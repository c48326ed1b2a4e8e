#!/usr/bin/env bash
# kind.sh up|down: the node as a container of Docker, where kind is installed and can pull the image of its release; else it
# fails. The Kubernetes is then the one of that release. The rest of up.sh sees no difference.
# Making a cluster this way is untested: where it was written no registry can be reached.
. "$(dirname "$0")/common.sh"

# create: the shared volumes have the same path inside and outside.
create() {
	kind create cluster -q --name clowder-ray --kubeconfig "$KUBECONFIG" --wait 120s --config - <<-E
		kind: Cluster
		apiVersion: kind.x-k8s.io/v1alpha4
		nodes: [{role: control-plane, extraMounts: [{hostPath: "$node/shared", containerPath: "$node/shared"}]}]
	E
}

case $1 in
up)
	command -v kind >/dev/null && docker info >/dev/null 2>&1 || exit 1
	if ! kind get clusters -q | grep -x clowder-ray >/dev/null && ! create >"$node/log/kind.log" 2>&1; then
		echo "kind makes no cluster here ($(tail -n1 "$node/log/kind.log")): the node is made without it" >&2
		exit 1
	fi
	echo clowder-ray-control-plane >"$node/kind"
	;;
down)
	kind delete cluster --name clowder-ray
	rm -f "$node/kind"
	;;
esac
