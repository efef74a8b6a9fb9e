# The archive that runs on each x86-64 Linux with glibc 2.17 or newer. Included by the Makefile. docs/supported-systems.md#packages
#   make archive        $(ARCHIVE)/blame-$(VERSION)-linux-x86_64.tar.xz and the same as a wheel. The first time it fetches a compiler (PyPI's
#                       ziglang, 100 MB) and the sources of the libraries (Debian's, 14 MB), and builds these, which takes minutes
#   make archive-test   the checks of the handler and the behaviour tests with the archive's files: what is shipped is what is tested
# ARCHIVE_CACHE=DIR keeps the compiler and the libraries there: make clean removes build/.
.PHONY: archive archive-test
ARCHIVE       := $(BUILD)/archive
ARCHIVE_CACHE ?= $(ARCHIVE)/cache
archive: $(LIBRARY)
	@scripts/check-archive.py --refuses $(LIBRARY)
	@archive/archive.sh $(ARCHIVE) $(VERSION) $(ARCHIVE_CACHE) '$(MAKE)'

# tests/programs are built by the system's compilers, as for `make behaviour`; the tool and the command are the archive's.
ARCHIVE_TREE = $(abspath $(ARCHIVE))/blame-$(VERSION)-linux-x86_64
archive-test: archive $(PRODUCTS) test-programs
	@archive/archive.sh $(ARCHIVE) $(VERSION) $(ARCHIVE_CACHE) '$(MAKE)' check-handler check-tags check-loops
	BUILD=$(BUILD) BLAME_TEST_LIBRARY=$(ARCHIVE_TREE)/lib/blame/libblame.so BLAME_TEST_COMMAND=$(ARCHIVE_TREE)/bin/blame \
	    $(PYTHON) tests/behaviour/run.py $(ARCHIVE_TESTS)
