# A thin front for Meson, Ninja and scripts/. From a fresh clone each target does all that it needs.

PREFIX ?= /usr/local
TIME   ?= 60
export BUILD ?= build

export PKG_CONFIG_PATH := $(CURDIR)/build/deps/lib/pkgconfig$(if $(PKG_CONFIG_PATH),:$(PKG_CONFIG_PATH))

SHELL       := bash
.SHELLFLAGS := -o pipefail -c

.PHONY: build run demo deb image test test-all test-packages storm bench bench-http bench-mcp bench-lisp bench-python bench-handlers bench-artifacts bench-symbolic bench-fair bench-serve bench-metrics bench-index bench-oauth bench-tasks bench-asking bench-journal bench-pages bench-guard bench-upload bench-typed bench-growth bench-cluster bench-wrap bench-mcp-gateway bench-nginx bench-core bench-bindings flame npm fuzz fuzz-symbolic storm-artifacts storm-tasks storm-gateway model-artifacts linear-artifacts faults-artifacts cluster coverage format install clean help

# Tests and benchmarks know one folder only.
ifneq ($(BUILD),build)
ifneq ($(filter-out build run demo cluster install help,$(or $(MAKECMDGOALS),build)),)
$(error BUILD=DIR works with make build, run, demo, cluster and install; the other targets write to the folder build of this tree)
endif
endif

build: ## the program, build/mishap; BUILD=DIR builds elsewhere, SERVICES=no installs no packages for services
	@scripts/build

run: build ## start the server with its services, and say what to try; LISTEN=127.0.0.1:8080 DATA=DIR
	@exec scripts/run

cluster: build ## three servers on one PostgreSQL behind nginx, on this machine, and what to try; PORT=8080
	@scripts/setup cluster
	@PORT='$(PORT)' MISHAP_PROGRAM="$${MISHAP_PROGRAM:-$$(realpath "$$BUILD")/mishap}" exec scripts/cluster

demo: build ## tell one mishap in every dialect
	@scripts/demo

deb: ## Debian packages of this tree, in build/deb, judged by lintian; OUT=DIR LINTIAN=no
	@scripts/setup deb
	@OUT='$(OUT)' LINTIAN='$(LINTIAN)' scripts/deb

image: build ## an image for containers, as build/image/mishap.oci.tar and mishap.docker.tar
	@scripts/setup image
	@scripts/image

test: ## every test once, with the program as `make build` makes it; TESTS='http_api cli' runs some
	@$(if $(ONLY),echo 'make test: ONLY is for `make test-all`; TESTS="NAME…" chooses tests' >&2; exit 2)
	@scripts/setup build test
	@scripts/check ordinary $(if $(TESTS),--tests $(TESTS))

test-all: ## the tests with sanitizers and clang, and the storms; ONLY='gcc-asan clang-asan gcc-tsan storms'
	@scripts/setup build test test-all
	@scripts/check $(or $(ONLY),all) $(if $(TESTS),--tests $(TESTS))

test-packages: ## the packages: built twice and compared; with CHROOT=DIR, or as root, installed, used, upgraded and purged in a bare Debian
	@scripts/setup build test test-packages
	@scripts/check storms --tests 'packages_*'

storm: build ## 10,000 handlers that die among a million good calls; GOOD=1000000 FAULTS=10000 SECONDS=840 SEED=1
	@scripts/setup test
	@scripts/storm $(if $(GOOD),--good $(GOOD)) $(if $(FAULTS),--faults $(FAULTS)) $(if $(SECONDS),--seconds $(SECONDS)) $(if $(SEED),--seed $(SEED))

storm-gateway: build ## 100,000 successes through `mishap gateway`, equal by hash; SUCCESSES=100000
	@scripts/setup test
	@MISHAP_PROGRAM=build/mishap MISHAP_NGINX_MODULE=$(CURDIR)/build/src/nginx/ngx_http_mishap_module.so MISHAP_GATEWAY_SUCCESSES=$(or $(SUCCESSES),100000) python3 tests/gateway/success_test.py every

storm-tasks: build ## kill -9 of each process of a server and of PostgreSQL during tasks; TASKS=2000
	@scripts/setup test
	@meson configure build -Dtests=true && ninja -C build tests/task/worker
	@MISHAP_PROGRAM=build/mishap TASK_PROGRAM=build/tests/task/worker TASKS=$(or $(TASKS),2000) python3 tests/task/kills_test.py

storm-artifacts: build ## kill -9 of a server with artifacts and of PostgreSQL under load, and full disks; KILLS=200 FILLS=20 SEED=1
	@scripts/setup test
	@MISHAP_PROGRAM=build/mishap ARTIFACTS_KILLS=$(or $(KILLS),200) $(if $(SEED),ARTIFACTS_SEED=$(SEED)) python3 tests/artifacts/kills_test.py
	@MISHAP_PROGRAM=build/mishap ARTIFACTS_FILLS=$(or $(FILLS),20) $(if $(SEED),ARTIFACTS_SEED=$(SEED)) python3 tests/artifacts/full_test.py

model-artifacts: build ## random programs of invokes against a model; PROGRAMS=20 STEPS=1000 SEED=1
	@scripts/setup test
	@MISHAP_PROGRAM=build/mishap ARTIFACTS_PROGRAMS=$(or $(PROGRAMS),20) ARTIFACTS_STEPS=$(or $(STEPS),1000) \
	    ARTIFACTS_SEED=$(or $(SEED),$$(date +%s)) python3 tests/artifacts/model_test.py

linear-artifacts: build ## histories of 64 clients of three servers, checked for linearizability; ROUNDS=20 KILLS=10 PLANTED=50 SEED=1
	@scripts/setup test
	@MISHAP_PROGRAM=build/mishap ARTIFACTS_ROUNDS=$(or $(ROUNDS),20) ARTIFACTS_KILLS=$(or $(KILLS),10) ARTIFACTS_PLANTED=$(or $(PLANTED),50) \
	    ARTIFACTS_HISTORIES=build/histories $(if $(SEED),ARTIFACTS_SEED=$(SEED)) python3 tests/artifacts/linear_test.py

faults-artifacts: build ## two servers and a PostgreSQL with a standby that are killed, hang and come back at random, under load; FAULTS=100 SEED=1
	@scripts/setup test
	@MISHAP_PROGRAM=build/mishap ARTIFACTS_FAULTS=$(or $(FAULTS),100) $(if $(SEED),ARTIFACTS_SEED=$(SEED)) python3 tests/artifacts/faults_test.py

bench: build ## measure
	@scripts/setup bench
	@scripts/bench

bench-http: build ## the server against nginx, Fastify, FastAPI and a bare loop; ROUNDS=7 SECONDS=2 ONLY=ours,bare
	@scripts/setup bench bench-http || echo 'mishap: going on with what is here' >&2
	@scripts/bench-http $(if $(ROUNDS),--rounds $(ROUNDS)) $(if $(SECONDS),--seconds $(SECONDS)) $(if $(ONLY),--only $(ONLY))

bench-mcp: build ## tools/call against the TypeScript server and a bare loop; ROUNDS=7 ONLY=ours,pipe CMCP=PROGRAM LONG=1
	@scripts/setup bench bench-mcp || echo 'mishap: going on with what is here' >&2
	@scripts/bench-mcp $(if $(ROUNDS),--rounds $(ROUNDS)) $(if $(ONLY),--only $(ONLY))

bench-lisp: build ## sessions of Lisp against a bare read, eval and print; ROUNDS=7 ONLY=first,trips,crowd,growth LONG=1
	@scripts/setup bench bench-lisp || echo 'mishap: going on with what is here' >&2
	@scripts/bench-lisp $(if $(ROUNDS),--rounds $(ROUNDS)) $(if $(ONLY),--only $(ONLY))

bench-python: build ## a call of Python, cold and warm, against the start of python3; ROUNDS=100
	@scripts/setup bench bench-python || echo 'mishap: going on with what is here' >&2
	@scripts/bench-python $(ROUNDS)

bench-handlers: build ## this tree against an earlier commit: BASE=c0c101f ROUNDS=7 SECONDS=1 ONLY=http,mcp,command,worker SPREAD=1
	@scripts/setup bench-handlers || echo 'mishap: going on with what is here' >&2
	@BASE='$(BASE)' scripts/bench-handlers $(if $(ROUNDS),--rounds $(ROUNDS)) $(if $(SECONDS),--seconds $(SECONDS)) $(if $(ONLY),--only $(ONLY)) \
	    $(if $(SPREAD),--spread)

bench-artifacts: build ## transfers and searches of the artifacts service; ROUNDS=5 SECONDS=3 ONLY=sqlite,postgresql,search
	@scripts/setup bench bench-artifacts || echo 'mishap: going on with what is here' >&2
	@scripts/bench-artifacts $(if $(ROUNDS),--rounds $(ROUNDS)) $(if $(SECONDS),--seconds $(SECONDS)) $(if $(ONLY),--only $(ONLY))

bench-fair: build ## quick calls of one caller beside 64 connections of another; ROUNDS=3 CALLS=100 ONLY=artifacts,symbolic,lisp,search
	@scripts/setup bench-fair || echo 'mishap: going on with what is here' >&2
	@scripts/bench-fair $(if $(ROUNDS),--rounds $(ROUNDS)) $(if $(CALLS),--calls $(CALLS)) $(if $(ONLY),--only $(ONLY))

bench-serve: build ## a read against a 422, first calls, memory at rest, idle connections and event streams against nginx; ROUNDS=5 ONLY=read,first,resting,idle,streams
	@scripts/setup bench bench-serve || echo 'mishap: going on with what is here' >&2
	@scripts/bench-serve $(if $(ROUNDS),--rounds $(ROUNDS)) $(if $(ONLY),--only $(ONLY))

bench-metrics: build ## instructions of a 422 with all metrics, against one without, and against an earlier commit; BASE=COMMIT
	@scripts/setup bench bench-metrics || echo 'mishap: going on with what is here' >&2
	@BASE='$(BASE)' scripts/bench-metrics

bench-tasks: build ## a call that becomes a task, beside a bare commit; 64 at once
	@python3 bench/tasks/measure.py build/examples/loans

bench-asking: build ## a call beside 1,000 open questions of other clients; OPEN=1000 ROUNDS=5
	@python3 bench/asking/open.py build/mishap $(if $(OPEN),--open $(OPEN)) $(if $(ROUNDS),--rounds $(ROUNDS))

flame: build ## where the time of a request goes, by part, and where it waits, with a flame graph of each kind in docs; KINDS='422 read transfer mcp' OUT=DIR STORE=DIR
	@scripts/setup bench flame || echo 'mishap: going on with what is here' >&2
	@OUT='$(OUT)' STORE='$(STORE)' scripts/flame $(KINDS)

bench-oauth: build ## access tokens: the first check of each algorithm, a cached one beside an API key, 5,000 forged ones a second; ROUNDS=5
	@scripts/bench-oauth $(if $(ROUNDS),--rounds $(ROUNDS))

bench-index: build ## the index of incidents: CPU and bytes of records, and queries; COMPACT=3000000 WHOLE=300000 QUERIES=1000000 STORE=50000
	@scripts/bench-index $(if $(COMPACT),compact=$(COMPACT)) $(if $(WHOLE),whole=$(WHOLE)) $(if $(QUERIES),queries=$(QUERIES)) $(if $(STORE),store=$(STORE))

bench-journal: build ## what the record of a failure costs a request and a command, and 50,000 failures a second up to the index; SECONDS=5 RATE=50000
	@scripts/setup bench
	@scripts/bench-journal $(if $(SECONDS),seconds=$(SECONDS)) $(if $(RATE),rate=$(RATE))

bench-pages: build ## the first view of the pages in Chromium, and their bytes; ROUNDS=7
	@scripts/setup bench-pages || echo 'mishap: going on with what is here' >&2
	@scripts/bench-pages $(if $(ROUNDS),--rounds $(ROUNDS))

bench-upload: build ## an upload of 1 GB that is streamed through a handler, against a bare loop, and its memory; MEGABYTES=1024 ROUNDS=7
	@scripts/setup bench || echo 'mishap: going on with what is here' >&2
	@scripts/bench-upload $(if $(MEGABYTES),--megabytes $(MEGABYTES)) $(if $(ROUNDS),--rounds $(ROUNDS))

bench-typed: build ## calls with typed arguments against calls with getters, CPU time
	@scripts/bench-typed

bench-growth: build ## how cost grows with connections, loops, rows, tools, parameters and answers: tables, and pictures in docs/; ROUNDS=3 ONLY=rows,tools
	@scripts/setup bench bench-growth || echo 'mishap: going on with what is here' >&2
	@scripts/bench-growth $(if $(ROUNDS),--rounds $(ROUNDS)) $(if $(ONLY),--only $(ONLY))

bench-cluster: build ## servers of a cluster: notices, removed keys, changes with --cluster, reads from standbys, the rate of a caller; SECONDS=10 ONLY=notices,standby,rates
	@scripts/setup bench-cluster || echo 'mishap: going on with what is here' >&2
	@scripts/bench-cluster $(if $(SECONDS),--seconds $(SECONDS)) $(if $(ONLY),--only $(ONLY))

bench-wrap: build ## what `mishap wrap` adds to a start, beside coreutils' timeout, and to 1 GB that it passes on; ROUNDS=300 MEGABYTES=1024
	@scripts/bench-wrap $(if $(ROUNDS),--rounds $(ROUNDS)) $(if $(MEGABYTES),--megabytes $(MEGABYTES))

bench-mcp-gateway: build ## what `mishap mcp-gateway` adds to a call of a tool; ROUNDS=7
	@scripts/setup bench bench-mcp-gateway || echo 'mishap: going on with what is here' >&2
	@scripts/bench-mcp-gateway $(if $(ROUNDS),--rounds $(ROUNDS))

bench-nginx: build ## nginx with the filter against nginx without it: CPU of a success and of an error; ROUNDS=7 SECONDS=2
	@scripts/setup bench-nginx || echo 'mishap: going on with what is here' >&2
	@scripts/bench-nginx $(if $(ROUNDS),--rounds $(ROUNDS)) $(if $(SECONDS),--seconds $(SECONDS))

bench-guard: build ## the leak detector: JSON of an API, a short body, a search for slow inputs, a refusal over HTTP; MEGABYTES=8
	@scripts/setup bench bench-guard || echo 'mishap: going on with what is here' >&2
	@scripts/bench-guard $(MEGABYTES)

bench-core: build ## the start of a program with the shared core, against static; the size of the library; ROUNDS=25
	@ROUNDS='$(ROUNDS)' scripts/bench-core

bench-bindings: build ## the bindings for Python and Node against what programs do by hand; ONLY=python,node ROUNDS=11
	@scripts/setup bench bench-bindings || echo 'mishap: going on with what is here' >&2
	@ROUNDS='$(ROUNDS)' scripts/bench-bindings $(ONLY)

npm: build ## the package for Node, build/mishap-VERSION.tgz (docs/node.md)
	@scripts/setup npm || echo 'mishap: going on with what is here' >&2
	@scripts/npm

bench-symbolic: build ## the symbolic engine on its cases, and its service; ROUNDS=5 EVERY=4 CROSSHAIR=PROGRAM
	@SYMBOLIC_PROGRAM=build/services/symbolic/mishap-symbolic MISHAP_PROGRAM=build/mishap CROSSHAIR='$(CROSSHAIR)' python3 tests/symbolic/bench.py \
	    $(if $(ROUNDS),--rounds $(ROUNDS)) $(if $(EVERY),--every $(EVERY))

fuzz: ## feed every parser with garbage, TIME=60 seconds each
	@scripts/setup build fuzz
	@scripts/fuzz $(TIME)

fuzz-symbolic: build ## the symbolic engine against Python, by single operations, sequences of them, classes, patterns, small domains and random programs; MINUTES=60 SEED=1 ONLY=operations
	@scripts/fuzz-symbolic '$(or $(MINUTES),60)' '$(SEED)' '$(ONLY)'

coverage: ## line coverage of the core, fails below 95 %
	@scripts/setup build coverage
	@scripts/coverage

format: ## lay out the C sources as .clang-format says
	@scripts/setup format
	@git ls-files -z '*.c' '*.h' | xargs -0 -r clang-format -i

install: build ## into PREFIX=/usr/local, below DESTDIR if set
	@meson configure '$(BUILD)' -Dprefix='$(PREFIX)'
	@DESTDIR='$(DESTDIR)' meson install -C '$(BUILD)'

clean: ## remove build/
	@rm -rf build

help: ## this list
	@sed -nE 's/^([a-z-]+):[^#]*## (.*)/make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 24
