/* Makes the output directory and the measurement file, and writes the file's header and its first texts. */
#include "ompt_tool/life/start.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/launched.h"
#include "base/launcher.h"
#include "base/log.h"
#include "base/os.h"
#include "cct/arena.h"
#include "cct/timeline/moment.h"
#include "ompt_tool/counters/counters_plan.h"
#include "ompt_tool/life/launch.h"
#include "ompt_tool/life/machine.h"
#include "ompt_tool/life/output.h"
#include "ompt_tool/sampling/sampler.h"
#include "ompt_tool/session/job.h"
#include "ompt_tool/session/session.h"
#include "ompt_tool/session/variables.h"
#include "ompt_tool/sampling/tracing.h"
#include "unwind/python.h"
#include "unwind/r.h"

static bool start_needs_runtime(const struct dl_phdr_info *program)
{
    const char *strings = NULL;
    const ElfW(Dyn) *dynamic = NULL;
    for (unsigned i = 0; i < program->dlpi_phnum; i++)
        if (program->dlpi_phdr[i].p_type == PT_DYNAMIC)
            dynamic = (const ElfW(Dyn) *)(program->dlpi_addr + program->dlpi_phdr[i].p_vaddr);
    for (const ElfW(Dyn) *entry = dynamic; entry && entry->d_tag != DT_NULL; entry++)
        /* only if the loader has made it an absolute address */
        if (entry->d_tag == DT_STRTAB && entry->d_un.d_ptr >= program->dlpi_addr)
            strings = (const char *)entry->d_un.d_ptr;
    for (const ElfW(Dyn) *entry = dynamic; strings && entry->d_tag != DT_NULL; entry++) {
        const char *name = strings + entry->d_un.d_val;
        if (entry->d_tag == DT_NEEDED &&
            (strncmp(name, "libgomp", 7) == 0 || strncmp(name, "libomp", 6) == 0 || strncmp(name, "libiomp5", 8) == 0))
            return true;
    }
    return false;
}

static bool start_has_text(const struct dl_phdr_info *program, const char *text, size_t bytes)
{
    for (unsigned i = 0; i < program->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &program->dlpi_phdr[i];
        /* The first segment contains the file's headers, and may contain texts as well as code. */
        bool only_code = segment->p_flags & PF_X && segment->p_offset;
        if (segment->p_type == PT_LOAD && segment->p_flags & PF_R && !(segment->p_flags & PF_W) && !only_code &&
            memmem((const void *)(program->dlpi_addr + segment->p_vaddr), segment->p_filesz, text, bytes))
            return true;
    }
    return false;
}

/* Searches the program, which is the first object, for two texts: the name of a variable that libgomp reads
 * when it starts, and the start of libgomp's error messages. A stripped program also has them. Returns 1
 * (found) or -1, either of which ends the iteration. */
static int start_look_at_program(struct dl_phdr_info *program, size_t bytes, void *unused)
{
    static const char variable[] = "GOMP_SPINCOUNT", error[] = "\nlibgomp: ";
    (void)bytes, (void)unused;
    return !start_needs_runtime(program) && start_has_text(program, variable, sizeof(variable)) &&
                   start_has_text(program, error, sizeof(error))
               ? 1
               : -1;
}

/* Returns true if a copy of libgomp is linked into the program itself; such a copy has no tool interface.
 * Searches the program's constants (1 ms for 5 MB), unless the program needs a shared runtime. */
static bool start_has_static_runtime(void)
{
    /* result of the search, which a forked child inherits; 1: found, -1: not found, 0: not searched yet */
    static int found;
    if (!found)
        found = dl_iterate_phdr(start_look_at_program, NULL);
    return found > 0;
}

/* Python's version and, after a tab, the reason for which its frames are not read; empty: no Python */
static char python[160];

/* Returns the command line, or only the program's name if the user wants that because arguments may be
 * secrets. A program may overwrite its arguments with a title, so a forked child uses what its parent has
 * read. */
static const char *start_read_command(void)
{
    static char text[8192];
    if (session.options.no_command)
        return session.program;
    if (*text)
        return text;
    size_t got = os_read_text("/proc/self/cmdline", text, sizeof(text));
    for (size_t i = 0; i + 1 < got; i++)
        if (!text[i])
            text[i] = ' ';
    if (!got)
        snprintf(text, sizeof(text), "%s", program_invocation_name);
    return text;
}

static void start_write_job(void)
{
    const struct job *job = session.job;
    struct profile_header *header = arena_header();
    char cores[1024];
    if (launcher_rank())
        arena_text("rank", launcher_rank());
    if (launcher_rank() && launcher_ranks())
        arena_text("ranks", launcher_ranks());
    if (os_core_list(cores, sizeof(cores)))
        arena_text("binding", cores);
    if (!job)
        return;
    header->in_job = 1;
    header->rank = job->rank;
    header->ranks = job->ranks;
    header->process = session.process;
    arena_text("job", job->name);
    arena_text("job_identity", job->identity);
}

void start_find_interpreters(void)
{
    char version[64];
    const char *why_not;
    r_init();
    if (python_init(version, sizeof(version), &why_not))
        snprintf(python, sizeof(python), "%s%s%s", version, why_not ? "\t" : "", why_not ? why_not : "");
}

/* Writes which mount namespace this is, because a reader in another namespace may not find the files that the
 * profile names. */
static void start_write_mounts(void)
{
    char text[64] = "";
    if (syscall(SYS_readlinkat, AT_FDCWD, "/proc/self/ns/mnt", text, sizeof(text) - 1) > 0)
        arena_text("mounts", text);
}

static void start_write_texts(void)
{
    char text[8192], host[HOST_NAME_MAX + 1] = "";
    gethostname(host, sizeof(host) - 1);
    arena_text("version", BLAME_VERSION);
    arena_text("program", session.program);
    arena_text("command", start_read_command());
    arena_text("host", host);
    if (*session.runtime)
        arena_text("runtime", session.runtime);
    if (session.runtime_path)
        arena_text("runtime_path", session.runtime_path);
    if (session.runtime_reached)
        arena_text("runtime_reached", session.runtime_reached);
    arena_text("directory", session.directory);
    arena_text("file", session.file);
    if (blame_launched.image_start_ns)
        arena_text("launcher", "blame run");
    start_write_mounts();
    if (*python)
        arena_text("python", python);
    if (start_has_static_runtime())
        arena_text("static_runtime", "libgomp");
    start_write_job();
    variables_print(text, sizeof(text));
    arena_text("options", text);
    if (session.options.meta)
        arena_text("meta", session.options.meta);
    machine_describe();
    if (counters_plan_text())
        arena_text("counters", counters_plan_text());
    if (counters_plan_sample_text())
        arena_text("sample", counters_plan_sample_text());
}

/* Divides the time before the tool's start into work, time without a core, and sleep. The CPU time that the
 * process has used is work. The time without a core is what the kernel has counted for this thread. The rest
 * is sleep, unless it is shorter than the uncertainty of the process's start. If the kernel counts nothing,
 * the whole time is work. */
static void start_note_time_before(struct profile_header *header)
{
    uint64_t on_core_ns, no_core_ns;
    os_run_times(os_tid(), &on_core_ns, &no_core_ns);
    uint64_t used_ns = clock_process_cpu_ns(), now_ns = clock_now_ns(), left_ns = now_ns - session.start_ns;
    header->tool_start_ns = now_ns;
    session.kernel_use = kernel_use_of_process();
    /* If samples are taken at events, metrics are numbers of events, to which no time can be added. */
    header->before_start_ns = counters_plan_sample_text() ? 0 : left_ns;
    if (header->before_start_ns <= used_ns || !on_core_ns || session.options.clock != CLOCK_WALL)
        return;
    left_ns -= used_ns;
    header->before_no_core_ns = no_core_ns < left_ns ? no_core_ns : left_ns;
    left_ns -= header->before_no_core_ns;
    header->before_blocked_ns = left_ns > OS_PROCESS_START_UNSURE_NS ? left_ns : 0;
}

static void start_write_header(void)
{
    struct profile_header *header = arena_header();
    const struct run_options *options = &session.options;
    start_note_time_before(header);
    header->start_ns = session.start_ns;
    header->start_realtime_ns = clock_realtime_ns() - (int64_t)(header->tool_start_ns - session.start_ns);
    header->period_ns = session.period_ns;
    header->seed = (uint32_t)options->seed;
    header->rate = (uint32_t)options->rate;
    header->clock = (uint32_t)options->clock;
    /* without a team, no thread is idle because it has no part in it */
    header->environment = session.plain ? ENVIRONMENT_SHARED : (uint32_t)options->environment;
    header->context = (uint32_t)options->context;
    header->tasks = (uint32_t)options->tasks;
    header->phase_instances = (uint32_t)options->phase_instances;
    session.wants_work = launch_wants_region() && session.plain;
    header->wants_region = launch_wants_region() && !session.plain;
    header->depth = (uint32_t)options->depth;
    header->csv = (uint32_t)options->csv;
    header->summary = (uint32_t)options->summary;
    header->cores = os_cores();
    session.counts_cores = state_sleepers_count =
        session.plain && options->clock == CLOCK_WALL && !counters_plan_sample_text();
    header->without_team = session.counts_cores;
    snprintf(header->program, sizeof(header->program), "%.*s", (int)sizeof(header->program) - 1, session.program);
    header->sample_signal = (uint32_t)sampler_signal();
}

/* Notes the profile's paths for `blame run`, which makes the reports of a process that is killed. */
static void start_leave_note(bool measured)
{
    char line[sizeof(session.directory) + 2 * sizeof(session.file) + LOG_FILE_BYTES + 4], begun[LOG_FILE_BYTES];
    const char *notes = launch_notes();
    int fd = notes ? open(notes, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666) : -1;
    if (fd < 0)
        return;
    /* Each text ends with a zero byte. Empty texts mean that there is no profile, and that the tool has
     * printed the reason. */
    int bytes = measured ? snprintf(line, sizeof(line), "%s%c%s%c%s%c%s", session.directory, 0, session.file, 0,
                                    session.target, 0, log_file(begun))
                         : snprintf(line, sizeof(line), "%c%c%c", 0, 0, 0);
    struct os_write_guard guard;
    os_guard_writes(&guard);
    os_write(fd, line, (size_t)bytes + 1);
    os_unguard_writes(&guard);
    close(fd);
}

/* Decides which reports are made. A rank makes none, because the command that merges the job makes them. If
 * no CSV files are made, the program does not wait for the summary. The user can request either. */
static void start_choose_reports(struct run_options *options)
{
    if ((launcher_starts_many() || options->job) && !secure_getenv("BLAME_CSV"))
        options->csv = 0;
    if (!options->csv && !secure_getenv("BLAME_SUMMARY"))
        options->summary = 0;
}

/* Chooses a random seed unless the user has set one, because the program's behaviour must not be able to
 * depend on the seed. A forked child gets a seed of its own. With its parent's seed, work that it does in
 * step with the parent's other children would be sampled at the same times as theirs. */
static void start_choose_seed(struct run_options *options)
{
    static bool by_chance;
    by_chance |= !options->seed;
    if (by_chance)
        options->seed = 1 + (int)(moment_hash(clock_now_ns() ^ ((uint64_t)getpid() << 32)) % INT_MAX);
}

void start_refused(void)
{
    start_leave_note(false);
}

bool start_measuring(uint64_t process_start_ns)
{
    uint64_t counted_ns = counters_plan_sample_period_ns();
    session_begin(process_start_ns);
    session.period_ns = counted_ns ? counted_ns : NS_PER_S / (uint64_t)session.options.rate;
    start_choose_reports(&session.options);
    start_choose_seed(&session.options);
    if (!output_open()) {
        start_leave_note(false); /* in a forked child, there is no other code that notes it */
        return false;
    }
    start_write_header();
    tracing_start();
    start_write_texts();
    machine_note("machine_begin");
    machine_note_tracer();
    start_leave_note(true);
    session_record_modules();
    return true;
}
