# The lock-free protocols on a weakly ordered memory (docs/concurrency.md). Included by the Makefile, behind tests/tests.mk.
#   make memory-model                               all scenarios, MEMORY_SEEDS seeds each
#   make memory-weaken                              each ordering in the code made weaker: does a scenario fail?
#   build/memory/explore --seeds 100000 waits-ring  one scenario
MEMORY := $(BUILD)/memory/explore
MEMORY_UNITS := $(addprefix blame/,contended.c directed.c ranks.c state.c) cct/arena.c cct/deferred/region.c \
    ompt_tool/locks/lock_names.c ompt_tool/ranks/ranks_lines.c ompt_tool/session/session.c ompt_tool/session/thread.c
MEMORY_SCENARIOS := $(addprefix tests/memory/,loadmap.c locks.c ranks.c ranks_lines.c regions.c states.c stopping.c tables.c)
MEMORY_MODEL := $(addprefix tests/memory/,cells.c explore.c hooks.c memory.c pool.c scenarios.c seams.c sites.c threads.c) tests/unit/fake_clock.c
MEMORY_SEEDS ?= 3000
# Clang's calls have other names.
MEMORY_CC := $(if $(findstring clang,$(CC)),gcc,$(CC))
memory_objects = $(patsubst %.c,$(BUILD)/memory/%.o,$(1))

# As the product, but that each access calls the model.
$(call memory_objects,$(MEMORY_UNITS) $(MEMORY_SCENARIOS)): $(BUILD)/memory/%.o: %.c tests/memory/seams.h | $(BUILD)/include/omp-tools.h
	@mkdir -p $(@D)
	$(MEMORY_CC) $(filter-out -fPIC -O2,$(ALL_CFLAGS)) -O1 -fno-pie -fno-builtin -fsanitize=thread -Wno-tsan -include tests/memory/seams.h -c -o $@ $<

$(call memory_objects,$(MEMORY_MODEL)): $(BUILD)/memory/%.o: %.c
	@mkdir -p $(@D)
	$(MEMORY_CC) $(filter-out -fPIC,$(ALL_CFLAGS)) -fno-pie -c -o $@ $<

# What these units call of others, and no scenario comes to, is not there.
$(MEMORY): $(call memory_objects,$(MEMORY_MODEL) $(MEMORY_SCENARIOS) $(MEMORY_UNITS))
	@mkdir -p $(@D)
	$(MEMORY_CC) -no-pie -Wl,--unresolved-symbols=ignore-all -o $@ $^

.PHONY: memory-model memory-short memory-weaken
TEST_BUILT += $(if $(SAN),,$(MEMORY))
TEST_STAGES += $(if $(SAN),,memory-short)
memory-short: $(MEMORY)
	@$(MEMORY) --seeds 500

memory-model: $(MEMORY)
	@$(MEMORY) --seeds $(MEMORY_SEEDS)

memory-weaken: $(MEMORY)
	@$(PYTHON) -B tests/memory/weaken.py $(MEMORY) $(WEAKEN_ARGS)
