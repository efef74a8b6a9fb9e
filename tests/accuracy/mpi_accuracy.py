"""How true is what ranks are blamed for? Runs tests/programs/mpi_whose.c by each MPI that is installed, and prints by how many per cent be_late()'s rank
idleness is off what the program itself clocked: mean and standard deviation of the runs. From the repository's root:

    make mpi-accuracy [MPI_ACCURACY_ARGS='...']
    python3 tests/accuracy/mpi_accuracy.py [-n N] [--ranks N] [--rates R,R...]"""

import argparse
import csv
import os
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(os.path.dirname(HERE), "behaviour")]

import mpi  # noqa: E402  (found through the path set above)
from harness import BLAME, PASSIVE, clean_environment, program  # noqa: E402

HOWS = ("late", "rotating", "thread", "chain")
ROUNDS = 20


def error(launcher, how, ranks, rate, folder):
    """In per cent, of one run."""
    argv, more = mpi.command(launcher, ranks, BLAME, "run", "--", program(f"mpi_whose_{launcher}"), how, str(ROUNDS))
    env = clean_environment() | PASSIVE | more | {"BLAME_OUT": "job", "BLAME_RATE": rate, "OMP_NUM_THREADS": "2"}
    run = subprocess.run(argv, env=env, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=True)
    report = subprocess.run([BLAME, "report", os.path.join(folder, "job"), "--view", "flat", "--format", "csv"], stdout=subprocess.PIPE,
                            text=True, check=True)
    blamed = next(float(row["rank idleness (I)"]) for row in csv.DictReader(report.stdout.splitlines()) if row["name"] == "be_late")
    return 100 * (blamed / float(run.stdout.split()[1]) - 1)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-n", type=int, default=5)
    parser.add_argument("--ranks", type=int, default=4)
    parser.add_argument("--rates", default="200,1000")
    options = parser.parse_args()
    print(f"{'MPI':8} {'how':9} {'rate':>5}  error, %")
    for launcher in mpi.installed():
        for how in HOWS:
            for rate in options.rates.split(","):
                errors = []
                for _ in range(options.n):
                    with tempfile.TemporaryDirectory() as folder:
                        errors.append(error(launcher, how, options.ranks, rate, folder))
                spread = statistics.stdev(errors) if len(errors) > 1 else 0
                print(f"{launcher:8} {how:9} {rate:>5}  {statistics.mean(errors):+6.2f} ± {spread:.2f}", flush=True)


if __name__ == "__main__":
    main()
