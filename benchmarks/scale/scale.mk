# What blame costs when there is much of something. Included by benchmarks/bench.mk within the top-level Makefile.
#   make bench-scale                                    some minutes
#   make bench-scale SCALE_ARGS='--parts tree'          one part

SCALE_PROGRAMS := $(addprefix $(BUILD)/scale/,tree modules regions)
SCALE_FLAGS := -std=gnu11 -D_GNU_SOURCE $(WARNINGS) -O2 -I. -MMD -MP
SCALE_ARGS ?=

.PHONY: bench-scale
bench-scale: $(SCALE_PROGRAMS) $(BUILD)/scale/module.so $(addprefix $(BUILD)/bench/,cg fib) $(bench_noop) $(LIBRARY) $(BUILD)/simulator/simulate
	$(PYTHON) -B benchmarks/scale/scale.py --simulator $(BUILD)/simulator/simulate --programs $(BUILD)/scale --build $(BUILD)/bench --tool $(LIBRARY) \
	    --out $(BUILD)/scale.csv $(SCALE_ARGS)

$(BUILD)/scale/tree $(BUILD)/scale/modules: $(BUILD)/scale/%: benchmarks/scale/%.c $(call objects,$(BASE) $(CCT) $(wildcard unwind/*.c))
	@mkdir -p $(@D)
	$(CC) $(SCALE_FLAGS) -o $@ $(filter %.c %.o,$^) -Wl,--as-needed $(PLUGIN_LIBS) -pthread -ldl

$(BUILD)/scale/regions: benchmarks/scale/regions.c
	@mkdir -p $(@D)
	$(BENCH_CC) $(BENCH_CFLAGS) -fopenmp -o $@ $<

$(BUILD)/scale/module.so: benchmarks/scale/module.c
	@mkdir -p $(@D)
	$(CC) -O2 -fPIC -shared -o $@ $<
