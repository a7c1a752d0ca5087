# The two commands a new user types, and a few for developers. Each works alone, first, on a fresh checkout, and after any other.
BUILD ?= build
JOBS ?= $(shell nproc)
# The preset `ci` is `release` with warnings as errors.
PRESET ?= release

.PHONY: demo test bench build sanitize cross lint lint-all package check-long format install clean

# CUDA=OFF leaves it out where nvcc is installed.
CUDA ?= ON

# What is built is said each time: what an earlier command chose stays in CMake's cache.
configure = cmake --preset $(PRESET) -B $(BUILD) -DLEPUS_BUILD_TESTS=$(1) -DLEPUS_BUILD_BENCHMARKS=$(2) -DLEPUS_WITH_CUDA=$(CUDA) \
            -DLEPUS_THIS_MACHINE=$(THIS_MACHINE)
THIS_MACHINE := OFF

# What this machine would not run is left out of the demo's program, unless the folder has all of it already.
demo: THIS_MACHINE := $(shell grep -qs 'LEPUS_THIS_MACHINE:BOOL=OFF' $(BUILD)/CMakeCache.txt && echo OFF || echo ON)
demo: ## simulate a scan, reconstruct it, show the result (in demo/)
	scripts/install-dependencies build
	$(call configure,OFF,OFF)
	cmake --build $(BUILD) -j $(JOBS) --target lepus_program
	scripts/demo $(BUILD)/bin/lepus demo

test: ## build everything and run all tests
	scripts/install-dependencies test
	$(call configure,ON,ON)
	cmake --build $(BUILD) -j $(JOBS)
	scripts/run-tests $(BUILD)

build: ## the programs and the library
	scripts/install-dependencies build
	$(call configure,OFF,OFF)
	cmake --build $(BUILD) -j $(JOBS)

bench: BUILD := $(BUILD)-bench
bench: ## measure this machine; every result is checked before it is timed
	scripts/install-dependencies build
	$(call configure,OFF,ON)
	cmake --build $(BUILD) -j $(JOBS) --target all benchmarks
	$(BUILD)/bin/lepus_bench_backprojection
	$(BUILD)/bin/lepus_bench_fdk
	for program in $(BUILD)/bin/lepus_bench_cuda_*; do [ ! -x $$program ] || $$program || exit 1; done
	$(BUILD)/bin/lepus bench --output $(BUILD)/report --force

sanitize: ## tests under clang's sanitizers: address and undefined behaviour, and threads
	scripts/sanitize asan
	scripts/sanitize tsan

cross: ## tests on the other architecture and other vector lengths, under qemu-user
	scripts/install-dependencies cross
	scripts/cross

lint: ## formatting, the direction of includes, clang-tidy over all files
	scripts/install-dependencies lint
	scripts/lint $(BUILD)-lint

lint-all: ## the same, and the static analyzer
	scripts/install-dependencies lint
	scripts/lint --analyzer $(BUILD)-lint-all

package: ## .deb files for this system, in build-package/packages
	JOBS=$(JOBS) scripts/make-packages $(BUILD)-package

check-long: ## the long forms of what CI runs in short ones
	scripts/check-long

format:
	git ls-files -- '*.h' '*.cpp' '*.cu' '*.cuh' | xargs clang-format -i

install: build
	cmake --install $(BUILD)

clean:
	rm -rf $(BUILD) $(BUILD)-* demo
