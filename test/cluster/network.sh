#!/usr/bin/env bash
# network.sh up|down: the node's address and the way for its pods. Kernels without the dummy driver have bridges.
. "$(dirname "$0")/common.sh"

# forward ACTION: Docker sets the policy of FORWARD to DROP.
forward() {
	iptables "$1" FORWARD -s "$pods" -m comment --comment clowder-ray -j ACCEPT
	iptables "$1" FORWARD -d "$pods" -m comment --comment clowder-ray -j ACCEPT
}

case $1 in
up)
	ip link show "$bridge" >/dev/null 2>&1 || ip link add "$bridge" type bridge
	ip link set "$bridge" alias "$cluster" up
	ip addr replace "$address/32" dev "$bridge"
	sysctl -qw net.ipv4.ip_forward=1
	forward -C 2>/dev/null || forward -I
	;;
down)
	forward -D 2>/dev/null || true
	nft delete table ip kube-proxy 2>/dev/null || true
	nft delete table ip6 kube-proxy 2>/dev/null || true
	ip link del "$bridge" 2>/dev/null || true
	;;
esac
