"""Starts jobs by the MPIs that are installed."""

import os
import shutil

from harness import BUILD

# As root Open MPI wants to be told so; more ranks than cores.
LAUNCHERS = {
    "openmpi": (["mpirun.openmpi", "--oversubscribe", "--bind-to", "none"],
                {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}),
    "mpich": (["mpirun.mpich"], {}),
}


def installed():
    return [mpi for mpi, (argv, _) in LAUNCHERS.items() if shutil.which(argv[0])]


def program(mpi):
    """Of tests/programs/job.c."""
    return os.path.join(BUILD, "tests", f"job_{mpi}")


def command(mpi, ranks, *argv):
    return [*LAUNCHERS[mpi][0], "-n", str(ranks), *argv], LAUNCHERS[mpi][1]
