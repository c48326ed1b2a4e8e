#!/usr/bin/env bash
# packages.sh: installs the Debian packages that the node needs and that are missing. A Docker Engine's own containerd and runc do as well.
set -euo pipefail
missing=()
need() { command -v "$1" >/dev/null || missing+=("${@:2}"); }
need containerd containerd
need runc runc
need iptables iptables
need nft nftables
need ip iproute2
need sysctl procps
need openssl openssl
need debootstrap debootstrap
need gcc gcc libc6-dev
need nm binutils
python3 -c 'import ensurepip, venv' 2>/dev/null || missing+=(python3-venv)
[ -x /usr/lib/cni/ptp ] || missing+=(containernetworking-plugins)
[ ${#missing[@]} -eq 0 ] && exit 0
echo "installing ${missing[*]}" >&2
apt-get update -qq
DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
