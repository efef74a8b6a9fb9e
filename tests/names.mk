# Programs that tests/unit/test_symbols*.c read (and never run): one source a language, compilers and flags varied.
# Needs BUILD; uses CLANG CLANGXX CC CXX FC FLANG OBJCOPY READELF. A compiler that is not there makes no file, and the
# test skips what it would have checked. Targets: names (all of it), names-clean.
NAMES_BUILD := $(BUILD)/tests
NAMES_CLANG ?= $(or $(CLANG),clang-19)
NAMES_CLANGXX ?= $(or $(CLANGXX),clang++-19)
NAMES_OLD_CLANG ?= clang-14
NAMES_GCC ?= gcc
NAMES_GXX ?= g++
NAMES_GFORTRAN ?= gfortran
NAMES_FLANG ?= $(or $(FLANG),flang-new-19)
NAMES_OBJCOPY ?= $(or $(OBJCOPY),objcopy)
NAMES_READELF ?= $(or $(READELF),readelf)
comma := ,
NAMES_LINK := -Wl,--build-id=sha1

NAMES_C := tests/programs/names_c.c
NAMES_CXX := tests/programs/names_cxx.cc
NAMES_F := tests/programs/names_fortran.f90

# $(call names_variant,file,compiler,source,flags)
define names_variant
ifneq ($$(shell command -v $(firstword $(2)) 2>/dev/null),)
NAMES_ALL += $$(NAMES_BUILD)/$(1)
$$(NAMES_BUILD)/$(1): $(3) tests/names.mk
	@mkdir -p $$(NAMES_BUILD)/names_modules/$(1)
	$(2) $$(NAMES_LINK) $(4) -o $$@ $$(abspath $(3))
endif
endef

$(eval $(call names_variant,names_c-clang-O0,$(NAMES_CLANG),$(NAMES_C),-fopenmp -O0 -g))
$(eval $(call names_variant,names_c-clang-O2,$(NAMES_CLANG),$(NAMES_C),-fopenmp -O2 -g))
$(eval $(call names_variant,names_c-clang-dwarf4,$(NAMES_CLANG),$(NAMES_C),-fopenmp -O2 -gdwarf-4))
$(eval $(call names_variant,names_c-clang-g1,$(NAMES_CLANG),$(NAMES_C),-fopenmp -O2 -gline-tables-only))
$(eval $(call names_variant,names_c-clang-g1-more,$(NAMES_CLANG),$(NAMES_C) tests/programs/names_more.c,-fopenmp -O2 -gline-tables-only))
$(eval $(call names_variant,names_c-clang-nopie,$(NAMES_CLANG),$(NAMES_C),-fopenmp -O2 -g -fno-pie -no-pie))
$(eval $(call names_variant,names_c-clang-nodebug,$(NAMES_CLANG),$(NAMES_C),-fopenmp -O2 -g0))
$(eval $(call names_variant,names_c-oldclang-O0,$(NAMES_OLD_CLANG),$(NAMES_C),-fopenmp=libomp -O0 -g -L/usr/lib/llvm-19/lib))
$(eval $(call names_variant,names_c-oldclang-O2,$(NAMES_OLD_CLANG),$(NAMES_C),-fopenmp=libomp -O2 -g -L/usr/lib/llvm-19/lib))
$(eval $(call names_variant,names_c-gcc-O0,$(NAMES_GCC),$(NAMES_C),-fopenmp -O0 -g))
$(eval $(call names_variant,names_c-gcc-O2,$(NAMES_GCC),$(NAMES_C),-fopenmp -O2 -g))
$(eval $(call names_variant,names_c-gcc-gz,$(NAMES_GCC),$(NAMES_C),-fopenmp -O2 -g -gz=zlib))
$(eval $(call names_variant,names_c-gcc-nopie,$(NAMES_GCC),$(NAMES_C),-fopenmp -O2 -g -fno-pie -no-pie))
$(eval $(call names_variant,names_c-gcc-nodebug,$(NAMES_GCC),$(NAMES_C),-fopenmp -O2 -g0))
$(eval $(call names_variant,names_c-gcc-noid,$(NAMES_GCC),$(NAMES_C),-fopenmp -O2 -g -Wl$(comma)--build-id=none))
$(eval $(call names_variant,names_cxx-clang-O0,$(NAMES_CLANGXX),$(NAMES_CXX),-fopenmp -O0 -g))
$(eval $(call names_variant,names_cxx-clang-O2,$(NAMES_CLANGXX),$(NAMES_CXX),-fopenmp -O2 -g))
$(eval $(call names_variant,names_cxx-gcc-O0,$(NAMES_GXX),$(NAMES_CXX),-fopenmp -O0 -g))
$(eval $(call names_variant,names_cxx-gcc-O2,$(NAMES_GXX),$(NAMES_CXX),-fopenmp -O2 -g))
$(eval $(call names_variant,names_cxx-gcc-nodebug,$(NAMES_GXX),$(NAMES_CXX),-fopenmp -O2 -g0))
$(eval $(call names_variant,names_fortran-gfortran-O0,$(NAMES_GFORTRAN),$(NAMES_F),-fopenmp -O0 -g -J$(NAMES_BUILD)/names_modules/names_fortran-gfortran-O0))
$(eval $(call names_variant,names_fortran-gfortran-O2,$(NAMES_GFORTRAN),$(NAMES_F),-fopenmp -O2 -g -J$(NAMES_BUILD)/names_modules/names_fortran-gfortran-O2))
$(eval $(call names_variant,names_fortran-gfortran-nodebug,$(NAMES_GFORTRAN),$(NAMES_F),-fopenmp -O2 -g0 -J$(NAMES_BUILD)/names_modules/names_fortran-gfortran-nodebug))
$(eval $(call names_variant,names_fortran-flang-O0,$(NAMES_FLANG),$(NAMES_F),-fopenmp -O0 -g -module-dir $(NAMES_BUILD)/names_modules/names_fortran-flang-O0))
$(eval $(call names_variant,names_fortran-flang-O2,$(NAMES_FLANG),$(NAMES_F),-fopenmp -O2 -g -module-dir $(NAMES_BUILD)/names_modules/names_fortran-flang-O2))
$(eval $(call names_variant,names_fortran-flang-nodebug,$(NAMES_FLANG),$(NAMES_F),-fopenmp -O2 -g0 -module-dir $(NAMES_BUILD)/names_modules/names_fortran-flang-nodebug))

# Tail calls: what is said of them by DWARF and by the code, through stubs and without, at a fixed address.
NAMES_TAIL := tests/programs/tail_chains.c
$(eval $(call names_variant,tail_chains-clang-O2,$(NAMES_CLANG),$(NAMES_TAIL),-fopenmp -O2 -g))
$(eval $(call names_variant,tail_chains-clang-dwarf4,$(NAMES_CLANG),$(NAMES_TAIL),-fopenmp -O2 -gdwarf-4))
$(eval $(call names_variant,tail_chains-clang-nopie,$(NAMES_CLANG),$(NAMES_TAIL),-fopenmp -O2 -g -fno-pie -no-pie))
$(eval $(call names_variant,tail_chains-clang-nodebug,$(NAMES_CLANG),$(NAMES_TAIL),-fopenmp -O2 -g0))
$(eval $(call names_variant,tail_chains-gcc-O2,$(NAMES_GCC),$(NAMES_TAIL),-fopenmp -O2 -g))
$(eval $(call names_variant,tail_chains-gcc-noplt,$(NAMES_GCC),$(NAMES_TAIL),-fopenmp -O2 -g -fno-plt -fcf-protection))
$(eval $(call names_variant,tail_chains-gcc-nopie,$(NAMES_GCC),$(NAMES_TAIL),-fopenmp -O2 -g -fno-pie -no-pie))
$(eval $(call names_variant,tail_chains-gcc-nodebug,$(NAMES_GCC),$(NAMES_TAIL),-fopenmp -O2 -g0))

# A function's names: a library's, and a program that asks for one of them.
NAMES_ALIAS := tests/programs/names_alias.c
$(eval $(call names_variant,libnames_alias.so,$(NAMES_GCC),$(NAMES_ALIAS),-O2 -g0 -shared -fPIC -DNAMES_LIBRARY))
$(eval $(call names_variant,names_alias,$(NAMES_GCC),$(NAMES_ALIAS),-O2 -g0 -shared -fPIC))

# The same without any symbol but those that the loader needs.
NAMES_BARE := names_c-clang-O0 names_c-clang-O2 names_c-clang-nopie names_c-gcc-O0 names_c-gcc-O2 names_c-gcc-nopie \
	names_cxx-clang-O2 names_cxx-gcc-O2 tail_chains-clang-O2 tail_chains-gcc-O2 tail_chains-gcc-noplt
NAMES_ALL := $(NAMES_ALL) $(patsubst %,%-bare,$(filter $(addprefix $(NAMES_BUILD)/,$(NAMES_BARE)),$(NAMES_ALL)))
$(NAMES_BUILD)/%-bare: $(NAMES_BUILD)/%
	$(NAMES_OBJCOPY) --strip-all $< $@

# What stands around a function: lambdas, Fortran's modules and ENTRYs, a unit that others share.
NAMES_SCOPES := tests/programs/names_scopes.f90
$(eval $(call names_variant,names_lambdas-gcc-O2,$(NAMES_GXX),tests/programs/names_lambdas.cc,-O2 -g))
$(eval $(call names_variant,names_scopes-gfortran-O0,$(NAMES_GFORTRAN),$(NAMES_SCOPES),-O0 -g -J$(NAMES_BUILD)/names_modules/names_scopes-gfortran-O0))
$(eval $(call names_variant,names_scopes-flang-O0,$(NAMES_FLANG),$(NAMES_SCOPES),-O0 -g -module-dir $(NAMES_BUILD)/names_modules/names_scopes-flang-O0))
$(eval $(call names_variant,names_shared,$(NAMES_GCC),tests/programs/names_shared.s,-nostdlib -no-pie -Wl$(comma)-e$(comma)names_shared))

# Debug information beside the program: by build id below names_debug/, by .gnu_debuglink in .debug/ (no build id, so
# that the CRC decides), in a split .dwo, in one that has gone or is in a package, and nowhere.
NAMES_ALL += $(NAMES_BUILD)/names_c-clang-buildid $(NAMES_BUILD)/names_c-gcc-link $(NAMES_BUILD)/names_c-gcc-badlink \
	$(NAMES_BUILD)/names_c-gcc-stripped $(NAMES_BUILD)/names_c-gcc-split $(NAMES_BUILD)/names_c-gcc-lost \
	$(NAMES_BUILD)/names_c-gcc-packed

$(NAMES_BUILD)/names_c-clang-buildid: $(NAMES_BUILD)/names_c-clang-O2
	id=$$($(NAMES_READELF) -n $< | sed -n 's/.*Build ID: //p') && \
	directory=$(NAMES_BUILD)/names_debug/.build-id/$$(echo $$id | cut -c1-2) && mkdir -p $$directory && \
	$(NAMES_OBJCOPY) --only-keep-debug $< $$directory/$$(echo $$id | cut -c3-).debug
	$(NAMES_OBJCOPY) --strip-all $< $@

$(NAMES_BUILD)/names_c-gcc-link: $(NAMES_BUILD)/names_c-gcc-noid
	mkdir -p $(NAMES_BUILD)/.debug
	$(NAMES_OBJCOPY) --only-keep-debug $< $(NAMES_BUILD)/.debug/names_c-gcc-link.debug
	$(NAMES_OBJCOPY) --strip-all --add-gnu-debuglink=$(NAMES_BUILD)/.debug/names_c-gcc-link.debug $< $@

# The file that the link names is there, but another one: its CRC differs.
$(NAMES_BUILD)/names_c-gcc-badlink: $(NAMES_BUILD)/names_c-gcc-noid
	mkdir -p $(NAMES_BUILD)/.debug
	$(NAMES_OBJCOPY) --only-keep-debug $< $(NAMES_BUILD)/.debug/names_c-gcc-badlink.debug
	$(NAMES_OBJCOPY) --strip-all --add-gnu-debuglink=$(NAMES_BUILD)/.debug/names_c-gcc-badlink.debug $< $@
	echo changed >> $(NAMES_BUILD)/.debug/names_c-gcc-badlink.debug

$(NAMES_BUILD)/names_c-gcc-stripped: $(NAMES_BUILD)/names_c-gcc-O2
	$(NAMES_OBJCOPY) --strip-all $< $@

$(NAMES_BUILD)/names_c-gcc-split: $(NAMES_C) tests/names.mk
	$(NAMES_GCC) -fopenmp -O2 -g -gsplit-dwarf -c -o $(abspath $@).o $(abspath $<)
	$(NAMES_GCC) -fopenmp -o $@ $(abspath $@).o

$(NAMES_BUILD)/names_c-gcc-lost: $(NAMES_C) tests/names.mk
	$(NAMES_GCC) -fopenmp -O2 -g -gsplit-dwarf -c -o $(abspath $@).o $(abspath $<)
	rm $(abspath $@).dwo
	$(NAMES_GCC) -fopenmp -o $@ $(abspath $@).o

$(NAMES_BUILD)/names_c-gcc-packed: $(NAMES_BUILD)/names_c-gcc-lost
	touch $@.dwp
	cp $< $@

.PHONY: names names-clean
names: $(NAMES_ALL)
names-clean:
	rm -rf $(NAMES_BUILD)/names_* $(NAMES_BUILD)/.debug
