/* Ends the measurement. Other threads may still be running, in the program, in a callback or in the handler.
 * session.stopping keeps them from entering the tool. finish_measuring() waits for threads that are already
 * inside, but only for a limited time, because the program comes first. */
#include "ompt_tool/life/finish.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/atomics.h"
#include "base/clock.h"
#include "base/float_state.h"
#include "base/image_path.h"
#include "base/invariant.h"
#include "base/launcher.h"
#include "base/log.h"
#include "base/module_flags.h"
#include "base/os.h"
#include "base/os_file.h"
#include "blame/attribute.h"
#include "cct/arena.h"
#include "cct/tree_valid.h"
#include "ompt_tool/context/capture.h"
#include "ompt_tool/context/levels.h"
#include "ompt_tool/context/runtime.h"
#include "ompt_tool/counters/counters.h"
#include "ompt_tool/life/finisher.h"
#include "ompt_tool/life/launch.h"
#include "ompt_tool/life/machine.h"
#include "ompt_tool/life/output.h"
#include "ompt_tool/probes/probes.h"
#include "ompt_tool/ranks/ranks_join.h"
#include "ompt_tool/sampling/settle.h"
#include "ompt_tool/sampling/sampler.h"
#include "ompt_tool/session/core.h"
#include "ompt_tool/session/job.h"
#include "ompt_tool/session/session.h"
#include "ompt_tool/session/thread.h"
#include "ompt_tool/sampling/tracing.h"
#include "unwind/modules.h"
#include "unwind/r.h"

#define MOST_BYTES (64u << 20) /* maximum number of bytes of all saved libraries together */
/* number of bytes that are compared at the start of a file; they contain its headers and, in most files, its
 * build id */
#define FIRST_BYTES 4096u

/* Returns true if the module's path now leads to another file than the mapped one, or to no file. */
static bool finish_file_is_replaced(const struct loadmap_module *module)
{
    char now[FIRST_BYTES], then[FIRST_BYTES];
    if (module->file_state && os_file_of_path(module->path).state == module->file_state)
        return false;
    size_t bytes = module->image_bytes < FIRST_BYTES ? module->image_bytes : FIRST_BYTES;
    int fd = strncmp(module->path, "/proc/", strlen("/proc/")) == 0 ? -1 : os_open_read(module->path);
    if (fd < 0)
        return true;
    bool same = os_file_of(fd).bytes == module->image_bytes && os_read(fd, now, bytes) == (ssize_t)bytes &&
                os_copy_memory(then, (uintptr_t)module->image, bytes) && memcmp(now, then, bytes) == 0;
    os_close(fd);
    return !same;
}

/* Writes a module's mapping to a new file. If the mapped file has been shortened meanwhile, the system call
 * fails, but the process survives. */
static bool finish_write_image(const char *path, const struct loadmap_module *module)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        return false;
    size_t done = 0;
    for (ssize_t put = 1; put > 0 && done < module->image_bytes; done += put > 0 ? (size_t)put : 0)
        put = os_write(fd, module->image + done, module->image_bytes - done);
    os_close(fd);
    if (done < module->image_bytes)
        unlink(path);
    return done == module->image_bytes;
}

/* Saves libraries whose files no longer exist, in the directory of the measurement file. The finisher reads
 * these copies and removes them. */
static void finish_keep_images(const char *measurement)
{
    char path[PATH_MAX];
    size_t room = MOST_BYTES;
    for (uint32_t id = 1; id <= loadmap_module_count(); id++) {
        const struct loadmap_module *module = loadmap_module(id);
        bool wanted = module->image && module->image_bytes <= room && !(module->flags & PROFILE_MODULE_TOOL);
        if (!wanted || !finish_file_is_replaced(module) || !image_path(path, sizeof(path), measurement, 0))
            continue;
        mkdir(path, 0700);
        if (image_path(path, sizeof(path), measurement, id) && finish_write_image(path, module))
            room -= module->image_bytes;
    }
}

/* maximum time in ns to wait for threads inside the handler or a callback */
#define WAIT_NS 200000000ull
/* minimum number of pauses of 0.1 ms for each of these threads, even after that time */
#define LEAST_PAUSES 10

static void finish_pause(void)
{
    struct timespec pause = {0, 100000};
    nanosleep(&pause, NULL);
}

/* Waits until the thread is outside the handler and its callbacks. Returns false if that takes too long; the
 * thread's tree must then not be touched. Each thread gets a few pauses of its own, because the deadline may
 * pass for other reasons: other threads are settled first, or the machine is busy or suspended. */
static bool finish_thread_is_quiet(const struct thread *thread, uint64_t deadline_ns)
{
    for (int pauses = 0; load_seq_cst(&thread->inside.handler) || load_seq_cst(&thread->inside.tool); pauses++) {
        if (pauses >= LEAST_PAUSES && clock_now_ns() > deadline_ns)
            return false;
        finish_pause();
    }
    return true;
}

static void finish_settle_thread(struct thread *thread, uint64_t now_ns)
{
    if (!thread->record.active)
        return;
    sampler_settle_sleep(thread, now_ns);
    sampler_count_undelivered(thread, now_ns);
    settle_rest(thread);
    counters_settle(thread);
    thread_note_run_times(thread);
    core_end(&thread->core);
    if (!thread->ledger->end_ns)
        thread->ledger->end_ns = now_ns;
}

/* Captures the contexts of this thread's open regions, whose frames are on its stack. This matters if the
 * program called exit() inside a region. */
static void finish_resolve_open_regions(struct thread *self)
{
    struct task_level level;
    for (const struct level *place = self->level; levels_describe(self, place, &level); place--)
        if (level.primary && level.region && level.region->home == &self->regions && region_needs_context(level.region))
            capture_region_context(self, level.region);
}

static void finish_resolve_all(uint64_t now_ns)
{
    uint64_t deadline_ns = now_ns + WAIT_NS;
    /* If this thread is inside the tool, a signal handler of the program has called exit() in the middle of a
     * change. */
    if (thread_self && !load_relaxed(&thread_self->inside.tool))
        finish_resolve_open_regions(thread_self);
    for (struct thread *thread = thread_all(); thread; thread = thread->record.next_all) {
        if (!finish_thread_is_quiet(thread, deadline_ns))
            continue;
        probes_finish(thread);
        finish_settle_thread(thread, now_ns);
        placeholders_resolve(&thread->placeholders, &thread->tree, UINT64_MAX);
        tracing_flush(thread);
        INVARIANT(tree_is_valid(&thread->tree));
    }
}

static void finish_note_r(void)
{
    const char *why_not;
    if (r_found(&why_not))
        arena_text("r", why_not ? why_not : "");
}

static void finish_fill_header(uint64_t now_ns)
{
    struct profile_header *header = arena_header();
    session_pause(false);
    header->end_ns = now_ns;
    header->threads_max = thread_most();
    if (load_relaxed(&session.teams) && !session.plain)
        thread_leave_out_first();
    /* eq. 1 with T threads would blame contexts in which more were busy for less than nothing */
    if (thread_booked_more())
        header->environment = ENVIRONMENT_SHARED;
    header->threads_untracked = thread_untracked();
    header->untracked_ns = thread_untracked_ns(now_ns);
    for (struct thread *thread = thread_all(); thread; thread = thread->record.next_all)
        header->regions += thread->regions.begun;
    struct kernel_use now = kernel_use_of_process();
    header->kernel_ns = now.ns - session.kernel_use.ns;
    header->page_faults = now.faults - session.kernel_use.faults;
}

/* Moves the file from its temporary directory to its final place. */
static void finish_move_file(void)
{
    char target[sizeof(session.target)];
    const char *name = strrchr(session.file, '/');
    if (strncmp(session.file, session.directory, strlen(session.directory)) == 0 || !name)
        return;
    if (*session.target)
        strcpy(target, session.target);
    else
        snprintf(target, sizeof(target), "%s%s", session.directory, name);
    if (*session.target ? os_copy_over(session.file, target) : os_copy_file(session.file, target)) {
        unlink(session.file);
        strcpy(session.file, target);
    } else {
        log_line(target, ": cannot write: ", strerror(errno), "; the profile stays in ", session.file, NULL);
    }
}

static void finish_make_reports(void)
{
    char why[512], word[LOG_WORD_BYTES];
    const struct job *job = session.job;
    if (!session.options.csv && !session.options.summary && job) {
        /* printed by one process for each directory */
        if (job->speaks && (job->ranked || job->rank == 0) && session.process == 0) {
            job_directory_tell(session.directory);
            log_line("job ", job->name, ": measured; blame report ", log_word(session.directory, word), " shows it",
                     NULL);
        }
    } else if (!session.options.csv && !session.options.summary) {
        if (launcher_speaks()) /* printed by one process for each job */
            log_line("measured; ", "blame finish ", log_word(session.directory, word), " writes the reports", NULL);
    } else if (!finisher_run(session.directory, session.file, why, sizeof(why)) && !launch_notes()) {
        log_line("no reports were written: ", why, "; blame finish ", log_word(session.directory, word), " writes them",
                 NULL);
    }
}

static void finish_settle(void)
{
    uint64_t now_ns = clock_now_ns();
    finish_resolve_all(now_ns);
    if (thread_all())
        attribute_rest(&thread_all()->tree, now_ns);
    loadmap_refresh_at_end();
    session_record_modules();
    finish_fill_header(now_ns);
    machine_note("machine_end");
    machine_note_tracer();
    finish_note_r();
    arena_finish();
    if (!session_is_wanted()) {
        session_discard();
        return;
    }
    finish_move_file();
    finish_keep_images(session.file);
    finish_make_reports();
}

static __attribute__((noinline)) void finish_once(void)
{
    /* pid of the process that has finished its measurement; a forked child inherits the number, but finishes
     * its own measurement */
    static pid_t finished_by;
    uint32_t expected = 0;
    if (!arena_is_open() || arena_header()->pid != os_pid() || finished_by == getpid() ||
        !compare_exchange(&session.stopping, &expected, 1))
        return; /* a process that was made without fork() must not finish its parent's measurement */
    /* first, because other ranks' waiting would be blamed on this rank while it counts as busy, although it
     * is no longer sampled */
    ranks_leave();
    finished_by = getpid();
    /* this process is a child of vfork(), which runs in the program's memory */
    if ((pid_t)arena_header()->pid != finished_by)
        log_line("a child of vfork() ended by exit() instead of _exit(), which ended the OpenMP runtime; the rest of "
                 "the run is not measured",
                 NULL);
    struct os_write_guard guard;
    os_guard_writes(&guard);
    for (struct thread *thread = thread_all(); thread; thread = thread->record.next_all)
        sampler_stop(thread);
    finish_settle();
    os_unguard_writes(&guard);
}

void finish_measuring(void)
{
    struct float_state floats = float_begin();
    finish_once();
    float_end(floats);
}
