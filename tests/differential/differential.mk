# tests/differential/code.c, compiled in several ways: objects for tests/unit/test_walks.c, without sanitizers.
# Included by tests/tests.mk.

DIFFERENTIAL_VARIANTS := gcc_O0 gcc_O2 gcc_O2_frames gcc_O3_avx2 gcc_Os clang_O0 clang_O2 clang_O2_frames clang_O3_avx2 clang_Os

DIFFERENTIAL_C := -std=gnu11 -D_GNU_SOURCE -Wall -Wextra -Wno-unused-result -g -fPIC -I.

differential_frames := -fno-omit-frame-pointer
differential_debugger := -fno-asynchronous-unwind-tables -fno-unwind-tables
differential_avx2 := -mavx2 -fstack-protector-all

# gcc_O2_frames: the compiler, its level, and what more there is
differential_word = $(word $(2),$(subst _, ,$(1)))
differential_compiler = $(if $(filter clang,$(call differential_word,$(1),1)),$(CLANG),gcc)

$(BUILD)/tests/differential/code_%.o: tests/differential/code.c tests/differential/code.h tests/differential/differential.mk
	@mkdir -p $(@D)
	$(call differential_compiler,$*) $(DIFFERENTIAL_C) -DVARIANT=$* \
	    -$(call differential_word,$*,2) $(differential_$(call differential_word,$*,3)) -c -o $@ $<

# Others are libraries, which it loads, as they need linkers or runtimes of their own. No compiler, no library: the test says so.
# Split stacks: fibers and handlers on other stacks are not for them, and GNU's linker does not know how to call other code from them.
DIFFERENTIAL_FOLDER := $(BUILD)/unit/differential
DIFFERENTIAL_LIBRARIES :=

# $(call differential_library,name,compiler,sources,flags)
define differential_library
ifneq ($$(shell command -v $(2) 2>/dev/null),)
DIFFERENTIAL_LIBRARIES += $$(DIFFERENTIAL_FOLDER)/$(1).so
$$(DIFFERENTIAL_FOLDER)/$(1).so: $(3) tests/differential/code.h tests/differential/differential.mk
	@mkdir -p $$(@D)/$(1).modules
	$(2) -shared $(4) -o $$@ $(3)
endif
endef

differential_c = $(call differential_library,$(1),$(2),tests/differential/code.c,$(DIFFERENTIAL_C) -DVARIANT=$(1) $(3))
$(eval $(call differential_c,gcc_lto_O2,gcc,-O2 -flto))
$(eval $(call differential_c,gcc_lto_O3,gcc,-O3 -flto))
$(eval $(call differential_c,clang_lto_O2,$(CLANG),-O2 -flto -fuse-ld=gold))
$(eval $(call differential_c,gcc_split_O0,gcc,-O0 -fsplit-stack -fuse-ld=gold -DSPLIT_STACK))
$(eval $(call differential_c,gcc_split_O2,gcc,-O2 -fsplit-stack -fuse-ld=gold -DSPLIT_STACK))

$(DIFFERENTIAL_FOLDER)/fortran_%.o: tests/differential/fortran.c tests/differential/code.h
	@mkdir -p $(@D)
	gcc $(DIFFERENTIAL_C) -O2 -DVARIANT=$* -c -o $@ $<

differential_fortran = $(call differential_library,$(1),$(2),tests/differential/code.f90 $(DIFFERENTIAL_FOLDER)/fortran_$(1).o,-g -fPIC $(3) $(DIFFERENTIAL_FOLDER)/$(1).modules)
$(foreach level,O0 O2 O3,$(eval $(call differential_fortran,gfortran_$(level),gfortran,-$(level) -J)))
$(foreach level,O0 O2,$(eval $(call differential_fortran,flang_$(level),$(or $(FLANG),flang-new-19),-$(level) -module-dir)))
