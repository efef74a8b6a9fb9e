# What a database of trials costs. Included by benchmarks/bench.mk within the top-level Makefile.
#   make bench-trials                                             some minutes
#   make bench-trials TRIALS_ARGS='--contexts 10000 --trials 1000'

TRIALS_ARGS ?=

.PHONY: bench-trials
bench-trials: $(BUILD)/report/make $(BLAME)
	$(PYTHON) -B benchmarks/trials/trials.py --make $(BUILD)/report/make --blame $(BLAME) $(TRIALS_ARGS)
