# Builds the kernels with several ranks, $(BUILD)/bench/mpi/NAME_MPI, with each installed MPI. Included by bench.mk.
#   stencil cg queens zones   C, by clang or BENCH_CC; also calls, which measures the time of one call
#   stencil_f08               gfortran, which compiled MPI's modules
#   stencil_mpifh             flang

bench_mpis := $(foreach mpi,openmpi mpich,$(if $(shell command -v mpicc.$(mpi)),$(mpi)))
bench_mpi := $(foreach mpi,$(bench_mpis),$(patsubst %,$(BUILD)/bench/mpi/%_$(mpi),stencil cg queens zones calls stencil_f08 stencil_mpifh))
bench_mpicc_openmpi := OMPI_CC=$(BENCH_CC) mpicc.openmpi
bench_mpicc_mpich := MPICH_CC=$(BENCH_CC) mpicc.mpich
# The flags of an MPI compiler wrapper that other compilers accept too.
bench_mpi_flags = $(filter -I% -L% -l%,$(shell mpif90.$(1) -show))

bench_mpi_empty := $(BUILD)/bench/mpi/libempty_layer.so

.PHONY: bench-mpi bench-mpi-build
bench-mpi-build: $(bench_mpi)
	@$(if $(bench_mpis),true,echo "no MPI is installed (scripts/setup.sh): no kernels of many ranks")

bench-mpi: bench-mpi-build $(bench_mpi_empty) $(bench_tool) $(if $(bench_alone),,$(PRODUCTS))
	$(call bench_run,layers/mpi/mpi.py) $(BENCH_ARGS)

$(bench_mpi_empty): benchmarks/mpi/empty_layer.c
	@mkdir -p $(@D)
	$(BENCH_CC) $(BENCH_CFLAGS) -D_GNU_SOURCE -shared -fPIC -o $@ $<

define bench_mpi_rules
$(BUILD)/bench/mpi/%_$(1): benchmarks/mpi/%.c
	@mkdir -p $$(@D)
	$(bench_mpicc_$(1)) $(BENCH_CFLAGS) -fopenmp -MMD -MP -MF $$@.d -o $$@ $$< -lm

$(BUILD)/bench/mpi/stencil_f08_$(1): benchmarks/mpi/stencil.F90
	@mkdir -p $$(@D)
	mpif90.$(1) -O2 -g -Wall -fopenmp -o $$@ $$<

$(BUILD)/bench/mpi/stencil_mpifh_$(1): benchmarks/mpi/stencil.F90
	@mkdir -p $$(@D)
	$$(or $$(TEST_FLANG),flang-new-19) -DOLD -O2 -g -fopenmp -o $$@ $$< $$(call bench_mpi_flags,$(1))
endef
$(foreach mpi,$(bench_mpis),$(eval $(call bench_mpi_rules,$(mpi))))

-include $(addsuffix .d,$(bench_mpi))
