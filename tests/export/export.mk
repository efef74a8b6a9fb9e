# Profiles in other programs' formats, read back by readers that others wrote. Included by tests/tests.mk.
#   make export-test    needs Debian's python3-jsonschema, python3-protobuf, protobuf-compiler, graphviz; npm's
#                       speedscope in Debian's chromium (skipped, and said so, where npm's registry is out of reach)

EXPORT_MAKER := $(BUILD)/export-tests/make_exports
EXPORT_MAKER_OBJECTS := $(call objects,tests/export/make_exports.c tests/export/made_trace.c tests/fuzz/fake_symbols.c)
# The modules of Debian's packages are its own Python's.
EXPORT_PYTHON := $(firstword $(wildcard /usr/bin/python3) $(PYTHON))

$(EXPORT_MAKER): $(EXPORT_MAKER_OBJECTS) $(UNITS)
	@mkdir -p $(@D)
	$(CC) $(SAN_FLAGS) -o $@ $^ $(COMMAND_LIBS)

TEST_BUILT += $(if $(SAN),,$(EXPORT_MAKER))

.PHONY: export-test
export-test: $(PRODUCTS) test-programs $(EXPORT_MAKER)
	@BUILD=$(BUILD) $(EXPORT_PYTHON) tests/behaviour/run.py tests/export
