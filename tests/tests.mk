# The tests. Included by the Makefile.
#   make unit        tests/unit/test_*.c, each a cmocka program
#   make checks      layers, handler, loops, tags, sizes, imports, floating point: scripts/check-*
#   make fuzz        tests/fuzz/fuzz_*.c under AddressSanitizer and UndefinedBehaviorSanitizer
#   make behaviour   OpenMP programs under the tool: events and structure, no time
#   make events-test what libomp tells its tools, construct by construct (tests/events)
#   make export-test exported profiles, read by other programs (tests/export)
#   make lab-test    the laboratory's statistics, over seeds (tests/lab); LAB_SEEDS=10: ten times as many
#   make debian      unmodified Debian programs under the tool
#   make test        installs what is missing, builds, and runs all of them
# SAN=address|undefined|thread make test: the unit tests with that sanitizer, and fuzz with SAN=address.

# ThreadSanitizer delivers signals later and elsewhere: no place to test what happens where they hit.
UNIT_SOURCES := $(filter-out $(if $(filter thread,$(SAN)),tests/unit/test_restart%),$(sort $(wildcard tests/unit/test_*.c)))
# Readers with sanitizers, in a build of their own; whole commands as they are built, since that many objects take minutes: make fuzz-guided has them with sanitizers.
FUZZ_WHOLE := tests/fuzz/fuzz_commands.c tests/fuzz/fuzz_binaries.c
FUZZ_SOURCES := $(if $(FUZZ_ONLY),$(filter-out $(FUZZ_WHOLE),$(sort $(wildcard tests/fuzz/fuzz_*.c))),$(FUZZ_WHOLE))
# By hand more: make fuzz FUZZ_MUTATIONS=1000000 FUZZ_SEED=2
FUZZ_MUTATIONS ?= 2000
FUZZ_SEED ?= 1

# Some of them side by side (tests/run.py), the longest first: those that TEST_LONG names, then the others.
TEST_LONG := behaviour html-test simulate export-test
TEST_STAGES := $(if $(SAN),unit $(if $(filter address,$(SAN)),fuzz),behaviour export-test unit debian fuzz coverage-quick checks events-test lab-test fuzz-whole)
TEST_JOBS ?= $(shell nproc)
, := ,

# A first finding ends the program with a status that the runner sees.
export ASAN_OPTIONS ?= detect_leaks=0:detect_stack_use_after_return=0
export UBSAN_OPTIONS ?= print_stacktrace=1

.PHONY: checks fuzz fuzz-whole behaviour debian unit-programs fuzz-programs unit-run fuzz-run

# Libraries that test_loadmap, test_lifetimes and test_unwind_edges load: linked as linkers lay them out; other builds
# differ in nothing but a number.
UNIT_LIBRARIES := $(addprefix $(BUILD)/unit/,loaded.so loaded_based.so loaded_joined.so loaded_noheader.so \
	loaded_other.so loaded_plain.so loaded_plain_other.so)
$(BUILD)/unit/loaded_other.so: LAYOUT := -DADDED=2
$(BUILD)/unit/loaded_plain.so: LAYOUT := -Wl,--build-id=none
$(BUILD)/unit/loaded_plain_other.so: LAYOUT := -DADDED=2 -Wl,--build-id=none
$(BUILD)/unit/loaded_based.so: LAYOUT := -Wl,-Ttext-segment=0x400000
$(BUILD)/unit/loaded_joined.so: LAYOUT := -Wl,-z,noseparate-code
$(BUILD)/unit/loaded_noheader.so: LAYOUT := -Wl,--no-eh-frame-hdr
$(UNIT_LIBRARIES): tests/unit/loaded_lib.c tests/tests.mk
	@mkdir -p $(@D)
	$(CC) -O2 -g -fPIC -shared -nostartfiles $(LAYOUT) -o $@ $<

# All of the product in an archive: a test takes from it what it calls, and what its own file or its fakes define is not
# taken from there.
UNITS := $(BUILD)/units.a
# The tests' own code runs once: to compile it fast is worth more. GCC does not merge equal strings then by itself. One test walks
# through its own optimised code.
$(BUILD)/tests/unit/%.o: ALL_CFLAGS += -O0 $(if $(findstring clang,$(CC)),,-fmerge-constants)
$(BUILD)/tests/unit/test_loops_walks.o: ALL_CFLAGS += -O1
UNITS_OBJECTS := $(call objects,$(if $(FUZZ_ONLY),$(filter-out command/cli/main.c,$(COMMAND)),$(sort $(PLUGIN) $(COMMAND)))) $(EXPORT_OBJECTS)
ifeq ($(FUZZ_ONLY),readers)
UNITS_OBJECTS := $(call objects,$(filter base/% cct/% command/export/folded.c $(addprefix command/,profile/% symbols/% rows/% findings/% views/% tables/% files/% text/%),$(COMMAND)))
endif
# libunwind has functions of libgcc's names, which forced unwinding must not get (test_restart_signals: cancellation).
UNIT_LIBS = -Wl,--as-needed -lgcc_s $(PLUGIN_LIBS) $(COMMAND_LIBS)
$(UNITS): $(UNITS_OBJECTS)
	@rm -f $@
	@ar rcs $@ $^

include tests/differential/differential.mk

# Rules that come from the sources' first lines: only where they are asked for.
ifneq ($(filter unit-run unit-programs fuzz-run fuzz-programs,$(MAKECMDGOALS)),)
$(BUILD)/unit-rules.mk: $(UNIT_SOURCES) tests/rules.py
	@mkdir -p $(@D)
	@$(PYTHON) tests/rules.py unit UNIT_PROGRAMS $(UNIT_SOURCES) > $@
$(BUILD)/fuzz-rules.mk: $(FUZZ_SOURCES) tests/rules.py
	@mkdir -p $(@D)
	@$(PYTHON) tests/rules.py fuzz FUZZ_PROGRAMS $(FUZZ_SOURCES) > $@
include $(BUILD)/unit-rules.mk $(BUILD)/fuzz-rules.mk
endif

unit-programs: $(UNIT_PROGRAMS)
fuzz-programs: $(FUZZ_PROGRAMS)

# UNIT='test_tree test_arena' runs these only. A program that cannot be built fails; the others run all the same.
unit-run: $(if $(UNIT),$(UNIT:%=$(BUILD)/unit/%))
	@BUILD=$(BUILD) $(PYTHON) tests/run.py unit $(if $(UNIT),$(UNIT:%=$(BUILD)/unit/%),$(UNIT_PROGRAMS))

unit:
	@+$(if $(UNIT),,$(MAKE) --no-print-directory -k unit-programs || true)
	@+$(MAKE) --no-print-directory unit-run

fuzz-run: fuzz-programs
	@$(PYTHON) tests/run.py commands $(FUZZ_PROGRAMS:%='% $(FUZZ_MUTATIONS) $(FUZZ_SEED)')

# What reads files alone, with lines for the sanitizers' traces; more optimisation takes longer than it saves.
FUZZ_BUILD := SAN=address$(,)undefined BUILD=$(BUILD)-fuzz CFLAGS='-O1 -g1 -fsanitize=float-cast-overflow' FUZZ_ONLY=readers

fuzz:
	@+$(MAKE) --no-print-directory fuzz-run $(FUZZ_BUILD)

fuzz-whole:
	@+$(MAKE) --no-print-directory fuzz-run
TEST_BUILT += $(if $(SAN),,fuzz-programs)

# The handler's walk needs one section a function, and to see every call.
CHECK_SOURCES := $(PLUGIN)
CHECK_OBJECTS := $(CHECK_SOURCES:%.c=$(BUILD)/check/%.o)

$(BUILD)/check/%.o: %.c | $(BUILD)/include/omp-tools.h
	@mkdir -p $(@D)
	@$(CC) $(ALL_CFLAGS) -g0 -ffunction-sections -fdata-sections -fno-inline -c -o $@ $<

CHECKS := 'scripts/check-layers.py $(BUILD)' 'scripts/check-layers.py --self-test' \
    'scripts/check-sizes.py' 'scripts/check-sizes.py --self-test' \
    'scripts/check-handler.py $(BUILD)/check' 'scripts/check-handler.py --self-test' \
    'scripts/check-loops.py $(BUILD)/check' 'scripts/check-loops.py --self-test' \
    'scripts/check-tags.py $(BUILD)/check' 'scripts/check-tags.py --self-test' \
    'scripts/check-float.py $(LIBRARY) $(LOADER) $(MPI_LAYER) $(PTHREADS_LAYER) $(GOMP_LAYER) $(GOMP_RUN)' 'scripts/check-float.py --self-test' \
    'scripts/check-imports.py $(BUILD)' 'scripts/check-imports.py --self-test' \
    'scripts/check-old-glibc.py $(BUILD) $(CC)' 'scripts/check-old-glibc.py --self-test $(CC)' \
    'scripts/check-docs.py' 'scripts/check-docs.py --self-test' scripts/check-format.sh

.PHONY: check-objects
check-objects: $(CHECK_OBJECTS)
TEST_BUILT += $(if $(SAN),,check-objects)

# The walk reads all objects that are there: not those of sources that have gone.
checks: $(CHECK_OBJECTS) $(PRODUCTS)
	@rm -f $(filter-out $(CHECK_OBJECTS),$(shell find $(BUILD)/check -name '*.o'))
	@$(PYTHON) tests/run.py commands $(CHECKS)

test-programs: $(bench_mpi)
$(BUILD)/tests/tool_inside_gcc: | $(BUILD)/include/omp-tools.h

behaviour: $(PRODUCTS) test-programs
	@BUILD=$(BUILD) $(PYTHON) tests/behaviour/run.py

include tests/events/events.mk
include tests/coverage/coverage.mk
include tests/export/export.mk

# In the interpreter that has the packages which scripts/setup.sh installs.
.PHONY: lab-test
lab-test: $(PRODUCTS)
	@BUILD=$(BUILD) /usr/bin/python3 -B tests/behaviour/run.py tests/lab

debian: $(PRODUCTS)
	@BUILD=$(BUILD) $(PYTHON) tests/behaviour/run.py tests/debian

# All is built first, by all cores; what cannot be built fails in its stage.
test:
	@scripts/setup.sh
	@+$(if $(SAN),,$(MAKE) --no-print-directory -j$(TEST_JOBS) all test-programs)
	@+$(MAKE) --no-print-directory -k -j$(TEST_JOBS) unit-programs $(TEST_BUILT) || true
	@+$(if $(filter fuzz,$(TEST_STAGES)),$(MAKE) --no-print-directory -k -j$(TEST_JOBS) fuzz-programs $(FUZZ_BUILD) || true)
	@+$(PYTHON) tests/run.py stages '$(MAKE)' $(foreach stage,$(TEST_LONG),$(filter $(stage),$(TEST_STAGES))) $(filter-out $(TEST_LONG),$(TEST_STAGES))

# By hand, for hours if need be; NAME_ARGS are its arguments:
#   churn    does anything grow while threads, libraries and processes come and go?
#   kills    programs that are killed or stopped at random moments
#   limits   programs under limits and refusals of every kind, without the tool and with it
#   installed  installed programs without OpenMP, without the tool and with it
BY_HAND := churn kills limits installed
.PHONY: $(BY_HAND)
$(BY_HAND): $(PRODUCTS) test-programs
	@BUILD=$(BUILD) nice $(PYTHON) -B tests/$@.py $($(shell echo $@ | tr a-z A-Z)_ARGS)

include tests/fuzz/guided.mk
