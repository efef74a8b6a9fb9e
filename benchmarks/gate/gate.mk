# The gate compares the instructions of the callbacks and of the signal handler with a budget. The Makefile includes this file after tests/tests.mk.
#   make gate           part of make test
#   make gate-accept    makes the current counts the new budget
#   make bench-handler   time of one sample in ns; needs a quiet machine
#   make gate GATE_ARGS='--repeat 10'    checks that the counts are the same in every run
#   make gate GATE_ARGS='--functions "sample WORK"'    shows the functions that execute the instructions

GATE_PARTS := $(addprefix $(BUILD)/gate/,libblame.so libfake.so gate libblame-gomp.so operations)
GATE_FLAGS := -std=gnu11 -D_GNU_SOURCE $(WARNINGS) -O2 -I. -I$(BUILD)/include -MMD -MP
GATE_ARGS ?=
TEST_BUILT += $(if $(SAN),,$(GATE_PARTS))
TEST_STAGES += $(if $(SAN),,gate)

.PHONY: gate gate-accept
gate: $(GATE_PARTS) $(bench_noop)
	@$(PYTHON) -B benchmarks/gate/test_gate.py
	@$(PYTHON) -B benchmarks/gate/gate.py --build $(BUILD)/gate --tool $(BUILD)/gate/libblame.so --floor $(bench_noop) \
	    --object $(BUILD)/ompt_tool/callbacks.o --flags '$(strip $(CFLAGS))' $(GATE_ARGS)

gate-accept:
	@+$(MAKE) --no-print-directory gate GATE_ARGS=--accept

.PHONY: bench-handler
TIMES_ARGS ?=
bench-handler: $(GATE_PARTS) $(BUILD)/gate/times
	@$(PYTHON) -B benchmarks/gate/times.py --build $(BUILD)/gate --tool $(BUILD)/gate/libblame.so $(TIMES_ARGS)

# The copies have no debug information, because valgrind 3.19 cannot read what clang 19 writes.
$(BUILD)/gate/libblame.so $(BUILD)/gate/libblame-gomp.so: $(BUILD)/gate/%: $(BUILD)/lib/%
	@mkdir -p $(@D)
	objcopy --strip-debug $< $@

$(BUILD)/gate/operations: benchmarks/gate/operations.c
	@mkdir -p $(@D)
	$(TEST_GCC) -O2 -fopenmp $(TEST_WARN) -o $@ $<

$(BUILD)/gate/libfake.so: benchmarks/gate/fake_runtime.c tests/simulator/played.c $(wildcard benchmarks/gate/*.h) tests/simulator/played.h | $(BUILD)/include/omp-tools.h
	@mkdir -p $(@D)
	$(CC) $(filter-out -MMD -MP,$(GATE_FLAGS)) -fPIC -fvisibility=hidden -ftls-model=initial-exec -shared -Wl,-soname,libfake.so \
	    -o $@ $(filter %.c,$^) -pthread

# -rdynamic lets the tool find the program's clock_gettime and _r_debug.
$(BUILD)/gate/gate: benchmarks/gate/gate.c $(BUILD)/gate/libfake.so
	$(CC) $(GATE_FLAGS) -rdynamic -o $@ $(filter %.c %.so,$^) -Wl,-rpath,'$$ORIGIN' -pthread

$(BUILD)/gate/times: benchmarks/gate/times.c $(BUILD)/gate/libfake.so
	$(CC) $(GATE_FLAGS) -o $@ $(filter %.c %.so,$^) -Wl,-rpath,'$$ORIGIN' -pthread
