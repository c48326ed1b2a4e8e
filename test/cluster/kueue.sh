#!/usr/bin/env bash
# kueue.sh: Kueue as its own kustomization installs it, on the node of up.sh. Its visibility API is left out: it needs an API server that
# takes in others. The program is built once, in 3 minutes on two cores; what is there is left alone.
. "$(dirname "$0")/common.sh"
program=kueue-$KUEUE image=clowder-ray/kueue:$KUEUE
"$here/binaries.sh" "$program" >/dev/null
if ! has_image "$image"; then
	mkdir -p "$node/run/kueue"
	ln -sf "$bin/$program" "$node/run/kueue/manager" # the Deployment starts /manager
	"$here/image.sh" "$image" "$node/run/kueue/manager"
fi
if ! kubectl --namespace kueue-system get deployment/kueue-controller-manager >/dev/null 2>&1; then
	module=$(cd / && go mod download -json "sigs.k8s.io/kueue@v$KUEUE" | sed -n 's/.*"Dir": "\(.*\)",/\1/p')
	kubectl kustomize "$module/config/default" |
		awk 'BEGIN { RS = "---\n"; ORS = RS } !/kind: APIService/' |
		sed -e "s#image: .*kueue/kueue:.*#image: $image#" -e 's/imagePullPolicy: Always/imagePullPolicy: IfNotPresent/' -e 's/cpu: 500m/cpu: 50m/' |
		kubectl apply --server-side -f - >/dev/null
fi
# Its webhooks refuse everything until they have their certificates, which is after its pod is ready.
ready() { printf '{apiVersion: kueue.x-k8s.io/v1beta2, kind: ResourceFlavor, metadata: {name: probe}}' | kubectl create --dry-run=server -f -; }
until_ok 300 ready
