# What the runtime tells its tools, construct by construct. Included by tests/tests.mk.
#   make events-test     each construct, of four compilers, GCC's on both runtimes, and as the simulator plays it, against tests/events/expected.txt;
#                        and that GCC's programs do the same with the provider of layers/gomp/ as without it
#   make events-update   writes expected.txt from what was recorded
EVENTS_BIN := $(BUILD)/events
EVENTS_FLAGS := -O2 -g -fopenmp -std=gnu11 -D_GNU_SOURCE $(TEST_WARN)
EVENTS_PROGRAMS := $(addprefix $(EVENTS_BIN)/,regions_clang regions_gcc tasks_clang tasks_gcc fortran_flang fortran_gfortran \
	provided_gcc provided_cxx_gcc \
	record.so libgomp/libgomp.so.1) $(GOMP_LAYER)

.PHONY: events-test events-update
events-test: $(EVENTS_PROGRAMS) $(BUILD)/simulator/simulate
	@BUILD=$(BUILD) $(PYTHON) -B tests/events/run.py $(EVENTS_ARGS)
	@BUILD=$(BUILD) $(PYTHON) -B tests/events/provided.py $(EVENTS_ARGS)

events-update: $(EVENTS_PROGRAMS)
	@BUILD=$(BUILD) $(PYTHON) -B tests/events/run.py --update

$(EVENTS_BIN)/record.so: tests/events/record.c | $(BUILD)/include/omp-tools.h
	@mkdir -p $(@D)
	$(CC) -O2 -g -std=gnu11 -D_GNU_SOURCE $(TEST_WARN) -shared -fPIC -fvisibility=hidden -I$(BUILD)/include -o $@ $< -Wl,-z,nodelete

$(EVENTS_BIN)/%_clang: tests/events/%.c tests/events/team.h
	@mkdir -p $(@D)
	$(CLANG) $(EVENTS_FLAGS) -o $@ $<

$(EVENTS_BIN)/%_gcc: tests/events/%.c tests/events/team.h
	@mkdir -p $(@D)
	$(TEST_GCC) $(EVENTS_FLAGS) -o $@ $<

$(EVENTS_BIN)/%_gcc: tests/events/%.cc
	@mkdir -p $(@D)
	$(TEST_GXX) -O2 -g -fopenmp $(TEST_WARN) -o $@ $<

# Each compiler has its own modules.
$(EVENTS_BIN)/fortran_flang: tests/events/fortran.f90
	@mkdir -p $(@D)/flang.mod
	$(COVERAGE_FLANG) -O2 -g -fopenmp -module-dir $(@D)/flang.mod -o $@ $<

$(EVENTS_BIN)/fortran_gfortran: tests/events/fortran.f90
	@mkdir -p $(@D)/gfortran.mod
	$(COVERAGE_GFORTRAN) -O2 -g -fopenmp -J$(@D)/gfortran.mod -o $@ $<

# What gcc's programs find instead of their own runtime.
$(EVENTS_BIN)/libgomp/libgomp.so.1:
	@mkdir -p $(@D)
	ln -sf $$($(CLANG) -print-file-name=libomp.so.5) $@
