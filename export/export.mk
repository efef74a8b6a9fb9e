# The protobuf messages of `blame export --format pprof`, by protoc-c. Included by the Makefile.
EXPORT_MESSAGES := $(BUILD)/include/export/pprof.pb-c

$(EXPORT_MESSAGES).c: export/pprof.proto
	@mkdir -p $(@D)
	@command -v protoc-c >/dev/null || { echo "protoc-c not found: run scripts/setup.sh (package protobuf-c-compiler)"; exit 1; }
	protoc-c --c_out=$(BUILD)/include $<

$(EXPORT_MESSAGES).h: $(EXPORT_MESSAGES).c ;

$(BUILD)/export/pprof.pb-c.o: $(EXPORT_MESSAGES).c
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -c -o $@ $<

# Before the compiler has said so in .d files: what includes the generated header.
$(patsubst %.c,$(BUILD)/%.o,$(wildcard export/pprof*.c)): $(EXPORT_MESSAGES).h
