#!/usr/bin/env bash
# rayenvironment.sh: an image of Python with the trainer's pinned requirements, made once in 2 minutes; prints its name.
#
# It is small and for CPUs (2.4 GB, the whole one has 6): the big CUDA libraries are left out and stand-ins take their places
# (cudastubs.sh). It must never leave the machine; deploy/images/ray has the real one.
. "$(dirname "$0")/common.sh"
requirements=("$repo"/trainer/requirements{-core,}.txt)
image=clowder-ray/ray-environment:$(cat "${requirements[@]}" "$0" "$here/cudastubs.sh" | sha256sum | cut -c1-12)

# What torch needs only on a GPU. What it loads before it looks for one (cudart, cufile, cupti) stays.
left_out='triton|cuda-bindings|nvidia-(cublas|cuda-cccl|cuda-nvrtc|cudnn-cu13|cufft|cusolver|cusparse|cusparselt-cu13|nccl-cu13|nvjitlink|'
left_out+='nvshmem-cu13)'

# small_requirements: the pinned requirements with their hashes, without what is left out.
small_requirements() { awk -v left_out="^($left_out)==" '/^-r / { next } /^[a-z]/ { keep = $0 !~ left_out } keep' "${requirements[@]}"; }

# installer: uv, from PATH or from its Python package.
installer() {
	command -v uv && return
	[ -x "$cluster/uv/bin/uv" ] || { python3 -m venv "$cluster/uv" && "$cluster/uv/bin/pip" install -q --disable-pip-version-check uv; }
	echo "$cluster/uv/bin/uv"
}

# fill ROOT: Debian, Python and the packages, in a chroot since a virtual environment knows its own path.
fill() {
	local root=$1
	debootstrap --variant=minbase --include=python3,python3-venv bookworm "$root" >"$node/log/debootstrap.log"
	cp /etc/resolv.conf "$root/etc/"
	cp "$(installer)" /etc/ssl/certs/ca-certificates.crt "$root/tmp/"
	small_requirements >"$root/tmp/requirements.txt"
	env -u UV_CACHE_DIR TMPDIR=/tmp SSL_CERT_FILE=/tmp/ca-certificates.crt PATH=/usr/sbin:/usr/bin:/sbin:/bin chroot "$root" sh -euc '
		useradd --uid 1000 --no-create-home --home-dir /tmp ray
		python3 -m venv --without-pip /opt/venv
		/tmp/uv pip install -q --no-cache --no-deps --require-hashes --compile-bytecode --python /opt/venv/bin/python -r /tmp/requirements.txt'
	"$here/cudastubs.sh" "$root"/opt/venv/lib/python3.*/site-packages
	rm -rf "$root"/tmp/* "$root"/var/cache/apt "$root"/var/lib/apt/lists "$root"/usr/share/{doc,locale}
	: >"$root/etc/resolv.conf"
}

# The root is read-only and the processes are many: Python does not try to write compiled files.
config='{
	"User": "1000:1000",
	"WorkingDir": "/tmp",
	"Env": [
		"PATH=/opt/venv/bin:/usr/local/bin:/usr/bin:/bin", "PYTHONPATH=/opt/trainer", "PYTHONDONTWRITEBYTECODE=1",
		"HOME=/tmp", "LANG=C.UTF-8", "RAY_USAGE_STATS_ENABLED=0"
	]
}'

if ! has_image "$image"; then
	echo "making the Ray image (2 minutes)" >&2
	work=$(mktemp -d "$cluster/rayimage-XXXXXX")
	trap 'rm -rf "$work"' EXIT
	fill "$work/root" >&2
	# the one of earlier requirements goes: it takes 5 GB
	"$here/ctr.sh" images ls -q | { grep /clowder-ray/ray-environment: || true; } | xargs -r "$here/ctr.sh" images rm >/dev/null
	TMPDIR=$work "$here/image.py" root "$image" "$work/root" "$config"
	sync -f "$node" # gigabytes that are still to be written hold up the first pods for minutes
fi
echo "$image"
