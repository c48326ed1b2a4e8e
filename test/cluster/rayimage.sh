#!/usr/bin/env bash
# rayimage.sh [NAME]: brings the trainer of the working tree as a layer over its environment onto the node, in a second;
# NAME is clowder-ray/ray:dev unless another is given.
. "$(dirname "$0")/common.sh"
environment=$("$here/rayenvironment.sh")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
chmod 755 "$work" # it becomes /opt/trainer
tar -C "$repo" -c --exclude=tests --exclude=__pycache__ trainer | tar -C "$work" -x
python3 -m compileall -q "$work/trainer"
"$here/image.py" layer "${1:-clowder-ray/ray:dev}" "$environment" "$work" /opt/trainer
