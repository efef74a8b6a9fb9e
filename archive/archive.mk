# The archive that runs on each x86-64 Linux with glibc 2.17 or newer. Included by the Makefile. docs/supported-systems.md#packages
#   make archive        $(ARCHIVE)/blame-$(VERSION)-linux-x86_64.tar.xz and the same as a wheel. The first time it fetches a compiler (PyPI's
#                       ziglang, 100 MB) and the sources of the libraries (Debian's, 14 MB), and builds these, which takes minutes
# ARCHIVE_CACHE=DIR keeps the compiler and the libraries there: make clean removes build/.
.PHONY: archive
ARCHIVE       := $(BUILD)/archive
ARCHIVE_CACHE ?= $(ARCHIVE)/cache
archive: $(LIBRARY)
	@scripts/check-archive.py --refuses $(LIBRARY)
	@archive/archive.sh $(ARCHIVE) $(VERSION) $(ARCHIVE_CACHE) '$(MAKE)'
