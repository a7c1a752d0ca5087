# The two commands a new user types, and a few for developers. Each works alone, first, on a fresh checkout.
BUILD ?= build
JOBS ?= $(shell nproc)
SANITIZED ?= core_test geometry_test preprocess_test schedule_test pipeline_test

.PHONY: demo test bench build accuracy sanitize lint format install clean

demo: build ## simulate a scan, reconstruct it, show the result (in demo/)
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

sanitize: ## unit tests with address and undefined-behaviour sanitizers
	scripts/install-dependencies test
	cmake --preset asan -B $(BUILD)-asan
	cmake --build $(BUILD)-asan -j $(JOBS) --target $(SANITIZED)
	for program in $(SANITIZED); do ASAN_OPTIONS=allocator_may_return_null=1 $(BUILD)-asan/bin/$$program --gtest_brief=1 || exit 1; done

lint: ## formatting, clang-tidy, and the direction of includes
	scripts/lint $(BUILD)

format:
	git ls-files -- '*.h' '*.cpp' | xargs clang-format -i

install: build
	cmake --install $(BUILD)

clean:
	rm -rf $(BUILD) $(BUILD)-asan $(BUILD)-bench demo
