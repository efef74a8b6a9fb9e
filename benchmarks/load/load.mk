# What a machine that others use does to the figures (docs/accuracy.md). Included by benchmarks/bench.mk.
#   make bench-load BENCH_ARGS='-n 1 --conditions "quiet|loops"'
.PHONY: bench-load
bench-load: $(PRODUCTS) test-programs accuracy-programs
	BUILD=$(BUILD) $(PYTHON) benchmarks/load/load.py --tool $(bench_library) $(BENCH_ARGS)
