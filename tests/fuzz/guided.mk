# Fuzzing guided by coverage, by hand: tests/fuzz/guided_*.c with clang's libFuzzer (libclang-rt-19-dev).
#   make fuzz-guided                                     each for ten minutes
#   make fuzz-guided FUZZ_ARGS='-max_total_time=60 -seed=2'
# What was found to reach new code is kept in tests/fuzz/corpus/ for as long as it is small; a run adds to a copy in the build.
GUIDED_SOURCES := $(sort $(wildcard tests/fuzz/guided_*.c))
FUZZ_ARGS ?= -max_total_time=600
GUIDED_ARGS := -len_control=0 -max_len=8192 -rss_limit_mb=1024 -timeout=10 -print_final_stats=1
GUIDED_BUILD := SAN=address$(,)undefined BUILD=$(BUILD)-guided CC=clang-19 CFLAGS='-O1 -g1 -fsanitize=fuzzer-no-link' FUZZ_ONLY=1

ifneq ($(filter guided-run,$(MAKECMDGOALS)),)
$(BUILD)/guided-rules.mk: $(GUIDED_SOURCES) tests/rules.py
	@mkdir -p $(@D)
	@$(PYTHON) tests/rules.py fuzz GUIDED_PROGRAMS $(GUIDED_SOURCES) > $@
include $(BUILD)/guided-rules.mk
endif

.PHONY: fuzz-guided guided-run
guided-run: SAN_FLAGS += $(if $(filter %.o,$@),,-fsanitize=fuzzer)
guided-run: $(GUIDED_PROGRAMS)
	@status=0; for program in $(abspath $(GUIDED_PROGRAMS)); do \
	    name=$$(basename $$program); corpus=$(abspath $(BUILD))/corpus; mkdir -p $$corpus/$$name; echo "$$name:"; \
	    (cd $$corpus && nice $$program -verbosity=0 -artifact_prefix=$$name- $(GUIDED_ARGS) $(FUZZ_ARGS) $$name $(CURDIR)/tests/fuzz/corpus/$$name) || status=1; \
	done; exit $$status

fuzz-guided:
	@+$(MAKE) --no-print-directory guided-run $(GUIDED_BUILD)
