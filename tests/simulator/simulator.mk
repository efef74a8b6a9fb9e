# The simulator. Included by the Makefile, behind tests/tests.mk.
#   make simulate                                                   every claim; part of make test
#   make simulate SIM_ARGS='--seeds 5000'                           the same with more seeds
#   build/simulator/simulate --rate 1000 --figures SCENARIO         one scenario, all figures
SIMULATOR := $(BUILD)/simulator/simulate
SIMULATOR_SEAMS := os_timer_start os_timer_stop os_timer_set os_tid os_run_times os_cores os_process_start_ns \
    state_census_at
SIMULATOR_SOURCES := $(wildcard tests/simulator/*.c) tests/unit/fake_clock.c
SIM_ARGS ?=
TEST_BUILT += $(if $(SAN),,$(SIMULATOR))
TEST_LANE += $(if $(SAN),,simulate)

# What is replaced lies in these objects and is not taken from the archive; of the operating system only some calls are.
$(SIMULATOR): $(call objects,$(SIMULATOR_SOURCES)) $(UNITS)
	@mkdir -p $(@D)
	$(CC) $(SAN_FLAGS) -o $@ $^ $(SIMULATOR_SEAMS:%=-Wl,--wrap=%) $(UNIT_LIBS) -ldl -lm

.PHONY: simulator simulate
simulator: $(SIMULATOR)
simulate: $(SIMULATOR)
	@$(SIMULATOR) --claims tests/simulator/scenarios $(SIM_ARGS)
