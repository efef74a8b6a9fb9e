# The protobuf messages of `blame export --format pprof` and perfetto, by protoc-c. Included by the Makefile.
EXPORT_MESSAGES := $(patsubst export/%.proto,$(BUILD)/include/export/%.pb-c,$(wildcard export/*.proto))
EXPORT_OBJECTS := $(patsubst export/%.proto,$(BUILD)/export/%.pb-c.o,$(wildcard export/*.proto))

$(BUILD)/include/export/%.pb-c.c: export/%.proto
	@mkdir -p $(@D)
	@command -v protoc-c >/dev/null || { echo "protoc-c not found: run scripts/setup.sh (package protobuf-c-compiler)"; exit 1; }
	protoc-c --c_out=$(BUILD)/include $<

$(BUILD)/include/export/%.pb-c.h: $(BUILD)/include/export/%.pb-c.c ;

$(EXPORT_OBJECTS): $(BUILD)/export/%.pb-c.o: $(BUILD)/include/export/%.pb-c.c
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -c -o $@ $<

# Before the compiler has said so in .d files: what includes a generated header.
$(patsubst %.c,$(BUILD)/%.o,$(wildcard export/pprof*.c export/perfetto*.c)): $(addsuffix .h,$(EXPORT_MESSAGES))
