# What it costs to show a huge profile. Included by benchmarks/bench.mk within the top-level Makefile.
#   make bench-report                                             some minutes
#   make bench-report REPORT_ARGS='--contexts 100000 --only html'
# blame itself is not measured here: its costs are bench-scale's.

REPORT_ARGS ?=

.PHONY: bench-report
bench-report: $(BUILD)/report/make $(BLAME)
	$(PYTHON) -B benchmarks/report/outputs.py --make $(BUILD)/report/make --blame $(BLAME) $(REPORT_ARGS)

$(BUILD)/report/functions.c: benchmarks/report/functions.py
	@mkdir -p $(@D)
	$(PYTHON) $< 2000 > $@

# make.c knows how many bytes each line's instruction has.
$(BUILD)/report/functions.o: $(BUILD)/report/functions.c
	$(CC) -O0 -g -fno-pie -fcf-protection=none -c -o $@ $<

# Not position independent: the addresses of its functions are those of the file.
$(BUILD)/report/make: benchmarks/report/make.c $(BUILD)/report/functions.o $(call objects,$(BASE) $(CCT))
	$(CC) -std=gnu11 -D_GNU_SOURCE $(WARNINGS) -O2 -I. -no-pie -o $@ $^
