# Installing, and packages. Included by the Makefile. docs/supported-systems.md
#   make install DESTDIR= PREFIX=/usr/local
#   make uninstall             the same files
#   make deb                   Debian's packages of what is committed, in $(BUILD)/deb (needs debhelper)
#   make release               the archives of a release, of what is committed, in $(BUILD)/release: sources, binaries, checksums
.PHONY: install uninstall deb release

# As FILE:FOLDER below PREFIX:MODE; DESTDIR and PREFIX may hold blanks. What ends in .in is told where it is, and the version, on its way.
INSTALLED := $(BLAME):bin:755 $(addsuffix :bin:755,$(MPI_MERGE)) $(LIBRARY):lib/blame:755 $(LOADER):lib/blame:755 $(MPI_LAYER):lib/blame:755 \
    $(PTHREADS_LAYER):lib/blame:755 $(GOMP_LAYER):lib/blame:755 $(GOMP_RUN):lib/blame:755 \
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
	cp -r $(DEB_TREE)/scripts/packaging/debian $(DEB_TREE)/debian
	sed -i 's|@VERSION@|$(VERSION)|' $(DEB_TREE)/debian/changelog
	cd $(DEB_TREE) && env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL -u BUILD dpkg-buildpackage -us -uc $(DEB_ARGS)

# The version is the Makefile's; CHANGELOG.md has its heading and date, and lab/pyproject.toml the same number. The archives hold what is committed, with its
# date, so that the same commit makes the same bytes.
RELEASE := $(BUILD)/release
SOURCE_NAME = blame-$(VERSION)
BINARY_NAME = blame-$(VERSION)-linux-$(MACHINE)
TAR_REPEATABLE = tar --sort=name --owner=0 --group=0 --numeric-owner --mtime="$$(git log -1 --format=%cI)"
release:
	@git diff --quiet HEAD || { echo "release: there are changes that are not committed"; exit 1; }
	@grep -qE '^## $(subst .,\.,$(VERSION)) \([0-9]{4}-[0-9]{2}-[0-9]{2}\)$$' CHANGELOG.md || { echo "release: CHANGELOG.md has no heading '## $(VERSION) (DATE)'"; exit 1; }
	@grep -qx 'version = "$(VERSION)"' lab/pyproject.toml || { echo "release: lab/pyproject.toml has another version than $(VERSION)"; exit 1; }
	rm -rf $(RELEASE)
	mkdir -p $(RELEASE)/tree
	git archive --format=tar --prefix=$(SOURCE_NAME)/ HEAD | tar -xf - -C $(RELEASE)/tree
	env -u BUILD $(MAKE) -C $(RELEASE)/tree/$(SOURCE_NAME) install BUILD=build DESTDIR=$(abspath $(RELEASE))/tree/ PREFIX=$(BINARY_NAME)
	rm -rf $(RELEASE)/tree/$(SOURCE_NAME)/build
	sed -i 's|^prefix=.*|prefix=$${pcfiledir}/../..|' $(RELEASE)/tree/$(BINARY_NAME)/share/pkgconfig/blame.pc
	cp LICENSE README.md $(RELEASE)/tree/$(BINARY_NAME)
	for name in $(SOURCE_NAME) $(BINARY_NAME); do $(TAR_REPEATABLE) -C $(RELEASE)/tree -cJf $(RELEASE)/$$name.tar.xz $$name || exit 1; done
	rm -rf $(RELEASE)/tree
	cd $(RELEASE) && sha256sum *.tar.xz | tee SHA256SUMS
