/* The options of a measurement, once. The tool reads them as variables of the environment (ompt_tool/session/variables.c);
 * `blame run` takes them as options (--phase-instances is BLAME_PHASE_INSTANCES), which set these; the build makes
 * completions and manual pages of them. */
#ifndef BLAME_BASE_RUN_OPTIONS_H
#define BLAME_BASE_RUN_OPTIONS_H

#include <stdint.h>

#include "base/option.h"

enum { CLOCK_WALL = 0, CLOCK_CPU = 1 };
enum { CONTEXT_DEFERRED = 0, CONTEXT_EAGER = 1 };
enum { TASKS_REGION = 0, TASKS_CREATION = 1 };
enum { LOCKS_IN_SECTION = 0, LOCKS_AT_RELEASE = 1 };

/* An event called more often than this and shorter, on average, than this is not measured any more. */
struct run_throttle {
    uint64_t calls, ns; /* never: ns = 0 */
};

/* BLAME_TRACE: in nanoseconds since the tool's start. */
struct run_window {
    bool never, asked; /* not at all; when the program asks for it */
    uint64_t from_ns, to_ns;
};

struct run_options {
    const char *out, *counters, *sample; /* as given; NULL: not */
    const char *job;                     /* NULL: the launcher's, if there is one */
    const char *events_include, *events_exclude;
    const char *trace;       /* NULL: what the program asks for */
    const char *trace_limit; /* run_option_size_read() */
    const char *meta;        /* lines of KEY=VALUE; NULL: nothing was said */
    struct run_throttle events_throttle;
    int rate, clock, environment, context, tasks, locks, depth, phase_instances;
    int signal; /* 0: the tool chooses */
    int seed;   /* 0: start.c draws one */
    int runtime, timeline, private, no_command, csv, summary, disable;
};

bool run_option_throttle(const char *text, void *throttle); /* [init] */
bool run_option_job(const char *text, void *name);          /* [init] */
bool run_option_signal(const char *text, void *number);     /* [init] */
bool run_option_trace(const char *text, void *kept);        /* [init] */
bool run_option_size(const char *text, void *kept);         /* [init] */
bool run_option_meta(const char *text, void *kept);         /* [init] */

#define RUN_OPTION_META_ACCEPTED                                                                                       \
    "KEY=VALUE, at most 63 letters, digits, '_', '.', '-' in KEY; several in lines of their own"
#define RUN_OPTION_META_BYTES 8000

bool run_option_trace_read(const char *text, struct run_window *window); /* [owner] */

/* The bytes of 64M or 1G; 0: it is none. [init] */
uint64_t run_option_size_read(const char *text);

#define ENVIRONMENT_WORDS(W)                                                                                           \
    W("dedicated", "unused cores are wasted") W("shared", "they are not: only threads of a team idle")

/* TEXT(variable, field, value, help)
 * WHOLE(variable, field, default, least, most, help): help goes on with these numbers
 * WORD(variable, field, default, words, value, help), the words each W(word, about); the field has the word's number
 * FORM(variable, field, default, read, accepted, value, help): read() refuses a default that is for the reader
 * In the order of --help. */
#define RUN_OPTIONS(TEXT, WHOLE, WORD, W, FORM)                                                                        \
    TEXT("BLAME_OUT", out, "DIR",                                                                                      \
         "output directory; %e program, %p pid, %h host, %r MPI rank, %j job;\n"                                       \
         "what exists is never overwritten: .1, .2 is appended, or, where that\n"                                      \
         "cannot be (., .., a slash at the end), it gets the default name inside;\n"                                   \
         "the folder above must exist, without blame run it is made; a relative\n"                                     \
         "name begins where blame run was typed, without blame run in the\n"                                           \
         "program's folder\n"                                                                                          \
         "(default: blame-%e-%p, of a job blame-%e-%j)")                                                               \
    FORM("BLAME_JOB", job, "the launcher's" /* refused */, run_option_job,                                             \
         "a name of at most 63 letters, digits, '.', '_', '+' and '-'", "NAME",                                        \
         "all processes that are given this name write into one directory, a\n"                                        \
         "file each: of jobs that MPI does not launch (default: an MPI job's own)")                                    \
    WHOLE("BLAME_RATE", rate, 200, 1, 10000, "samples per second and thread")                                          \
    WORD("BLAME_CLOCK", clock, "wall", W("wall", "(default)") W("cpu", "a sleeping thread is not sampled then"),       \
         "CLOCK", "")                                                                                                  \
    WORD("BLAME_ENVIRONMENT", environment, "dedicated", ENVIRONMENT_WORDS(W), "KIND",                                  \
         "what reports count as idleness, unless they are told (default dedicated):")                                  \
    WORD("BLAME_CONTEXT", context, "deferred",                                                                         \
         W("deferred", "(default)") W("eager", "at every region's begin: slow, for comparison"), "WHEN",               \
         "when regions' contexts are taken:")                                                                          \
    WORD("BLAME_TASKS", tasks, "region",                                                                               \
         W("region", "the region that they are of (default)") W("creation", "the context of their creation"), "WHERE", \
         "below what tasks hang:")                                                                                     \
    WORD("BLAME_LOCKS", locks, "section",                                                                              \
         W("section", "the lines inside the section that kept it (default)") W("release", "its release"), "WHAT",      \
         "what a lock's waiting is blamed on:")                                                                        \
    WHOLE("BLAME_DEPTH", depth, 512, 1, 4096, "most frames kept per path")                                             \
    TEXT("BLAME_COUNTERS", counters, "LIST",                                                                           \
         "PAPI's names of at most 8 counters, separated by commas, counted for\n"                                      \
         "every context: PAPI_TOT_INS,perf::PAGE-FAULTS; what the machine lacks\n"                                     \
         "is named, with the nearest names that it has")                                                               \
    TEXT("BLAME_SAMPLE", sample, "EVENT@N",                                                                            \
         "a sample whenever a thread has counted N more of the event, instead\n"                                       \
         "of by the clock: all figures are events then, not seconds")                                                  \
    WHOLE("BLAME_PHASE_INSTANCES", phase_instances, 10000, 1, 100000000,                                               \
          "numbered executions of one phase, in all contexts of all threads, that\n"                                   \
          "have a row each (the last may lack calls of some threads); the rest\n"                                      \
          "share one")                                                                                                 \
    TEXT("BLAME_EVENTS_INCLUDE", events_include, "LIST",                                                               \
         "shell patterns, separated by commas: events that are measured (default: all)")                               \
    TEXT("BLAME_EVENTS_EXCLUDE", events_exclude, "LIST", "and events that are not (default: none)")                    \
    FORM("BLAME_EVENTS_THROTTLE", events_throttle, "100000@2000" /* TAU's rule */, run_option_throttle,                \
         "calls@nanoseconds, as in 100000@2000, or 0 for never", "C@N",                                                \
         "no longer measure events called more than C times that take less than\n"                                     \
         "N nanoseconds on average (default 100000@2000); 0: never")                                                   \
    FORM("BLAME_SIGNAL", signal, "the highest free real-time signal", run_option_signal,                               \
         "a real-time signal (34 to 64, RTMIN+n, RTMAX-n) or one of 10, 12, 16, 23, 26 to 30", "N",                    \
         "the signal by which samples come: 34 to 64, RTMIN+n, RTMAX-n, or one\n"                                      \
         "of 10, 12, 16, 23, 26 to 30 (default: the highest real-time signal\n"                                        \
         "that the program does not use); another one is taken when the program\n"                                     \
         "uses it later")                                                                                              \
    WHOLE("BLAME_SEED", seed, 0, 0, 2147483647,                                                                        \
          "repeats the moments at which the threads of a run were sampled: its\n"                                      \
          "seed is in run.json; 0: drawn by chance")                                                                   \
    WORD("BLAME_TIMELINE", timeline, "1",                                                                              \
         W("0", "only sums") W("1", "which thread did what when, and which line was to blame (default)"), "0|1", "")   \
    FORM("BLAME_TRACE", trace, "none but what the program asks for" /* refused */, run_option_trace,                   \
         "0, 1 or FROM:TO in seconds since the start, as in 60:90", "0|1|FROM:TO",                                     \
         "keeps what each sample found, in time's order (blame export): 1, or the\n"                                   \
         "option alone: of the whole run; of the seconds FROM to TO since its start;\n"                                \
         "0: not even where the program asks for it (default: where it does)")                                         \
    FORM("BLAME_TRACE_LIMIT", trace_limit, "256M", run_option_size, "a size from 64K to 3G, as in 64M", "SIZE",        \
         "room of the trace, as 64M or 1G (default 256M); its oldest samples make\n"                                   \
         "way for new ones then, which is said")                                                                       \
    FORM("BLAME_META", meta, "nothing" /* refused */, run_option_meta, RUN_OPTION_META_ACCEPTED, "KEY=VALUE",          \
         "what you know of the run, as size=512 or revision=1f3c: it is kept with\n"                                   \
         "it (run.json, blame db); several times, or in the variable in lines of\n"                                    \
         "their own")                                                                                                  \
    WORD("BLAME_PRIVATE", private, "0",                                                                                \
         W("0", "as the umask says (default)") W("1", "nobody else may read the profile, which has the command line"), \
         "0|1", "")                                                                                                    \
    WORD("BLAME_NO_COMMAND", no_command, "0",                                                                          \
         W("0", "the profile has the command line (default)")                                                          \
             W("1", "or the option alone: only the program's name, none of its arguments"),                            \
         "0|1", "")                                                                                                    \
    WORD("BLAME_CSV", csv, "1",                                                                                        \
         W("0", "only measure (default of one of several MPI ranks): one line says\nwhat makes the files later")       \
             W("1", "write the CSV files at the end (default)"),                                                       \
         "0|1", "")                                                                                                    \
    WORD("BLAME_SUMMARY", summary, "1",                                                                                \
         W("0", "no summary (default where no CSV files are written)")                                                 \
             W("1", "print a summary on standard error at the end (default)"),                                         \
         "0|1", "")                                                                                                    \
    WORD("BLAME_RUNTIME", runtime, "auto",                                                                             \
         W("auto", "libomp, unless it is known to behave differently here (default)")                                  \
             W("libomp", "libomp, if it has all functions") W("own", "libgomp, unmeasured"),                           \
         "WHICH", "the runtime of a program built by GCC, under blame run:")                                           \
    WORD("BLAME_DISABLE", disable, "0", W("0", "(default)") W("1", "the tool declines to start"), "0|1", "")

#endif
