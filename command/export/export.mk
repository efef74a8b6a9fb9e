# The protobuf messages of `blame export --format pprof` and perfetto, by protoc-c. Included by the Makefile.
EXPORT_MESSAGES := $(patsubst command/export/%.proto,$(BUILD)/include/command/export/%.pb-c,$(wildcard command/export/*.proto))
EXPORT_OBJECTS := $(patsubst command/export/%.proto,$(BUILD)/command/export/%.pb-c.o,$(wildcard command/export/*.proto))

$(BUILD)/include/command/export/%.pb-c.c: command/export/%.proto
	@mkdir -p $(@D)
	@command -v protoc-c >/dev/null || { echo "protoc-c not found: run scripts/setup.sh (package protobuf-c-compiler)"; exit 1; }
	protoc-c --c_out=$(BUILD)/include $<

$(BUILD)/include/command/export/%.pb-c.h: $(BUILD)/include/command/export/%.pb-c.c ;

$(EXPORT_OBJECTS): $(BUILD)/command/export/%.pb-c.o: $(BUILD)/include/command/export/%.pb-c.c
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -c -o $@ $<

# These files include a generated header. make knows it from .d files only after the first compilation.
$(patsubst %.c,$(BUILD)/%.o,$(wildcard command/export/pprof*.c command/export/perfetto*.c)): $(addsuffix .h,$(EXPORT_MESSAGES))
