/* The table of all metrics of a profile. The columns of files, the exports, the options and their help, the
 * summary, the page and the laboratory are made from its rows. docs/architecture.md says how to add a metric.
 *
 *     METRIC(NAME, column, value, word, title, unit, summary, light, dark, help)
 *
 * NAME      METRIC_NAME is the metric's constant
 * column    number of its column in profile.csv, or NONE; a new metric takes the next free number
 * value     its value in ns, from a row's `sums` (struct profile_sums) and the `rows`
 * word      its name in options: --sort WORD
 * title     its name in columns and headings, and in the page's data
 * unit      "s", or "" for a number of samples
 * summary   its explanation in the summary; NULL: the summary has no line for it
 * light     its colour on the page in the light theme
 * dark      its colour on the page in the dark theme
 * help      its explanation, without a full stop
 *
 * The page's build (command/html/page/metrics.mjs) also reads this file. It expects that a row is METRIC(...)
 * and ends with seven literals. */
#ifndef BLAME_COMMAND_ROWS_METRIC_TABLE_H
#define BLAME_COMMAND_ROWS_METRIC_TABLE_H

/* Parts of the threads' time that are shown whatever their value is. */
#define METRIC_TABLE_ALWAYS(METRIC)                                                                                    \
    METRIC(IDLENESS, 2, rows->shared ? sums->shared_idle : metric_idleness_ns(sums, rows->threads), "idleness",        \
           "idleness", "s", "threads without work", "#e69f00", "#d99a1c",                                              \
           "Time of idle threads for which this context is blamed")                                                    \
    METRIC(WORK, 1, sums->work, "work", "work", "s", "in your code", "#3b82c4", "#4a90cf",                             \
           "Time in which threads executed your code")                                                                 \
    METRIC(OVERHEAD, 3, sums->overhead, "overhead", "overhead", "s", "in the OpenMP runtime", "#b26a98", "#b5769f",    \
           "Time in which threads executed the OpenMP runtime")                                                        \
    METRIC(LOCK_WAIT, 4, sums->lock_wait, "lock-wait", "lock wait", "s", "waiting for locks", "#d55e00", "#d9692a",    \
           "Time in which other threads waited for locks that this context held")

/* Metrics that are not parts of the threads' time: other ways of counting a part, and the number of samples. */
#define METRIC_TABLE_OTHERS(METRIC)                                                                                    \
    METRIC(LOCK_WAIT_HERE, 7, sums->lock_wait_here, "lock-wait-here", "lock wait here", "s", NULL, "#b8561a",          \
           "#c06a35",                                                                                                  \
           "Time in which this context itself waited for locks; the metric lock wait charges this time to "            \
           "the holders")                                                                                              \
    METRIC(CORE_IDLENESS, 5, metric_core_idleness_ns(rows, sums), "core-idleness", "core idleness", "s", NULL,         \
           "#d9a520", "#c79a2b", "Idleness of cores instead of threads")                                               \
    METRIC(SHARED_IDLENESS, 6, sums->shared_idle, "shared-idleness", "shared idleness", "s", NULL, "#c79a2b",          \
           "#b08a2c", "Idleness as counted in a shared environment: only threads in a team can be idle")               \
    METRIC(SAMPLES, 0, (double)sums->samples, "samples", "samples", "", NULL, "#6f8397", "#7c90a4", "Samples taken")

/* Rare parts of the threads' time. A rare part is shown only if it is at least METRIC_LEAST_SHOWN per cent. */
#define METRIC_TABLE_RARE(METRIC)                                                                                      \
    METRIC(NO_CORE, 8, sums->no_core, "no-core", "no core", "s", "ready, without a core", "#189a74", "#2fae88",        \
           "Time in which busy threads were ready to run but had no core")                                             \
    METRIC(BLOCKED, 9, sums->blocked, "blocked", "blocked", "s", "asleep or spinning outside OpenMP", "#8d8778",       \
           "#9c9586", "Time in which busy threads slept outside OpenMP, or waited in loops")                           \
    METRIC(MPI_WAIT, 10, sums->mpi_wait, "mpi-wait", "mpi wait", "s", "in MPI, for other ranks", "#6a63b8", "#8d86d6", \
           "Time in MPI calls that may wait for other ranks")

/* Time of other ranks. It is shown like a rare part. In a job, it is part of the mpi wait of those ranks. */
#define METRIC_TABLE_RANKS(METRIC)                                                                                     \
    METRIC(RANK_IDLENESS, 11, sums->rank_idle, "rank-idleness", "rank idleness", "s", NULL, "#a8437f", "#c874a6",      \
           "Time of ranks that waited in MPI, by the code that they waited for")

/* The sum of the metrics in metric_blame_part. It has no column in files. */
#define METRIC_TABLE_BLAME(METRIC)                                                                                     \
    METRIC(BLAME, NONE, metric_blame_ns(rows, sums), "blame", "blame", "s", NULL, "#c8453b", "#d05a4e",                \
           "Time lost because of this code: idleness + overhead + lock wait")

/* All metrics: first the metrics with columns in files, then blame. */
#define METRIC_TABLE_COLUMNS(METRIC)                                                                                   \
    METRIC_TABLE_ALWAYS(METRIC)                                                                                        \
    METRIC_TABLE_OTHERS(METRIC)                                                                                        \
    METRIC_TABLE_RARE(METRIC)                                                                                          \
    METRIC_TABLE_RANKS(METRIC)
#define METRIC_TABLE(METRIC)                                                                                           \
    METRIC_TABLE_COLUMNS(METRIC)                                                                                       \
    METRIC_TABLE_BLAME(METRIC)

#endif
