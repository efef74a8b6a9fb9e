#include "command/findings/calls.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command/rows/own.h"
#include "command/text/format.h"

/* ---- names ---- */

/* Writes a C++ name without parameters and template arguments: "std::thread::join". */
static void write_bare_name(char *to, size_t bytes, const char *name)
{
    size_t used = 0, depth = 0;
    bool whole = strstr(name, "operator") || *name == '<';
    for (; *name && used + 1 < bytes && (whole || *name != '('); name++) {
        depth += !whole && *name == '<';
        if (depth == 0)
            to[used++] = *name;
        depth -= depth > 0 && *name == '>';
    }
    to[used] = '\0';
}

void name_call(char to[NAME_BYTES], const struct rows *rows, uint32_t row)
{
    static const char *const prefixes[] = {"__GI_", "__libc_", "__", "_"};
    for (uint32_t i = row; rows->row[i].foreign && !row_module_runs_scripts(rows->row[i].label->module);
         i = rows->row[i].parent)
        row = i;
    const char *name = row_is_holder(&rows->row[row]) ? "the interpreter's lock" : rows->row[row].label->name;
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
        if (strncmp(name, prefixes[i], strlen(prefixes[i])) == 0)
            name += strlen(prefixes[i]);
    char bare[4 * NAME_BYTES];
    write_bare_name(bare, sizeof bare, name);
    shorten_name(to, bare);
}

void shorten_name(char to[NAME_BYTES], const char *name)
{
    char *clean = format_clean(name, true);
    format_shorten(to, NAME_BYTES, clean, NAME_COLUMNS, false);
    free(clean);
}

/* ---- what a call waits for ---- */

static const struct awaited unknown = {
    .what = "",
    .advice = "Overlap the wait with other work, make it shorter, or wait less often. The wait needs no core, "
              "so other work can run meanwhile.",
};

static const struct awaited no_call = {
    .what = "",
    .advice = "The code slept outside any library: it read pages of a mapped file or pages that had been "
              "swapped out, or it makes system calls of its own. Read ahead (madvise, MAP_POPULATE), or let "
              "other work run meanwhile.",
};

static const struct awaited join = {
    .what = "other threads",
    .advice = "The call waits until other threads end. Look at what these threads do: their work takes the "
              "time, not this call.",
    .threads = true,
    .ends_with_it = true,
};

static const struct awaited signal = {
    .what = "other threads",
    .advice = "The call waits for other threads. Look at what they do before they send the signal or reach the "
              "barrier. As far as it is known, --view waits shows which code did.",
    .threads = true,
};

static const struct awaited lock = {
    .what = "a lock",
    .advice = "The call waits for another thread, and the profile does not contain which one. Look at what the "
              "other threads do while they hold the lock. For OpenMP's locks and critical sections, blame "
              "names the holder.",
    .threads = true,
    .held = true,
};

static const struct awaited process = {
    .what = "another process",
    .advice = "The call waits for another process: look at what that one does, or let this thread work "
              "meanwhile. Under `blame run`, a child that computes has a profile of its own.",
};

static const struct awaited event = {
    .what = "events",
    .advice = "The call waits for input, connections, time limits or signals. This is no problem if the "
              "program had nothing else to do; if it had, look at what sends the events.",
    .ends_with_it = true,
};

static const struct awaited socket = {
    .what = "a socket",
    .advice = "The call waits for what is at the other end of a socket. Send requests earlier or several at "
              "once, or let other work run meanwhile.",
};

static const struct awaited storage = {
    .what = "storage",
    .advice = "The call waits until data are stored. Call it less often, with more data at once, or let other "
              "work run meanwhile.",
};

/* Parts of functions' names. The first match decides; each function comes before those that it is built on. */
static const struct {
    const char *part;
    const struct awaited *awaited;
} entries[] = {
    {"pthread_join", &join},
    {"pthread_timedjoin", &join},
    {"clockjoin", &join},
    {"thrd_join", &join},
    {"thread::join", &join},
    {"Thread.join", &join}, /* Python's */
    {"cond_wait", &signal},
    {"cond_timedwait", &signal},
    {"cond_clockwait", &signal},
    {"cnd_wait", &signal},
    {"cnd_timedwait", &signal},
    {"condition_variable", &signal},
    {"sem_wait", &signal},
    {"sem_timedwait", &signal},
    {"sem_clockwait", &signal},
    {"barrier_wait", &signal},
    {"pthread_once", &signal},
    {"call_once", &signal},
    {"atomic_futex", &signal},
    {"mutex_lock", &lock},
    {"mutex_timedlock", &lock},
    {"mutex_clocklock", &lock},
    {"mtx_lock", &lock},
    {"mtx_timedlock", &lock},
    {"rwlock_", &lock},
    {"lll_lock", &lock},
    {"Mutex::lock", &lock}, /* Rust's */
    {"RwLock", &lock},
    {"futex", &signal},
    {"platform_wait", &signal}, /* libstdc++: semaphores, latches, barriers, atomics */
    {"waitpid", &process},
    {"wait3", &process},
    {"wait4", &process},
    {"waitid", &process},
    {"semop", &process},
    {"semtimedop", &process},
    {"msgrcv", &process},
    {"flock", &process},
    {"poll", &event},
    {"epoll_wait", &event},
    {"epoll_pwait", &event},
    {"select", &event},
    {"accept", &event},
    {"pause", &event},
    {"sigsuspend", &event},
    {"sigwait", &event},
    {"sigtimedwait", &event},
    {"recv", &socket},
    {"sendto", &socket},
    {"sendmsg", &socket},
    {"connect", &socket},
    {"fsync", &storage},
    {"fdatasync", &storage},
    {"msync", &storage},
    {"syncfs", &storage},
    {"sync_file_range", &storage},
};

/* Returns whether the row's function, or one of the same library through which it was called, has this part in its name,
 * or one of another library exactly this name. Parts of those say little: their select_device() may call usleep(). But they
 * are all there is if the thread sleeps in syscall(). */
static bool has_function(const struct rows *rows, uint32_t row, const char *part)
{
    const char *library = rows->row[row].label->module;
    bool same = true, raw = strcmp(rows->row[row].label->name, "syscall") == 0;
    for (; rows->row[row].foreign; row = rows->row[row].parent) {
        const struct row_label *label = rows->row[row].label;
        same = same && strcmp(label->module, library) == 0;
        if (same || raw ? strstr(label->name, part) != NULL : strcmp(label->name, part) == 0)
            return true;
    }
    return false;
}

const struct awaited *awaited_of(const struct rows *rows, uint32_t row)
{
    if (row_is_holder(&rows->row[row]))
        return &unknown;
    if (!rows->row[row].foreign)
        return &no_call;
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++)
        if (has_function(rows, row, entries[i].part))
            return entries[i].awaited;
    return &unknown;
}

bool threads_were_busy(const struct rows *rows, uint32_t row)
{
    const struct profile_sums *sums = rows->row[row].exclusive;
    return profile_sums_own(sums) >= (1 + MOSTLY) * sums->inverse_busy;
}

void describe_blocked(char to[BLOCKED_BYTES], const struct rows *rows, uint32_t row)
{
    char call[NAME_BYTES];
    const struct awaited *awaited = awaited_of(rows, row);
    const char *what = awaited->what;
    if (awaited == &no_call)
        snprintf(call, sizeof call, "page faults or system calls of its own");
    else
        name_call(call, rows, row);
    snprintf(to, BLOCKED_BYTES, "blocked in %s%s%s%s", call, *what ? " (waiting for " : "", what, *what ? ")" : "");
}
