"""Older libomp runtimes, unpacked from Debian's packages into the build folder; nothing is installed."""

import glob
import os
import subprocess

import harness
import measure

CACHE = os.path.join(harness.BUILD, "runtimes")


def unpack(version, folder):
    os.makedirs(folder, exist_ok=True)
    got = subprocess.run(["apt-get", "download", f"libomp5-{version}"], cwd=folder, capture_output=True, text=True)
    packages = glob.glob(os.path.join(folder, f"libomp5-{version}_*.deb"))
    if got.returncode != 0 or not packages:
        return (got.stderr.strip().splitlines() or ["apt-get download failed"])[-1]
    done = subprocess.run(["dpkg", "-x", packages[0], folder], capture_output=True, text=True)
    return done.stderr.strip() if done.returncode != 0 else ""


def find(version):
    """(folder that holds libomp.so.5, "") or ("", why there is none)."""
    folder = os.path.join(CACHE, str(version))
    pattern = os.path.join(folder, "usr", "lib", f"llvm-{version}", "lib", "libomp.so.5")
    why = ""
    try:
        if not glob.glob(pattern):
            why = unpack(version, folder)
    except OSError as error:  # no apt-get, no dpkg
        why = str(error)
    found = glob.glob(pattern)
    return (os.path.dirname(found[0]), "") if found else ("", why or "the package has no libomp.so.5")


def version_of_newest():
    """The package that the newest runtime came with, or where it is."""
    path = measure.newest_libomp()
    number = path.split("llvm-")[1].split("/")[0]
    query = ["dpkg-query", "-W", "-f", "${Package} ${Version}", f"libomp5-{number}"]
    try:
        return subprocess.run(query, capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return path
