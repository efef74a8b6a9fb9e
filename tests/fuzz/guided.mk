# Fuzzing guided by coverage, by hand: tests/fuzz/guided_*.c with clang's libFuzzer (libclang-rt-19-dev).
#   make fuzz-guided                                     each for ten minutes
#   make fuzz-guided FUZZ_ARGS='-max_total_time=60 -seed=2' GUIDED='guided_commands guided_binaries'
# Readers of one file alone, and whole commands: guided_commands over measurement files, guided_binaries over programs' ELF files and DWARF, which
# count 10 s of a processor themselves.
# What was found to reach new code is kept in tests/fuzz/corpus/ for as long as it is small; a run adds to a copy in the build.
GUIDED_SOURCES := $(sort $(wildcard tests/fuzz/guided_*.c))
FUZZ_ARGS ?= -max_total_time=600
GUIDED_ARGS := -len_control=0 -max_len=8192 -rss_limit_mb=1024 -print_final_stats=1
GUIDED_WHOLE := guided_commands guided_binaries
GUIDED_CHOSEN = $(if $(GUIDED),$(filter $(GUIDED:%=$(BUILD)/fuzz/%),$(GUIDED_PROGRAMS)),$(GUIDED_PROGRAMS))
GUIDED_BUILD := SAN=address$(,)undefined BUILD=$(BUILD)-guided CC=clang-19 CFLAGS='-O1 -g1 -fsanitize=fuzzer-no-link' FUZZ_ONLY=1

ifneq ($(filter guided-run,$(MAKECMDGOALS)),)
$(BUILD)/guided-rules.mk: $(GUIDED_SOURCES) tests/rules.py
	@mkdir -p $(@D)
	@$(PYTHON) tests/rules.py fuzz GUIDED_PROGRAMS $(GUIDED_SOURCES) > $@
include $(BUILD)/guided-rules.mk
endif

.PHONY: fuzz-guided guided-run
guided-run: SAN_FLAGS += $(if $(filter %.o,$@),,-fsanitize=fuzzer)
guided-run: $(GUIDED_CHOSEN)
	@status=0; for program in $(abspath $(GUIDED_CHOSEN)); do \
	    name=$$(basename $$program); corpus=$(abspath $(BUILD))/corpus; mkdir -p $$corpus/$$name; echo "$$name:"; kept=tests/fuzz/corpus/$$name; \
	    [ ! -f $$kept.hex ] || $(PYTHON) -B tests/fuzz/corpus.py unpack $$kept.hex $$corpus/$$name; \
	    case " $(GUIDED_WHOLE) " in *" $$name "*) limit=300 ;; *) limit=10 ;; esac; \
	    (cd $$corpus && nice $$program -verbosity=0 -timeout=$$limit -artifact_prefix=$$corpus/$$name- $(GUIDED_ARGS) $(FUZZ_ARGS) $$corpus/$$name $$(ls -d $(CURDIR)/$$kept 2>/dev/null)) || status=1; \
	done; exit $$status

fuzz-guided:
	@+$(MAKE) --no-print-directory guided-run $(GUIDED_BUILD)

# The programs that guided_binaries changes, of compilers that there are: what the corpus says of them changes with them.
FUZZ_BINARY_FLAGS := -shared -nostdlib -nostartfiles -fPIC -O2 -fopenmp -Wl,-z,noseparate-code -Wl,-z,norelro -Wl,--build-id=none -Wl,--hash-style=gnu \
    -ffile-prefix-map=$(CURDIR)/tests/fuzz/binaries=/src
.PHONY: fuzz-binaries
fuzz-binaries: SOURCE := $(CURDIR)/tests/fuzz/binaries/seed.c
fuzz-binaries:
	cd tests/fuzz/binaries && clang-19 $(FUZZ_BINARY_FLAGS) -gdwarf-5 -o clang5 $(SOURCE) && gcc $(FUZZ_BINARY_FLAGS) -gdwarf-4 -o gcc4 $(SOURCE) && \
	    gcc $(FUZZ_BINARY_FLAGS) -gdwarf-5 -gz -o gcc5z $(SOURCE) && gcc $(FUZZ_BINARY_FLAGS) -gdwarf-5 -o gcc5-stripped $(SOURCE) && \
	    objcopy --only-keep-debug gcc5-stripped gcc5.debug && strip --strip-all gcc5-stripped && cp gcc5.debug app.debug && \
	    objcopy --add-gnu-debuglink=app.debug gcc5-stripped && rm app.debug && chmod -x *
