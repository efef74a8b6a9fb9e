"""Starts jobs by the MPIs that are installed."""

import os
import shutil

from harness import BUILD, shared_folder

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
    """And what to add to the environment. Two mpirun of Open MPI that begin or end at one moment take the folder of all sessions from each
    other, and one of them says 1: each process of tests has its own."""
    sessions = os.path.join(shared_folder(), f"mpi-{os.getpid()}")
    os.makedirs(sessions, exist_ok=True)
    return [*LAUNCHERS[mpi][0], "-n", str(ranks), *argv], LAUNCHERS[mpi][1] | {"OMPI_MCA_orte_tmpdir_base": sessions}
