"""What is installed finds itself, is found by pkg-config and CMake, and goes again."""

import glob
import os
import shlex
import shutil
import subprocess

from harness import BUILD, ROOT, BlameTest

FINDS = """
cmake_minimum_required(VERSION 3.10)
project(finds NONE)
find_package(blame 0.1 REQUIRED)
get_target_property(folder blame::blame INTERFACE_INCLUDE_DIRECTORIES)
message("folder=${folder}\\nfortran=${blame_FORTRAN_SOURCE}\\ncommand=${blame_EXECUTABLE}\\ntool=${blame_TOOL}")
find_package(blame 99 QUIET)
message("newer=${blame_FOUND}")
"""


def output(*argv, **options):
    return subprocess.run(argv, capture_output=True, text=True, check=False, **options)


class Install(BlameTest):
    def make(self, target, prefix, destination=""):
        run = output("make", "-o", "all", target, f"DESTDIR={destination}", f"PREFIX={prefix}", f"BUILD={BUILD}", cwd=ROOT)
        self.assertEqual(run.returncode, 0, run)
        root = destination + prefix
        return sorted(os.path.relpath(path, root) for path in glob.glob(root + "/**", recursive=True) if os.path.isfile(path))

    def test_what_is_installed_is_uninstalled_also_where_a_path_has_a_blank(self):
        prefix = os.path.join(self.new_folder(), "my tools")
        os.makedirs(prefix + "/lib")
        with open(prefix + "/lib/another's", "w", encoding="ascii"):
            pass
        merge = ["bin/blame-merge"] if shutil.which("mpicc") else []
        laboratory = sorted("share/blame/lab/" + os.path.relpath(path, os.path.join(ROOT, "lab"))
                            for path in [os.path.join(ROOT, "lab", "start.py"), *glob.glob(os.path.join(ROOT, "lab", "blame_lab", "*.py"))])
        self.assertEqual(self.make("install", prefix),
                         ["bin/blame", *merge, "include/blame.F90", "include/blame.h", "lib/another's",
                          "lib/blame/libblame-gomp-run.so", "lib/blame/libblame-gomp.so", "lib/blame/libblame-loader.so", "lib/blame/libblame-mpi.so", "lib/blame/libblame-pthreads.so", "lib/blame/libblame.so", "share/bash-completion/completions/blame", *laboratory,
                          "share/cmake/blame/blameConfig.cmake", "share/cmake/blame/blameConfigVersion.cmake", "share/fish/vendor_completions.d/blame.fish",
                          "share/man/man1/blame.1", "share/man/man7/libblame.7", "share/pkgconfig/blame.pc", "share/zsh/site-functions/_blame"])
        self.assertEqual(shlex.split(self.pkg_config(prefix, "--cflags", "--libs")), [f"-I{prefix}/include"])
        self.assertEqual(self.make("uninstall", prefix), ["lib/another's"])
        self.assertFalse(os.path.exists(prefix + "/lib/blame") or os.path.exists(prefix + "/share/cmake/blame") or os.path.exists(prefix + "/share/blame"))

    def pkg_config(self, root, *arguments, **variables):
        run = output("pkg-config", *arguments, "blame", env={**os.environ, "PKG_CONFIG_PATH": root + "/share/pkgconfig", **variables})
        self.assertEqual((run.returncode, run.stderr), (0, ""), run)
        return run.stdout.strip()

    def test_pkg_config_and_cmake_tell_where_the_header_and_the_tool_are(self):
        stage = self.new_folder()
        root = stage + "/opt/blame"
        self.make("install", "/opt/blame", stage)
        with self.subTest("pkg-config"):
            self.check_pkg_config(stage, root)
        if not shutil.which("cmake"):
            self.skipTest("no cmake; pkg-config was asked")
        self.check_cmake(stage, root)

    def check_pkg_config(self, stage, root):
        self.assertEqual(self.pkg_config(root, "--cflags", "--libs"), "-I/opt/blame/include")
        self.assertEqual(self.pkg_config(root, "--variable=tool"), "/opt/blame/lib/blame/libblame.so")
        version = output(root + "/bin/blame", "--version").stdout.split()[1]
        self.assertEqual(self.pkg_config(root, "--modversion"), version)
        flags = shlex.split(self.pkg_config(root, "--cflags", "--libs", PKG_CONFIG_SYSROOT_DIR=stage))
        program = os.path.join(stage, "program")
        source = '#include <blame.h>\nint main(void) { blame_phase_begin("a"); blame_phase_end("a"); return 0; }\n'
        run = output("gcc", "-xc", "-", "-o", program, *flags, input=source)
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        self.assertEqual(output(program).returncode, 0)

    def check_cmake(self, stage, root):
        """Which finds the files where they are, not where they were made for."""
        with open(os.path.join(stage, "CMakeLists.txt"), "w", encoding="ascii") as file:
            file.write(FINDS)
        def found():
            run = output("cmake", "-S", stage, "-B", stage + "/made", f"-DCMAKE_PREFIX_PATH={root}")
            self.assertEqual(run.returncode, 0, run)
            return run.stderr.splitlines()
        header = [f"folder={root}/include", f"fortran={root}/include/blame.F90"]
        self.assertEqual(found(), [*header, f"command={root}/bin/blame", f"tool={root}/lib/blame/libblame.so", "newer=0"])
        shutil.rmtree(root + "/lib")
        os.remove(root + "/bin/blame")
        self.assertEqual(found(), [*header, "command=blame_EXECUTABLE-NOTFOUND", "tool=blame_TOOL-NOTFOUND", "newer=0"])
