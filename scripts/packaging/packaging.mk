# Installing, and packages. Included by the Makefile. docs/supported-systems.md
#   make install DESTDIR= PREFIX=/usr/local
#   make uninstall             the same files
#   make deb                   Debian's packages of what is committed, in $(BUILD)/deb (needs debhelper)
.PHONY: install uninstall deb

# As FILE:FOLDER below PREFIX:MODE; DESTDIR and PREFIX may hold blanks. What ends in .in is told where it is, and the version, on its way.
INSTALLED := $(BLAME):bin:755 $(addsuffix :bin:755,$(MPI_MERGE)) $(LIBRARY):lib/blame:755 $(LOADER):lib/blame:755 $(MPI_LAYER):lib/blame:755 \
    include/blame.h:include:644 include/blame.F90:include:644 \
    scripts/packaging/blame.pc.in:share/pkgconfig:644 scripts/packaging/blameConfigVersion.cmake.in:share/cmake/blame:644 \
    scripts/packaging/blameConfig.cmake:share/cmake/blame:644 \
    $(foreach file,$(MANUAL),$(file):$(patsubst $(BUILD)/%/,%,$(dir $(file))):644) \
    lab/start.py:share/blame/lab:644 $(addsuffix :share/blame/lab/blame_lab:644,$(sort $(wildcard lab/blame_lab/*.py)))
installed_parts = $(subst :, ,$(1))
installed_path = "$(DESTDIR)$(PREFIX)/$(word 2,$(installed_parts))/$(patsubst %.in,%,$(notdir $(word 1,$(installed_parts))))"

install: all
	$(foreach file,$(INSTALLED),install -D -m $(word 3,$(call installed_parts,$(file))) \
	    $(word 1,$(call installed_parts,$(file))) $(call installed_path,$(file)) &&) true
	sed -i -e 's|@PREFIX@|$(PREFIX)|' -e 's|@VERSION@|$(VERSION)|' \
	    $(foreach file,$(INSTALLED),$(if $(findstring .in:,$(file)),$(call installed_path,$(file))))

uninstall:
	rm -f $(foreach file,$(INSTALLED),$(call installed_path,$(file)))
	rmdir "$(DESTDIR)$(PREFIX)/lib/blame" "$(DESTDIR)$(PREFIX)/share/cmake/blame" \
	    "$(DESTDIR)$(PREFIX)/share/blame/lab/blame_lab" "$(DESTDIR)$(PREFIX)/share/blame/lab" "$(DESTDIR)$(PREFIX)/share/blame" 2>/dev/null || true

# dpkg-buildpackage wants debian/ in the root of a tree of its own, beside the tarball that the tree is made of; in there BUILD is not ours.
DEB_TREE = $(BUILD)/deb/blame-$(VERSION)
deb:
	rm -rf $(BUILD)/deb
	mkdir -p $(BUILD)/deb
	git archive --format=tar.gz --prefix=blame-$(VERSION)/ -o $(BUILD)/deb/blame_$(VERSION).orig.tar.gz HEAD
	tar -xzf $(BUILD)/deb/blame_$(VERSION).orig.tar.gz -C $(BUILD)/deb
	cp -r $(DEB_TREE)/packaging/debian $(DEB_TREE)/debian
	cd $(DEB_TREE) && env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL -u BUILD dpkg-buildpackage -us -uc $(DEB_ARGS)
