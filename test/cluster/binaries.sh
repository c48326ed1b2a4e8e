#!/usr/bin/env bash
# binaries.sh [PROGRAM...]: builds the programs of a Kubernetes node (default: all of them) from their Go modules
# and prints the folder that holds them. What is there is left alone.
. "$(dirname "$0")/common.sh"
export CGO_ENABLED=0 GOFLAGS=-buildvcs=false
programs=(kube-apiserver etcd kube-controller-manager kube-scheduler kubelet kube-proxy kubectl coredns ray-operator helm pause)

# source_of NAME GO.MOD-LINES: enters an empty module in which a program is built. Nothing tidies it: that would fetch test dependencies for minutes.
source_of() {
	mkdir -p "$cluster/src/$1"
	cd "$cluster/src/$1"
	printf 'module build\n\ngo 1.26\n%s\n' "$2" >go.mod
}

# package_of PROGRAM: the package of a program that is built with the others; nothing for the rest.
package_of() {
	case $1 in
	etcd) echo go.etcd.io/etcd/server/v3 ;; # the version that Kubernetes requires: Debian's is too old for it
	kube*) echo "k8s.io/kubernetes/cmd/$1" ;;
	ray-operator) echo github.com/ray-project/kuberay/ray-operator ;;
	helm) echo helm.sh/helm/v3/cmd/helm ;;
	esac
}

# together FOLDER PACKAGE...: builds programs in one module with the requirements of the service. What they share with each other and with
# the service is then of one version, and Go compiles it once: without that, the same libraries of Kubernetes are compiled four times.
# Kubernetes requires its own staging modules at v0.0.0; each is replaced by its published release.
together() {
	local to=$1 mod minor=${KUBERNETES#1.} version=k8s.io/component-base/version
	shift
	mod=$(cd / && go mod download -json "k8s.io/kubernetes@v$KUBERNETES" | sed -n 's/.*"GoMod": "\(.*\)",/\1/p')
	source_of together "$(sed '/^module /d; /^go /d' "$repo/go.mod")
require (
	k8s.io/kubernetes v$KUBERNETES
	helm.sh/helm/v3 v$HELM
)
replace (
$(sed -nE "s#^\s+(k8s.io/[a-z-]+) v0.0.0\$#\t\1 => \1 v0.${KUBERNETES#1.}#p" "$mod")
)"
	cp "$repo/go.sum" .
	mkdir -p "$to"
	# without these names clients are told v0.0.0
	go build -mod=mod -o "$to/" \
		-ldflags "-s -w -X $version.gitVersion=v$KUBERNETES -X $version.gitMajor=1 -X $version.gitMinor=${minor%.*}" "$@"
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

# apart PROGRAM OUT: builds a program in a module of its own.
apart() {
	case $1 in
	coredns) coredns "$2" ;;
	kueue-*) in_module "sigs.k8s.io/kueue@v${1#kueue-}" ./cmd/kueue "$2" ;;
	pause) pause "$2" ;;
	*) echo "binaries.sh knows no program $1, only: ${programs[*]} kueue-VERSION" >&2 && exit 2 ;;
	esac
}

mkdir -p "$bin"
exec 9>"$bin.lock" && flock 9 # two callers at once: the second finds them ready
packages=() rest=()
for program in "${@:-${programs[@]}}"; do
	package=$(package_of "$program")
	if [ -x "$bin/$program" ]; then continue; elif [ -n "$package" ]; then packages+=("$package"); else rest+=("$program"); fi
done
began=$SECONDS
missing=$((${#packages[@]} + ${#rest[@]}))
[ $missing -eq 0 ] || echo "building $missing programs of Kubernetes into $bin (once; some minutes)" >&2
if [ ${#packages[@]} -gt 0 ]; then
	rm -rf "$bin.new"
	(together "$bin.new" "${packages[@]}")
	[ ! -e "$bin.new/server" ] || mv "$bin.new/server" "$bin.new/etcd" # Go names a program after the folder of its package
	mv "$bin.new"/* "$bin/"
fi
for program in "${rest[@]}"; do
	(apart "$program" "$bin/$program.new")
	mv "$bin/$program.new" "$bin/$program"
done
[ $missing -eq 0 ] || echo "built $missing programs in $((SECONDS - began)) s" >&2
echo "$bin"
