"""What each command is called with: its options and its help. Nothing here needs a package, so that help is there without any."""

from .options import Option, Usage
from .runs import METRICS, WAIT_S

MOST_RUNS = 100
RUN_OPERANDS = "are profile directories, *.blame files or folders of profile directories"
LEAST_RUNS = 8  # of a search beside its pairs: the first, two that tell how times scatter, and one race

DB = Usage(
    "db", "add DIR ... | list | show TRIAL ... | export [TRIAL ...] | prune [TRIAL ...] [options]",
    "Keeps runs in a database, one file of SQLite's (docs/trials.md has its tables):\n"
    "add       puts profiles into it, or folders of them; what is there is not added again\n"
    "list      its trials, the oldest first\n"
    "show      what is known of trials, and the contexts that cost most\n"
    "export    contexts of trials with all metrics, as CSV\n"
    "prune     takes trials out of it, and what only they had; profiles stay\n"
    "\n"
    "A TRIAL is a number of the list, or the first digits of a run's id, as run.json has it. SQL is a condition on\n"
    "the columns of blame db list --format csv, in which names of metadata stand for their values.",
    "  blame run --meta size=512 --meta revision=$(git rev-parse HEAD) ./amg\n"
    "  blame db add blame-amg-*\n"
    "  blame db list --where \"threads = 8 and host like 'node%' and size > 256\"\n"
    "  blame db show 3\n"
    "  blame db export 3 4 --output contexts.csv\n"
    "  blame db prune --keep 100",
    [Option("--db", "text", "FILE", "the database (default: BLAME_DB, or else blame.db)"),
     Option("--application", "text", "NAME", "add: of the application NAME (default: the program's name)"),
     Option("--experiment", "text", "NAME", "add: of its experiment NAME (default: default)"),
     Option("--meta", "list", "KEY=VALUE", "add: something else to know of it, as revision=1f3c; may be repeated"),
     Option("--sums", "flag", help_text="add: not what each thread has, only the sum"),
     Option("--where", "text", "SQL", "list, export, prune: the trials of which this is true"),
     Option("--top", "whole", "N", "show: this many contexts (default 10)", 0, 1000000, default=10),
     Option("--locations", "flag", help_text="export: what each thread and rank has, too"),
     Option("--keep", "whole", "N", "prune: all but the newest N of each experiment", 0, 1000000000),
     Option("--dry-run", "flag", help_text="prune: only say which"),
     Option("--format", "word", "FORMAT", "", words=[("text", "(default)"), ("csv", "all columns")], default="text"),
     Option("--output", "text", "FILE", "list, show, export: write there, not to standard output"),
     Option("--wait", "whole", "SECONDS", "for others who write to the database (default 60)", 0, 3600, default=WAIT_S)],
    operand="action", operands="are add, list, show, export, prune")

HISTORY = Usage(
    "history", "[options]",
    "How a program's time, or what it is lost on, goes from revision to revision, by the runs of a database (blame db\n"
    "add): where it changes beyond chance, since which revision, and in which code.",
    "  blame run --meta revision=$(git rev-parse HEAD) ./amg; blame db add blame-amg-*\n"
    "  blame history --where \"application = 'amg' and threads = 8\"\n"
    "  git rev-list --reverse HEAD >order; blame history --order order --metric idleness --row solve",
    [Option("--db", "text", "FILE", "the database (default: BLAME_DB, or else blame.db)"),
     Option("--where", "text", "SQL", "the trials of which this is true, as in blame db list"),
     Option("--metric", "word", "METRIC", "what is looked at (default wall, the run's length):", words=[("wall", None), *((word, None) for word, _ in METRICS)],
            default="wall"),
     Option("--row", "text", "FUNCTION", "of this function alone, wherever it was called; not with wall"),
     Option("--by", "text", "KEY", "metadata that says a run's revision (default revision), or date", default="revision"),
     Option("--order", "text", "FILE", "revisions, the oldest first, one a line (default: by their first run)"),
     Option("--least", "number", "PERCENT", "a smaller change is none (default 1)", 0, 1000, default=1.0),
     Option("--format", "word", "FORMAT", "", words=[("text", "(default)"), ("csv", "every revision")], default="text"),
     Option("--output", "text", "FILE", "write there, not to standard output")],
    operands_none=True)

SCALING = Usage(
    "scaling", "DIR... [options]",
    "How a program grows with its threads, and which code keeps it from scaling. DIR is a profile directory, a\n"
    "*.blame file, or a folder of profile directories; their runs differ in their number of threads (or ranks).",
    "  mkdir runs; for n in 1 2 4 8; do OMP_NUM_THREADS=$n blame run --out runs/amg-$n ./amg; done\n"
    "  blame scaling runs\n"
    "  blame scaling --where \"application = 'amg' and experiment = 'node7'\"\n"
    "  blame scaling runs --view flat --format csv --output scaling.csv\n"
    "  blame scaling runs --format html --output scaling.html",
    [Option("--view", "word", "VIEW", words=[("top-down", "contexts: functions by their callers (default)"), ("flat", "functions, whoever calls them")],
            default="top-down"),
     Option("--by", "word", "NUMBER", "what runs differ in:", words=[("threads", "(default)"), ("ranks", "of jobs")], default="threads"),
     Option("--weak", "flag", help_text="with twice the threads there is twice as much to do (else: as much)"),
     Option("--where", "text", "SQL", "runs are a database's trials of which this is true (blame db list)"),
     Option("--db", "text", "FILE", "that database (default: BLAME_DB, or else blame.db)"),
     Option("--environment", "word", "KIND", "what is counted as idleness (default: what the run was told):",
            words=[("dedicated", "unused cores are wasted"), ("shared", "they are not: only threads of a team idle")]),
     Option("--top", "whole", "N", "text, html: this many contexts (default 10)", 0, 1000000, default=10),
     Option("--format", "word", "FORMAT", words=[("text", "(default)"), ("csv", "every context at every number"), ("html", "a page with plots")], default="text"),
     Option("--output", "text", "FILE", "write there, not to standard output")],
    operand="profile", operands=RUN_OPERANDS, operands_none=True)

TUNE = Usage(
    "tune", "[options] [--] program [argument ...]",
    "Searches for the setting with which a program is fastest: threads, wait policy, binding, schedule of\n"
    "schedule(runtime), or what --space names. Begins where the findings of the first run point. What seems to be\n"
    "best is held against the program as it is in runs of its own, in turn: the gain has an interval.\n"
    "With --specialise nothing is run: it learns from searches that are in the database which setting is best for\n"
    "which input, validates it on inputs left out, and writes it as code: a C header, and functions of a shell beside\n"
    "it. Where it does no better than the default it says so, with status 3, and writes nothing.",
    "  blame tune ./amg -n 100\n"
    "  blame tune --space amg.space --check 'grep -q converged' ./amg -block @{block}\n"
    "  blame tune --minutes 30 --limit 60 --input n=100 ./amg -n 100\n"
    "  blame tune --specialise triangle.h --application triangle\n"
    "  . ./triangle.sh; triangle_apply 2000; ./triangle 2000",
    [Option("--space", "text", "FILE", "what can be set (docs/tuning.md); default: threads, wait, bind, schedule"),
     Option("--runs", "whole", "N", "at most N runs of the program (default 100)", LEAST_RUNS, 100000, default=MOST_RUNS),
     Option("--minutes", "number", "M", "and at most M minutes (default: as long as it takes)", 0.01, 1e5),
     Option("--pairs", "whole", "N", "so many pairs of runs show the gain (default 8, fewer if --runs are few)", 3, 1000),
     Option("--limit", "number", "SECONDS", "a run that takes longer is ended, and its setting left", 0.01, 1e6),
     Option("--check", "text", "COMMAND", "gets a run's output; if it fails, the run went wrong"),
     Option("--build", "text", "COMMAND", "makes a variant, with @{NAME} in it and in the program's path"),
     Option("--input", "list", "KEY=VALUE", "what tells this input from others; may be repeated"),
     Option("--specialise", "text", "FILE", "write FILE.h and FILE.sh, which choose settings by an input's features"),
     Option("--db", "text", "FILE", "every run is a trial of it (default: BLAME_DB, or else blame.db)"),
     Option("--application", "text", "NAME", "there the program is called NAME"),
     Option("--seed", "whole", "N", "of the order of runs (default: of the clock)", 1, 2147483647),
     Option("--dry-run", "flag", help_text="only say what can be set"),
     Option("--format", "word", "FORMAT", words=[("text", "(default)"), ("csv", "every run")], default="text"),
     Option("--output", "text", "FILE", "write there, not to standard output")],
    operand="program", operands="is a program and its arguments", operands_none=True, program=True)

FOLD = Usage(
    "fold", "DIR [options]",
    "What happens along an average execution of a numbered phase: its executions, laid over one another. DIR is a\n"
    "profile directory or a *.blame file of a run with --trace.",
    "  blame run --trace ./app; blame fold blame-app-*\n"
    "  blame fold blame-app-4711 --phase step --format svg --output step.svg",
    [Option("--phase", "text", "NAME", "the phase (default: the only one that is numbered)"),
     Option("--outliers", "flag", None, "of those that took unusually long or short, not of the usual ones", default=False),
     Option("--top", "whole", "N", "functions that are shown (default 10)", 1, 1000, default=10),
     Option("--format", "word", "FORMAT", "", words=[("text", "(default)"), ("csv", "every function in every part"), ("svg", "a picture")], default="text"),
     Option("--output", "text", "FILE", "write there, not to standard output")],
    operand="profile", operands="is a profile directory or a *.blame file", operands_most=1)

LAB = Usage("lab", "[--where]",
              "Which Python runs blame db, history, scaling, tune and fold, and which packages it has: BLAME_PYTHON's, else VIRTUAL_ENV's,\n"
              "else the python3 of the PATH if it has NumPy, else /usr/bin/python3.",
              "  blame lab --where\n"
              "  PYTHONPATH=$(blame lab --where | sed -n 's/^package *//p') python3 -c 'import blame_lab'",
              [Option("--where", "flag", help_text="what is said without an option, too")], operands_none=True, operands="is --where alone", operands_most=0)

BY_COMMAND = {"db": DB, "history": HISTORY, "scaling": SCALING, "tune": TUNE, "fold": FOLD, "lab": LAB}
