# What it costs to merge a job's ranks. Included by benchmarks/bench.mk within the top-level Makefile.
#   make bench-jobs                                    1,000 files of 2.4 MB, 2.5 GB in TMPDIR
#   make bench-jobs JOBS_ARGS='--curve'                100 to 100,000 small files

JOBS_ARGS ?=

.PHONY: bench-jobs
bench-jobs: $(BUILD)/jobs/make $(BLAME)
	$(PYTHON) -B benchmarks/jobs/merge.py --make $(BUILD)/jobs/make --blame $(BLAME) $(JOBS_ARGS)

$(BUILD)/jobs/make: benchmarks/jobs/make.c tests/fuzz/profile_builder.c
	@mkdir -p $(@D)
	$(CC) -std=gnu11 -D_GNU_SOURCE $(WARNINGS) -O2 -I. -o $@ $^ -lm
