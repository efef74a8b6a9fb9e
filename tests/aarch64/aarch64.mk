# blame for aarch64 on another machine: built by a cross compiler, run by qemu (docs/architecture.md). Included by the Makefile.
#   scripts/setup.sh aarch64    what it needs
#   make aarch64                build-aarch64/bin/blame and build-aarch64/lib/libblame.so
#   make test-aarch64           by hand: unit tests and OpenMP programs there
#   make kernel-aarch64         by hand: system calls, blame run and the finisher on Debian's kernel (qemu-system-arm)
AARCH64_SYSROOT ?= $(CURDIR)/build-sysroot/aarch64
AARCH64_GCC = $(shell aarch64-linux-gnu-gcc -print-libgcc-file-name 2>/dev/null)
AARCH64_CLANG = $(CLANG) --target=aarch64-linux-gnu --sysroot=$(AARCH64_SYSROOT) -B$(dir $(AARCH64_GCC)) -L$(dir $(AARCH64_GCC)) \
    -idirafter $(dir $(OMPT_HEADER)) -Lbuild-aarch64/omp
AARCH64_MAKE := $(MAKE) --no-print-directory BUILD=build-aarch64 CC='aarch64-linux-gnu-gcc --sysroot=$(AARCH64_SYSROOT)' MPICC= MANUAL_BLAME=$(BLAME)
# Of realtime signals it knows some 30: not the last one, which the tool would take.
AARCH64_RUNNER = qemu-aarch64 -L $(AARCH64_SYSROOT) -E LD_LIBRARY_PATH=$(AARCH64_SYSROOT)/usr/lib/llvm-19/lib -E BLAME_SIGNAL=40

.PHONY: aarch64 test-aarch64 aarch64-needs aarch64-handler aarch64-units aarch64-behaviour
aarch64-needs:
	@command -v aarch64-linux-gnu-gcc qemu-aarch64 >/dev/null && test -e $(AARCH64_SYSROOT)/packages || \
	    { echo "no cross compiler, emulator or libraries for aarch64: run scripts/setup.sh aarch64"; exit 1; }

aarch64: aarch64-needs $(BLAME)
	@+$(AARCH64_MAKE) all

# Programs of tests/programs, and the same with what compilers make of functions' frames elsewhere.
AARCH64_PROGRAMS := serial_gap imbalance4 ordered integrated handoff nest_lock unreleased holders tail_call leaves tasks
AARCH64_VARIANTS := serial_gap_signed imbalance4_no_tables imbalance4_no_records
AARCH64_NO_TABLES := -g0 -fno-asynchronous-unwind-tables -fno-unwind-tables
build-aarch64/tests/serial_gap_signed: AARCH64_FLAGS := -mbranch-protection=standard
build-aarch64/tests/imbalance4_no_tables: AARCH64_FLAGS := $(AARCH64_NO_TABLES)
build-aarch64/tests/imbalance4_no_records: AARCH64_FLAGS := $(AARCH64_NO_TABLES) -fomit-frame-pointer
build-aarch64/tests/serial_gap_%: tests/programs/serial_gap.c build-aarch64/omp/libomp.so
	$(AARCH64_CLANG) $(TEST_CFLAGS) $(AARCH64_FLAGS) -o $@ $<
build-aarch64/tests/imbalance4_%: tests/programs/imbalance4.c build-aarch64/omp/libomp.so
	$(AARCH64_CLANG) $(TEST_CFLAGS) $(AARCH64_FLAGS) -o $@ $<

# Its libomp has no link for linkers, which are in a package with LLVM's own libraries.
build-aarch64/omp/libomp.so:
	@mkdir -p $(@D)
	ln -sf $(AARCH64_SYSROOT)/usr/lib/llvm-19/lib/libomp.so.5 $@

# Unit tests that are about x86-64's code, registers, or compilers' output for it.
AARCH64_NOT_UNITS := test_cfi test_cfi_% test_core test_debug_frame test_decode test_recipe test_restart test_restart_errors test_restart_polls test_restart_signals \
    test_stopped test_unwind test_unwind_broken test_unwind_edges test_walks
# Those whose machine qemu plays otherwise: clocks are read in microseconds; processes start at no time; pages that nobody may read are
# read, as there is no process_vm_readv but /proc/self/mem; /proc/self/maps is made as a whole when it is opened, and mappings lie elsewhere;
# libraries' segments are 64 KB apart.
AARCH64_NOT_UNITS += test_clock test_os test_python test_lifetimes test_lifetimes_by_map test_loadmap test_loadmap_parts test_loadmap_room test_maps test_elf_view
AARCH64_UNITS = $(filter-out $(AARCH64_NOT_UNITS),$(UNIT_SOURCES:tests/unit/%.c=%))

# What the handler reaches there.
aarch64-handler: aarch64-needs
	@+$(AARCH64_MAKE) check-objects
	@$(PYTHON) tests/run.py commands 'scripts/check-handler.py build-aarch64/check'

aarch64-units: aarch64
	@+TEST_RUNNER='$(AARCH64_RUNNER)' TEST_TIMEOUT=1200 $(AARCH64_MAKE) unit UNIT='$(AARCH64_UNITS)'

aarch64-behaviour: aarch64 $(BLAME) build-aarch64/omp/libomp.so $(AARCH64_VARIANTS:%=build-aarch64/tests/%)
	@+$(MAKE) --no-print-directory -f tests/programs/programs.mk BUILD=build-aarch64 CLANG='$(AARCH64_CLANG)' $(AARCH64_PROGRAMS:%=build-aarch64/tests/%)
	@BUILD=build-aarch64 BLAME_TEST_COMMAND=$(BLAME) TEST_RUNNER='$(AARCH64_RUNNER)' $(PYTHON) -B tests/behaviour/run.py -j 1 tests/aarch64

test-aarch64: aarch64-handler aarch64-units aarch64-behaviour

# A whole machine: what the emulator of programs does not have.
AARCH64_KERNEL_UNITS := test_restart_waits test_restart_errors test_restart_first
AARCH64_ROOT := build-aarch64/kernel/root
build-aarch64/kernel/init: tests/aarch64/kernel_init.c
	@mkdir -p $(@D)
	aarch64-linux-gnu-gcc --sysroot=$(AARCH64_SYSROOT) -D_GNU_SOURCE -O1 $(WARNINGS) -o $@ $<
build-aarch64/kernel/sleeps: tests/aarch64/sleeps.c build-aarch64/omp/libomp.so
	@mkdir -p $(@D)
	$(AARCH64_CLANG) -D_GNU_SOURCE -O1 -g $(WARNINGS) -fopenmp -o $@ $<

.PHONY: kernel-aarch64
kernel-aarch64: aarch64 build-aarch64/kernel/init build-aarch64/kernel/sleeps
	@command -v qemu-system-aarch64 >/dev/null || { echo "no qemu-system-aarch64: install qemu-system-arm"; exit 1; }
	@scripts/aarch64-sysroot.sh $(AARCH64_SYSROOT) kernel
	@+$(AARCH64_MAKE) unit-programs UNIT_PROGRAMS='$(AARCH64_KERNEL_UNITS:%=build-aarch64/unit/%)'
	@rm -rf $(AARCH64_ROOT) && mkdir -p $(AARCH64_ROOT)/bin $(AARCH64_ROOT)/lib
	@cp build-aarch64/bin/blame $(AARCH64_KERNEL_UNITS:%=build-aarch64/unit/%) build-aarch64/kernel/sleeps $(AARCH64_ROOT)/bin
	@cp build-aarch64/lib/*.so $(AARCH64_ROOT)/lib
	@$(PYTHON) -B tests/aarch64/kernel.py $(AARCH64_SYSROOT) build-aarch64/kernel/init $(AARCH64_ROOT) $(AARCH64_KERNEL_UNITS) \
	    'blame run --rate 1000 --out /tmp/sleeps sleeps' 'blame report /tmp/sleeps'
