# tests/differential/code.c, compiled in several ways: objects for tests/unit/test_walks.c, without sanitizers.
# Included by tests/tests.mk.

DIFFERENTIAL_VARIANTS := gcc_O0 gcc_O2 gcc_O2_frames gcc_O3_avx2 gcc_Os clang_O0 clang_O2 clang_O2_frames clang_O3_avx2 clang_Os

differential_frames := -fno-omit-frame-pointer
differential_debugger := -fno-asynchronous-unwind-tables -fno-unwind-tables
differential_avx2 := -mavx2 -fstack-protector-all

# gcc_O2_frames: the compiler, its level, and what more there is
differential_word = $(word $(2),$(subst _, ,$(1)))
differential_compiler = $(if $(filter clang,$(call differential_word,$(1),1)),$(CLANG),gcc)

$(BUILD)/tests/differential/code_%.o: tests/differential/code.c tests/differential/code.h tests/differential/differential.mk
	@mkdir -p $(@D)
	$(call differential_compiler,$*) -std=gnu11 -D_GNU_SOURCE -Wall -Wextra -Wno-unused-result -g -fPIC -I. -DVARIANT=$* \
	    -$(call differential_word,$*,2) $(differential_$(call differential_word,$*,3)) -c -o $@ $<
