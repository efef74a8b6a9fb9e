/* The options of a measurement, in one table. The tool reads them as environment variables
 * (ompt_tool/session/variables.c). `blame run` has an option for each variable: --phase-instances sets
 * BLAME_PHASE_INSTANCES. The build makes completions and manual pages from the table. */
#ifndef BLAME_BASE_RUN_OPTIONS_H
#define BLAME_BASE_RUN_OPTIONS_H

#include <stdint.h>

#include "base/option.h"

enum { CLOCK_WALL = 0, CLOCK_CPU = 1 };
enum { ENVIRONMENT_DEDICATED = 0, ENVIRONMENT_SHARED = 1 };
enum { CONTEXT_DEFERRED = 0, CONTEXT_EAGER = 1 };
enum { TASKS_REGION = 0, TASKS_CREATION = 1 };
enum { LOCKS_IN_SECTION = 0, LOCKS_AT_RELEASE = 1 };

/* BLAME_EVENTS_THROTTLE: an event that took less than `ns` ns on average is no longer measured after `calls`
 * calls. */
struct run_throttle {
    uint64_t calls, ns; /* if `ns` is 0, events are never throttled */
};

/* BLAME_TRACE: the part of the run that is traced, in ns since the tool's start. */
struct run_window {
    bool never; /* true: nothing is traced */
    bool asked; /* true: only those parts are traced that the program requests */
    uint64_t from_ns, to_ns;
};

struct run_options {
    const char *out, *counters, *sample; /* texts as the user gave them; NULL: not given */
    /* name of the job; NULL: the name that the MPI launcher gives, if any */
    const char *job;
    const char *events_include, *events_exclude;
    /* text of BLAME_TRACE; NULL: only the parts are traced that the program requests */
    const char *trace;
    const char *trace_limit; /* text for run_option_size_read() */
    const char *meta;        /* lines of the form KEY=VALUE; NULL: none */
    struct run_throttle events_throttle;
    int rate, clock, environment, context, tasks, locks, depth, phase_instances;
    int signal; /* number of the signal; 0: the tool chooses one */
    int seed;   /* seed of the random sampling times; 0: start.c draws a random one */
    int runtime, omp_only, posix, bind_now, timeline, private, no_command, csv, summary, disable;
};

bool run_option_throttle(const char *text, void *throttle); /* [init] */
bool run_option_job(const char *text, void *name);          /* [init] */
bool run_option_signal(const char *text, void *number);     /* [init] */
bool run_option_trace(const char *text, void *kept);        /* [init] */
bool run_option_size(const char *text, void *kept);         /* [init] */
bool run_option_meta(const char *text, void *kept);         /* [init] */

#define RUN_OPTION_META_ACCEPTED "KEY=VALUE, where KEY has at most 63 letters, digits, '_', '.' and '-'"
#define RUN_OPTION_META_BYTES    8000

bool run_option_trace_read(const char *text, struct run_window *window); /* [owner] */

/* Returns the number of bytes for a size such as 64M or 1G; 0 if the text is not a size. [init] */
uint64_t run_option_size_read(const char *text);

#define ENVIRONMENT_WORDS(W)                                                                                           \
    W("dedicated", "every idle core counts as wasted, even in serial code")                                            \
    W("shared", "only threads in a team can be idle")

/* TEXT(variable, field, value, help)
 * WHOLE(variable, field, default, least, most, help), where --help adds these numbers to the help
 * WORD(variable, field, default, words, value, help), where words are W(word, about) and the field is the index of a word
 * FORM(variable, field, default, read, accepted, value, help), where read() may reject a default that is only a description
 * The order is that of --help; command/cli/run.c has the headings. */
#define RUN_OPTIONS(TEXT, WHOLE, WORD, W, FORM)                                                                        \
    TEXT("BLAME_OUT", out, "DIR",                                                                                      \
         "the output directory. In DIR, %e is the program, %p the pid, %h the host, %r the MPI rank, %j the job. "     \
         "An existing directory is never overwritten: .1, .2 ... is appended to the name. "                            \
         "If DIR is ., .. or ends in /, blame creates a directory with the default name in it. "                       \
         "The parent directory must exist (without blame run, it is created). "                                        \
         "A relative name is relative to the current directory (without blame run, the program's current directory). " \
         "The default name is blame-%e-%p, and blame-%e-%j for a job")                                                 \
    WHOLE("BLAME_RATE", rate, 200, 1, 10000, "samples per second and thread")                                          \
    WORD("BLAME_ENVIRONMENT", environment, "dedicated", ENVIRONMENT_WORDS(W), "KIND",                                  \
         "what counts as idleness in reports (default: dedicated):")                                                   \
    FORM("BLAME_TRACE", trace, "no trace unless the program asks for one" /* refused */, run_option_trace,             \
         "0, 1 or FROM:TO in seconds since the start, for example 60:90", "0|1|FROM:TO",                               \
         "keep each sample with its time, for blame export and fold. 1, or the option alone, traces the whole run. "   \
         "FROM:TO traces a part of the run, in seconds since the start. "                                              \
         "0 writes no trace, even if the program asks for one. "                                                       \
         "The default is to trace only if the program asks for a trace")                                               \
    FORM("BLAME_META", meta, "nothing" /* refused */, run_option_meta, RUN_OPTION_META_ACCEPTED, "KEY=VALUE",          \
         "add a note to run.json and blame db, such as size=512 or revision=1f3c. "                                    \
         "The option may be repeated; the variable holds one note per line")                                           \
    WORD("BLAME_SUMMARY", summary, "1",                                                                                \
         W("0", "print no summary (default without CSV files)")                                                        \
             W("1", "print a summary on standard error at the end (default)"),                                         \
         "0|1", "")                                                                                                    \
    WORD("BLAME_CSV", csv, "1",                                                                                        \
         W("0", "only measure; a message says which command writes the files later (default for an MPI rank)")         \
             W("1", "write the CSV files at the end (default)"),                                                       \
         "0|1", "")                                                                                                    \
    WORD("BLAME_CLOCK", clock, "wall",                                                                                 \
         W("wall", "real time (default)") W("cpu", "CPU time: sleeping threads are not sampled"), "CLOCK", "")         \
    TEXT("BLAME_SAMPLE", sample, "EVENT@N",                                                                            \
         "sample a thread after every N occurrences of the event, instead of by the clock. "                           \
         "All figures are then event counts instead of seconds")                                                       \
    TEXT("BLAME_COUNTERS", counters, "LIST",                                                                           \
         "count up to 8 PAPI counters for each context, for example PAPI_TOT_INS,perf::PAGE-FAULTS. "                  \
         "If the machine lacks a counter, a message suggests similar names")                                           \
    WORD("BLAME_LOCKS", locks, "section",                                                                              \
         W("section", "the code inside the critical section (default)")                                                \
             W("release", "the line that releases the lock"),                                                          \
         "WHAT", "what waiting for a lock is blamed on:")                                                              \
    WORD("BLAME_TASKS", tasks, "region",                                                                               \
         W("region", "below the parallel region that runs them (default)")                                             \
             W("creation", "below the code that created them"),                                                        \
         "WHERE", "where tasks appear in call paths:")                                                                 \
    WHOLE("BLAME_DEPTH", depth, 512, 1, 4096, "the maximum number of frames kept in a call path")                      \
    WORD("BLAME_TIMELINE", timeline, "1",                                                                              \
         W("0", "keep only sums over the run")                                                                         \
             W("1", "also keep what each thread did when, and which code others waited for (default)"),                \
         "0|1", "")                                                                                                    \
    FORM("BLAME_TRACE_LIMIT", trace_limit, "256M", run_option_size, "a size from 64K to 3G, for example 64M", "SIZE",  \
         "limit the size of the trace, for example to 64M or 1G (default: 256M). "                                     \
         "When the trace is full, new samples replace older ones, and a message says so")                              \
    WHOLE("BLAME_PHASE_INSTANCES", phase_instances, 10000, 1, 100000000,                                               \
          "how many executions of a numbered phase get rows of their own; later executions share one row")             \
    TEXT("BLAME_EVENTS_INCLUDE", events_include, "LIST",                                                               \
         "the events to measure, as shell patterns separated by commas (default: all)")                                \
    TEXT("BLAME_EVENTS_EXCLUDE", events_exclude, "LIST",                                                               \
         "the events not to measure, as shell patterns separated by commas (default: none)")                           \
    FORM("BLAME_EVENTS_THROTTLE", events_throttle, "100000@2000" /* TAU's rule */, run_option_throttle,                \
         "calls@nanoseconds, for example 100000@2000, or 0 for never", "C@N",                                          \
         "stop measuring an event after C calls if they took less than N nanoseconds on average. "                     \
         "0 means never (default: 100000@2000)")                                                                       \
    FORM("BLAME_JOB", job, "the launcher's" /* refused */, run_option_job,                                             \
         "a name of at most 63 letters, digits, '.', '_', '+' and '-'", "NAME",                                        \
         "treat processes that no MPI launcher started as one job (default: the MPI job's name). "                     \
         "Processes with the same NAME write into one directory, each to its own file")                                \
    WORD("BLAME_PRIVATE", private, "0",                                                                                \
         W("0", "the umask decides who may read the profile (default)")                                                \
             W("1", "only you may read the profile, which contains the command line"),                                 \
         "0|1", "")                                                                                                    \
    WORD("BLAME_NO_COMMAND", no_command, "0",                                                                          \
         W("0", "the profile contains the command line (default)")                                                     \
             W("1", "or the option alone: the profile contains only the program's name"),                              \
         "0|1", "")                                                                                                    \
    WORD("BLAME_RUNTIME", runtime, "auto",                                                                             \
         W("auto", "libgomp (default)") W("libomp", "libomp, if it has all functions that the program calls")          \
             W("own", "libgomp; the program is not measured"),                                                         \
         "WHICH", "the OpenMP runtime for a program built by GCC:")                                                    \
    WORD("BLAME_OMP_ONLY", omp_only, "0",                                                                              \
         W("0", "measure every program that uses at least 10 ms of CPU time (default)")                                \
             W("1", "or the option alone: measure only programs with an OpenMP runtime, from its start on"),           \
         "0|1", "for programs without OpenMP:")                                                                        \
    WORD("BLAME_POSIX", posix, "1", W("0", "not recorded") W("1", "recorded (default)"), "0|1",                        \
         "waiting for mutexes and other locks of POSIX threads, C11 and C++:")                                         \
    WORD("BLAME_BIND_NOW", bind_now, "1",                                                                              \
         W("0", "when they are first made; calls are slower")                                                          \
             W("1", "at the start (default), unless a function is missing that the program may never call"),           \
         "0|1", "with glibc before 2.35, when calls of libraries are bound:")                                          \
    WORD("BLAME_CONTEXT", context, "deferred",                                                                         \
         W("deferred", "when the region ends (default)") W("eager", "when the region begins: slow, for comparison"),   \
         "WHEN", "when the calling context of a parallel region is recorded:")                                         \
    FORM("BLAME_SIGNAL", signal, "the highest free real-time signal", run_option_signal,                               \
         "a real-time signal (34 to 64, RTMIN+n, RTMAX-n) or one of 10, 12, 16, 23, 26 to 30", "N",                    \
         "the sampling signal: 34 to 64, RTMIN+n, RTMAX-n, or one of 10, 12, 16, 23, 26 to 30. "                       \
         "The default is the highest real-time signal that the program does not use. "                                 \
         "If the program starts to use it, blame takes another signal")                                                \
    WHOLE("BLAME_SEED", seed, 0, 0, 2147483647,                                                                        \
          "sample at the same random times as an earlier run, whose seed is in run.json; 0: a new seed")               \
    WORD("BLAME_DISABLE", disable, "0", W("0", "measure (default)") W("1", "the tool does not start"), "0|1", "")

#endif
