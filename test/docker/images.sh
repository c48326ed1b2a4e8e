#!/usr/bin/env bash
# images.sh TAG: builds clowder-ray/extractor and clowder-ray/ray, with all that they hold in earnest. MODELS=without-models leaves the
# base model out.
. "$(dirname "$0")/common.sh"
tag=$1
"$here/engine.sh" up
options=(--quiet)
if use_own; then options+=(--network host); fi
cd "$repo"
docker build "${options[@]}" --build-arg VERSION="$tag" -t "clowder-ray/extractor:$tag" .
docker build "${options[@]}" --build-arg MODELS="${MODELS:-with-models}" -f deploy/images/ray/Dockerfile -t "clowder-ray/ray:$tag" .
docker image ls --filter "reference=clowder-ray/*:$tag"
if use_own; then echo "they are in the engine at DOCKER_HOST=$own_host; $here/engine.sh down stops it" >&2; fi
