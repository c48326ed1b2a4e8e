#!/usr/bin/env bash
# ctr.sh ARGUMENTS...: containerd's own client, on the node's images and containers.
. "$(dirname "$0")/common.sh"
if [ -f "$node/kind" ]; then
	exec docker exec -i "$(cat "$node/kind")" ctr -n k8s.io "$@"
fi
exec ctr -a "$node/run/containerd.sock" -n k8s.io "$@"
