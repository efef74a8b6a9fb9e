# Which schedule for which size: tried, learned, compiled and tried again. Included by benchmarks/bench.mk within the top-level Makefile.
#   make bench-learn                                            two minutes
#   make bench-learn LEARN_ARGS='--repetitions 5 --keep out'

LEARN_ARGS ?=

.PHONY: bench-learn
bench-learn: $(BLAME) $(LIBRARY) $(LOADER)
	$(PYTHON) -B benchmarks/learn/learn.py --blame $(BLAME) --clang $(CLANG) $(LEARN_ARGS)
