# Benchmarks. Included by the top-level Makefile, or used alone from the repository's root:
#   make -f benchmarks/bench.mk bench-build
# BENCH_CC=gcc BUILD=build-gcc builds the kernels with GCC. They then use libgomp, as in bench-gcc below.

BUILD ?= build
CLANG ?= clang-19
PYTHON ?= python3
BENCH_CC ?= $(CLANG)
BENCH_CFLAGS ?= -O2 -g -Wall -Wextra -Werror
BENCH_ARGS ?=

# Evaluated here, before the dependency files below are added to MAKEFILE_LIST.
bench_alone := $(if $(word 2,$(MAKEFILE_LIST)),,alone)
# Keeps the default goal of the including Makefile.
bench_goal_before := $(.DEFAULT_GOAL)

bench_kernels := $(addprefix $(BUILD)/bench/,cg mg ep is fib nqueens sparselu sort uts health mortar)
bench_noop := $(BUILD)/bench/libnoop.so
bench_micro := $(BUILD)/bench/micro
bench_library := $(BUILD)/lib/libblame.so
# Used alone, this fragment has no rule that builds blame. bench.py then reports that blame's column is missing.
bench_tool := $(if $(bench_alone),$(wildcard $(bench_library)),$(bench_library))
bench_run = $(PYTHON) benchmarks/$(1) --build $(BUILD)/bench --tool $(bench_library)

.PHONY: bench-build bench bench-quick bench-micro bench-ompt-header

bench-build: $(bench_kernels) $(bench_noop) $(bench_micro)

bench: $(bench_kernels) $(bench_noop) $(bench_tool)
	$(call bench_run,bench.py) $(BENCH_ARGS)

bench-quick: $(bench_kernels) $(bench_noop) $(bench_tool)
	$(call bench_run,bench.py) --quick --out $(BUILD)/bench/quick.csv $(BENCH_ARGS)

# The same of GCC's programs, on libgomp.
.PHONY: bench-gcc
bench-gcc: $(bench_tool) $(BUILD)/lib/libblame-gomp.so
	$(MAKE) -f benchmarks/bench.mk bench-build BENCH_CC=gcc BUILD=$(BUILD)/gcc
	$(PYTHON) benchmarks/bench.py --build $(BUILD)/gcc/bench --tool $(bench_library) --provider $(BUILD)/lib/libblame-gomp.so $(BENCH_ARGS)

# CPU time of 100 threads that sleep for 10 s, without and with blame, and how often the threads were woken.
SLEEPERS := $(BUILD)/tests/sleepers
.PHONY: bench-sleepers
bench-sleepers: $(bench_tool) $(SLEEPERS)
	for how in read nanosleep condition; do echo $$how; $(SLEEPERS) $$how 100 10000 1; $(BUILD)/bin/blame run -o $(BUILD)/bench/sleepers $(SLEEPERS) $$how 100 10000 1 2>/dev/null; done

# Start and end of a program with 0, 90 and 300 shared libraries. Making the libraries takes a minute, the first time.
.PHONY: bench-startup
bench-startup: $(bench_tool)
	$(PYTHON) benchmarks/startup/startup.py --build $(BUILD)/bench/startup --command $(BUILD)/bin/blame --compiler $(BENCH_CC) $(BENCH_ARGS)

# Processor time and memory of each view and export of a profile of 10^6 contexts in 64 threads. Needs 6 GB of disk.
.PHONY: bench-reading
$(BUILD)/bench/reading/large: benchmarks/reading/large.c tests/fuzz/profile_builder.c
	@mkdir -p $(@D)
	$(BENCH_CC) $(BENCH_CFLAGS) -std=gnu11 -D_GNU_SOURCE -I. -o $@ $^ -lm
bench-reading: $(bench_tool) $(BUILD)/bench/reading/large
	$(PYTHON) benchmarks/reading/reading.py --build $(BUILD)/bench/reading --command $(BUILD)/bin/blame $(BENCH_ARGS)

bench-micro: $(bench_micro) $(bench_noop) $(bench_tool)
	$(call bench_run,micro/micro.py) $(BENCH_ARGS)

$(BUILD)/bench:
	mkdir -p $@

define bench_rule
$(BUILD)/bench/%: benchmarks/$(1)/%.c | $(BUILD)/bench
	$$(BENCH_CC) $$(BENCH_CFLAGS) -fopenmp -MMD -MP -MF $$@.d -o $$@ $$< -lm
endef
$(foreach folder,npb bots locks micro,$(eval $(call bench_rule,$(folder))))

$(bench_noop): benchmarks/noop/noop.c | $(BUILD)/bench bench-ompt-header
	$(BENCH_CC) $(BENCH_CFLAGS) -fPIC -shared -fvisibility=hidden -I$(BUILD)/include -o $@ $<

# This is not a rule for the header itself, because the top-level Makefile may have one. The folder contains only
# this header, because GCC must not find clang's stddef.h beside it.
bench-ompt-header:
	@test -e $(BUILD)/include/omp-tools.h || { \
	    for dir in "$$($(CLANG) -print-resource-dir 2>/dev/null)/include" \
	        /usr/lib/llvm-*/lib/clang/*/include; do \
	        if test -e "$$dir/omp-tools.h"; then \
	            mkdir -p $(BUILD)/include && ln -sf "$$dir/omp-tools.h" $(BUILD)/include/omp-tools.h; exit; \
	        fi; \
	    done; \
	    echo "omp-tools.h not found: install libomp-19-dev, or set CLANG" >&2; exit 1; }

include benchmarks/mpi/mpi.mk

# How other users' load on the machine changes the figures (docs/testing.md).
ifeq ($(bench_alone),)
.PHONY: bench-load
bench-load: $(PRODUCTS) test-programs accuracy-programs
	BUILD=$(BUILD) $(PYTHON) benchmarks/load.py --tool $(bench_library) $(BENCH_ARGS)
endif

# Idleness beside code and beside missing cores, against the kernel's trace of the same runs (docs/accounting.md). Needs root.
.PHONY: bench-traced
bench-traced: $(bench_tool) $(BUILD)/lib/libblame-gomp.so
	@mkdir -p $(BUILD)/bench
	gcc $(BENCH_CFLAGS) -fopenmp -o $(BUILD)/bench/ready benchmarks/traced/ready.c
	BUILD=$(BUILD) $(PYTHON) benchmarks/traced/traced.py $(BENCH_ARGS)

-include $(addsuffix .d,$(bench_kernels) $(bench_micro))

.DEFAULT_GOAL := $(if $(bench_alone),bench-build,$(bench_goal_before))
