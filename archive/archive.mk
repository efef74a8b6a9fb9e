# The archive that runs on each x86-64 Linux with glibc 2.17 or newer. Included by the Makefile. docs/supported-systems.md#packages
#   make archive        $(ARCHIVE)/blame-$(VERSION)-linux-x86_64.tar.xz and the same as a wheel. The first time it fetches a compiler (PyPI's
#                       ziglang, 100 MB) and the sources of the libraries (Debian's, 14 MB), and builds these, which takes minutes
#   make archive-test   the behaviour suite on the archive's files (not a part of make test); ARCHIVE_TEST_ARGS='-k TEXT' chooses tests
# ARCHIVE_CACHE=DIR keeps the compiler and the libraries there: make clean removes build/.
.PHONY: archive archive-test
ARCHIVE       := $(BUILD)/archive
ARCHIVE_CACHE ?= $(ARCHIVE)/cache
archive:
	@archive/archive.sh $(ARCHIVE) $(VERSION) $(ARCHIVE_CACHE) '$(MAKE)'

# The tests' programs are the system's compilers', in a folder of their own beside the archive's files. What is shipped is what is tested.
ARCHIVE_TEST := $(ARCHIVE)/test
archive-test: archive $(LIBRARY)
	@scripts/check-archive.py --refuses $(LIBRARY)
	@scripts/check-float.py $(ARCHIVE)/blame-$(VERSION)-linux-x86_64/lib/blame/*.so
	@+$(MAKE) -s BUILD=$(ARCHIVE_TEST) all test-programs
	@cp -f $(ARCHIVE)/blame-$(VERSION)-linux-x86_64/bin/blame $(ARCHIVE_TEST)/bin/blame
	@cp -f $(ARCHIVE)/blame-$(VERSION)-linux-x86_64/lib/blame/*.so $(ARCHIVE_TEST)/lib
	@BUILD=$(ARCHIVE_TEST) $(PYTHON) tests/behaviour/run.py $(ARCHIVE_TEST_ARGS)
