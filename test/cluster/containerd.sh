#!/usr/bin/env bash
# containerd.sh: the container runtime of the node, beside and independent of the machine's own.
. "$(dirname "$0")/common.sh"
mkdir -p "$node/cni"
# Without CAP_SYS_RESOURCE runc cannot lower a process's oom score: restrict_oom_score_adj leaves it.
cat >"$node/containerd.toml" <<E
version = 2
root = "$node/containerd"
state = "$node/run/containerd"
[grpc]
  address = "$node/run/containerd.sock"
[plugins."io.containerd.grpc.v1.cri"]
  restrict_oom_score_adj = true
  sandbox_image = "clowder-ray/pause:1"
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "/usr/lib/cni"
    conf_dir = "$node/cni"
E
# ptp, not bridge: every packet is routed, so service addresses need neither br_netfilter nor hairpin mode.
cat >"$node/cni/10-ptp.conflist" <<E
{
  "cniVersion": "0.4.0",
  "name": "ptp",
  "plugins": [
    {
      "type": "ptp",
      "ipMasq": true,
      "ipam": {"type": "host-local", "dataDir": "$node/cni/ipam", "ranges": [[{"subnet": "$pods"}]], "routes": [{"dst": "0.0.0.0/0"}]}
    },
    {"type": "portmap", "capabilities": {"portMappings": true}}
  ]
}
E
start containerd containerd --config "$node/containerd.toml"
until_ok 120 "$here/ctr.sh" version
has_image clowder-ray/pause:1 || "$here/image.sh" clowder-ray/pause:1 "$bin/pause"
