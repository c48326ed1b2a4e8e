#!/usr/bin/env bash
# binaries.sh [PROGRAM...]: builds the programs of a Kubernetes node (default: all of them) from their Go modules
# and prints the folder that holds them. What is there is left alone; all take 8 minutes and 0.7 GB on two cores.
. "$(dirname "$0")/common.sh"
export CGO_ENABLED=0 GOFLAGS=-buildvcs=false
programs=(kube-apiserver etcd kube-controller-manager kube-scheduler kubelet kube-proxy kubectl coredns ray-operator helm pause)

# source NAME GO.MOD-LINES: enters an empty module in which a program is built. Nothing tidies it: that would fetch test dependencies for minutes.
source_of() {
	mkdir -p "$cluster/src/$1"
	cd "$cluster/src/$1"
	printf 'module build\n\ngo 1.26\n%s\n' "$2" >go.mod
}

# kubernetes PACKAGE OUT: Kubernetes requires its own staging modules at v0.0.0; each is replaced by its published release.
kubernetes() {
	source_of kubernetes ""
	local mod version=k8s.io/component-base/version
	mod=$(go mod download -json "k8s.io/kubernetes@v$KUBERNETES" | sed -n 's/.*"GoMod": "\(.*\)",/\1/p')
	source_of kubernetes "require k8s.io/kubernetes v$KUBERNETES
replace (
$(sed -nE "s#^\s+(k8s.io/[a-z-]+) v0.0.0\$#\t\1 => \1 v0.${KUBERNETES#1.}#p" "$mod")
)"
	# without these names clients are told v0.0.0
	local minor=${KUBERNETES#1.}
	go build -mod=mod -o "$2" \
		-ldflags "-s -w -X $version.gitVersion=v$KUBERNETES -X $version.gitMajor=1 -X $version.gitMinor=${minor%.*}" "$1"
}

# coredns OUT: with the plugins that a cluster needs; the full program drags in three cloud SDKs.
coredns() {
	source_of coredns "require github.com/coredns/coredns v$COREDNS"
	{
		printf 'package main\n\nimport (\n\t"github.com/coredns/coredns/coremain"\n'
		printf '\t_ "github.com/coredns/coredns/plugin/%s"\n' bind errors forward health kubernetes
		printf ')\n\nfunc main() { coremain.Run() }\n'
	} >main.go
	go build -mod=mod -ldflags '-s -w' -o "$1" .
}

# pause OUT: the process that keeps a pod's namespaces.
pause() {
	source_of pause ""
	cat >main.go <<-'GO'
		package main

		import (
			"os"
			"os/signal"
			"syscall"
		)

		func main() {
			end := make(chan os.Signal, 1)
			signal.Notify(end, syscall.SIGTERM, syscall.SIGINT)
			<-end
		}
	GO
	go build -ldflags '-s -w' -o "$1" .
}

# in_module MODULE@VERSION PACKAGE OUT: a program that builds as its module stands.
in_module() {
	cd "$(cd / && go mod download -json "$1" | sed -n 's/.*"Dir": "\(.*\)",/\1/p')"
	go build -ldflags '-s -w' -o "$3" "$2"
}

build() {
	case $1 in
	etcd) kubernetes go.etcd.io/etcd/server/v3 "$2" ;; # the version that Kubernetes requires: Debian's is too old for it
	kube*) kubernetes "k8s.io/kubernetes/cmd/$1" "$2" ;;
	coredns) coredns "$2" ;;
	ray-operator) in_module "github.com/ray-project/kuberay/ray-operator@$KUBERAY" . "$2" ;;
	helm) in_module "helm.sh/helm/v3@v$HELM" ./cmd/helm "$2" ;;
	kueue-*) in_module "sigs.k8s.io/kueue@v${1#kueue-}" ./cmd/kueue "$2" ;;
	pause) pause "$2" ;;
	*) echo "binaries.sh knows no program $1, only: ${programs[*]} kueue-VERSION" >&2 && exit 2 ;;
	esac
}

mkdir -p "$bin"
exec 9>"$bin.lock" && flock 9 # two callers at once: the second finds them ready
missing=()
for program in "${@:-${programs[@]}}"; do
	[ -x "$bin/$program" ] || missing+=("$program")
done
[ ${#missing[@]} -eq 0 ] || echo "building ${#missing[@]} programs of Kubernetes into $bin (once; up to 2 minutes each on two cores)" >&2
for i in "${!missing[@]}"; do
	program=${missing[i]}
	echo "building $program ($((i + 1)) of ${#missing[@]})" >&2
	began=$SECONDS
	(build "$program" "$bin/$program.new") && mv "$bin/$program.new" "$bin/$program"
	echo "built $program in $((SECONDS - began)) s" >&2
done
echo "$bin"
