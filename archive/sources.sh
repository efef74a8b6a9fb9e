#!/bin/sh
# sources.sh DIR: puts the files of sources.txt into DIR and checks their SHA-256. ARCHIVE_SOURCES=DIR takes them from there; otherwise apt
# fetches them as Debian's source packages, with lists of its own, so that no root is needed and the machine's settings stay as they are.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1"
cd "$1"

# Debian's archive as this machine knows it: name and key.
apt_lists() {
    [ ! -s apt/apt.conf ] || return 0
    site=$(apt-get indextargets --format '$(REPO_URI) $(ORIGIN) $(LABEL)' | sed -n 's/ Debian Debian$//p' | head -n 1)
    key=/usr/share/keyrings/debian-archive-keyring.gpg
    [ -n "$site" ] && [ -r $key ] || { echo "archive: no sources: apt has no Debian archive (ARCHIVE_SOURCES=DIR takes the files from DIR)" >&2; exit 1; }
    mkdir -p apt/lists/partial apt/archives/partial
    for suite in bookworm trixie; do echo "deb-src [signed-by=$key] $site $suite main"; done > apt/sources.list
    cat > apt/apt.conf.new <<END
Dir::Etc::sourcelist "$PWD/apt/sources.list";
Dir::Etc::sourceparts "/dev/null";
Dir::State "$PWD/apt";
Dir::Cache "$PWD/apt";
APT::Sandbox::User "root";
END
    APT_CONFIG=$PWD/apt/apt.conf.new apt-get update -qq
    mv apt/apt.conf.new apt/apt.conf
}

grep -v '^#' "$here/sources.txt" | while read -r name package file digest licence; do
    if [ ! -f "$file" ]; then
        if [ -n "${ARCHIVE_SOURCES-}" ]; then
            cp "$ARCHIVE_SOURCES/$file" .
        else
            apt_lists
            # Fetches a package's other files, too: some of Debian 13's cannot be had, which does no harm.
            APT_CONFIG=$PWD/apt/apt.conf apt-get source --download-only -qq "${package#*/}/${package%/*}" >apt/log 2>&1 || true
            [ -f "$file" ] || { cat apt/log >&2; echo "archive: no $file of $name" >&2; exit 1; }
        fi
    fi
    echo "$digest  $file" | sha256sum -c --quiet || { echo "archive: $file is not the one of sources.txt" >&2; exit 1; }
done
