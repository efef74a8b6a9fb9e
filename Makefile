# make            $(BUILD)/bin/blame, blame-merge where there is an MPI, $(BUILD)/lib/libblame.so, libblame-loader.so, libblame-mpi.so, libblame-pthreads.so,
#                 libblame-gomp.so and libblame-gomp-run.so beside it;
#                 manual pages and completions in $(BUILD)/share
# make demo       installs what is missing, builds, profiles an example, prints the report and makes a page of it
# make test       installs what is missing, builds and runs all tests      (SAN=address|undefined|thread: unit tests)
# make bench      the kernels: no tool, empty tool, blame
# make install PREFIX=/usr/local; make deb: packages of Debian (scripts/packaging/packaging.mk)

VERSION := 0.3.0
BUILD   ?= build$(if $(SAN),-$(SAN))
PREFIX  ?= /usr/local
CC      := $(if $(filter default,$(origin CC)),gcc,$(CC))
CLANG   ?= $(shell scripts/find-llvm clang)
OMPT_HEADER ?= $(shell scripts/find-llvm header)
CLANG   := $(CLANG)
OMPT_HEADER := $(OMPT_HEADER)
PYTHON  ?= python3

# What the compiler compiles for: of a unit that is another one on each machine, x_MACHINE.c (docs/architecture.md).
MACHINE := $(firstword $(subst -, ,$(shell $(CC) -dumpmachine)))
of_machine = $(sort $(filter-out %_x86_64.c %_aarch64.c,$(1)) $(filter %_$(MACHINE).c,$(1)))

CFLAGS  ?= -O2 -g
WARNINGS := -Wall -Wextra $(if $(CI),-Werror)
# The same bytes wherever the sources lie.
NO_PATHS := '-ffile-prefix-map=$(CURDIR)=.'
SAN_FLAGS := $(if $(SAN),-fsanitize=$(SAN) -fno-omit-frame-pointer -fno-sanitize-recover=all -DSANITIZED -DBLAME_DEBUG)
ALL_CFLAGS := -std=gnu11 -D_GNU_SOURCE $(WARNINGS) $(CPPFLAGS) $(CFLAGS) $(NO_PATHS) $(SAN_FLAGS) -fPIC -fvisibility=hidden -fexceptions \
    -ftls-model=initial-exec -I. -I$(BUILD)/include -DBLAME_VERSION='"$(VERSION)"' -MMD -MP

# Sorted: the order in which files are linked is that of no make and no file system.
BASE   := $(sort $(wildcard base/*.c))
CCT    := $(sort $(wildcard cct/*.c cct/*/*.c))
PLUGIN := $(BASE) $(CCT) $(call of_machine,$(wildcard unwind/*.c blame/*.c ompt_tool/*.c ompt_tool/*/*.c))
COMMAND := base/clock.c base/entries.c base/job_directory.c base/launcher.c base/log.c base/option.c base/os.c base/run_options.c cct/timeline/moment.c cct/sums.c \
    base/recipe_cause.c $(sort $(filter-out command/mpi_merge/%,$(wildcard command/*/*.c)))

# `blame` is also a folder: a target of that name would always be up to date.
BLAME    := $(BUILD)/bin/blame
LIBRARY  := $(BUILD)/lib/libblame.so
LOADER   := $(BUILD)/lib/libblame-loader.so
MPI_LAYER := $(BUILD)/lib/libblame-mpi.so
PTHREADS_LAYER := $(BUILD)/lib/libblame-pthreads.so
GOMP_LAYER := $(BUILD)/lib/libblame-gomp.so
GOMP_RUN := $(BUILD)/lib/libblame-gomp-run.so
# Only where there is an MPI to build it with: MPICC=mpicc.mpich takes another one.
MPICC    ?= mpicc
MPI_MERGE := $(if $(shell command -v $(MPICC)),$(BUILD)/bin/blame-merge)
# The laboratory, where the command looks for it.
LAB      := $(BUILD)/share/blame/lab
include command/cli/manual/manual.mk
PRODUCTS := $(BLAME) $(LIBRARY) $(LOADER) $(MPI_LAYER) $(PTHREADS_LAYER) $(GOMP_LAYER) $(GOMP_RUN) $(MPI_MERGE) $(LAB) $(MANUAL)

objects = $(patsubst %.c,$(BUILD)/%.o,$(1))

PLUGIN_LIBS  := -lunwind-$(MACHINE) -lunwind -lZydis
include command/export/export.mk
# Linked into the command where the system's static libraries suffice for that (Debian 13's do not), because loading them
# takes half a millisecond at each start. liblzma and libbz2 are libdw's.
OWN_LIBS   := $(foreach name,protobuf-c dw elf lzma bz2 z jansson,-l:lib$(name).a)
TRY_OWN    := int json_object(void), protobuf_c_message_pack(void); \
    int main(void) { return json_object() + protobuf_c_message_pack(); }
THEIR_LIBS := -lprotobuf-c -ldw -lelf -lz -ljansson
COMMAND_LIBS = $(eval COMMAND_LIBS := $(if $(shell echo '$(TRY_OWN)' | $(CC) $(LDFLAGS) -w -x c - -x none -o /dev/null \
    -Wl,--whole-archive -l:libdw.a -l:libelf.a -Wl,--no-whole-archive $(OWN_LIBS) 2>&1),$(THEIR_LIBS),$(OWN_LIBS)) -lZydis -l:libiberty.a -lm)$(COMMAND_LIBS)

.DEFAULT_GOAL := all
.PHONY: all setup demo test unit behaviour checks clean format
all: $(PRODUCTS)

$(LIBRARY): $(call objects,$(PLUGIN)) ompt_tool/export.map
	@mkdir -p $(@D)
	$(CC) -shared $(SAN_FLAGS) $(LDFLAGS) -o $@ $(call objects,$(PLUGIN)) -Wl,--version-script=ompt_tool/export.map \
	    -Wl,-soname,libblame.so -Wl,-z,defs -Wl,-z,now -Wl,-z,nodelete -Wl,--as-needed $(PLUGIN_LIBS)

# Without a C library: it is loaded into every process that the program starts. Also without libgcc, whose functions
# GCC calls for atomic operations on aarch64 by default.
LOADER_CFLAGS := -std=gnu11 -D_GNU_SOURCE $(WARNINGS) $(CFLAGS) $(NO_PATHS) -fPIC -fvisibility=hidden -ffreestanding \
    -fno-stack-protector $(if $(findstring clang,$(CC)),,-fno-tree-loop-distribute-patterns) -I. \
    $(if $(filter aarch64,$(MACHINE)),-mno-outline-atomics)
LOADER_SOURCES := $(call of_machine,$(wildcard layers/loader/*.c))
$(LOADER): $(LOADER_SOURCES) $(wildcard layers/loader/*.h) layers/pthreads/functions.h base/atomics.h base/launched.h base/kernel.h base/pthreads_layer.h base/same_file.h
	@mkdir -p $(@D)
	$(CC) $(LOADER_CFLAGS) -shared -nostdlib $(LDFLAGS) -o $@ $(LOADER_SOURCES) -Wl,-soname,libblame-loader.so -Wl,-z,defs -Wl,-z,now -Wl,-z,separate-code

# Needs no MPI. A caller's context is read from where a frame pointer leads: on aarch64 to a return address that is not signed.
MPI_LAYER_FLAGS := -fno-omit-frame-pointer $(if $(filter aarch64,$(MACHINE)),-mbranch-protection=bti)
$(MPI_LAYER): layers/mpi/layer.c base/bind.c base/bind.h base/kernel.h base/mpi_calls.h base/mpi_layer.h base/atomics.h
	@mkdir -p $(@D)
	$(CC) $(filter-out -MMD -MP $(SAN_FLAGS),$(ALL_CFLAGS)) $(MPI_LAYER_FLAGS) $(BIND_FLAGS) -shared $(LDFLAGS) -o $@ layers/mpi/layer.c base/bind.c \
	    -Wl,-soname,libblame-mpi.so -Wl,-z,defs -Wl,-z,now

# Programs that are built with sanitizers run it, too, and so it has none itself. On aarch64 a call path goes over frame records.
PTHREADS_SOURCES := $(sort $(wildcard layers/pthreads/*.c))
PTHREADS_FLAGS := $(filter-out $(SAN_FLAGS),$(ALL_CFLAGS)) $(if $(filter aarch64,$(MACHINE)),-fno-omit-frame-pointer)
$(call objects,$(PTHREADS_SOURCES)): ALL_CFLAGS := $(PTHREADS_FLAGS)
$(PTHREADS_LAYER): $(call objects,$(PTHREADS_SOURCES)) base/bind.c base/bind.h base/kernel.h base/atomics.h
	@mkdir -p $(@D)
	$(CC) $(filter-out -MMD -MP,$(PTHREADS_FLAGS)) $(BIND_FLAGS) -shared $(LDFLAGS) -o $@ $(call objects,$(PTHREADS_SOURCES)) base/bind.c \
	    -Wl,-soname,libblame-pthreads.so -Wl,-z,defs -Wl,-z,now -Wl,-z,nodelete

# Tools cut call paths at its frames: it keeps frame pointers. Programs that are built with sanitizers run it, too, and so it has none itself.
GOMP_SOURCES := $(sort $(wildcard layers/gomp/*.c))
GOMP_FLAGS := $(filter-out $(SAN_FLAGS),$(ALL_CFLAGS)) -fno-omit-frame-pointer
$(call objects,$(GOMP_SOURCES)): ALL_CFLAGS := $(GOMP_FLAGS)
$(call objects,layers/gomp/locks.c): ALL_CFLAGS += -fomit-frame-pointer
GOMP_PARTS := $(call objects,$(GOMP_SOURCES)) layers/gomp/export.map base/bind.c base/bind.h base/kernel.h base/atomics.h
gomp_link = $(CC) $(filter-out -MMD -MP,$(GOMP_FLAGS)) $(BIND_FLAGS) -shared $(LDFLAGS) -o $@ $(call objects,$(1)) base/bind.c \
    -Wl,--version-script=layers/gomp/export.map -Wl,-soname,$(@F) -Wl,-z,defs -Wl,-z,now -Wl,-z,nodelete
$(GOMP_LAYER): $(GOMP_PARTS)
	@mkdir -p $(@D)
	$(call gomp_link,$(GOMP_SOURCES))

# The same for blame run: it needs libgomp, by a name for which libblame-loader.so gives the file that the program would have had. Without
# its own lines and static names, reports name libgomp's functions.
$(GOMP_RUN): $(GOMP_PARTS)
	@mkdir -p $(@D)
	$(CC) -shared -nostdlib -x c /dev/null -o $(BUILD)/libblame-real-gomp.so.1 -Wl,-soname,libblame-real-gomp.so.1
	$(call gomp_link,$(filter-out layers/gomp/pass.c,$(GOMP_SOURCES))) -s -Wl,--no-as-needed $(BUILD)/libblame-real-gomp.so.1

$(BLAME): $(call objects,$(COMMAND)) $(EXPORT_OBJECTS)
	@mkdir -p $(@D)
	$(CC) $(SAN_FLAGS) $(LDFLAGS) -o $@ $^ -Wl,--as-needed $(COMMAND_LIBS)

$(LAB):
	@mkdir -p $(@D)
	ln -sfn $(CURDIR)/lab $@

# The command's parts, and one of its own that an MPI's compiler makes.
MERGE_PARTS := command/mpi_merge/main.c $(call objects,$(filter-out command/cli/main.c,$(COMMAND))) $(EXPORT_OBJECTS)
make_merge = $(1) $(filter-out -MMD -MP,$(ALL_CFLAGS)) $(LDFLAGS) -o $@ $(MERGE_PARTS) -Wl,--as-needed $(COMMAND_LIBS)

$(BUILD)/bin/blame-merge: $(MERGE_PARTS)
	@mkdir -p $(@D)
	$(call make_merge,$(MPICC))

$(BUILD)/%.o: %.c | $(BUILD)/include/omp-tools.h
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -c -o $@ $<

# Runs before its library's imports may be called: the compiler makes no calls there, of memset() for one.
BIND_FLAGS := -ffreestanding -fno-stack-protector $(if $(findstring clang,$(CC)),,-fno-tree-loop-distribute-patterns)
$(BUILD)/base/bind.o $(BUILD)/check/base/bind.o: ALL_CFLAGS += $(BIND_FLAGS)

$(BUILD)/command/html/page.o: command/html/page/dist/page.html

# omp-tools.h alone: clang's whole include directory would bring its own stddef.h to other compilers.
$(BUILD)/include/omp-tools.h:
	@mkdir -p $(@D)
	@test -n "$(OMPT_HEADER)" || { echo "omp-tools.h not found: run scripts/setup.sh (package libomp-19-dev)"; exit 1; }
	ln -sf $(OMPT_HEADER) $@

setup:
	@scripts/setup.sh build

# The packages come first: clang's path is looked up again by a second make.
demo: setup
	@$(MAKE) --no-print-directory demo-run

.PHONY: demo-run
demo-run: all
	$(CLANG) -O2 -g -fopenmp -o $(BUILD)/diffuse docs/examples/diffuse.c -lm
	rm -rf $(BUILD)/demo
	$(BLAME) run --rate 1000 --out $(BUILD)/demo $(BUILD)/diffuse
	$(BLAME) report $(BUILD)/demo
	$(BLAME) report $(BUILD)/demo --view findings
	$(BLAME) html $(BUILD)/demo -o $(BUILD)/demo.html

include tests/programs/programs.mk
include benchmarks/bench.mk
-include tests/names.mk
include tests/tests.mk
include tests/html/html.mk
include tests/accuracy/accuracy.mk
include tests/advice/advice.mk
include benchmarks/gate/gate.mk
include tests/simulator/simulator.mk
include scripts/packaging/packaging.mk
include archive/archive.mk
include tests/aarch64/aarch64.mk
include tests/memory/memory.mk

clean:
	rm -rf build build-*

format:
	clang-format-19 -i $$(git ls-files '*.c' '*.h')

-include $(shell find $(BUILD) -name '*.d' -type f 2>/dev/null)
