#include "command/findings/calls.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command/rows/own.h"
#include "command/text/format.h"

/* ---- names ---- */

/* Returns a name without what glibc puts before the names of its functions. */
static const char *without_prefixes(const char *name)
{
    static const char *const prefixes[] = {"__GI_", "__libc_", "__", "_"};
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
        if (strncmp(name, prefixes[i], strlen(prefixes[i])) == 0)
            name += strlen(prefixes[i]);
    return name;
}

void name_call(char to[NAME_BYTES], const struct rows *rows, uint32_t row)
{
    uint32_t asleep = row, i = row;
    for (; rows->row[i].foreign && !row_module_runs_scripts(rows->row[i].label->module); i = rows->row[i].parent)
        row = i;
    if (i == 0) /* a thread of a library, which the program's code has not called */
        row = asleep;
    const char *name = row_is_holder(&rows->row[row]) ? "the interpreter's lock" : rows->row[row].label->name;
    char bare[4 * NAME_BYTES];
    format_bare_name(bare, sizeof bare, without_prefixes(name));
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

/* Names of functions, as write_plain_name() makes them. The first match decides; each function comes before those that it is
 * built on. */
static const struct {
    const char *name;
    const struct awaited *awaited;
} entries[] = {
    {"pthread_join", &join},
    {"pthread_timedjoin_np", &join},
    {"pthread_clockjoin_np", &join},
    {"pthread_clockjoin_ex", &join},
    {"thrd_join", &join},
    {"std::thread::join", &join},
    {"Thread.join", &join},          /* Python's */
    {"ObjectMonitor::enter", &lock}, /* Java's synchronized */
    {"ObjectMonitor::ReenterI", &lock},
    {"pthread_cond_wait", &signal},
    {"pthread_cond_timedwait", &signal},
    {"pthread_cond_clockwait", &signal},
    {"pthread_cond_wait_common", &signal},
    {"cnd_wait", &signal},
    {"cnd_timedwait", &signal},
    {"std::condition_variable::wait", &signal},
    {"sem_wait", &signal},
    {"sem_timedwait", &signal},
    {"sem_clockwait", &signal},
    {"new_sem_wait", &signal}, /* glibc's own names of sem_wait */
    {"new_sem_wait_slow64", &signal},
    {"pthread_barrier_wait", &signal},
    {"pthread_once", &signal},
    {"call_once", &signal},
    {"std::__atomic_futex_unsigned_base::_M_futex_wait_until", &signal},
    {"std::__atomic_futex_unsigned_base::_M_futex_wait_until_steady", &signal},
    {"pthread_mutex_lock", &lock},
    {"pthread_mutex_timedlock", &lock},
    {"pthread_mutex_clocklock", &lock},
    {"mtx_lock", &lock},
    {"mtx_timedlock", &lock},
    {"pthread_rwlock_rdlock", &lock},
    {"pthread_rwlock_wrlock", &lock},
    {"pthread_rwlock_timedrdlock", &lock},
    {"pthread_rwlock_timedwrlock", &lock},
    {"pthread_rwlock_clockrdlock", &lock},
    {"pthread_rwlock_clockwrlock", &lock},
    {"lll_lock_wait", &lock},
    {"lll_lock_wait_private", &lock},
    {"std::sys::unix::locks::futex_mutex::Mutex::lock_contended", &lock}, /* Rust's, before 1.75 and since */
    {"std::sys::unix::locks::futex_rwlock::RwLock::read_contended", &lock},
    {"std::sys::unix::locks::futex_rwlock::RwLock::write_contended", &lock},
    {"std::sys::sync::mutex::futex::Mutex::lock_contended", &lock},
    {"std::sys::sync::rwlock::futex::RwLock::read_contended", &lock},
    {"std::sys::sync::rwlock::futex::RwLock::write_contended", &lock},
    {"<std::sys::sync::mutex::futex::Mutex>::lock_contended", &lock},
    {"<std::sys::sync::rwlock::futex::RwLock>::read_contended", &lock},
    {"<std::sys::sync::rwlock::futex::RwLock>::write_contended", &lock},
    {"std::sys::unix::futex::futex_wait", &signal},
    {"std::sys::pal::unix::futex::futex_wait", &signal},
    {"futex_wait", &signal},
    {"futex_abstimed_wait_common", &signal},
    {"futex_abstimed_wait_common64", &signal},
    {"futex_abstimed_wait_cancelable64", &signal},
    {"std::__detail::__platform_wait", &signal}, /* libstdc++: semaphores, latches, barriers, atomics */
    {"wait", &process},
    {"waitpid", &process},
    {"wait3", &process},
    {"wait4", &process},
    {"waitid", &process},
    {"semop", &process},
    {"semtimedop", &process},
    {"msgrcv", &process},
    {"flock", &process},
    {"lockf", &process},
    {"poll", &event},
    {"ppoll", &event},
    {"epoll_wait", &event},
    {"epoll_pwait", &event},
    {"epoll_pwait2", &event},
    {"select", &event},
    {"pselect", &event},
    {"accept", &event},
    {"accept4", &event},
    {"pause", &event},
    {"sigsuspend", &event},
    {"sigwait", &event},
    {"sigwaitinfo", &event},
    {"sigtimedwait", &event},
    {"recv", &socket},
    {"recvfrom", &socket},
    {"recvmsg", &socket},
    {"recvmmsg", &socket},
    {"send", &socket},
    {"sendto", &socket},
    {"sendmsg", &socket},
    {"sendmmsg", &socket},
    {"connect", &socket},
    {"sync", &storage},
    {"fsync", &storage},
    {"fdatasync", &storage},
    {"msync", &storage},
    {"syncfs", &storage},
    {"sync_file_range", &storage},
};

/* Writes the name by which programs call a function: "poll" for __GI___poll, without a return type. */
static void write_plain_name(char *to, size_t bytes, const char *name)
{
    format_bare_name(to, bytes, without_prefixes(name));
    const char *space = strrchr(to, ' ');
    if (space)
        memmove(to, space + 1, strlen(space));
}

/* Returns whether the row is a Python function. Many have the name of a system call and do something else. */
static bool is_of_script(const struct row_label *label)
{
    const char *end = strrchr(label->file, '.');
    return end && strcmp(end, ".py") == 0;
}

/* Returns whether the row's function, or one outside the program through which it was called, has this name. */
static bool has_function(const struct rows *rows, uint32_t row, const char *name)
{
    char plain[4 * NAME_BYTES];
    bool of_class = strchr(name, '.') != NULL;
    for (; rows->row[row].foreign; row = rows->row[row].parent) {
        if (is_of_script(rows->row[row].label) && !of_class)
            continue;
        write_plain_name(plain, sizeof plain, rows->row[row].label->name);
        if (strcmp(plain, name) == 0)
            return true;
    }
    return false;
}

const struct awaited *awaited_of(const struct rows *rows, uint32_t row, bool woken)
{
    if (row_is_holder(&rows->row[row]))
        return &unknown;
    if (!rows->row[row].foreign)
        return &no_call;
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++)
        if (has_function(rows, row, entries[i].name))
            return entries[i].awaited;
    return woken ? &signal : &unknown;
}

bool threads_were_busy(const struct rows *rows, uint32_t row)
{
    const struct profile_sums *sums = rows->row[row].exclusive;
    return profile_sums_own(sums) >= (1 + MOSTLY) * sums->inverse_busy;
}

void describe_blocked(char to[BLOCKED_BYTES], const struct rows *rows, uint32_t row, const struct awaited *awaited)
{
    char call[NAME_BYTES];
    const char *what = awaited->what;
    if (awaited == &no_call)
        snprintf(call, sizeof call, "page faults or system calls of its own");
    else
        name_call(call, rows, row);
    snprintf(to, BLOCKED_BYTES, "blocked in %s%s%s%s", call, *what ? " (waiting for " : "", what, *what ? ")" : "");
}
