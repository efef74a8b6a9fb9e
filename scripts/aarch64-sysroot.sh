#!/bin/sh
# aarch64-sysroot.sh DIR: unpacks what blame is linked with and runs on, as Debian has it for aarch64, below DIR: nothing of it is
# installed on this machine, so none of its own packages has to go. Does nothing when all is there.
# aarch64-sysroot.sh DIR kernel: and Debian's kernel, DIR/vmlinuz.
set -eu
packages="libc6-dev libunwind-dev libdw-dev libelf-dev libiberty-dev libjansson-dev libpapi-dev zlib1g-dev
    libprotobuf-c-dev libzydis-dev libomp5-19 libpfm4-dev libcmocka-dev"
mkdir -p "$1"
sysroot=$(cd "$1" && pwd)
apt=$sysroot/apt

look_up() {
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
    apt-get update -qq
}

if [ "$(cat "$sysroot/packages" 2>/dev/null)" != "$packages" ]; then
    echo "setup: unpacking Debian's libraries for aarch64 in $sysroot"
    look_up
    apt-get install -y -qq --no-install-recommends --download-only $packages
    for package in "$apt"/archives/*.deb; do
        dpkg -x "$package" "$sysroot"
    done
    rm -r "$apt"
    echo "$packages" > "$sysroot/packages"
fi
if [ "${2-}" = kernel ] && [ ! -s "$sysroot/vmlinuz" ]; then
    echo "setup: unpacking Debian's kernel for aarch64 in $sysroot"
    look_up
    image=$(apt-cache depends linux-image-arm64 | sed -n 's/.*Depends: \(linux-image-[0-9][^ :]*\).*/\1/p' | head -n 1)
    (cd "$apt/archives" && apt-get download -qq "$image")
    dpkg-deb --fsys-tarfile "$apt"/archives/linux-image-*.deb | tar -xO --wildcards './boot/vmlinuz-*' > "$sysroot/vmlinuz"
    rm -r "$apt"
fi
