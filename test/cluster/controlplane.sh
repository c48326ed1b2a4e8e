#!/usr/bin/env bash
# controlplane.sh: keys and identities, etcd, the API server, the controllers and the scheduler.
. "$(dirname "$0")/common.sh"
cd "$node"

# keys: one for service accounts, and the CA by which the kubelet knows the API server.
keys() {
	umask 077
	openssl genrsa -out keys/accounts.key 2048
	openssl rsa -in keys/accounts.key -pubout -out keys/accounts.pub
	openssl req -x509 -newkey rsa:2048 -nodes -days 3650 -subj /CN=kubelet-clients -keyout keys/kubelet-ca.key -out keys/kubelet-ca.crt
	openssl req -newkey rsa:2048 -nodes -subj /O=system:masters/CN=kube-apiserver -keyout keys/kubelet-client.key -out keys/kubelet-client.csr
	openssl x509 -req -in keys/kubelet-client.csr -CA keys/kubelet-ca.crt -CAkey keys/kubelet-ca.key -CAcreateserial -days 3650 \
		-out keys/kubelet-client.crt
}

# tokens: every program is a user of its own; what Kubernetes' bootstrap policy allows to these names is enough.
tokens() {
	umask 077
	while read -r user group; do
		echo "$(openssl rand -hex 16),$user,$user,$group"
	done >keys/tokens.csv <<-E
		admin system:masters
		system:kube-controller-manager
		system:kube-scheduler
		system:kube-proxy
		system:node:$name system:nodes
		coredns
	E
}

# access: a kubeconfig for each user.
access() {
	umask 077
	local token user
	while IFS=, read -r token user _; do
		cat >"access/${user##*:}" <<-E
			apiVersion: v1
			kind: Config
			clusters: [{name: node, cluster: {server: "https://$address:6443", certificate-authority: "$node/keys/api/apiserver.crt"}}]
			users: [{name: user, user: {token: $token}}]
			contexts: [{name: node, context: {cluster: node, user: user}}]
			current-context: node
		E
	done <keys/tokens.csv
}

if [ ! -f keys/tokens.csv ]; then
	(keys && tokens) 2>"$node/log/openssl.log"
fi
start etcd etcd --data-dir etcd --unsafe-no-fsync --listen-client-urls http://127.0.0.1:12379 --advertise-client-urls http://127.0.0.1:12379 \
	--listen-peer-urls http://127.0.0.1:12380 --initial-advertise-peer-urls http://127.0.0.1:12380 --initial-cluster default=http://127.0.0.1:12380
# The API server makes its own certificate, which is also the CA that its clients check.
start apiserver kube-apiserver --etcd-servers=http://127.0.0.1:12379 --service-cluster-ip-range="$services" --allow-privileged=true \
	--bind-address="$address" --advertise-address="$address" --secure-port=6443 --cert-dir=keys/api \
	--token-auth-file=keys/tokens.csv --authorization-mode=Node,RBAC --enable-admission-plugins=NodeRestriction \
	--service-account-key-file=keys/accounts.pub --service-account-signing-key-file=keys/accounts.key \
	--service-account-issuer=https://kubernetes.default.svc --kubelet-preferred-address-types=InternalIP \
	--kubelet-client-certificate=keys/kubelet-client.crt --kubelet-client-key=keys/kubelet-client.key
until_ok 60 test -s keys/api/apiserver.crt
access
until_ok 120 kubectl get --raw /readyz
start controller-manager kube-controller-manager --kubeconfig=access/kube-controller-manager --bind-address=127.0.0.1 --leader-elect=false \
	--service-account-private-key-file=keys/accounts.key --root-ca-file=keys/api/apiserver.crt --use-service-account-credentials=true
start scheduler kube-scheduler --kubeconfig=access/kube-scheduler --bind-address=127.0.0.1 --leader-elect=false
