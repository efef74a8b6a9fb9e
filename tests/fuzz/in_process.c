#include "tests/fuzz/in_process.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "command/cli/cli.h"
#include "command/cli/open_profile.h"
#include "command/text/unfinished.h"
#include "tests/fuzz/changes.h"
#include "tests/fuzz/command_lines.h"

#define CPU_S 10
#define INPUT "in/app-1.blame"

__attribute__((visibility("default"))) const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "detect_leaks=0:quarantine_size_mb=8:allocator_release_to_os_interval_ms=-1:max_allocation_size_"
           "mb=1024:allocator_may_return_null=0";
}

static int input = -1, errors = -1;
static size_t input_size;
static jmp_buf ended;
static bool running;
static timer_t limit;
static struct {
    unsigned long runs, refused;
} counts[COMMAND_LINES];

/* A command that ends its process. */
void __wrap_exit(int status);
void __real_exit(int status) __attribute__((noreturn));
void __wrap_exit(int status)
{
    if (!running)
        __real_exit(status);
    longjmp(ended, 1);
}

static void die(const char *what)
{
    dprintf(errors >= 0 ? errors : STDERR_FILENO, "%s: %s\n", what, strerror(errno));
    _exit(2);
}

static void on_limit(int number)
{
    static const char text[] = "takes more than 10 s of a processor\n";
    (void)number;
    if (write(errors, text, sizeof text - 1) < 0)
        _exit(2);
    abort();
}

static void set_limit(time_t seconds)
{
    timer_settime(limit, 0, &(struct itimerspec){.it_value = {.tv_sec = seconds}}, NULL);
}

void in_process_put(const char *name, const void *bytes, size_t size)
{
    int file = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (file < 0 || write(file, bytes, size) != (ssize_t)size)
        die(name);
    close(file);
}

static void put_good(const unsigned char *good, size_t size)
{
    unsigned char *copy = malloc(size);
    memcpy(copy, good, size);
    struct profile_header *header = (struct profile_header *)copy;
    header->tool_start_ns++; /* another run */
    in_process_put("base/app-1.blame", copy, size);
    header->threads_max += 2; /* another number, as runs of blame scaling have */
    in_process_put("more/app-1.blame", copy, size);
    header->in_job = 1;
    header->ranks = 2;
    in_process_put("job/rank-000000.blame", copy, size);
    in_process_put("job/.job", IN_PROCESS_JOB, strlen(IN_PROCESS_JOB));
    free(copy);
}

void in_process_start(const unsigned char *good, size_t size)
{
    static char folder[] = "/dev/shm/blame-fuzz-XXXXXX", elsewhere[] = "/tmp/blame-fuzz-XXXXXX";
    static const char *const folders[] = {"in", "base", "more", "job"};
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    errors = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
    char *scratch = unfinished_temporary(folder) ? folder : elsewhere;
    if ((scratch == elsewhere && !unfinished_temporary(elsewhere)) || chdir(scratch) != 0 || null < 0)
        die(scratch);
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        if (mkdir(folders[i], 0777) != 0)
            die(folders[i]);
    dup2(null, STDOUT_FILENO);
    dup2(null, STDIN_FILENO);
    stderr = fdopen(null, "w");
    put_good(good, size);
    input = open(INPUT, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (input < 0 || link(INPUT, "job/rank-000001.blame") != 0)
        die(INPUT);
    signal(SIGXCPU, on_limit);
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGXCPU};
    if (timer_create(CLOCK_PROCESS_CPUTIME_ID, &event, &limit) != 0)
        die("timer_create");
}

static void put_input(const void *bytes, size_t size)
{
    if ((size != input_size && ftruncate(input, (off_t)size) != 0) || pwrite(input, bytes, size, 0) != (ssize_t)size)
        die(INPUT);
    input_size = size;
}

static void remove_made(const struct command_line *line)
{
    static const char *const made[] = {"made",
                                       "made.blame",
                                       "made.symbols",
                                       "in/app-1.symbols",
                                       "base/app-1.symbols",
                                       "more/app-1.symbols",
                                       "job/job.blame",
                                       "job/job.symbols"};
    static const char *const finished[] = {"profile.csv", "threads.csv", "locks.csv",   "waits.csv", "phases.csv",
                                           "ranks.csv",   "spread.csv",  "balance.csv", "run.json"};
    char path[64];
    for (size_t i = 0; i < sizeof made / sizeof *made; i++)
        if (unlink(made[i]) != 0 && errno == EISDIR)
            unfinished_remove(made[i]);
    for (size_t i = 0; line->run == cli_finish && i < sizeof finished / sizeof *finished; i++) {
        snprintf(path, sizeof path, "in/%s", finished[i]);
        unlink(path);
    }
}

void in_process_run(size_t command, const void *bytes, size_t size)
{
    const struct command_line *line = &command_lines[command % COMMAND_LINES];
    volatile int status = CLI_BAD_INPUT; /* longjmp */
    put_input(bytes, size);
    set_limit(CPU_S);
    running = true;
    if (setjmp(ended) == 0)
        status = command_line_run(line);
    running = false;
    set_limit(0);
    counts[command % COMMAND_LINES].runs++;
    counts[command % COMMAND_LINES].refused += status == CLI_BAD_INPUT;
    if (status > CLI_WORSE || status < 0)
        abort(); /* a status of its own */
    fflush(stdout);
    remove_made(line);
    *(int *)environment_option.to = -1;
}

static int run_line(const char *text)
{
    for (size_t i = 0; i < COMMAND_LINES; i++)
        if (strcmp(command_lines[i].text, text) == 0)
            return command_line_run(&command_lines[i]);
    die(text);
    return -1;
}

unsigned char *in_process_merged(size_t *size)
{
    struct stat status;
    static const char text[] = "merge job --output made.blame -j 1";
    if (link("base/app-1.blame", "job/rank-000002.blame") != 0 || unlink("job/rank-000001.blame") != 0)
        die("job");
    int made = run_line(text) == CLI_DONE ? open("made.blame", O_RDONLY | O_CLOEXEC) : -1;
    if (made < 0 || fstat(made, &status) != 0)
        die(text);
    unsigned char *bytes = malloc(*size = (size_t)status.st_size);
    if (read(made, bytes, *size) != (ssize_t)*size || unlink("job/rank-000002.blame") != 0 ||
        link(INPUT, "job/rank-000001.blame") != 0)
        die(text);
    close(made);
    unlink("made.blame");
    return bytes;
}

void in_process_print_counts(void)
{
    unsigned long runs = 0, refused = 0;
    for (size_t i = 0; i < COMMAND_LINES; i++) {
        if (LLVMFuzzerMutate) /* by hand */
            dprintf(errors, "%8lu %8lu  %s\n", counts[i].runs, counts[i].refused, command_lines[i].text);
        runs += counts[i].runs;
        refused += counts[i].refused;
    }
    dprintf(errors, "%8lu %8lu  runs, refused files\n", runs, refused);
}
