# Builds the programs of the behaviour tests into $(BUILD)/tests. Included by the Makefile, or on its own:
#     make -f tests/programs/programs.mk test-programs
# NAME is built by clang, NAME_gcc by gcc (for `blame run`); the last part holds special variants.

BUILD ?= build
CLANG ?= clang-19
CLANGXX ?= $(subst /clang,/clang++,$(patsubst clang%,clang++%,$(CLANG)))
TEST_GCC ?= gcc
TEST_GXX ?= g++
TEST_GFORTRAN ?= gfortran
TEST_FLANG ?= flang-new-19

TEST_SOURCE := tests/programs
TEST_BIN := $(BUILD)/tests

TEST_WARN := -Wall -Wextra -Werror
TEST_CFLAGS := -O2 -g -fopenmp -Iinclude -std=gnu11 -D_GNU_SOURCE $(TEST_WARN)
TEST_CXXFLAGS := -O2 -g -fopenmp -Iinclude -std=c++17 -D_GNU_SOURCE $(TEST_WARN)
TEST_LIBS := -lpthread -ldl

TEST_BOTH := serial_gap imbalance2 imbalance4 lock critical ordered integrated integrated3 nested tasks taskwait creation \
	creation_paths creation_undeferred \
	task_regions section taskgroup tiny_tasks handoff nest_lock holders unreleased regions deep tail_call dlopen_loop library_tour \
	forks endings own_signals process_signals small_stacks many_threads two_pthreads qsort_serial leaves late_start quick lock_names lock_names_many allocations causes \
	phase_blame phase_nesting phase_threads phase_many event_many control counters file_limit takes_signals denies deprecated team_sizes foreign_source faults

TEST_EINTR := $(patsubst $(TEST_SOURCE)/%.c,%,$(wildcard $(TEST_SOURCE)/eintr_*.c))

TEST_COMPARE := compare compare_slower compare_moved compare_gcc

# examples/phases
TEST_EXAMPLES := matmul matmul_gcc adi adi_gcc relax relax_gcc heat heat_gcc

TEST_PROGRAMS := $(TEST_BOTH) $(TEST_BOTH:%=%_gcc) family streams sweep_check exceptions exceptions_gcc own_code own_code_gcc dlopen_lib.so dlopen_even.so tool_memory.so quick_static \
	$(TEST_EINTR) $(TEST_COMPARE) $(TEST_EXAMPLES) imbalance2_nodebug imbalance2_stripped imbalance2_nopie imbalance2_holes large_tls large_tls_leaks imbalance2_dwarf4 own_papi \
	no_tables no_tables_frames no_tables_gcc no_tables_gcc_frames no_tables_fortran team_sizes_O0 lost_tables liblost_tables.so

.PHONY: test-programs
test-programs: $(TEST_PROGRAMS:%=$(TEST_BIN)/%)

# OpenMP that is loaded later, and a runtime of years to come.
test-programs: $(addprefix $(TEST_BIN)/,loads_later loads_later_lib.so loads_later_clang.so hashed/loads_later_lib.so coming coming_later.so)

$(TEST_BIN):
	mkdir -p $@

$(TEST_BOTH:%=$(TEST_BIN)/%): $(TEST_BIN)/%: $(TEST_SOURCE)/%.c $(TEST_SOURCE)/analytic.h include/blame.h | $(TEST_BIN)
	$(CLANG) $(TEST_CFLAGS) -o $@ $< $(TEST_LIBS)

$(TEST_BOTH:%=$(TEST_BIN)/%_gcc): $(TEST_BIN)/%_gcc: $(TEST_SOURCE)/%.c $(TEST_SOURCE)/analytic.h include/blame.h | $(TEST_BIN)
	$(TEST_GCC) $(TEST_CFLAGS) -o $@ $< $(TEST_LIBS)

$(TEST_BIN)/family $(TEST_BIN)/streams: $(TEST_BIN)/%: $(TEST_SOURCE)/%.c $(TEST_SOURCE)/analytic.h | $(TEST_BIN)
	$(CLANG) $(TEST_CFLAGS) -o $@ $<

$(TEST_BIN)/sweep_check: $(TEST_SOURCE)/sweep_check.c $(TEST_SOURCE)/analytic.h | $(TEST_BIN)
	$(CLANG) $(TEST_CFLAGS) -o $@ $<

$(TEST_EINTR:%=$(TEST_BIN)/%): $(TEST_BIN)/%: $(TEST_SOURCE)/%.c | $(TEST_BIN)
	$(CLANG) $(TEST_CFLAGS) -o $@ $< $(TEST_LIBS)

TEST_NO_TABLES := -fno-asynchronous-unwind-tables -fno-unwind-tables -g0
$(TEST_BIN)/no_tables: $(TEST_SOURCE)/no_tables.c $(TEST_SOURCE)/analytic.h | $(TEST_BIN)
	$(CLANG) $(TEST_CFLAGS) $(TEST_NO_TABLES) -o $@ $<

$(TEST_BIN)/no_tables_frames: $(TEST_SOURCE)/no_tables.c $(TEST_SOURCE)/analytic.h | $(TEST_BIN)
	$(CLANG) $(TEST_CFLAGS) $(TEST_NO_TABLES) -fno-omit-frame-pointer -o $@ $<

$(TEST_BIN)/no_tables_gcc: $(TEST_SOURCE)/no_tables.c $(TEST_SOURCE)/analytic.h | $(TEST_BIN)
	$(TEST_GCC) $(TEST_CFLAGS) $(TEST_NO_TABLES) -o $@ $<

$(TEST_BIN)/no_tables_gcc_frames: $(TEST_SOURCE)/no_tables.c $(TEST_SOURCE)/analytic.h | $(TEST_BIN)
	$(TEST_GCC) $(TEST_CFLAGS) $(TEST_NO_TABLES) -fno-omit-frame-pointer -o $@ $<

$(TEST_BIN)/no_tables_fortran: $(TEST_SOURCE)/no_tables_fortran.f90 | $(TEST_BIN)
	$(TEST_FLANG) -O2 -fopenmp -module-dir $(TEST_BIN) -o $@ $<

$(TEST_BIN)/liblost_tables.so: $(TEST_SOURCE)/lost_tables.c | $(TEST_BIN)
	$(TEST_GCC) -O2 -g -DLIBRARY -shared -fPIC -fomit-frame-pointer -Wl,-soname,liblost_tables.so -o $@ $<

$(TEST_BIN)/lost_tables: $(TEST_SOURCE)/lost_tables.c $(TEST_BIN)/liblost_tables.so $(TEST_SOURCE)/analytic.h | $(TEST_BIN)
	$(CLANG) $(TEST_CFLAGS) -o $@ $< -L$(TEST_BIN) -llost_tables -Wl,-z,now

# Without optimisation other frames are where the runtime looks for its own.
$(TEST_BIN)/team_sizes_O0: $(TEST_SOURCE)/team_sizes.c | $(TEST_BIN)
	$(CLANG) $(TEST_CFLAGS) -O0 -o $@ $<

$(TEST_BIN)/own_papi: $(TEST_SOURCE)/own_papi.c $(TEST_SOURCE)/analytic.h | $(TEST_BIN)
	$(CLANG) $(TEST_CFLAGS) -o $@ $< -lpapi

$(TEST_BIN)/exceptions: $(TEST_SOURCE)/exceptions.cc | $(TEST_BIN)
	$(CLANGXX) $(TEST_CXXFLAGS) -o $@ $<

$(TEST_BIN)/exceptions_gcc: $(TEST_SOURCE)/exceptions.cc | $(TEST_BIN)
	$(TEST_GXX) $(TEST_CXXFLAGS) -o $@ $<

$(TEST_BIN)/own_code: $(TEST_SOURCE)/own_code.cc $(TEST_SOURCE)/analytic.h | $(TEST_BIN)
	$(CLANGXX) $(TEST_CXXFLAGS) -o $@ $<

$(TEST_BIN)/own_code_gcc: $(TEST_SOURCE)/own_code.cc $(TEST_SOURCE)/analytic.h | $(TEST_BIN)
	$(TEST_GXX) $(TEST_CXXFLAGS) -o $@ $<

$(TEST_BIN)/dlopen_lib.so: $(TEST_SOURCE)/dlopen_lib.c | $(TEST_BIN)
	$(CLANG) -O2 -g $(TEST_WARN) -shared -fPIC -o $@ $<

$(TEST_BIN)/dlopen_even.so: $(TEST_SOURCE)/dlopen_lib.c | $(TEST_BIN)
	$(CLANG) -O2 -g $(TEST_WARN) -DCHURN=stirs -shared -fPIC -o $@ $<

$(TEST_BIN)/tool_memory.so: $(TEST_SOURCE)/tool_memory.c | $(TEST_BIN)
	$(CLANG) -O2 -g -std=gnu11 -D_GNU_SOURCE $(TEST_WARN) -shared -fPIC -fvisibility=hidden -o $@ $<

$(TEST_BIN)/loads_later: $(TEST_SOURCE)/loads_later.c | $(TEST_BIN)
	$(TEST_GCC) -O2 -g -std=gnu11 $(TEST_WARN) -o $@ $< -ldl

$(TEST_BIN)/loads_later_lib.so: $(TEST_SOURCE)/loads_later_lib.c $(TEST_SOURCE)/analytic.h | $(TEST_BIN)
	$(TEST_GCC) $(TEST_CFLAGS) -shared -fPIC -o $@ $<

$(TEST_BIN)/loads_later_clang.so: $(TEST_SOURCE)/loads_later_lib.c $(TEST_SOURCE)/analytic.h | $(TEST_BIN)
	$(CLANG) $(TEST_CFLAGS) -shared -fPIC -o $@ $<

# As wheels bundle it: a copy of the runtime beside the library, under a name of its own.
HASHED_GOMP := libgomp-a34b3233.so.1.0.0
$(TEST_BIN)/hashed/loads_later_lib.so: $(TEST_SOURCE)/loads_later_lib.c $(TEST_SOURCE)/analytic.h | $(TEST_BIN)
	mkdir -p $(@D)
	cp $$($(TEST_GCC) -print-file-name=libgomp.so.1) $(@D)/$(HASHED_GOMP)
	patchelf --set-soname $(HASHED_GOMP) $(@D)/$(HASHED_GOMP)
	$(TEST_GCC) $(TEST_CFLAGS) -fPIC -c -o $(@D)/lib.o $<
	$(TEST_GCC) -shared -o $@ $(@D)/lib.o $(@D)/$(HASHED_GOMP) -Wl,-rpath,'$$ORIGIN'

$(TEST_BIN)/coming: $(TEST_SOURCE)/coming.c $(TEST_SOURCE)/coming_libgomp.c | $(TEST_BIN)
	mkdir -p $@.lib
	$(TEST_GCC) -O2 -g $(TEST_WARN) -shared -fPIC -Wl,-soname,libgomp.so.1 \
	    -Wl,--version-script=$(TEST_SOURCE)/coming_libgomp.map -o $@.lib/libgomp.so.1 $(TEST_SOURCE)/coming_libgomp.c
	$(TEST_GCC) -O2 -g $(TEST_WARN) -fopenmp -c -o $@.lib/coming.o $<
	$(TEST_GCC) -o $@ $@.lib/coming.o $@.lib/libgomp.so.1 -Wl,-rpath,'$$ORIGIN/coming.lib'

$(TEST_BIN)/coming_later.so: $(TEST_SOURCE)/loads_later_lib.c $(TEST_BIN)/coming
	$(TEST_GCC) $(TEST_CFLAGS) -fPIC -DCOMING -c -o $(TEST_BIN)/coming.lib/later.o $<
	$(TEST_GCC) -shared -o $@ $(TEST_BIN)/coming.lib/later.o $(TEST_BIN)/coming.lib/libgomp.so.1 -Wl,-rpath,'$$ORIGIN/coming.lib'

# No shared OpenMP runtime, no interpreter: nothing a tool could attach to.
$(TEST_BIN)/quick_static: $(TEST_SOURCE)/quick.c $(TEST_SOURCE)/analytic.h | $(TEST_BIN)
	$(TEST_GCC) $(TEST_CFLAGS) -static -o $@ $<

$(TEST_BIN)/imbalance2_nodebug: $(TEST_SOURCE)/imbalance2.c $(TEST_SOURCE)/analytic.h | $(TEST_BIN)
	$(CLANG) $(TEST_CFLAGS) -g0 -o $@ $<

$(TEST_BIN)/imbalance2_stripped: $(TEST_BIN)/imbalance2_nodebug
	strip --strip-all -o $@ $<

$(TEST_BIN)/imbalance2_nopie: $(TEST_SOURCE)/imbalance2.c $(TEST_SOURCE)/analytic.h | $(TEST_BIN)
	$(CLANG) $(TEST_CFLAGS) -fno-pie -no-pie -o $@ $<

$(TEST_BIN)/large_tls.so: $(TEST_SOURCE)/large_tls.c | $(TEST_BIN)
	$(CLANG) $(TEST_CFLAGS) -DLIBRARY -fPIC -shared -Wl,-soname,large_tls.so -o $@ $<
$(TEST_BIN)/large_tls: $(TEST_SOURCE)/large_tls.c $(TEST_BIN)/large_tls.so | $(TEST_BIN)
	$(CLANG) $(TEST_CFLAGS) -o $@ $< $(TEST_BIN)/large_tls.so -Wl,-rpath,'$$ORIGIN'
# The same, which looks for leaks as it ends.
$(TEST_BIN)/large_tls_leaks: $(TEST_SOURCE)/large_tls.c $(TEST_BIN)/large_tls.so | $(TEST_BIN)
	gcc $(TEST_CFLAGS) -fsanitize=address -o $@ $< $(TEST_BIN)/large_tls.so -Wl,-rpath,'$$ORIGIN'

# Holes between its segments: the dynamic loader knows each apart.
$(TEST_BIN)/imbalance2_holes: $(TEST_SOURCE)/imbalance2.c $(TEST_SOURCE)/analytic.h | $(TEST_BIN)
	$(CLANG) $(TEST_CFLAGS) -Wl,-z,max-page-size=65536 -o $@ $<

$(TEST_BIN)/imbalance2_dwarf4: $(TEST_SOURCE)/imbalance2.c $(TEST_SOURCE)/analytic.h | $(TEST_BIN)
	$(CLANG) $(TEST_CFLAGS) -gdwarf-4 -o $@ $<

# One program as it is, with a slower function, with its lines, lambdas and a region moved, and by another compiler.
TEST_COMPARE_RULE = $(TEST_SOURCE)/compare.cc $(TEST_SOURCE)/analytic.h | $(TEST_BIN)
$(TEST_BIN)/compare: $(TEST_COMPARE_RULE)
	$(CLANGXX) $(TEST_CXXFLAGS) -o $@ $<
$(TEST_BIN)/compare_slower: $(TEST_COMPARE_RULE)
	$(CLANGXX) $(TEST_CXXFLAGS) -DSLOW_S=0.6035 -o $@ $<
$(TEST_BIN)/compare_moved: $(TEST_COMPARE_RULE)
	$(CLANGXX) $(TEST_CXXFLAGS) -DMOVED -o $@ $<
$(TEST_BIN)/compare_gcc: $(TEST_COMPARE_RULE)
	$(TEST_GXX) $(TEST_CXXFLAGS) -o $@ $<

TEST_EXAMPLE_SOURCE := examples/phases
TEST_EXAMPLE_RULE = $(TEST_EXAMPLE_SOURCE)/clocked.h include/blame.h | $(TEST_BIN)
$(TEST_BIN)/matmul $(TEST_BIN)/adi: $(TEST_BIN)/%: $(TEST_EXAMPLE_SOURCE)/%.c $(TEST_EXAMPLE_RULE)
	$(CLANG) $(TEST_CFLAGS) -o $@ $< -lm
$(TEST_BIN)/matmul_gcc $(TEST_BIN)/adi_gcc: $(TEST_BIN)/%_gcc: $(TEST_EXAMPLE_SOURCE)/%.c $(TEST_EXAMPLE_RULE)
	$(TEST_GCC) $(TEST_CFLAGS) -o $@ $< -lm
$(TEST_BIN)/relax: $(TEST_EXAMPLE_SOURCE)/relax.cpp $(TEST_EXAMPLE_RULE)
	$(CLANGXX) $(TEST_CXXFLAGS) -o $@ $<
$(TEST_BIN)/relax_gcc: $(TEST_EXAMPLE_SOURCE)/relax.cpp $(TEST_EXAMPLE_RULE)
	$(TEST_GXX) $(TEST_CXXFLAGS) -o $@ $<

# Each compiler has a folder for its modules.
$(TEST_BIN)/heat: $(TEST_EXAMPLE_SOURCE)/heat.f90 include/blame.F90 | $(TEST_BIN)
	mkdir -p $@.mod
	$(TEST_FLANG) -O2 -g -module-dir $@.mod -c -o $@.mod/blame.o include/blame.F90
	$(TEST_FLANG) -O2 -g -fopenmp -module-dir $@.mod -o $@ $< $@.mod/blame.o
$(TEST_BIN)/heat_gcc: $(TEST_EXAMPLE_SOURCE)/heat.f90 include/blame.F90 | $(TEST_BIN)
	mkdir -p $@.mod
	$(TEST_GFORTRAN) -O2 -g -Wall -J$@.mod -c -o $@.mod/blame.o include/blame.F90
	$(TEST_GFORTRAN) -O2 -g -fopenmp -Wall -J$@.mod -o $@ $< $@.mod/blame.o
