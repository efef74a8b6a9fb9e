# The simulator. Included by the Makefile, behind tests/tests.mk.
#   make simulate                                                   every claim; part of make test
#   make simulate SIM_ARGS='--seeds 5000'                           the same with more seeds
#   make simulate SAN=address,undefined BUILD=build-san SIM_ARGS='--seeds 20'   with sanitizers
#   build/simulator/simulate --rate 1000 --figures SCENARIO         one scenario, all figures
#   make simulate-errors                                            stated and real errors; writes tests/simulator/errors.md (three minutes)
#   make simulate-recycling REGIONS=10000000                        many regions
#   make simulate-broken                                            does it see defects? tests/simulator/broken.py, a quarter of an hour
#   make simulate-broken BROKEN_ARGS='--others -k locks'            and who else does?
SIMULATOR := $(BUILD)/simulator/simulate
SIMULATOR_SEAMS := os_timer_start os_timer_stop os_timer_set os_tick_ns os_timer_is_there os_tid os_run_times os_cores os_process_start_ns os_copy_memory machine_describe machine_note machine_note_tracer dependences_are_waited_for restart_call_before \
    restart_sleep_limit_ns restart_sleep_end_ns
SIMULATOR_SOURCES := $(wildcard tests/simulator/*.c) tests/unit/fake_clock.c
SIM_ARGS ?=
TEST_BUILT += $(if $(SAN),,$(SIMULATOR))
TEST_STAGES += $(if $(SAN),,simulate)

$(BUILD)/tests/simulator/%.o: ALL_CFLAGS += -O3

# What is replaced lies in these objects and is not taken from the archive; of the operating system only some calls are.
$(SIMULATOR): $(call objects,$(SIMULATOR_SOURCES)) $(UNITS)
	@mkdir -p $(@D)
	$(CC) $(SAN_FLAGS) -o $@ $^ $(SIMULATOR_SEAMS:%=-Wl,--wrap=%) $(UNIT_LIBS) -ldl -lm

.PHONY: simulator simulate
simulator: $(SIMULATOR)
simulate: $(SIMULATOR)
	@$(SIMULATOR) --claims tests/simulator/scenarios $(SIM_ARGS)

.PHONY: simulate-errors
simulate-errors: $(SIMULATOR)
	@$(SIMULATOR) --errors tests/simulator/scenarios/*.txt > $(<D)/errors.md
	@cp $(<D)/errors.md tests/simulator/errors.md

# The records of so many regions are used again and again, and the file does not grow.
REGIONS ?= 1000000
.PHONY: simulate-recycling
simulate-recycling: $(SIMULATOR)
	@sed 's/repeat 20000/repeat $(REGIONS)/' tests/simulator/scenarios/recycling.txt > $(<D)/recycling.txt
	@$(SIMULATOR) --rate 1000 --seeds 1 --limit 86400 $(<D)/recycling.txt

# Two of the defects are a part of make test.
BROKEN_ARGS ?=
TEST_STAGES += $(if $(SAN),,simulate-broken-two)
.PHONY: simulate-broken simulate-broken-two
simulate-broken: $(SIMULATOR)
	@$(PYTHON) -B tests/simulator/broken.py $(BROKEN_ARGS)

simulate-broken-two: $(SIMULATOR)
	@$(PYTHON) -B tests/simulator/broken.py --texts
	@$(PYTHON) -B tests/simulator/broken.py -k '^overruns|^b: the sampled'
