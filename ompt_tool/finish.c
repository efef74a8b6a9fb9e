/* The end: other threads may still run, in the program, in a callback or in the handler. session.stopping
 * turns them away; those already inside are waited for, but not for ever: the program comes first. */
#include "ompt_tool/finish.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/atomics.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/os.h"
#include "blame/locks.h"
#include "cct/arena.h"
#include "cct/profile_read.h"
#include "ompt_tool/context/capture.h"
#include "ompt_tool/context/levels.h"
#include "ompt_tool/context/runtime.h"
#include "ompt_tool/counters/counters.h"
#include "ompt_tool/probes/probes.h"
#include "ompt_tool/sample.h"
#include "ompt_tool/sampler.h"
#include "ompt_tool/session/session.h"
#include "ompt_tool/session/thread.h"
#include "report/files/output.h"
#include "report/symbols/symbols.h"
#include "report/views/summary.h"

#define WAIT_NS     200000000ull /* for threads inside the handler or a callback */
#define REPORT_BYTES ((size_t)64 << 20) /* that and twice the modules' files are enough for names and reports */
#define STACK_BYTES (8u << 20)   /* libdw wants much, whoever ends the program may have little */

static void pause_shortly(void)
{
    struct timespec pause = {0, 100000};
    nanosleep(&pause, NULL);
}

/* A thread that does not come out in time keeps its tree to itself: nobody else touches it. */
static bool is_quiet(const struct thread *thread, uint64_t deadline_ns)
{
    while (load_seq_cst(&thread->in_handler) || load_seq_cst(&thread->in_tool)) {
        if (clock_now_ns() > deadline_ns)
            return false;
        pause_shortly();
    }
    return true;
}

static void settle_thread(struct thread *thread, uint64_t now_ns)
{
    if (!thread->active)
        return;
    if (thread->idle.pending)
        account_idle(thread->ledger, &thread->idle);
    thread->idle.pending = false;
    if (thread->carries)
        sample_book_carried(thread, NULL);
    counters_settle(thread);
    thread_note_run_times(thread);
    if (!thread->ledger->end_ns)
        thread->ledger->end_ns = now_ns;
}

/* `exit` inside a region: the regions that this thread began are still open, their contexts on its stack. */
static void resolve_open_regions(struct thread *self)
{
    struct task_level level;
    for (const struct level *place = self->level; levels_describe(self, place, &level); place--)
        if (level.primary && level.region && level.region->home == &self->regions &&
            region_needs_context(level.region))
            capture_region_context(self, level.region);
}

static void resolve_all(uint64_t now_ns)
{
    uint64_t deadline_ns = now_ns + WAIT_NS;
    if (thread_self)
        resolve_open_regions(thread_self);
    for (struct thread *thread = thread_all(); thread; thread = thread->next_all) {
        if (!is_quiet(thread, deadline_ns))
            continue;
        probes_finish(thread);
        settle_thread(thread, now_ns);
        placeholders_resolve(&thread->placeholders, &thread->tree);
    }
}

/* Blame on locks that nobody released goes to a row of its own; so does what came after the last release. */
static void book_unreleased(void)
{
    struct thread *thread = thread_all();
    struct lock_blame blame;
    uint64_t key;
    uint32_t holder;
    for (uint32_t cursor = 0; thread && locks_take_rest(&cursor, &key, &holder, &blame);) {
        uint64_t name = state_holds(holder, key) ? PROFILE_PSEUDO_UNRELEASED : PROFILE_PSEUDO_HANDOFF;
        uint32_t node_idx = tree_child(&thread->tree, thread->tree.root, PROFILE_NODE_PSEUDO, name);
        if (node_idx)
            node_idx = tree_child(&thread->tree, node_idx, PROFILE_NODE_LOCK, key);
        struct profile_metric *metric = node_idx ? tree_metric(&thread->tree, node_idx) : NULL;
        if (metric)
            account_blame(metric, &blame);
    }
}

static void finish_header(uint64_t now_ns)
{
    struct profile_header *header = arena_header();
    session_pause(false);
    header->end_ns = now_ns;
    header->threads_max = thread_most();
    header->threads_untracked = thread_untracked();
    header->untracked_ns = thread_untracked_ns(now_ns);
    for (struct thread *thread = thread_all(); thread; thread = thread->next_all)
        header->regions += thread->regions.begun;
}

/* From its temporary place to the output directory. */
static void move_file(void)
{
    char target[sizeof(session.directory) + 256];
    const char *name = strrchr(session.file, '/');
    if (strncmp(session.file, session.directory, strlen(session.directory)) == 0 || !name)
        return;
    snprintf(target, sizeof(target), "%s%s", session.directory, name);
    if (os_copy_file(session.file, target)) {
        unlink(session.file);
        strcpy(session.file, target);
    } else {
        log_line(target, ": cannot write: ", strerror(errno), "; the profile stays in ", session.file, NULL);
    }
}

/* libdw ends the process that it gets no memory in, by exit, an assertion or a fault: the program's process. So it must
 * be certain of it before. */
static bool have_memory(const struct profile *profile)
{
    size_t bytes = REPORT_BYTES;
    struct stat file;
    for (size_t i = 0; i < profile->module_count; i++)
        if (stat(profile->modules[i].path, &file) == 0)
            bytes += 2 * (size_t)file.st_size;
    void *memory = os_map(bytes);
    if (memory)
        os_unmap(memory, bytes);
    return memory != NULL;
}

static void write_reports(void)
{
    char error[512];
    if (!session.options.csv && !session.options.summary)
        return;
    struct profile *profile = profile_read(session.file, error, sizeof(error));
    if (!profile) {
        log_line(error, NULL);
        return;
    }
    struct symbols *symbols =
        have_memory(profile) ? symbols_open(profile->modules, profile->module_count) : NULL;
    if (!symbols) {
        log_line("no memory to write reports inside the program (ulimit -v?): blame report ", session.directory,
                 " makes them", NULL);
    } else {
        struct report_tables tables = report_tables_make(profile, symbols);
        if (session.options.csv &&
            report_write_files(profile, &tables, session.directory, error, sizeof(error)) != 0)
            log_line(error, NULL);
        if (session.options.summary)
            report_print_summary(stderr, profile, &tables, session.directory);
        int wrong = symbols_keep(symbols, &profile->header, profile->path);
        if (wrong)
            log_line(profile->path, ": its names cannot be kept: ", strerror(wrong),
                     "; keep the binaries to read it", NULL);
        report_tables_free(&tables);
        symbols_close(symbols);
    }
    profile_free(profile);
}

static void write_all(void)
{
    uint64_t now_ns = clock_now_ns();
    resolve_all(now_ns);
    book_unreleased();
    loadmap_refresh();
    session_record_modules();
    finish_header(now_ns);
    arena_finish();
    if (!session_is_wanted()) {
        session_discard();
        return;
    }
    move_file();
    write_reports();
}

void finish(void)
{
    static pid_t finished_by; /* a forked child finishes for itself */
    uint32_t expected = 0;
    if (!arena_is_open() || finished_by == getpid() || !compare_exchange(&session.stopping, &expected, 1))
        return;
    finished_by = getpid();
    struct os_write_guard guard;
    os_guard_writes(&guard);
    for (struct thread *thread = thread_all(); thread; thread = thread->next_all)
        sampler_stop(thread);
    if (!os_call_on_stack(write_all, STACK_BYTES))
        log_line("no memory to finish the profile: what was measured is in ", session.file, NULL);
    os_unguard_writes(&guard);
}
