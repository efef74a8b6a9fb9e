# Spack's recipe of blame (docs/supported-systems.md). `git`: where the repository is to be had; not needed by `spack dev-build`.
from spack_repo.builtin.build_systems.makefile import MakefilePackage

from spack.package import *


class Blame(MakefilePackage):
    """Profiler that says who makes OpenMP threads wait: the code that busy threads
    were executing while others idled, and the code that held the lock while others
    waited, in full calling contexts, for unmodified programs on LLVM's runtime."""

    license("Apache-2.0")

    version("main", branch="main")

    variant("mpi", default=False, description="blame-merge: merges ranks' profiles by an MPI job")

    depends_on("c", type="build")
    depends_on("elfutils")
    depends_on("jansson")
    depends_on("libiberty+pic")
    depends_on("libpfm4")
    depends_on("libunwind")
    depends_on("papi")
    depends_on("protobuf-c")
    depends_on("zlib-api")
    depends_on("zydis@4:")
    # The header of OMPT; and what programs run on that GCC has built.
    depends_on("llvm-openmp@14:", type=("build", "run"))
    depends_on("mpi", when="+mpi")

    requires("platform=linux")
    requires("target=x86_64:", "target=aarch64:", policy="one_of")

    @property
    def build_targets(self):
        header = self.spec["llvm-openmp"].prefix.include.join("omp-tools.h")
        # No command of that name: none is built with an MPI that happens to be in PATH.
        mpicc = self.spec["mpi"].mpicc if self.spec.satisfies("+mpi") else "no-mpicc"
        return [f"OMPT_HEADER={header}", f"MPICC={mpicc}", f"PREFIX={self.prefix}"]

    @property
    def install_targets(self):
        return ["install", *self.build_targets]

    def setup_run_environment(self, env):
        # `blame run` looks where distributions put it.
        for library in self.spec["llvm-openmp"].libs:
            env.set("BLAME_LIBOMP", library)
