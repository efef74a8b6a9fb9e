#!/bin/sh
# aarch64-sysroot.sh DIR: unpacks what blame is linked with and runs on, as Debian has it for aarch64, below DIR: nothing of it is
# installed on this machine, so none of its own packages has to go. Does nothing when all is there.
set -eu
packages="libc6-dev libunwind-dev libdw-dev libelf-dev libiberty-dev libjansson-dev libsqlite3-dev libpapi-dev zlib1g-dev
    libprotobuf-c-dev libzydis-dev libomp5-19 libpfm4-dev libcmocka-dev"
mkdir -p "$1"
sysroot=$(cd "$1" && pwd)
[ "$(cat "$sysroot/packages" 2>/dev/null)" = "$packages" ] && exit 0
apt=$sysroot/apt
mkdir -p "$apt/lists/partial" "$apt/archives/partial"
: > "$apt/status" # nothing is installed there
cat > "$apt/apt.conf" <<END
APT::Architecture "arm64";
APT::Architectures { "arm64"; };
Dir::State "$apt";
Dir::State::status "$apt/status";
Dir::Cache "$apt";
Debug::NoLocking "1";
END
export APT_CONFIG="$apt/apt.conf"
echo "setup: unpacking Debian's libraries for aarch64 in $sysroot"
apt-get update -qq
apt-get install -y -qq --no-install-recommends --download-only $packages
for package in "$apt"/archives/*.deb; do
    dpkg -x "$package" "$sysroot"
done
rm -r "$apt"
echo "$packages" > "$sysroot/packages"
