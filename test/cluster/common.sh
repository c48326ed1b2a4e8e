# shellcheck shell=bash
# common.sh is sourced by the scripts of this folder: versions, and where the cluster lies.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
repo=$(cd "$here/../.." && pwd)
. "$here/versions.env"

# kuberay FIELD: a field of the KubeRay module that the service is built with, so that the operator and the clients are of one version.
kuberay() { (cd "$repo" && go list -m -f "{{.$1}}" github.com/ray-project/kuberay/ray-operator); }

cache=${CLOWDER_RAY_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/clowder-ray}
KUBERAY=$(kuberay Version)
cluster=$cache/cluster-$( (cat "$here/versions.env"; echo "$KUBERAY") | sha256sum | cut -c1-12)
bin=$cluster/bin
