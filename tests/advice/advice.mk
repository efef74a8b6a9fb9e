# Measures the advice of the findings (advice.py has the options). Not part of make test: it needs a quiet machine and half an hour.
ADVICE ?=
ADVICE_PARTS := $(addprefix $(BUILD)/advice/,advice_clang advice_gcc advice_f90 advice_clang++ advice_g++)

.PHONY: advice
advice: all $(ADVICE_PARTS)
	@$(PYTHON) -B tests/advice/advice.py --build $(BUILD) $(ADVICE)

$(BUILD)/advice/advice_clang: tests/advice/advice.c tests/advice/work.h
	@mkdir -p $(@D)
	$(CLANG) -std=gnu11 -O2 -g -fopenmp -o $@ $<

$(BUILD)/advice/advice_gcc: tests/advice/advice.c tests/advice/work.h
	@mkdir -p $(@D)
	gcc -std=gnu11 -O2 -g -fopenmp -o $@ $<

$(BUILD)/advice/advice_f90: tests/advice/advice.f90
	@mkdir -p $(@D)
	gfortran -O2 -g -fopenmp -J$(@D) -o $@ $<

$(BUILD)/advice/advice_clang++: tests/advice/advice.cc tests/advice/work.h
	@mkdir -p $(@D)
	$(CLANGXX) -std=gnu++17 -O2 -g -fopenmp -o $@ $<

$(BUILD)/advice/advice_g++: tests/advice/advice.cc tests/advice/work.h
	@mkdir -p $(@D)
	g++ -std=gnu++17 -O2 -g -fopenmp -o $@ $<
