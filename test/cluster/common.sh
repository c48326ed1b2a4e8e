# shellcheck shell=bash disable=SC2034
# common.sh is sourced by the scripts of this folder: versions, places, and the programs of the node.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
repo=$(cd "$here/../.." && pwd)
. "$here/versions.env"

# kuberay FIELD: a field of the KubeRay module that the service is built with, so that the operator and the clients are of one version.
kuberay() { (cd "$repo" && go list -m -f "{{.$1}}" github.com/ray-project/kuberay/ray-operator); }

cache=${CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/clowder-ray} # as in the Makefile
KUBERAY=$(kuberay Version)
cluster=$cache/cluster-$(echo "$KUBERNETES $COREDNS $HELM $KUBERAY" | sha256sum | cut -c1-12)
bin=$cluster/bin
node=$cluster/node # everything that the node writes
export PATH=$bin:$PATH KUBECONFIG=$node/access/admin

# The node's own network. Nothing listens on a real interface.
bridge=clowder-ray0
address=10.189.0.1
pods=10.188.0.0/16
services=10.196.0.0/16
name=node1

# running: the folder of the cluster that is up on this machine, if any; the bridge carries it.
running() { { ip -o link show "$bridge" 2>/dev/null || true; } | sed -n 's/.*alias \([^ ]*\).*/\1/p'; }

# alive NAME: whether the program of that name runs. A process id comes back after a while; the environment tells whose it is.
alive() { [ -s "$node/run/$1.pid" ] && grep -qsz "^CLOWDER_RAY_NODE=$node$" "/proc/$(cat "$node/run/$1.pid")/environ"; }

# start NAME COMMAND...: runs a program of the node, unless it runs.
start() {
	local as=$1
	shift
	alive "$as" && return
	CLOWDER_RAY_NODE=$node setsid "$@" >>"$node/log/$as.log" 2>&1 </dev/null 8>&- & # 8 is the lock of up.sh
	echo $! >"$node/run/$as.pid"
}

# stop NAME...: ends programs of the node, by force after 5 seconds.
stop() {
	local as pid
	for as; do
		if alive "$as"; then
			pid=$(cat "$node/run/$as.pid")
			kill "$pid" || true
			timeout 5 tail --pid="$pid" -f /dev/null || kill -9 "$pid" 2>/dev/null || true
		fi
		rm -f "$node/run/$as.pid"
	done
}

# has_image NAME: whether the node has an image. Not `grep -q`, here and elsewhere: it ends early and the writer dies of that.
has_image() { "$here/ctr.sh" images ls -q | grep -E "(^|/)$1\$" >/dev/null; }

# until_ok SECONDS COMMAND...: tries a command until it succeeds; at the end it is heard.
until_ok() {
	local tries=$(($1 * 2))
	shift
	for _ in $(seq "$tries"); do
		"$@" >/dev/null 2>&1 && return
		sleep 0.5
	done
	echo "waited in vain for: $*" >&2
	"$@" >&2
}
