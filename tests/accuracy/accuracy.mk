# How accurate is blame? Included by the Makefile, behind tests/tests.mk.
#   make accuracy                             some 9 minutes; nothing should run beside it. Rewrites the figures of docs/testing.md, and tests/accuracy/results.md
#   make accuracy ACCURACY_ARGS='-n 3 -k for'  a few cases, no document changes: tests/accuracy/accuracy.py --help
#   make accuracy ACCURACY_ARGS=--gcc         the same programs built by GCC, on libgomp; no document changes
#   make resonance                            the program that keeps time with the clock, at four rates: some 4 minutes
#   make mpi-accuracy                         whom ranks wait for, as the program clocks it
#   make accuracy-unit                        the statistics and the chart writer, part of make test

ACCURACY_PROGRAMS := $(BUILD)/accuracy/waits $(BUILD)/accuracy/handoff $(BUILD)/accuracy/threads
ACCURACY_ARGS ?=
RESONANCE_ARGS ?=
TEST_STAGES += $(if $(SAN),,accuracy-unit)

.PHONY: accuracy resonance accuracy-programs accuracy-unit
accuracy-programs: $(ACCURACY_PROGRAMS)

# The cases of cases.py. Linked after they are compiled, so that one rule serves programs of two folders.
ACCURACY_GCC := $(patsubst %,$(BUILD)/accuracy/%_gcc,waits handoff $(shell sed -n 's/.*shared("\([a-z_0-9]*\)").*/\1/p' tests/accuracy/cases.py | sort -u))
$(ACCURACY_GCC): $(BUILD)/accuracy/%_gcc: tests/programs/analytic.h
	@mkdir -p $(@D)
	$(TEST_GCC) $(TEST_CFLAGS) -o $@ $(firstword $(wildcard tests/accuracy/$*.c tests/programs/$*.c)) $(TEST_LIBS)

$(filter-out %/threads,$(ACCURACY_PROGRAMS)): $(BUILD)/accuracy/%: tests/accuracy/%.c tests/programs/analytic.h
	@mkdir -p $(@D)
	$(CLANG) $(TEST_CFLAGS) -o $@ $<

$(BUILD)/accuracy/threads: tests/accuracy/threads.c tests/programs/analytic.h
	@mkdir -p $(@D)
	$(CLANG) $(filter-out -fopenmp%,$(TEST_CFLAGS)) -pthread -o $@ $<

accuracy: $(PRODUCTS) test-programs accuracy-programs $(if $(findstring --gcc,$(ACCURACY_ARGS)),$(ACCURACY_GCC))
	@BUILD=$(BUILD) $(PYTHON) tests/accuracy/accuracy.py $(ACCURACY_ARGS)

resonance: $(PRODUCTS) $(BUILD)/tests/in_step
	@BUILD=$(BUILD) $(PYTHON) tests/accuracy/resonance.py $(RESONANCE_ARGS)

.PHONY: mpi-accuracy
MPI_ACCURACY_ARGS ?=
mpi-accuracy: $(PRODUCTS) $(TEST_MPI:%=$(BUILD)/tests/mpi_whose_%)
	@BUILD=$(BUILD) $(PYTHON) -B tests/accuracy/mpi_accuracy.py $(MPI_ACCURACY_ARGS)

accuracy-unit:
	@$(PYTHON) tests/behaviour/run.py --without-tool tests/accuracy
