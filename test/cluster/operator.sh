#!/usr/bin/env bash
# operator.sh: KubeRay as its own kustomization installs it; server-side, since its definitions are too large for a client-side apply.
. "$(dirname "$0")/common.sh"
image=clowder-ray/kuberay-operator:$KUBERAY
if ! has_image "$image"; then
	ln -sf "$bin/ray-operator" "$node/run/manager" # the Deployment starts /manager
	"$here/image.sh" "$image" "$node/run/manager"
fi
if ! kubectl get crd/rayjobs.ray.io deployment/kuberay-operator >/dev/null 2>&1; then
	kubectl kustomize "$(kuberay Dir)/config/default" |
		sed "s#image: .*kuberay/operator:.*#image: $image#" |
		kubectl apply --server-side -f - >/dev/null
fi
# The pods, not the rollout: after a restart of the node the Deployment shows the old state for a while.
ready() { kubectl get pods -l app.kubernetes.io/component=kuberay-operator | grep ' 1/1 ' >/dev/null; }
until_ok 300 ready
