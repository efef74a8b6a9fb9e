# Benchmarks: included by the top-level Makefile, or on its own from the repository's root:
#   make -f benchmarks/bench.mk bench-build
# BENCH_CC=gcc BUILD=build-gcc builds the kernels with GCC (then on libgomp, which has no OMPT).

BUILD ?= build
CLANG ?= clang-19
PYTHON ?= python3
BENCH_CC ?= $(CLANG)
BENCH_CFLAGS ?= -O2 -g -Wall -Wextra -Werror
BENCH_ARGS ?=

# Asked before the dependency files below join the list.
bench_alone := $(if $(word 2,$(MAKEFILE_LIST)),,alone)
# Neither take over nor lose the default goal of the including Makefile.
bench_goal_before := $(.DEFAULT_GOAL)

bench_kernels := $(addprefix $(BUILD)/bench/,cg mg ep is fib nqueens sparselu sort uts health mortar)
bench_noop := $(BUILD)/bench/libnoop.so
bench_startup := $(addprefix $(BUILD)/bench/,region launch)
bench_micro := $(BUILD)/bench/micro
bench_library := $(BUILD)/lib/libblame.so
# On its own this fragment has no rule for the tool: bench.py then says that the column is missing.
bench_tool := $(if $(bench_alone),$(wildcard $(bench_library)),$(bench_library))

.PHONY: bench-build bench bench-quick bench-startup bench-micro bench-ompt-header

bench-build: $(bench_kernels) $(bench_noop) $(bench_startup) $(bench_micro)

bench: bench-build $(bench_tool)
	$(PYTHON) benchmarks/bench.py --build $(BUILD)/bench --tool $(bench_library) $(BENCH_ARGS)

bench-quick: bench-build $(bench_tool)
	$(PYTHON) benchmarks/bench.py --quick --build $(BUILD)/bench --tool $(bench_library) \
	    --out $(BUILD)/bench/quick.csv $(BENCH_ARGS)

bench-startup: bench-build $(bench_tool)
	$(PYTHON) benchmarks/startup.py --build $(BUILD)/bench --tool $(bench_library) $(BENCH_ARGS)

bench-micro: $(bench_micro) $(bench_noop) $(bench_tool)
	$(PYTHON) benchmarks/micro/micro.py --build $(BUILD)/bench --tool $(bench_library) $(BENCH_ARGS)

bench_probes := $(BUILD)/bench/probes

.PHONY: bench-probes
bench-probes: $(bench_probes) $(bench_noop) $(bench_tool)
	$(PYTHON) benchmarks/probes/probes.py --build $(BUILD)/bench --tool $(bench_library) $(BENCH_ARGS)

# The same kernels as they are, and telling their phases.
bench_hybrid := $(addprefix $(BUILD)/bench/phases/,cg mg ep is sparselu)

.PHONY: bench-hybrid
bench-hybrid: bench-build $(bench_hybrid) $(bench_tool)
	$(PYTHON) benchmarks/probes/hybrid.py --build $(BUILD)/bench --tool $(bench_library) $(BENCH_ARGS)

# Not alone: it runs the command.
.PHONY: bench-stacks
bench-stacks: $(BUILD)/bench/stack_sweep $(PRODUCTS)
	$(PYTHON) benchmarks/stacks/stacks.py --program $(BUILD)/bench/stack_sweep --command $(BUILD)/bin/blame $(BENCH_ARGS)

$(BUILD)/bench/stack_sweep: benchmarks/stacks/sweep.c
	@mkdir -p $(@D)
	$(BENCH_CC) $(BENCH_CFLAGS) -fopenmp -o $@ $<

# Instructions of small constructs, or with BENCH_ARGS=--kernels of kernels.
bench_instructions := $(addprefix $(BUILD)/bench/,constructs slow_time.so uts fib nqueens health)

.PHONY: bench-instructions
bench-instructions: $(bench_instructions) $(bench_noop) $(bench_tool)
	$(PYTHON) benchmarks/instructions/instructions.py --build $(BUILD)/bench --tool $(bench_library) $(BENCH_ARGS)

# Without debug information, as in gate.mk.
$(BUILD)/bench/constructs: benchmarks/instructions/constructs.c | $(BUILD)/bench
	$(BENCH_CC) $(BENCH_CFLAGS) -g0 -fopenmp -o $@ $<

$(BUILD)/bench/slow_time.so: benchmarks/instructions/slow_time.c | $(BUILD)/bench
	$(BENCH_CC) $(BENCH_CFLAGS) -shared -fPIC -o $@ $<

# What findings say of time where nothing changes.
.PHONY: bench-alarms
bench-alarms: bench-build $(bench_hybrid) $(PRODUCTS)
	$(PYTHON) benchmarks/alarms.py --build $(BUILD)/bench --command $(BUILD)/bin/blame $(BENCH_ARGS)

$(BUILD)/bench:
	mkdir -p $@

$(BUILD)/bench/%: benchmarks/npb/%.c | $(BUILD)/bench
	$(BENCH_CC) $(BENCH_CFLAGS) -fopenmp -MMD -MP -MF $@.d -o $@ $< -lm

$(BUILD)/bench/%: benchmarks/bots/%.c | $(BUILD)/bench
	$(BENCH_CC) $(BENCH_CFLAGS) -fopenmp -MMD -MP -MF $@.d -o $@ $< -lm

$(BUILD)/bench/%: benchmarks/locks/%.c | $(BUILD)/bench
	$(BENCH_CC) $(BENCH_CFLAGS) -fopenmp -MMD -MP -MF $@.d -o $@ $< -lm

$(BUILD)/bench/phases/%: benchmarks/npb/%.c include/blame.h
	@mkdir -p $(@D)
	$(BENCH_CC) $(BENCH_CFLAGS) -fopenmp -I. -DKERNEL_PHASES -MMD -MP -MF $@.d -o $@ $< -lm

$(BUILD)/bench/phases/%: benchmarks/bots/%.c include/blame.h
	@mkdir -p $(@D)
	$(BENCH_CC) $(BENCH_CFLAGS) -fopenmp -I. -DKERNEL_PHASES -MMD -MP -MF $@.d -o $@ $< -lm

$(BUILD)/bench/region: benchmarks/startup/region.c | $(BUILD)/bench
	$(BENCH_CC) $(BENCH_CFLAGS) -fopenmp -o $@ $<

$(bench_probes): benchmarks/probes/probes.c include/blame.h | $(BUILD)/bench
	$(BENCH_CC) $(BENCH_CFLAGS) -fopenmp -I. -o $@ $<

$(bench_micro): benchmarks/micro/micro.c | $(BUILD)/bench
	$(BENCH_CC) $(BENCH_CFLAGS) -fopenmp -o $@ $<

# Without OpenMP: what it starts must be the only program that loads a tool.
$(BUILD)/bench/launch: benchmarks/startup/launch.c | $(BUILD)/bench
	$(BENCH_CC) $(BENCH_CFLAGS) -o $@ $<

$(bench_noop): benchmarks/noop/noop.c | $(BUILD)/bench bench-ompt-header
	$(BENCH_CC) $(BENCH_CFLAGS) -fPIC -shared -fvisibility=hidden -I$(BUILD)/include -o $@ $<

# Not a rule for the file itself: the top-level Makefile may have one. A folder with this header alone,
# because GCC must not find clang's stddef.h beside it.
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
ifeq ($(bench_alone),)
include benchmarks/scale/scale.mk
include benchmarks/jobs/jobs.mk
include benchmarks/report/report.mk
include benchmarks/learn/learn.mk
include benchmarks/trials/trials.mk
include benchmarks/load/load.mk
endif

-include $(addsuffix .d,$(bench_kernels))

.DEFAULT_GOAL := $(if $(bench_alone),bench-build,$(bench_goal_before))
