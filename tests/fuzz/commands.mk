# Every command of `blame` over measurement files that are changed, by hand: tests/fuzz/commands.c.
#   make fuzz-commands                                      10,000 files; Ctrl-C ends it with its counts
#   make fuzz-commands COMMANDS_COUNT=100 FUZZ_SEED=2
# What is kept of findings is run again first: tests/fuzz/corpus/commands.
COMMANDS_COUNT ?= 10000
COMMANDS_FUZZER := $(BUILD)/fuzz/commands
COMMANDS_BASES := $(abspath $(BUILD))/fuzz-bases
COMMANDS_FOUND := $(abspath $(BUILD))/fuzz-found

$(COMMANDS_FUZZER): $(call objects,tests/fuzz/commands.c tests/fuzz/commands_edits.c tests/fuzz/command_lines.c tests/fuzz/profile_builder.c $(filter-out cli/main.c,$(COMMAND))) $(EXPORT_OBJECTS)
	@mkdir -p $(@D)
	$(CC) $(SAN_FLAGS) $(LDFLAGS) -o $@ $^ -Wl,--as-needed $(COMMAND_LIBS)

.PHONY: fuzz-commands
fuzz-commands: export ASAN_OPTIONS :=
fuzz-commands: export UBSAN_OPTIONS :=
fuzz-commands: $(BLAME) $(LIBRARY) $(addprefix $(TEST_BIN)/,tasks lock nested quick phase_nesting folds endings)
	@BUILD=$(BUILD) $(PYTHON) -B tests/fuzz/commands_bases.py $(COMMANDS_BASES)
	@+$(MAKE) --no-print-directory SAN=address$(,)undefined BUILD=$(BUILD)-commands CFLAGS='-O1 -g1' $(BUILD)-commands/fuzz/commands
	@mkdir -p $(COMMANDS_FOUND)
	@nice $(BUILD)-commands/fuzz/commands --replay $(COMMANDS_BASES) $(wildcard tests/fuzz/corpus/commands/*)
	@nice $(BUILD)-commands/fuzz/commands $(COMMANDS_COUNT) $(FUZZ_SEED) $(COMMANDS_BASES) $(COMMANDS_FOUND)
