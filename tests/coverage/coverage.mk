# Programs of the coverage table, and the table. Included by tests/tests.mk.
#   make coverage         all compilers and runtimes; writes tests/coverage/results.md (some five minutes, on a quiet machine)
#   make coverage-waits   the share of waiting for other threads whose waker or holder is named
#   make coverage-quick   clang on the newest libomp, and gcc on its libgomp: a stage of `make test`
# NAME is built by clang, NAME_gcc by gcc. A program that a compiler refuses is not there, its message is in NAME.log:
# the runner shows it and decides whether that is known.
COVERAGE_SOURCE := tests/coverage
COVERAGE_BIN := $(BUILD)/coverage
COVERAGE_C := $(patsubst $(COVERAGE_SOURCE)/%.c,%,$(filter-out %/fortran_shim.c,$(wildcard $(COVERAGE_SOURCE)/*.c)))
COVERAGE_HEADERS := $(wildcard $(COVERAGE_SOURCE)/*.h) $(TEST_SOURCE)/analytic.h
COVERAGE_FLANG ?= flang-new-19
COVERAGE_GFORTRAN ?= gfortran
COVERAGE_CFLAGS := -O2 -g -fopenmp -std=gnu11 -D_GNU_SOURCE $(TEST_WARN)
# What clang calls for atomic updates that are too wide for an instruction.
COVERAGE_LIBS := -Wl,--as-needed -latomic
# One program a construct: what a compiler lacks must not take the others with it.
COVERAGE_FORTRAN := $(shell sed -n 's/^\#ifdef WITH_\([a-z_]*\)$$/\1/p' $(wildcard $(COVERAGE_SOURCE)/fortran.F90))

COVERAGE_QUICK := $(COVERAGE_C:%=$(COVERAGE_BIN)/%) $(COVERAGE_C:%=$(COVERAGE_BIN)/%_gcc)
COVERAGE_ALL := $(COVERAGE_QUICK) $(BUILD)/events/record.so $(COVERAGE_FORTRAN:%=$(COVERAGE_BIN)/f_%_flang) \
	$(COVERAGE_FORTRAN:%=$(COVERAGE_BIN)/f_%_gfortran)
COVERAGE_TRY = rm -f $@; $(1) >$@.log 2>&1 || echo "coverage: $(notdir $@) not built: $$(grep -m 1 -E 'error|undefined' $@.log)"

TEST_BUILT += $(if $(SAN),,coverage-quick-programs)

.PHONY: coverage coverage-waits coverage-quick coverage-programs coverage-quick-programs
coverage: $(PRODUCTS) coverage-programs
	@BUILD=$(BUILD) $(PYTHON) tests/coverage/run.py -j 1 --table tests/coverage/results.md

coverage-quick: $(PRODUCTS) coverage-quick-programs
	@BUILD=$(BUILD) $(PYTHON) tests/coverage/run.py --quick

coverage-waits: $(PRODUCTS) $(TEST_BIN)/wakes $(TEST_BIN)/std_waits $(TEST_BIN)/posix_locks
	@BUILD=$(BUILD) $(PYTHON) tests/coverage/waits.py | tee tests/coverage/waits.md

coverage-programs: $(COVERAGE_ALL)
coverage-quick-programs: $(COVERAGE_QUICK)

$(COVERAGE_BIN):
	mkdir -p $@

$(COVERAGE_C:%=$(COVERAGE_BIN)/%): $(COVERAGE_BIN)/%: $(COVERAGE_SOURCE)/%.c $(COVERAGE_HEADERS) | $(COVERAGE_BIN)
	@$(call COVERAGE_TRY,$(CLANG) $(COVERAGE_CFLAGS) -o $@ $< $(TEST_LIBS) $(COVERAGE_LIBS))

$(COVERAGE_C:%=$(COVERAGE_BIN)/%_gcc): $(COVERAGE_BIN)/%_gcc: $(COVERAGE_SOURCE)/%.c $(COVERAGE_HEADERS) | $(COVERAGE_BIN)
	@$(call COVERAGE_TRY,$(TEST_GCC) $(COVERAGE_CFLAGS) -o $@ $< $(TEST_LIBS) $(COVERAGE_LIBS))

# Each compiler has its own modules, and its own OpenMP runtime for the shim.
$(COVERAGE_BIN)/shim_flang.o: $(COVERAGE_SOURCE)/fortran_shim.c $(COVERAGE_HEADERS) | $(COVERAGE_BIN)
	@$(CLANG) $(COVERAGE_CFLAGS) -c -o $@ $<

$(COVERAGE_BIN)/shim_gfortran.o: $(COVERAGE_SOURCE)/fortran_shim.c $(COVERAGE_HEADERS) | $(COVERAGE_BIN)
	@$(TEST_GCC) $(COVERAGE_CFLAGS) -c -o $@ $<

$(COVERAGE_BIN)/shares_flang.o: $(COVERAGE_SOURCE)/fortran_shares.f90 | $(COVERAGE_BIN)
	@mkdir -p $(COVERAGE_BIN)/flang.mod
	@$(call COVERAGE_TRY,$(COVERAGE_FLANG) -O2 -g -fopenmp -module-dir $(COVERAGE_BIN)/flang.mod -c -o $@ $<)

$(COVERAGE_BIN)/shares_gfortran.o: $(COVERAGE_SOURCE)/fortran_shares.f90 | $(COVERAGE_BIN)
	@mkdir -p $(COVERAGE_BIN)/gfortran.mod
	@$(call COVERAGE_TRY,$(COVERAGE_GFORTRAN) -O2 -g -fopenmp -J$(COVERAGE_BIN)/gfortran.mod -c -o $@ $<)

$(COVERAGE_FORTRAN:%=$(COVERAGE_BIN)/f_%_flang): $(COVERAGE_BIN)/f_%_flang: $(COVERAGE_SOURCE)/fortran.F90 \
	$(COVERAGE_BIN)/shim_flang.o $(COVERAGE_BIN)/shares_flang.o
	@$(call COVERAGE_TRY,$(COVERAGE_FLANG) -O2 -g -fopenmp -DWITH_$* -I$(COVERAGE_BIN)/flang.mod -o $@ $^)

$(COVERAGE_FORTRAN:%=$(COVERAGE_BIN)/f_%_gfortran): $(COVERAGE_BIN)/f_%_gfortran: $(COVERAGE_SOURCE)/fortran.F90 \
	$(COVERAGE_BIN)/shim_gfortran.o $(COVERAGE_BIN)/shares_gfortran.o
	@$(call COVERAGE_TRY,$(COVERAGE_GFORTRAN) -O2 -g -fopenmp -DWITH_$* -I$(COVERAGE_BIN)/gfortran.mod -o $@ $^)
