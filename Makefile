# Large files are in CACHE, outside the tree. Their names contain a hash of what they were built from.
SHELL  := /bin/bash
CACHE  ?= $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/clowder-ray
LOCKS  := trainer/requirements-core.txt trainer/requirements.txt trainer/requirements-test.txt
VENV   := $(CACHE)/venv-$(firstword $(shell cat $(LOCKS) test/setup/venv.sh | sha256sum | cut -c1-12))
PYTHON := $(VENV)/bin/python
LINT_VERSION := v2.15.0
LINT   := $(CACHE)/bin/golangci-lint-$(LINT_VERSION)
VULN_VERSION := v1.9.0
VULN   := $(CACHE)/bin/govulncheck-$(VULN_VERSION)
ACTIONLINT_VERSION := v1.7.12
ACTIONLINT := $(CACHE)/bin/actionlint-$(ACTIONLINT_VERSION)
GOTESTSUM_VERSION := v1.13.0
GOTESTSUM := $(CACHE)/bin/gotestsum-$(GOTESTSUM_VERSION)
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)

# Go compiles everything without cgo, as the released program, so that what the program, its linters, the tools and the programs of Kubernetes share
# is compiled once. The race detector needs cgo.
export CGO_ENABLED ?= 0
RACE := CGO_ENABLED=1 go
# Packages that compute much run without the race detector, where they have no goroutines and no generic functions: docs/development.md says why.
WITHOUT_RACE := modernc.org/sqlite/lib compress/flate image image/draw image/png golang.org/x/image/font/sfnt golang.org/x/image/vector
RACE_FLAGS := -race $(WITHOUT_RACE:%=-gcflags=%=-race=false)
export RAY_PYTHON ?= $(PYTHON)
export SHARED_DIR ?= $(CURDIR)/var/shared
export STATE_DIR  ?= $(CURDIR)/var/state
RAY_DIR := $(CACHE)/ray

.DEFAULT_GOAL := help
.PHONY: e2e-kuberay e2e-clowder1 e2e-clowder2 contract help setup lock build demo studio run serve ray-up ray-down test test-unit test-integration test-trainer test-crash test-parts test-program test-programs test-durations test-faults test-boundary soak lint lint-helm fmt fuzz bench bench-training bench-steps bench-graph bench-graph-sets bench-imagery bench-objects bench-calibration bench-series bench-tables vuln clean cluster-up cluster-down images e2e-compose lint-docker

help: ## list the targets
	@grep -hE '^[a-z0-9-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  %-18s %s\n", $$1, $$2}'

# --- set-up

setup: $(VENV)/ready ## install what is missing: Debian's RabbitMQ and bubblewrap, the Python environment
	@test/setup/debian.sh

$(VENV)/ready: $(LOCKS) test/setup/venv.sh
	@test/setup/debian.sh
	@test/setup/python.sh $(VENV) all

.PHONY: setup-core
setup-core: ## install what the demo needs: a fifth of it; what networks need is added by the first run that trains one
	@test/setup/debian.sh core
	@test/setup/python.sh $(VENV) core

lock: ## write the lock files of the Python packages after a change of trainer/requirements*.in
	@test/setup/lock.sh $(CACHE)

build: ui ## build bin/extractor
	@go build -ldflags '-s -w -X main.version=$(VERSION)' -o bin/extractor ./cmd/extractor

.PHONY: ui
ui: ## bundle the scripts of the studio, which Go embeds: with Node, from PyPI where the machine has none
	@test/setup/ui.sh bundle $(CACHE)

# --- use

demo: ## send a message and train a model, on a real RabbitMQ and a real Ray
	@$(MAKE) --no-print-directory -j2 setup-core demo-programs # Python's packages are downloaded while Go compiles
	@bin/demo

# Without the libraries of Kubernetes and the scripts of the studio, which are more than half of what is compiled on a fresh machine.
.PHONY: demo-programs
demo-programs:
	@[ -x bin/extractor-demo ] || echo "compiling the service for the demo, without Kubernetes (once; 0.1 GB to download)" >&2
	@go build -tags nokubernetes -ldflags '-s -w -X main.version=$(VERSION)' -o bin/extractor-demo ./cmd/extractor
	@go build -o bin/demo ./test/demo

studio: setup build ## start a studio to be clicked: the service, the double of Clowder and a Ray; prints the address
	@go run ./test/studio/demo

# A value in PARAMS may have blanks: label_column=Body mass (g) epochs=5 are two options.
run: export PARAMS := $(PARAMS)
run: setup-core build ## train on a folder: make run DATASET=dir OUT=dir [PARAMS='epochs=2 batch_size=16']
	@test -n "$(DATASET)" -a -n "$(OUT)" || { echo "usage: make run DATASET=dir OUT=dir [PARAMS='epochs=2 ...']" >&2; exit 2; }
	@mapfile -t params < <(printf '%s' "$$PARAMS" | sed -E 's/ +([a-z_.]+=)/\n\1/g') && bin/extractor run "$(DATASET)" --out "$(OUT)" "$${params[@]/#/--param=}"

serve: setup-core build ## run the service on RABBITMQ_URI and CLOWDER_URL, on the Ray of RAY_ADDRESS or a local one
	@if [ -n "$$RAY_ADDRESS" ]; then exec bin/extractor serve; fi; \
	eval "$$(bin/extractor ray up --dir $(RAY_DIR))" && exec bin/extractor serve

ray-up: setup-core build ## start a local Ray with token auth on loopback; prints its address
	@bin/extractor ray up --dir $(RAY_DIR)

ray-down: build ## stop the local Ray
	@bin/extractor ray down --dir $(RAY_DIR)

.PHONY: studio-pictures
studio-pictures: ui ## make pictures of all pages of the studio in var/studio, and those of docs/images/studio; the runs on them are made up
	@test/setup/debian.sh browser
	@mkdir -p var/studio docs/images/studio
	@STUDIO_PICTURES=$(CURDIR)/var/studio go test -tags integration -count=1 -run TestPages ./test/studio
	@for page in runs running run compare train editor; do cp var/studio/$$page-1400-light.png var/studio/$$page-390-dark.png docs/images/studio/; done

.PHONY: pictures
pictures: setup build studio-pictures ## make the pictures in docs/images from real trainings and the pages of today, with Chromium; CLOWDER_ENV=file adds a real Clowder v2
	@go run ./test/pictures -env "$(CLOWDER_ENV)"
	@test/setup/pictures.sh write report.png running.png 'studio/*' $(if $(CLOWDER_ENV),job.png)

# --- a Kubernetes node for tests

cluster-up: ## start a Kubernetes node with KubeRay (root; ten minutes the first time); prints its KUBECONFIG
	@CACHE=$(CACHE) test/cluster/up.sh

cluster-down: ## stop that node; PURGE=1 also deletes its data and images
	@CACHE=$(CACHE) PURGE=$(PURGE) test/cluster/down.sh

images: $(VENV)/ready ui ## build the images of the service and of Ray (6 GB); on Debian's Docker Engine where none runs (root)
	@CACHE=$(CACHE) test/docker/images.sh $(VERSION)

# --- checks

# The service that the Go tests start as a process: built once with the crash points, and once more with the race detector.
export EXTRACTOR_BINARY      ?= $(CURDIR)/bin/extractor-test
export EXTRACTOR_RACE_BINARY ?= $(CURDIR)/bin/extractor-test-race
# Packages with tests on real parts, the slowest first, so that none of them runs alone at the end; and the names of these tests.
# They run each time; after a change in a kind of data alone, only those that train run. The results of all other tests come from Go's cache while
# nothing changed.
SLOWEST := ./test/studio ./test/faults ./test/crash ./test/e2e ./internal/rayjob/kuberay ./internal/queue ./test/boundary ./test/service
ON_REAL_PARTS = grep -rl --include='*_test.go' --exclude-dir=bench '^//go:build integration' cmd internal test trainer
REAL = $(SLOWEST) $$($(ON_REAL_PARTS) | xargs -n1 dirname | sort -u | sed 's|^|./|')
REAL_TESTS = ^($$($(ON_REAL_PARTS) | xargs grep -hoE '^func (Test|Fuzz)[A-Za-z0-9_]+' | cut -d' ' -f2 | sort -u | paste -sd'|'))$$
# A program with the race detector sleeps for a second at its end otherwise.
export GORACE ?= atexit_sleep_ms=0
# The tests of a package wait much more than they compute, so eight of them run at once, and three packages.
# Without go vet, which would look at each package that they import, too: make lint has its checks, for all build tags.
GO_TEST := $(RACE_FLAGS) -vet=off -ldflags=-w -p 3 -parallel 8 -timeout 30m
# The durations of the last run, which make test-durations prints.
DURATIONS := var/durations
go_tests = env CGO_ENABLED=1 $(GOTESTSUM) --format pkgname --format-hide-empty-pkg --junitfile $(DURATIONS)/$(1).xml --

# One after the other: side by side, tests of slow connections fail on two cores, and Ray gives up a start that takes 30 s.
test: test-integration test-trainer ## all tests: those in Go, then those of the training program

test-unit: ## the Go tests that need nothing but Go: some minutes
	@$(RACE) test $(RACE_FLAGS) -shuffle=on ./...

# What the tests of the training program read of this repository; one that opens another file of it fails.
TRAINER_READS := trainer test/dataset test/setup test/stored deploy/images/ray docs/training.md docs/zoo.md $(wildcard extractor_info*.json) \
	$(wildcard test/bench/*.py)
# Python compiles the trainer once, not in each of the hundreds of processes that these tests start.
test-trainer: $(VENV)/ready ## the tests of the training program, on a real Ray: the groups that have not passed with the same files: make test-trainer [FRESH=1]
	@mkdir -p $(DURATIONS)
	@TRAINER_READS="$(TRAINER_READS)" env -u PYTHONDONTWRITEBYTECODE $(PYTHON) test/setup/trainer_tests.py $(CACHE)/passed $(DURATIONS)/trainer.xml \
	$(PYTHON) -m pytest -q --rootdir . -p no:cacheprovider -n 3 --dist loadfile --no-loadscope-reorder

test-integration: test-parts $(GOTESTSUM) ## all Go tests, also those on a real RabbitMQ, a real Ray and a real Kubernetes control plane
	@mkdir -p $(DURATIONS)
	@$(call go_tests,unit) $(GO_TEST) -tags crash ./...
	@python3 test/setup/real_tests.py $(CACHE)/passed bin/test-share $(call go_tests,integration) $(GO_TEST) -tags 'integration crash' -count=1 \
	-run "$(REAL_TESTS)" +++ $(REAL)

.PHONY: bits
bits: $(VENV)/ready ## prove that trainings, predictions and resumed runs give what a revision gave, bit for bit: make bits BEFORE=main [ONLY=words,mlp]
	@revision=$$(git rev-parse --verify -q "$(BEFORE)^{commit}") || { echo "usage: make bits BEFORE=REVISION [ONLY=NAMES]" >&2; exit 2; }; \
	old=var/bits/$$revision; if [ ! -f $$old/recorded ]; then rm -rf $$old && mkdir -p $$old/checkout && \
	git archive $$revision trainer | tar -x -C $$old/checkout && \
	$(PYTHON) test/bits/bits.py record --trainer $$old/checkout --out $$old && touch $$old/recorded; fi && \
	$(PYTHON) test/bits/bits.py check --trainer . --models $$old --out var/bits/after $(if $(ONLY),--only $(ONLY))

# Python's packages come while Go compiles. The programs with the race detector and those without share no compiled package, so nothing is compiled twice.
test-parts: # what the tests start: the environment of Python, Debian's packages, the service, the programs of a Kubernetes control plane, MinIO
	@test/setup/debian.sh browser
	@$(MAKE) --no-print-directory -j3 setup test-race-program test-services

.PHONY: test-race-program test-services
test-services: test-program
	@go build -o bin/test-share ./test/share
	@CACHE=$(CACHE) test/cluster/binaries.sh etcd kube-apiserver kube-controller-manager ray-operator helm >/dev/null
	@test/setup/minio.sh $(CACHE) >/dev/null

test-program: ui
	@go build -tags crash -o bin/extractor-test ./cmd/extractor

test-race-program: ui
	@[ -x bin/extractor-test-race ] || echo "building the service for the tests (some minutes where Go's build cache is empty)" >&2
	@$(RACE) build $(RACE_FLAGS) -tags crash -o bin/extractor-test-race ./cmd/extractor

test-programs: test-program test-race-program
	@go build -o bin/test-share ./test/share

test-durations: ## print how long each test suite took in the last make test, and its slowest tests
	@python3 test/setup/durations.py $(DURATIONS)

e2e-compose: setup ui ## run one job with deploy/compose on a real Docker Engine (root where no engine runs)
	@CACHE=$(CACHE) test/docker/e2e.sh $(PYTHON)

e2e-clowder1: setup test-program ## submit jobs to a real Clowder v1 that is running, kill the service in one, make pictures in var/clowder1: make e2e-clowder1 RIG_ENV=FILE
	@RIG_ENV=$(abspath $(RIG_ENV)) PICTURES=$(CURDIR)/var/clowder1 FORM_LIBRARY=$$(test/setup/ui.sh form $(CACHE)) go test -tags clowder1 -count=1 -v -timeout 15m ./test/clowder1

e2e-clowder2: setup test-program ## submit jobs to a real Clowder v2 that is running, kill the service in one, make a picture in var/clowder2: make e2e-clowder2 RIG_ENV=FILE
	@RIG_ENV=$(abspath $(RIG_ENV)) PICTURES=$(CURDIR)/var/clowder2 go test -tags clowder2 -count=1 -v -timeout 15m ./test/clowder2

test-crash: test-parts ## kill the service at every crash point of a job (make test does this too)
	@$(RACE) test $(GO_TEST) -tags 'integration crash' -count=1 ./test/crash

test-faults: test-parts ## the tests of all faults that test/faults/matrix.go names: make test-faults [PASSES=20]
	@tests=$$(go run ./test/faults/names) && for pass in $$(seq $(or $(PASSES),1)); do echo "pass $$pass" && \
	$(RACE) test $(GO_TEST) -tags 'integration crash' -count=1 $$tests || exit 1; done

test-boundary: setup test-programs ## attacks on the real service: hostile trainings, a flood of events, a burst of hostile messages
	@go test -tags integration -count=1 -timeout 15m ./test/boundary

soak: setup test-programs ## hundreds of jobs under random faults: make soak [SOAK=10m] [SEED=n]
	@SOAK=$(or $(SOAK),10m) SEED=$(SEED) go test -tags 'integration soak' -count=1 -v -timeout 0 -run TestSoak ./test/faults

e2e-kuberay: build ## trainings on a real Kubernetes node: the Helm chart, RayJobs, real pods, and pods that are killed (root) [RUN=TestName]
	@export CACHE=$(CACHE); KUBECONFIG=$$(test/cluster/up.sh) && test/cluster/kueue.sh && PATH=$$(test/cluster/binaries.sh helm):$$PATH && export KUBECONFIG PATH && \
	test/cluster/image.sh clowder-ray/extractor:e2e bin/extractor && \
	go test -tags kuberay -count=1 -v -failfast -timeout 45m $(if $(RUN),-run '$(RUN)') ./test/kuberay

# Two at once, the slowest first: mypy has one thread. --output-sync keeps the lines of a linter together.
.PHONY: lint-all lint-go lint-python
lint: ## run all linters
	@$(MAKE) --no-print-directory -j2 --output-sync=target lint-all

lint-all: lint-python lint-go lint-helm lint-docker lint-scripts lint-layers lint-workflows lint-ui lint-words lint-files lint-pictures docs vuln

lint-go: $(LINT) # all build tags at once leave out three small files; go vet reads two of them
	@go mod tidy -diff
	@$(LINT) run --build-tags 'integration crash docker kuberay clowder1 clowder2 soak' ./...
	@go vet -tags nokubernetes ./cmd/extractor/... ./internal/job/crash

lint-python: $(VENV)/ready
	@$(VENV)/bin/ruff check -q --config trainer/ruff.toml trainer test
	@$(VENV)/bin/ruff format -q --check --config trainer/ruff.toml trainer test
	@$(VENV)/bin/mypy --config-file trainer/mypy.ini --cache-dir $(CACHE)/mypy --no-error-summary

.PHONY: lint-quick
lint-quick: $(LINT) $(VENV)/ready lint-scripts lint-workflows lint-words lint-files lint-pictures ## run the linters that take seconds; the pre-commit hook
	@$(LINT) fmt --diff ./...
	@go vet ./...
	@$(VENV)/bin/ruff check -q --config trainer/ruff.toml trainer test
	@$(VENV)/bin/ruff format -q --check --config trainer/ruff.toml trainer test

lint-docker: $(VENV)/ready ## check the Dockerfiles
	@CACHE=$(CACHE) test/setup/lint.sh hadolint

.PHONY: lint-scripts lint-workflows lint-words lint-layers
lint-layers: $(VENV)/ready ## check that the imports of the trainer go down through its layers
	@CACHE=$(CACHE) test/setup/lint.sh imports

lint-scripts: $(VENV)/ready ## check the shell scripts
	@CACHE=$(CACHE) test/setup/lint.sh shellcheck

lint-workflows: $(ACTIONLINT) ## check the GitHub workflows
	@$(ACTIONLINT) -shellcheck= -pyflakes=

.PHONY: lint-ui
lint-ui: ## check the types and the sizes of the scripts of the studio
	@test/setup/ui.sh check $(CACHE)

# A line with the word oldWords holds such a list itself.
lint-words: ## find words that plain English does without (test/setup/words.txt)
	@! git grep -nwiE -f test/setup/words.txt -- ':!test/setup/words.txt' ':!LICENSE' ':!test/stored' | grep -v oldWords || { \
		echo "write these lines in plain English" >&2; exit 1; }

.PHONY: lint-files
lint-files: ## find files that are too large to be source, such as a package that was downloaded here
	@git ls-files -z | xargs -0 stat -c '%s %n' | awk '$$1 > 300000 { print "remove " $$2 " from git: it has more than 300 kB"; found = 1 } END { exit found }'

.PHONY: lint-pictures
lint-pictures: ## find pictures in docs/images that are older than what they show; those of a page of Clowder are only named
	@test/setup/pictures.sh check

.PHONY: docs
docs: $(VENV)/ready ## make the site of the documentation in var/site; a link that leads nowhere fails
	@CACHE=$(CACHE) test/setup/lint.sh docs

lint-helm: ## check the Helm chart with the values of each example
	@helm=$$(test/cluster/binaries.sh helm)/helm; for values in deploy/helm/examples/*.yaml; do \
		$$helm lint --strict --quiet --kube-version 1.35.0 --values $$values deploy/helm/clowder-ray || exit 1; done

$(LINT):
	@GOBIN=$(CACHE)/bin go install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(LINT_VERSION)
	@mv $(CACHE)/bin/golangci-lint $@

$(ACTIONLINT):
	@GOBIN=$(CACHE)/bin go install github.com/rhysd/actionlint/cmd/actionlint@$(ACTIONLINT_VERSION)
	@mv $(CACHE)/bin/actionlint $@

$(GOTESTSUM):
	@GOBIN=$(CACHE)/bin go install gotest.tools/gotestsum@$(GOTESTSUM_VERSION)
	@mv $(CACHE)/bin/gotestsum $@

$(VULN):
	@GOBIN=$(CACHE)/bin go install golang.org/x/vuln/cmd/govulncheck@$(VULN_VERSION)
	@mv $(CACHE)/bin/govulncheck $@

.PHONY: api
api: ## write docs/openapi.json and docs/api.md, after a change of the studio's API
	@go test ./test/studio -run TestTheAPI -update

contract: $(VENV)/ready ## write what follows from the table of options and from the types of results, after a change of these
	@$(PYTHON) test/setup/contract.py
	@go test ./internal/results -run TestTheSchemas -update

.PHONY: model-types
model-types: $(VENV)/ready ## write the types of models that transformers knows, after a change of its version
	@$(PYTHON) test/setup/model_types.py > trainer/schema/model_types.json

fmt: $(LINT) ## format the Go code
	@$(LINT) fmt ./...

fuzz: $(VENV)/ready ## fuzz each decoder of outside bytes for a minute, try the trainer's properties on new examples, and damage each dataset of the zoo
	@test/setup/fuzz.sh 60s
	@TRAINER_EXAMPLES=new $(PYTHON) -m pytest -q -n 2 $$(grep -rl --include='test_*.py' '^@given' trainer/tests)
	@OMP_NUM_THREADS=1 $(PYTHON) -m trainer.tests.zoo --damage 20

bench: setup build test-programs ## measure latency, transfer rates, memory and training
	@test/bench/run.sh
	@$(MAKE) --no-print-directory bench-training

bench-training: setup ## measure training: make bench-training [DATASET=dir] [FIGURES='start rate padding workers']
	@$(PYTHON) test/bench/training.py "$(or $(DATASET),test/dataset/reviews)" $(FIGURES)

bench-steps: setup ## measure what a training step spends its processor time on: make bench-steps [MODEL=folder of an installed text model]
	@$(PYTHON) test/bench/steps.py $(if $(MODEL),--model "$(MODEL)")

bench-graph: setup ## measure trainings on generated graphs, up to 2.9 million nodes and 30 million edges: make bench-graph [FIGURES='rate workers table start']
	@$(PYTHON) test/bench/graph.py $(or $(FIGURES),rate workers table start)
	@$(if $(FIGURES),,$(PYTHON) test/bench/graph.py whole --nodes 2927963 --degree 22.4 --epochs 1)

bench-imagery: setup ## scores on pictures with masks or outlines that you have: make bench-imagery TRAIN=dir TEST=dir or MADE=200 [MINUTES=20] [SEED=0] [PARAMS='epochs=9'] [KEEP=dir]
	@$(PYTHON) test/bench/imagery.py $(if $(MADE),--made $(MADE),--train "$(TRAIN)" --test "$(TEST)") --minutes $(or $(MINUTES),20) --seed $(or $(SEED),0) $(foreach p,$(PARAMS),--param "$(p)") $(if $(KEEP),--keep "$(KEEP)")

.PHONY: bench-scenes
bench-scenes: setup ## measure predictions on a made GeoTIFF scene: make bench-scenes [SIDE=20000] [FIGURES='windows workers whole'] [FOLDER=dir]
	@$(PYTHON) test/bench/scenes.py $(or $(FIGURES),windows workers whole) --side $(or $(SIDE),20000) $(if $(FOLDER),--folder "$(FOLDER)")

.PHONY: bench-scene-splits
bench-scene-splits: setup ## random windows against blocks of place on made scenes, and another scene: make bench-scene-splits [SEEDS=5]
	@$(PYTHON) -W ignore test/bench/scene_splits.py --seeds $(or $(SEEDS),5)

bench-graph-sets: setup ## scores on graphs that you have, over several seeds: make bench-graph-sets SETS='dir dir' [FIGURES='links edges nodes public'] [SEEDS=0,1,2]
	@$(PYTHON) test/bench/graph_sets.py $(SETS) --figures $(or $(FIGURES),links edges nodes) --seeds $(or $(SEEDS),0,1,2)

bench-objects: setup ## scores on annotated pictures that you have: make bench-objects SETS='dir dir' [MADE=200] [SEEDS=0] [PARAMS='epochs=25']
	@$(PYTHON) test/bench/objects.py $(SETS) --made $(or $(MADE),0) --seeds $(or $(SEEDS),0) $(foreach p,$(PARAMS),--param "$(p)")

.PHONY: bench-labels
bench-labels: setup ## measure how many doubted labels are wrong, with 5 % of wrong labels planted and without: make bench-labels [SETS='digits texts pictures'] [SEEDS=3] [COST=1]
	@OMP_NUM_THREADS=1 $(PYTHON) test/bench/labels.py $(SETS) --seeds $(or $(SEEDS),3) $(if $(COST),--cost)

.PHONY: bench-trust
bench-trust: setup ## measure what promises, doubts, reasons and comparisons add to a training: make bench-trust [SETS='wine large-texts'] [PAIRS=3]
	@OMP_NUM_THREADS=1 $(PYTHON) test/bench/trust.py $(SETS) --pairs $(or $(PAIRS),3)

.PHONY: bench-next
bench-next: setup ## measure how many labels a model needs with the list of next labels, and by chance: make bench-next [SETS='digits topics'] [SEEDS=5] [STEPS=8] [TEXTS=file.csv]
	@OMP_NUM_THREADS=1 $(PYTHON) test/bench/next_labels.py $(SETS) --seeds $(or $(SEEDS),5) --steps $(or $(STEPS),8) $(if $(TEXTS),--texts $(TEXTS))

.PHONY: bench-predict
bench-predict: setup build ## seconds of a large prediction with one worker and with two: make bench-predict [ROWS=1000000]
	@$(PYTHON) test/bench/large_prediction.py --rows $(or $(ROWS),1000000)

.PHONY: bench-large
bench-large: setup ## memory and bytes of a training on a made table, as root within LIMIT GiB: make bench-large [FORM=csv] [GB=4] [FILES=1] [LIMIT=4] [MODEL=linear] [FOLDER=dir]
	@PYTHONPATH=. $(PYTHON) test/bench/large_tables.py --form $(or $(FORM),parquet) --gigabytes $(or $(GB),10) --files $(or $(FILES),1) --limit $(or $(LIMIT),0) --model $(or $(MODEL),auto) --folder $(or $(FOLDER),/tmp/large-tables)

.PHONY: bench-importance
bench-importance: setup ## measure trainings without the columns that a report names first, and without others: make bench-importance [SETS='diabetes friedman'] [SEEDS=3]
	@OMP_NUM_THREADS=1 $(PYTHON) test/bench/importance.py $(SETS) --seeds $(or $(SEEDS),3)

.PHONY: bench-installed
bench-installed: setup ## trainings from small installed models on made pictures: make bench-installed TASK=object-detection [PARAMS='epochs=35']
	@$(PYTHON) test/bench/installed.py $(TASK) $(foreach p,$(PARAMS),--param "$(p)")

.PHONY: bench-coverage
bench-coverage: setup ## measure whether intervals and possible classes keep their promise, over 20 seeds: make bench-coverage [SETS='diabetes wine'] [SEEDS=20]
	@OMP_NUM_THREADS=1 $(PYTHON) test/bench/coverage.py $(SETS) --seeds $(or $(SEEDS),20)

.PHONY: bench-coverage-pictures
bench-coverage-pictures: setup ## the same for counts of objects, areas of classes and means of pictures, on made pictures: make bench-coverage-pictures [SETS='counts areas means']
	@OMP_NUM_THREADS=1 $(PYTHON) test/bench/coverage_pictures.py $(SETS)

bench-calibration: setup ## loss and calibration error of networks without and with their temperature, and what is kept of 90 % promised: make bench-calibration [SETS='tags pixels'] [SEEDS=5]
	@OMP_NUM_THREADS=1 $(PYTHON) test/bench/calibration.py $(SETS) --seeds $(or $(SEEDS),5)

bench-series: setup ## error and coverage of forecasts on series that you have: make bench-series SETS=dir [CUTS=12] [MODEL=folder]
	@OMP_NUM_THREADS=1 $(PYTHON) test/bench/series.py "$(SETS)" --cuts $(or $(CUTS),12) $(if $(MODEL),--model "$(MODEL)")

bench-tables: setup ## loss of models of tables that you have: make bench-tables SETS=dir [SEEDS=0,1,2] [MODELS=trees,linear] [OTHERS=1] [AUTOGLUON=dir PRESETS=medium,good]
	@OMP_NUM_THREADS=1 $(PYTHON) test/bench/tables.py "$(SETS)" --seeds $(or $(SEEDS),0) $(if $(MODELS),--models "$(MODELS)") $(if $(OTHERS),--others) $(if $(AUTOGLUON),--autogluon "$(AUTOGLUON)" --presets $(or $(PRESETS),medium))

vuln: $(VULN) ## look for known vulnerabilities in the dependencies
	@test/setup/vuln.sh $(VULN)

.PHONY: release-check
release-check: ## build the files of a release into dist/ and check them: make release-check [RELEASE=v1.2.3]
	@CACHE=$(CACHE) deploy/release/build.sh $(or $(RELEASE),v$(shell sed -n 's/^version: //p' deploy/helm/clowder-ray/Chart.yaml)) dist

clean: ## remove what was built in the tree
	@rm -rf bin dist var internal/studio/ui/dist/* internal/studio/ui/dist/.stamp
