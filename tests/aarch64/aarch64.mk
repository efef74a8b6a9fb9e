# blame for aarch64 on another machine: built by a cross compiler, run by qemu (docs/aarch64.md). Included by the Makefile.
#   make aarch64         build-aarch64/bin/blame and build-aarch64/lib/libblame.so; packages: scripts/setup.sh aarch64
AARCH64_SYSROOT ?= build-sysroot/aarch64
AARCH64_MAKE := $(MAKE) --no-print-directory BUILD=build-aarch64 CC='aarch64-linux-gnu-gcc --sysroot=$(abspath $(AARCH64_SYSROOT))' MPICC=

.PHONY: aarch64 aarch64-packages
aarch64-packages:
	@scripts/setup.sh aarch64

aarch64: aarch64-packages
	@+$(AARCH64_MAKE) all
