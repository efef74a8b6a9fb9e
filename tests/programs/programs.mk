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

TEST_BOTH := serial_gap imbalance2 imbalance4 lock ordered integrated integrated3 tasks taskwait creation creation_paths creation_undeferred \
	task_regions section tiny_tasks handoff nest_lock holders unreleased regions tail_call dlopen_loop library_tour forks \
	process_signals small_stacks qsort_serial leaves late_start quick lock_names causes phase_blame phase_nesting phase_threads \
	event_many control file_limit takes_signals deprecated team_sizes ends_late untold_waits known_late first_thread cancelled constructs
# By clang alone: nothing runs these as GCC builds them.
TEST_ONE := allocations critical cores counters deep denies detached endings faults foreign_source in_step lock_names_many many_threads nested sleepers \
	own_signals phase_many taskgroup two_pthreads

# docs/examples/phases
TEST_EXAMPLES := matmul matmul_gcc adi adi_gcc relax relax_gcc heat heat_gcc

TEST_PROGRAMS := $(TEST_BOTH) $(TEST_ONE) $(TEST_BOTH:%=%_gcc) $(TEST_EXAMPLES) imbalance2_stripped lost_tables large_tls large_tls_leaks no_tables_fortran debug_frame

# NAME, from a SOURCE, in a way of its own: $(call test_form,NAME,SOURCE,compiler and flags)
TEST_CLANG := $(CLANG) $(TEST_CFLAGS)
TEST_CLANGXX := $(CLANGXX) $(TEST_CXXFLAGS)
TEST_GCC_C := $(TEST_GCC) $(TEST_CFLAGS)
TEST_GCC_CXX := $(TEST_GXX) $(TEST_CXXFLAGS)
TEST_NO_TABLES := -fno-asynchronous-unwind-tables -fno-unwind-tables -g0
TEST_PLAIN := -O2 -g $(TEST_WARN) -shared -fPIC
comma := ,
define test_form
TEST_PROGRAMS += $(1)
$(TEST_BIN)/$(1): $(TEST_SOURCE)/$(2) $(TEST_SOURCE)/analytic.h include/blame.h | $(TEST_BIN)
	$(3) -o $$@ $$(filter-out %.h,$$^) $(4)
endef
test_forms = $(eval $(call test_form,$(1),$(2),$(3),$(4)))

$(call test_forms,family,family.c,$(TEST_CLANG))
$(call test_forms,scales,scales.c,$(TEST_CLANG))
$(call test_forms,streams,streams.c,$(TEST_CLANG))
$(call test_forms,changing,changing.c,$(TEST_CLANG))
$(call test_forms,crowd,crowd.c,$(TEST_CLANG))
$(call test_forms,folds,folds.c,$(TEST_CLANG))
$(call test_forms,stack_sweep,stack_sweep.c,$(TEST_CLANG))
$(call test_forms,sweep_check,sweep_check.c,$(TEST_CLANG))
$(call test_forms,affinity,affinity.c,$(TEST_CLANG))
$(call test_forms,affinity_gcc,affinity.c,$(TEST_GCC_C))
$(call test_forms,little_stack,little_stack.c,$(TEST_CLANG))
$(call test_forms,signal_stacks,signal_stacks.c,$(TEST_CLANG))
$(call test_forms,ended,ended.c,$(TEST_CLANG))
$(call test_forms,errno_kept,errno_kept.c,$(TEST_CLANG))
$(call test_forms,floats,floats.c,$(TEST_CLANG),-lm)
$(call test_forms,eintr_calls,eintr_calls.c,$(TEST_CLANG))
$(call test_forms,sanitized,sanitized.c,$(TEST_CLANG) -fsanitize=thread)
$(call test_forms,own_papi,own_papi.c,$(TEST_CLANG),-lpapi)
$(call test_forms,no_tables,no_tables.c,$(TEST_CLANG) $(TEST_NO_TABLES))
$(call test_forms,no_tables_frames,no_tables.c,$(TEST_CLANG) $(TEST_NO_TABLES) -fno-omit-frame-pointer)
$(call test_forms,no_tables_gcc,no_tables.c,$(TEST_GCC_C) $(TEST_NO_TABLES))
$(call test_forms,no_tables_gcc_frames,no_tables.c,$(TEST_GCC_C) $(TEST_NO_TABLES) -fno-omit-frame-pointer)
$(call test_forms,liblost_tables.so,lost_tables.c,$(TEST_GCC) -O2 -g -DLIBRARY -shared -fPIC -fomit-frame-pointer -Wl$(comma)-soname$(comma)liblost_tables.so)
# Without optimisation other frames are where the runtime looks for its own.
$(call test_forms,team_sizes_O0,team_sizes.c,$(TEST_CLANG) -O0)
$(call test_forms,fibers,fibers.c,$(TEST_CLANG))
$(call test_forms,libbegins_before.so,begins_before.c,$(TEST_CLANG) -DLIBRARY -shared -fPIC -Wl$(comma)-soname$(comma)libbegins_before.so)
$(call test_forms,begins_before,begins_before.c,$(TEST_CLANG),-L$(TEST_BIN) -lbegins_before -Wl$(comma)-rpath$(comma)'$$$$ORIGIN')
$(TEST_BIN)/begins_before: | $(TEST_BIN)/libbegins_before.so
$(call test_forms,leagues,leagues.c,$(TEST_CLANG) -Wno-openmp-target)
$(call test_forms,exceptions,exceptions.cc,$(TEST_CLANGXX))
$(call test_forms,exceptions_gcc,exceptions.cc,$(TEST_GCC_CXX))
$(call test_forms,churn,churn.cc,$(TEST_CLANGXX),$(TEST_LIBS))
$(call test_forms,in_malloc,in_malloc.c,$(TEST_GCC) -O2 -g -std=gnu11 -fno-builtin $(TEST_WARN))
$(call test_forms,without_openmp,without_openmp.c,$(TEST_GCC) -O2 -g -std=gnu11 -D_GNU_SOURCE $(TEST_WARN),-ldl)
$(call test_forms,without_openmp_names,without_openmp.c,$(TEST_GCC) -O2 -g -std=gnu11 -D_GNU_SOURCE $(TEST_WARN) $(TEST_SOURCE)/names_many.s,-ldl)
$(call test_forms,posix_locks,posix_locks.c,$(TEST_CLANG))
$(call test_forms,posix_locks_gcc,posix_locks.c,$(TEST_GCC_C))
$(call test_forms,posix_waits,posix_waits.c,$(TEST_CLANG))
$(call test_forms,posix_errors,posix_errors.c,$(TEST_CLANG),-lpthread)
$(call test_forms,posix_tool,posix_tool.c,$(TEST_GCC) -O2 -g -std=gnu11 -D_GNU_SOURCE $(TEST_WARN),-ldl -lpthread)
$(call test_forms,posix_threads_got,posix_threads.c,$(TEST_GCC) -O2 -g -std=gnu11 -D_GNU_SOURCE -fno-plt -Wl$(comma)-z$(comma)now $(TEST_WARN),-lpthread -ldl)
$(call test_forms,posix_threads,posix_threads.c,$(TEST_GCC) -O2 -g -std=gnu11 -D_GNU_SOURCE $(TEST_WARN),-lpthread -ldl)
$(call test_forms,libpool_made_early.so,pool_made_early.c,$(TEST_GCC) -O2 -g -std=gnu11 -D_GNU_SOURCE $(TEST_WARN) -DLIBRARY -shared -fPIC -Wl$(comma)-soname$(comma)libpool_made_early.so,-lpthread)
$(call test_forms,pool_made_early,pool_made_early.c,$(TEST_GCC) -O2 -g -std=gnu11 -D_GNU_SOURCE $(TEST_WARN),$(TEST_BIN)/libpool_made_early.so -Wl$(comma)-rpath$(comma)'$$$$ORIGIN')
$(call test_forms,pool_beside_teams,pool_made_early.c,$(TEST_CLANG),$(TEST_BIN)/libpool_made_early.so -Wl$(comma)-rpath$(comma)'$$$$ORIGIN')
$(call test_forms,pool_beside_teams_gcc,pool_made_early.c,$(TEST_GCC_C),-lgomp $(TEST_BIN)/libpool_made_early.so -Wl$(comma)-rpath$(comma)'$$$$ORIGIN')
$(TEST_BIN)/pool_made_early $(TEST_BIN)/pool_beside_teams $(TEST_BIN)/pool_beside_teams_gcc: | $(TEST_BIN)/libpool_made_early.so
$(call test_forms,libregion_made_early.so,pool_made_early.c,$(TEST_GCC) -O2 -g -std=gnu11 -D_GNU_SOURCE $(TEST_WARN) -fopenmp -DLIBRARY -shared -fPIC -Wl$(comma)-soname$(comma)libregion_made_early.so,-lpthread)
$(call test_forms,region_made_early,pool_made_early.c,$(TEST_GCC) -O2 -g -std=gnu11 -D_GNU_SOURCE $(TEST_WARN),$(TEST_BIN)/libregion_made_early.so -Wl$(comma)-rpath$(comma)'$$$$ORIGIN')
$(TEST_BIN)/region_made_early: | $(TEST_BIN)/libregion_made_early.so
$(call test_forms,wakes,wakes.c,$(TEST_GCC) -O2 -g -std=gnu11 -D_GNU_SOURCE $(TEST_WARN),-lpthread)
$(call test_forms,once_in_handler,once_in_handler.c,$(TEST_GCC) -O2 -g -std=gnu11 -D_GNU_SOURCE $(TEST_WARN),-lpthread)
$(call test_forms,spinning,spinning.c,$(TEST_GCC) -O2 -g -std=gnu11 -D_GNU_SOURCE $(TEST_WARN),-lpthread -ldl)
$(call test_forms,libopenblas_like.so,spinning.c,$(TEST_GCC) -O2 -std=gnu11 -D_GNU_SOURCE -DLIBRARY -shared -fPIC)
$(call test_forms,libtbb_like.so,spinning.c,$(TEST_GCC) -O2 -std=gnu11 -D_GNU_SOURCE -DLIBRARY -shared -fPIC)
$(call test_forms,posix_cost,posix_cost.c,$(TEST_GCC) -O2 -g -std=gnu11 -D_GNU_SOURCE $(TEST_WARN),-lpthread)
TEST_BOUND := $(TEST_GCC) -O2 -g -std=gnu11 -D_GNU_SOURCE $(TEST_WARN)
$(call test_forms,posix_bound,posix_bound.c,$(TEST_BOUND) -Wl$(comma)-z$(comma)lazy,-ldl)
$(call test_forms,posix_bound_now,posix_bound.c,$(TEST_BOUND) -Wl$(comma)-z$(comma)now$(comma)-z$(comma)relro,-ldl)
$(call test_forms,posix_bound_own,posix_bound.c,$(TEST_BOUND) -DOWN -rdynamic,-ldl)
$(call test_forms,posix_bound_noplt,posix_bound.c,$(TEST_BOUND) -fno-plt,-ldl)
$(call test_forms,posix_bound_asan,posix_bound.c,$(TEST_BOUND) -fsanitize=address -DSCOPE=RTLD_LOCAL,-ldl)
$(call test_forms,posix_bound_heap,posix_bound.c,$(TEST_BOUND) -DHEAP -rdynamic,-ldl)
$(call test_forms,posix_bound_lib.so,posix_bound.c,$(TEST_BOUND) -DLIBRARY -shared -fPIC)
$(call test_forms,std_waits,std_waits.cc,$(TEST_GXX) -O2 -g -std=c++20 $(TEST_WARN),-lpthread)
$(call test_forms,std_convoy,std_convoy.cc,$(TEST_GXX) -O2 -g -std=c++17 $(TEST_WARN),-lpthread)
$(call test_forms,std_convoy_tsan_gcc,std_convoy.cc,$(TEST_GXX) -O2 -g -std=c++17 $(TEST_WARN) -fsanitize=thread)
$(call test_forms,std_convoy_tsan_clang,std_convoy.cc,$(CLANGXX) -O2 -g -std=c++17 $(TEST_WARN) -fsanitize=thread)
$(call test_forms,std_mutexes,std_mutexes.cc,$(TEST_CLANGXX),-lpthread)
$(call test_forms,std_beside,std_beside.cc,$(TEST_CLANGXX),-lpthread)
$(call test_forms,beside,beside.c,$(TEST_CLANG),-lpthread)
$(call test_forms,beside_gcc,beside.c,$(TEST_GCC_C),-lpthread)
$(call test_forms,churn_lib.so,churn_lib.c,$(TEST_CLANG) -shared -fPIC)
$(call test_forms,own_code,own_code.cc,$(TEST_CLANGXX))
$(call test_forms,own_code_gcc,own_code.cc,$(TEST_GCC_CXX))
$(call test_forms,dlopen_lib.so,dlopen_lib.c,$(CLANG) $(TEST_PLAIN))
$(call test_forms,gone_libraries,gone_libraries.c,$(TEST_CLANG),-ldl)
$(call test_forms,gone_unlinked.so,gone_lib.c,$(CLANG) $(TEST_PLAIN) -DNAME=unlinked)
$(call test_forms,gone_first.so,gone_lib.c,$(CLANG) $(TEST_PLAIN) -DNAME=first_build)
$(call test_forms,gone_second.so,gone_lib.c,$(CLANG) $(TEST_PLAIN) -DNAME=second_build)
$(call test_forms,gone_memfd.so,gone_lib.c,$(CLANG) $(TEST_PLAIN) -DNAME=in_memory)
$(call test_forms,dlopen_even.so,dlopen_lib.c,$(CLANG) $(TEST_PLAIN) -DCHURN=stirs)
$(call test_forms,tool_memory.so,tool_memory.c,$(CLANG) $(TEST_PLAIN) -std=gnu11 -D_GNU_SOURCE -fvisibility=hidden)
$(call test_forms,replaces.so,replaces.c,$(CLANG) $(TEST_PLAIN) -std=gnu11 -D_GNU_SOURCE)
$(call test_forms,interrupts.so,interrupts.c,$(CLANG) $(TEST_PLAIN) -std=gnu11 -D_GNU_SOURCE)
$(call test_forms,no_pidfd.so,no_pidfd.c,$(CLANG) $(TEST_PLAIN) -std=gnu11 -D_GNU_SOURCE)
$(call test_forms,starts,starts.c,$(TEST_CLANG))
$(call test_forms,own_tool,own_tool.c,$(TEST_CLANG) -rdynamic)
$(call test_forms,own_tool.so,own_tool.c,$(CLANG) $(TEST_PLAIN) -DLIBRARY)
$(call test_forms,played_clock.so,played_clock.c,$(CLANG) $(TEST_PLAIN) -std=gnu11 -D_GNU_SOURCE)
$(call test_forms,old_runtime,old_runtime.c,$(CLANG) -O2 -g -std=gnu11 -D_GNU_SOURCE -fopenmp $(TEST_WARN),-ldl)
$(call test_forms,memory_checked,memory_checked.c,$(TEST_CLANG))
$(call test_forms,processor,processor.c,$(TEST_CLANG))
TEST_OWN_NAMES := $(TEST_CLANG) -std=c11 -U_GNU_SOURCE -fno-builtin
$(call test_forms,own_names,own_names.c,$(TEST_OWN_NAMES) -rdynamic)
$(call test_forms,libown_names.so,own_names.c,$(TEST_OWN_NAMES) -DLIBRARY -shared -fPIC)
$(call test_forms,own_names_library,own_names.c,$(TEST_OWN_NAMES) -DUSES_LIBRARY,-L$(TEST_BIN) -lown_names -Wl$(comma)-rpath$(comma)'$$$$ORIGIN')
$(TEST_BIN)/own_names_library: | $(TEST_BIN)/libown_names.so
$(call test_forms,own_heap,own_heap.c,$(TEST_CLANG) -fno-builtin -rdynamic)
$(call test_forms,own_locks,own_locks.c,$(TEST_CLANG))
$(call test_forms,own_locks.so,own_locks.c,$(CLANG) $(TEST_PLAIN) -std=gnu11 -D_GNU_SOURCE -DLIBRARY)
TEST_ALIGNED := $(TEST_BIN)/large_tls_aligned.so
$(call test_forms,large_tls_aligned.so,large_tls.c,$(TEST_CLANG) -DLIBRARY -DALIGNMENT=128 -fPIC -shared -Wl$(comma)-soname$(comma)large_tls_aligned.so)
$(call test_forms,large_tls_aligned,large_tls.c,$(TEST_CLANG),$(TEST_ALIGNED) -Wl$(comma)-rpath$(comma)'$$$$ORIGIN')
$(TEST_BIN)/large_tls_aligned: | $(TEST_ALIGNED)
TEST_LEAST_STACK := $(TEST_GCC) -O2 -g -std=gnu11 -D_GNU_SOURCE $(TEST_WARN)
$(call test_forms,least_stack,least_stack.c,$(TEST_LEAST_STACK),-lpthread)
$(call test_forms,least_stack_large,least_stack.c,$(TEST_LEAST_STACK) -DLARGE,$(TEST_BIN)/large_tls.so -Wl$(comma)-rpath$(comma)'$$$$ORIGIN' -lpthread)
$(TEST_BIN)/least_stack_large: | $(TEST_BIN)/large_tls.so
$(call test_forms,tool_inside_gcc,tool_inside.cc,$(TEST_GCC_CXX) -I$(BUILD)/include -rdynamic)
$(call test_forms,races_gcc,races.c,$(TEST_GCC_C) -fsanitize=thread -O1)
$(call test_forms,loads_later,loads_later.c,$(TEST_GCC) -O2 -g -std=gnu11 $(TEST_WARN),-ldl)
$(call test_forms,nests_runtimes,nests_runtimes.c,$(TEST_GCC) -O2 -g -std=gnu11 $(TEST_WARN),-ldl)
$(call test_forms,loads_later_lib.so,loads_later_lib.c,$(TEST_GCC_C) -shared -fPIC)
$(call test_forms,loads_later_clang.so,loads_later_lib.c,$(TEST_CLANG) -shared -fPIC)
$(call test_forms,compiles,compiles.c,$(TEST_CLANG))
$(call test_forms,awaits_later,awaits_later.c,$(TEST_CLANG),-ldl)
$(call test_forms,awaits_later_lib.so,awaits_later_lib.c,$(TEST_CLANG) -shared -fPIC)
$(call test_forms,other_python,other_python.c,$(TEST_CLANG) -rdynamic)
# No shared OpenMP runtime, no interpreter: nothing a tool could attach to.
$(call test_forms,quick_static,quick.c,$(TEST_GCC_C) -static)
# Each in the program itself; or in a library of it, which the loader finds before libgomp or behind it.
$(foreach what,TEAMS SCAN CONDITIONAL CANCEL,$(call test_forms,otherwise_$(what),otherwise.c,$(TEST_GCC_C) -D$(what)))
$(call test_forms,libotherwise.so,otherwise.c,$(TEST_GCC_C) -DTEAMS -DLIBRARY -shared -fPIC -Wl$(comma)-soname$(comma)libotherwise.so)
$(call test_forms,otherwise_first,otherwise.c $(TEST_BIN)/libotherwise.so,$(TEST_GCC_C) -Wl$(comma)-rpath$(comma)'$$$$ORIGIN')
$(call test_forms,otherwise_last,otherwise.c $(TEST_BIN)/libotherwise.so,$(TEST_GCC_C) -Wl$(comma)-rpath$(comma)'$$$$ORIGIN' -Wl$(comma)--no-as-needed -lgomp)
# Each way in which a call can be bound.
TEST_REACHES := $(TEST_GCC) -O2 -g -std=gnu11 -D_GNU_SOURCE -fopenmp $(TEST_WARN)
$(call test_forms,reaches,reaches.c,$(TEST_REACHES) -Wl$(comma)-z$(comma)lazy,-ldl)
$(call test_forms,reaches_now,reaches.c,$(TEST_REACHES) -Wl$(comma)-z$(comma)now,-ldl)
$(call test_forms,reaches_noplt,reaches.c,$(TEST_REACHES) -fno-plt,-ldl)
$(call test_forms,reaches_nopie,reaches.c,$(TEST_REACHES) -fno-pie -no-pie,-ldl)
$(call test_forms,quick_static_pie,quick.c,$(TEST_GCC_C) -static-pie)
# Started by a loader that is not glibc's.
$(call test_forms,other_loader,other_loader.c,$(TEST_GCC) -O2 -I. $(TEST_WARN) -static -nostdlib -ffreestanding -fno-stack-protector)
$(call test_forms,imbalance2_nodebug,imbalance2.c,$(TEST_CLANG) -g0)
$(call test_forms,imbalance2_nopie,imbalance2.c,$(TEST_CLANG) -fno-pie -no-pie)
$(call test_forms,imbalance2_dwarf4,imbalance2.c,$(TEST_CLANG) -gdwarf-4)
# Holes between its segments: the dynamic loader knows each apart.
$(call test_forms,imbalance2_holes,imbalance2.c,$(TEST_CLANG) -Wl$(comma)-z$(comma)max-page-size=65536)
# One program as it is, with a slower function, with its lines, lambdas and a region moved, and by another compiler.
$(call test_forms,compare,compare.cc,$(TEST_CLANGXX))
$(call test_forms,compare_slower,compare.cc,$(TEST_CLANGXX) -DSLOW_S=0.6035)
$(call test_forms,compare_moved,compare.cc,$(TEST_CLANGXX) -DMOVED)
$(call test_forms,compare_gcc,compare.cc,$(TEST_GCC_CXX))

# MPIs of our own, by the name of a real one.
TEST_FAKE_MPI := mpi_fake mpi_left mpi_gone
TEST_PROGRAMS += $(TEST_FAKE_MPI)
$(TEST_FAKE_MPI:%=$(TEST_BIN)/%): $(TEST_BIN)/%: $(TEST_SOURCE)/%.c base/mpi_calls.h | $(TEST_BIN)
	mkdir -p $@.lib
	$(CLANG) -O2 -g -I. $(TEST_WARN) -DLIBRARY -shared -fPIC -Wl,-soname,libmpi.so.40 -o $@.lib/libmpi.so.40 $<
	$(CLANG) $(TEST_CFLAGS) -I. -o $@ $< $@.lib/libmpi.so.40 -Wl,-rpath,'$$ORIGIN/$(@F).lib'

# NAME_openmpi, NAME_mpich: where that MPI is installed.
TEST_MPI := $(foreach mpi,openmpi mpich,$(if $(shell command -v mpicc.$(mpi)),$(mpi)))
TEST_MPI_C := mpi_late mpi_levels mpi_ends mpi_odd mpi_whose
TEST_MPI_FORTRAN := mpi_late_use mpi_late_f08
TEST_PROGRAMS += $(foreach mpi,$(TEST_MPI),$(patsubst %,%_$(mpi),$(TEST_MPI_C) $(TEST_MPI_FORTRAN)))
$(TEST_MPI_C:%=$(TEST_BIN)/%_openmpi): $(TEST_BIN)/%_openmpi: $(TEST_SOURCE)/%.c $(TEST_SOURCE)/spin.h | $(TEST_BIN)
	OMPI_CC=$(CLANG) mpicc.openmpi $(TEST_CFLAGS) -o $@ $<
$(TEST_MPI_C:%=$(TEST_BIN)/%_mpich): $(TEST_BIN)/%_mpich: $(TEST_SOURCE)/%.c $(TEST_SOURCE)/spin.h | $(TEST_BIN)
	MPICH_CC=$(CLANG) mpicc.mpich $(TEST_CFLAGS) -o $@ $<
$(TEST_MPI_FORTRAN:%=$(TEST_BIN)/%_openmpi): $(TEST_SOURCE)/mpi_late.f90 | $(TEST_BIN)
	mpifort.openmpi -cpp -O2 -g -fopenmp $(if $(findstring f08,$@),-DF08) -o $@ $<
$(TEST_MPI_FORTRAN:%=$(TEST_BIN)/%_mpich): $(TEST_SOURCE)/mpi_late.f90 | $(TEST_BIN)
	mpif90.mpich -cpp -O2 -g -fopenmp $(if $(findstring f08,$@),-DF08) -o $@ $<

# AddressSanitizer's library wants to be the first of all.
TEST_PROGRAMS += $(TEST_MPI:%=mpi_late_asan_%)
$(TEST_BIN)/mpi_late_asan_%: $(TEST_SOURCE)/mpi_late.c $(TEST_SOURCE)/spin.h | $(TEST_BIN)
	$(if $(findstring openmpi,$*),OMPI_CC,MPICH_CC)=$(TEST_GCC) mpicc.$* $(TEST_CFLAGS) -fsanitize=address -o $@ $<

.PHONY: test-programs
test-programs: $(TEST_PROGRAMS:%=$(TEST_BIN)/%)

# OpenMP that is loaded later, and a runtime of years to come.
test-programs: $(addprefix $(TEST_BIN)/,hashed/loads_later_lib.so hashed_other/loads_later_lib.so other_libomp/loads_later_lib.so coming coming_later.so lacking)

$(TEST_BIN):
	mkdir -p $@

$(TEST_BOTH:%=$(TEST_BIN)/%) $(TEST_ONE:%=$(TEST_BIN)/%): $(TEST_BIN)/%: $(TEST_SOURCE)/%.c $(TEST_SOURCE)/analytic.h include/blame.h | $(TEST_BIN)
	$(CLANG) $(TEST_CFLAGS) -o $@ $< $(TEST_LIBS)

$(TEST_BOTH:%=$(TEST_BIN)/%_gcc): $(TEST_BIN)/%_gcc: $(TEST_SOURCE)/%.c $(TEST_SOURCE)/analytic.h include/blame.h | $(TEST_BIN)
	$(TEST_GCC) $(TEST_CFLAGS) -o $@ $< $(TEST_LIBS)

$(TEST_BIN)/lost_tables: $(TEST_SOURCE)/lost_tables.c $(TEST_BIN)/liblost_tables.so $(TEST_SOURCE)/analytic.h | $(TEST_BIN)
	$(CLANG) $(TEST_CFLAGS) -o $@ $< -L$(TEST_BIN) -llost_tables -Wl,-z,now

# As wheels bundle it: a copy of the runtime beside the library, under a name of its own.
HASHED_GOMP = libgomp-$(if $(findstring other,$(@D)),e985bcbb,a34b3233).so.1.0.0
$(TEST_BIN)/hashed/loads_later_lib.so $(TEST_BIN)/hashed_other/loads_later_lib.so: $(TEST_SOURCE)/loads_later_lib.c $(TEST_SOURCE)/analytic.h | $(TEST_BIN)
	mkdir -p $(@D)
	cp $$($(TEST_GCC) -print-file-name=libgomp.so.1) $(@D)/$(HASHED_GOMP)
	patchelf --set-soname $(HASHED_GOMP) $(@D)/$(HASHED_GOMP)
	$(TEST_GCC) $(TEST_CFLAGS) -fPIC -c -o $(@D)/lib.o $<
	$(TEST_GCC) -shared -o $@ $(@D)/lib.o $(@D)/$(HASHED_GOMP) -Wl,-rpath,'$$ORIGIN'

# With a copy of LLVM's runtime of its own.
$(TEST_BIN)/other_libomp/loads_later_lib.so: $(TEST_SOURCE)/loads_later_lib.c $(TEST_SOURCE)/analytic.h | $(TEST_BIN)
	mkdir -p $(@D)
	cp $$($(CLANG) -print-file-name=libomp.so.5) $(@D)/libomp-other.so.5
	patchelf --set-soname libomp-other.so.5 $(@D)/libomp-other.so.5
	$(CLANG) $(TEST_CFLAGS) -fPIC -c -o $(@D)/lib.o $<
	$(CC) -shared -o $@ $(@D)/lib.o $(@D)/libomp-other.so.5 -Wl,-rpath,'$$ORIGIN'

$(TEST_BIN)/coming: $(TEST_SOURCE)/coming.c $(TEST_SOURCE)/coming_libgomp.c | $(TEST_BIN)
	mkdir -p $@.lib
	$(TEST_GCC) -O2 -g $(TEST_WARN) -shared -fPIC -Wl,-soname,libgomp.so.1 \
	    -Wl,--version-script=$(TEST_SOURCE)/coming_libgomp.map -o $@.lib/libgomp.so.1 $(TEST_SOURCE)/coming_libgomp.c
	$(TEST_GCC) -O2 -g $(TEST_WARN) -fopenmp -c -o $@.lib/coming.o $<
	$(TEST_GCC) -o $@ $@.lib/coming.o $@.lib/libgomp.so.1 -Wl,-rpath,'$$ORIGIN/coming.lib'

$(TEST_BIN)/coming_later.so: $(TEST_SOURCE)/loads_later_lib.c $(TEST_BIN)/coming
	$(TEST_GCC) $(TEST_CFLAGS) -fPIC -DCOMING -c -o $(TEST_BIN)/coming.lib/later.o $<
	$(TEST_GCC) -shared -o $@ $(TEST_BIN)/coming.lib/later.o $(TEST_BIN)/coming.lib/libgomp.so.1 -Wl,-rpath,'$$ORIGIN/coming.lib'

# With a libgomp of its own, linked into it, and stripped.
test-programs: $(TEST_BIN)/loads_later_static
$(TEST_BIN)/loads_later_static: $(TEST_SOURCE)/loads_later.c $(TEST_SOURCE)/static_gomp.c $(TEST_SOURCE)/analytic.h | $(TEST_BIN)
	$(TEST_GCC_C) -c -o $@.o $(TEST_SOURCE)/static_gomp.c
	$(TEST_GCC) -O2 -std=gnu11 $(TEST_WARN) -s -o $@ $< $@.o -Wl,-Bstatic -lgomp -Wl,-Bdynamic $(TEST_LIBS)

# Bound when it is called, as by default: the program runs as long as it does not.
$(TEST_BIN)/lacking: $(TEST_SOURCE)/lacking.c $(TEST_SOURCE)/lacking_libomp.c | $(TEST_BIN)
	mkdir -p $@.lib
	$(TEST_GCC) -O2 -g $(TEST_WARN) -shared -fPIC -Wl,-soname,libomp.so.5 -o $@.lib/libomp.so.5 $(TEST_SOURCE)/lacking_libomp.c
	$(CLANG) -O2 -g $(TEST_WARN) -fopenmp -c -o $@.lib/lacking.o $<
	$(CLANG) -o $@ $@.lib/lacking.o $@.lib/libomp.so.5 -Wl,-z,lazy \
	    -Wl,-rpath,$$(dirname $$($(CLANG) -print-file-name=libomp.so))

# Jobs, by each MPI that there is.
TEST_MPICC_openmpi := OMPI_CC=$(CLANG) mpicc.openmpi
TEST_MPICC_mpich := MPICH_CC=$(CLANG) mpicc.mpich
TEST_MPIS := $(foreach mpi,openmpi mpich,$(if $(shell command -v mpicc.$(mpi)),$(mpi)))
test-programs: $(TEST_MPIS:%=$(TEST_BIN)/job_%)
$(TEST_BIN)/job_%: $(TEST_SOURCE)/job.c | $(TEST_BIN)
	$(TEST_MPICC_$*) $(TEST_CFLAGS) -o $@ $<

# blame-merge is built with one of them.
test-programs: $(TEST_MPIS:%=$(TEST_BIN)/blame-merge_%)
$(TEST_BIN)/blame-merge_%: $(MERGE_PARTS) | $(TEST_BIN)
	$(call make_merge,mpicc.$*)

$(TEST_BIN)/imbalance2_stripped: $(TEST_BIN)/imbalance2_nodebug
	strip --strip-all -o $@ $<

$(TEST_BIN)/large_tls.so: $(TEST_SOURCE)/large_tls.c | $(TEST_BIN)
	$(CLANG) $(TEST_CFLAGS) -DLIBRARY -fPIC -shared -Wl,-soname,large_tls.so -o $@ $<
$(TEST_BIN)/large_tls: $(TEST_SOURCE)/large_tls.c $(TEST_BIN)/large_tls.so | $(TEST_BIN)
	$(CLANG) $(TEST_CFLAGS) -o $@ $< $(TEST_BIN)/large_tls.so -Wl,-rpath,'$$ORIGIN'
# The same, which looks for leaks as it ends.
$(TEST_BIN)/large_tls_leaks: $(TEST_SOURCE)/large_tls.c $(TEST_BIN)/large_tls.so | $(TEST_BIN)
	gcc $(TEST_CFLAGS) -fsanitize=address -o $@ $< $(TEST_BIN)/large_tls.so -Wl,-rpath,'$$ORIGIN'

TEST_EXAMPLE_SOURCE := docs/examples/phases
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
$(TEST_BIN)/debug_frame: TABLES := -g
$(TEST_BIN)/no_tables_fortran $(TEST_BIN)/debug_frame: $(TEST_SOURCE)/fortran_leaves.f90 $(TEST_SOURCE)/fortran_tables.f90 | $(TEST_BIN)
	mkdir -p $@.mod
	$(TEST_FLANG) -O2 $(TABLES) -module-dir $@.mod -c -o $@.mod/leaves.o $<
	$(TEST_FLANG) -O2 $(TABLES) -fopenmp -module-dir $@.mod -o $@ $(lastword $^) $@.mod/leaves.o
$(TEST_BIN)/heat: $(TEST_EXAMPLE_SOURCE)/heat.f90 include/blame.F90 | $(TEST_BIN)
	mkdir -p $@.mod
	$(TEST_FLANG) -O2 -g -module-dir $@.mod -c -o $@.mod/blame.o include/blame.F90
	$(TEST_FLANG) -O2 -g -fopenmp -module-dir $@.mod -o $@ $< $@.mod/blame.o
$(TEST_BIN)/heat_gcc: $(TEST_EXAMPLE_SOURCE)/heat.f90 include/blame.F90 | $(TEST_BIN)
	mkdir -p $@.mod
	$(TEST_GFORTRAN) -O2 -g -Wall -J$@.mod -c -o $@.mod/blame.o include/blame.F90
	$(TEST_GFORTRAN) -O2 -g -fopenmp -Wall -J$@.mod -o $@ $< $@.mod/blame.o
