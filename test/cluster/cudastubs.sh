#!/usr/bin/env bash
# cudastubs.sh SITE_PACKAGES: lets the CUDA build of torch, the only one on PyPI, run on CPUs without the CUDA libraries.
#
# torch's own libraries are linked with them, and Python loads an extension only if every name is found. So each library that
# is missing gets a stand-in with its soname and the names that torch looks up. torch asks the real cudart for a driver first,
# finds none, and calls none of these: results on a CPU are those of the whole installation, bit for bit.
set -euo pipefail
cd "$1/torch/lib"
libraries=../../nvidia/cu13/lib
mkdir -p "$libraries"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# prefix SONAME: how the names of a library begin.
prefix() {
	case $1 in
	libcublasLt.*) echo 'cublasLt' ;;
	libcublas.*) echo 'cublas[^L]' ;;
	libcudnn.*) echo 'cudnn' ;;
	libcufft.*) echo 'cufft' ;;
	libcusolver.*) echo 'cusolver' ;;
	libcusparseLt.*) echo 'cusparseLt' ;;
	libcusparse.*) echo 'cusparse[^L]' ;;
	libnccl.*) echo 'nccl' ;;
	libnvrtc.*) echo 'nvrtc' ;;
	libnvshmem_host.*) echo 'nvshmem' ;;
	esac
}

# stand_in: C for the names on stdin. Every function says that it failed; the version of cuDNN is asked for on CPUs too.
# A reference into libc gives the library a version table, without which the loader asserts.
stand_in() {
	echo 'void abort(void); void stand_in_(void) { abort(); }'
	sed -E \
		-e 's/^nvshmem_selected_device_transport$/int &;/;t' \
		-e 's/^cudnnGetVersion$/long &(void) { return 99900; }/;t' \
		-e 's/^cudnnGetProperty$/int &(int t, int *v) { *v = t == 0 ? 9 : t == 1 ? 99 : 0; return 0; }/;t' \
		-e 's/.*(ErrorString|StatusString|LastError|GetErrorName|StatusName)$/char *&(void) { return "no GPU"; }/;t' \
		-e 's/.*/int &(void) { return 1; }/'
}

nm -D --undefined-only -- *.so* | awk 'NF { sub(/@.*/, "", $NF); print $NF }' | sort -u >"$work/names"
for soname in $(readelf -d -- *.so* | sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p' | sort -u); do
	begin=$(prefix "$soname")
	[ -n "$begin" ] && [ -z "$(find ../../nvidia -name "$soname")" ] || continue
	{ grep -E "^$begin" "$work/names" || true; } | stand_in >"$work/$soname.c"
	gcc -shared -fPIC -s -w -fno-builtin -Wl,-soname,"$soname" -o "$libraries/$soname" "$work/$soname.c"
done
