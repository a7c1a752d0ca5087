# The two commands a new user types, and a few for developers. Each works alone, first, on a fresh checkout.
BUILD ?= build
JOBS ?= $(shell nproc)
# Under sanitizers: all unit tests but those that measure speed, or only repeat at length what a shorter test runs too.
SANITIZED ?= core_test geometry_test filter_test io_test simulate_test backend_test scan_test preprocess_test schedule_test \
             analysis_test pipeline_test fuzz_replay_test correct_filters_test correct_rings_test correct_pixels_test correct_beam_test \
             post_test rabbitct_files_test measure_test ladder_test live_test
SLOW ?= Fbp*:*Speed*:*IsFasterThan*:Sweep.SameBitsForEveryLimitWithJitterAndTilt

.PHONY: demo test bench build accuracy sanitize lint lint-all format install package clean

demo: ## simulate a scan, reconstruct it, show the result (in demo/)
	scripts/install-dependencies build
	cmake --preset release -B $(BUILD) -DLEPUS_BUILD_TESTS=OFF -DLEPUS_BUILD_BENCHMARKS=OFF
	cmake --build $(BUILD) -j $(JOBS) --target lepus_program
	scripts/demo $(BUILD)/bin/lepus demo

test: ## build everything and run all tests
	scripts/install-dependencies test
	cmake --preset release -B $(BUILD)
	cmake --build $(BUILD) -j $(JOBS)
	ctest --test-dir $(BUILD) --output-on-failure -j $(JOBS)

build:
	scripts/install-dependencies build
	cmake --preset release -B $(BUILD) -DLEPUS_BUILD_TESTS=OFF -DLEPUS_BUILD_BENCHMARKS=OFF
	cmake --build $(BUILD) -j $(JOBS)

bench: ## measure this machine; every result is checked before it is timed
	scripts/install-dependencies build
	cmake --preset release -B $(BUILD)-bench -DLEPUS_BUILD_TESTS=OFF -DLEPUS_BUILD_BENCHMARKS=ON
	cmake --build $(BUILD)-bench -j $(JOBS)
	$(BUILD)-bench/bin/lepus_bench_backprojection
	$(BUILD)-bench/bin/lepus_bench_fdk
	for program in $(BUILD)-bench/bin/lepus_bench_cuda_*; do [ ! -x $$program ] || $$program || exit 1; done
	$(BUILD)-bench/bin/lepus bench --output $(BUILD)-bench/report --force

sanitize: ## unit tests with address and undefined-behaviour sanitizers
	scripts/install-dependencies test
	cmake --preset asan -B $(BUILD)-asan
	cmake --build $(BUILD)-asan -j $(JOBS) --target $(SANITIZED)
	printf '%s\n' $(SANITIZED) | ASAN_OPTIONS=allocator_may_return_null=1 \
	  xargs -P $(JOBS) -I % env $(BUILD)-asan/bin/% --gtest_brief=1 --gtest_filter='-$(SLOW)'

lint: ## formatting, the direction of includes, clang-tidy over all files
	scripts/lint $(BUILD)-lint

lint-all: ## the same, and the static analyzer
	scripts/lint --analyzer $(BUILD)-lint-all

format:
	git ls-files -- '*.h' '*.cpp' '*.cu' '*.cuh' | xargs clang-format -i

install: build
	cmake --install $(BUILD)

package: ## .deb packages for this system, in build-package/packages
	JOBS=$(JOBS) scripts/make-packages $(BUILD)-package

clean:
	rm -rf $(BUILD) $(BUILD)-package $(BUILD)-asan $(BUILD)-bench $(BUILD)-lint $(BUILD)-lint-all demo
