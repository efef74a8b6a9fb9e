/* commands COUNT SEED BASES FINDINGS: changes measurement files COUNT times and runs the commands of `blame` over each, as users type
 * them, in a process each that AddressSanitizer, UndefinedBehaviorSanitizer and limits watch. BASES has files NAME.blame, and a folder
 * `job` of two ranks' files. What crashes, takes more than 10 s of a processor or 1 GB is told of and kept in FINDINGS.
 *
 * commands --replay BASES FILE...: the same over files that were kept: a measurement, or the changes of the made one. */
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cct/profile_format.h"
#include "cli/cli.h"
#include "report/text/unfinished.h"
#include "tests/fuzz/command_lines.h"
#include "tests/fuzz/commands.h"
#include "tests/fuzz/profile_builder.h"

#define MOST_BASES 32
#define MOST_KINDS 64
#define CPU_S      10
#define WALL_S     300 /* of what sleeps for ever */
#define MOST_KB    (1l << 20)
#define TICK_NS    100000000
#define KEPT       3 /* files of one kind of finding */

__attribute__((visibility("default"))) const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "detect_leaks=0:abort_on_error=1:quarantine_size_mb=8:max_allocation_size_mb=1024:allocator_may_"
           "return_null=0";
}

__attribute__((visibility("default"))) const char *__ubsan_default_options(void);
const char *__ubsan_default_options(void)
{
    return "abort_on_error=1:print_stacktrace=1";
}

/* What came of command_lines[]. */
static struct command {
    unsigned long runs, refused, misused, found;
    double cpu_s, longest_s;
} commands[COMMAND_LINES];

static struct base bases[MOST_BASES];
static size_t base_count;
static char first_rank[4096]; /* its file */
static const char *findings;

static struct kind {
    char text[256];
    unsigned long count;
} kinds[MOST_KINDS];

static volatile sig_atomic_t stop_asked;

static void on_stop(int number)
{
    (void)number;
    stop_asked = 1;
}

static void die(const char *what)
{
    perror(what);
    exit(2);
}

static bool put(const char *path, const void *bytes, size_t size)
{
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    bool good = file >= 0 && write(file, bytes, size) == (ssize_t)size;
    if (file >= 0)
        close(file);
    return good;
}

static void *get(const char *path, size_t *size)
{
    struct stat status;
    int file = open(path, O_RDONLY);
    if (file < 0 || fstat(file, &status) != 0)
        die(path);
    char *bytes = malloc((size_t)status.st_size + 1);
    *size = (size_t)status.st_size;
    if (read(file, bytes, *size) != (ssize_t)*size)
        die(path);
    close(file);
    bytes[*size] = '\0';
    return bytes;
}

static struct base *add_base(const char *name, void *bytes, size_t size, bool rank)
{
    struct base *base = &bases[base_count++];
    *base = (struct base){.bytes = bytes, .size = size, .rank = rank};
    snprintf(base->name, sizeof base->name, "%.63s", name);
    base_forget_binaries(base);
    return base;
}

/* The made one first: what is changed in it is kept as a list. */
static void read_bases(const char *folder)
{
    char pattern[4096];
    glob_t found;
    size_t size;
    struct profile_builder builder;
    builder_example(&builder, 2, 60, 1);
    builder_trace(&builder, 1, 300, 1);
    add_base("made", builder.bytes, builder.size, false);
    snprintf(pattern, sizeof pattern, "%s/*.blame", folder);
    if (glob(pattern, 0, NULL, &found) == 0)
        for (size_t i = 0; i < found.gl_pathc && base_count < MOST_BASES - 1; i++) {
            void *bytes = get(found.gl_pathv[i], &size);
            add_base(strrchr(found.gl_pathv[i], '/') + 1, bytes, size, false);
        }
    snprintf(pattern, sizeof pattern, "%s/job/rank-000001.blame", folder);
    snprintf(first_rank, sizeof first_rank, "%.4000s/job/rank-000000.blame", folder);
    void *bytes = get(pattern, &size);
    add_base("rank", bytes, size, true);
}

static void make_folders(const char *folder)
{
    static char scratch[] = "/tmp/blame-commands-XXXXXX";
    char path[4096];
    size_t size, rank_size;
    snprintf(path, sizeof path, "%.4000s/job/.job", folder);
    void *mark = get(path, &size), *rank = get(first_rank, &rank_size);
    if (!unfinished_temporary(scratch) || chdir(scratch) != 0 || mkdir("base", 0777) || mkdir("more", 0777) ||
        mkdir("job", 0777))
        die(scratch);
    if (!put("job/.job", mark, size) || !put("job/rank-000000.blame", rank, rank_size))
        die("job");
    free(mark);
    free(rank);
}

static const struct command_line *line_of(const struct command *command)
{
    return &command_lines[command - commands];
}

static void run_child(const struct command *command)
{
    int null = open("/dev/null", O_RDWR),
        errors = open("errors", O_WRONLY | O_CREAT | O_TRUNC, 0666);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    dup2(null, STDIN_FILENO);
    dup2(null, STDOUT_FILENO);
    dup2(errors, STDERR_FILENO);
    setrlimit(RLIMIT_CPU, &(struct rlimit){CPU_S, CPU_S + 2});
    setrlimit(RLIMIT_FSIZE, &(struct rlimit){1ul << 28, 1ul << 28});
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    signal(SIGXFSZ, SIG_IGN);
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    exit(command_line_run(line_of(command)));
}

static long resident_kb(pid_t pid)
{
    char path[64];
    long all, resident = 0;
    snprintf(path, sizeof path, "/proc/%d/statm", (int)pid);
    FILE *file = fopen(path, "r");
    if (file && fscanf(file, "%ld %ld", &all, &resident) != 2)
        resident = 0;
    if (file)
        fclose(file);
    return resident * (sysconf(_SC_PAGESIZE) / 1024);
}

/* NULL, or what is wrong with how it ended. */
static const char *await(pid_t pid, int *status, struct rusage *used)
{
    sigset_t child;
    const char *wrong = NULL;
    time_t begin = time(NULL);
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    while (wait4(pid, status, WNOHANG, used) == 0) {
        sigtimedwait(&child, NULL, &(struct timespec){0, TICK_NS});
        if (!wrong && (resident_kb(pid) > MOST_KB || time(NULL) - begin > WALL_S)) {
            wrong = time(NULL) - begin > WALL_S ? "does not end" : "takes more than 1 GB";
            kill(pid, SIGKILL);
        }
    }
    if (wrong)
        return wrong;
    if (WIFSIGNALED(*status))
        return WTERMSIG(*status) == SIGXCPU || WTERMSIG(*status) == SIGKILL ? "takes more than 10 s"
                                                                            : strsignal(WTERMSIG(*status));
    if (WEXITSTATUS(*status) > CLI_WORSE)
        return "ends with a status of its own";
    return used->ru_maxrss > MOST_KB ? "takes more than 1 GB" : NULL;
}

/* What the sanitizer says, in a line. */
static void describe(const char *wrong, char *text, size_t bytes)
{
    size_t size;
    char *errors = get("errors", &size), *at = strstr(errors, "SUMMARY: ");
    if (!at)
        at = strstr(errors, "runtime error: ");
    snprintf(text, bytes, "%s", at ? at : wrong);
    text[strcspn(text, "\n")] = '\0';
    free(errors);
}

static void keep(const struct command *command, const struct base *base, const struct edits *edits,
                 const void *bytes, size_t size, uint64_t number)
{
    char path[4096];
    if (!findings)
        return;
    bool listed = base == &bases[0] && edits;
    snprintf(path, sizeof path, "%s/%llu-%zu%s", findings, (unsigned long long)number,
             (size_t)(command - commands), listed ? "" : ".blame");
    if (listed) {
        FILE *out = fopen(path, "w");
        if (out) {
            edits_write(edits, out);
            fclose(out);
        }
    } else {
        put(path, bytes, size);
    }
    printf("    kept: %s\n", path);
    snprintf(path, sizeof path, "%s/%llu-%zu.errors", findings, (unsigned long long)number,
             (size_t)(command - commands));
    char *errors = get("errors", &size);
    put(path, errors, size);
    free(errors);
}

static bool is_new(const char *text)
{
    for (size_t i = 0; i < MOST_KINDS; i++) {
        if (!*kinds[i].text)
            snprintf(kinds[i].text, sizeof kinds[i].text, "%.255s", text);
        if (strncmp(kinds[i].text, text, sizeof kinds[i].text - 1) == 0)
            return kinds[i].count++ < KEPT;
    }
    return false;
}

/* The exit status, or -1 for a finding. */
static int run(struct command *command, const struct base *base, const struct edits *edits, const void *bytes,
               size_t size, uint64_t number)
{
    int status = 0;
    char text[256];
    struct rusage used;
    static const char *const made[] = {"made", "made.blame", "made.symbols", "job/job.blame",
                                       "job/job.symbols"};
    for (size_t i = 0; i < sizeof made / sizeof *made; i++)
        unfinished_remove(made[i]);
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0)
        run_child(command);
    if (pid < 0)
        die("fork");
    const char *wrong = await(pid, &status, &used);
    double cpu_s = (double)used.ru_utime.tv_sec + (double)used.ru_stime.tv_sec +
                   1e-6 * (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
    command->runs++;
    command->cpu_s += cpu_s;
    command->longest_s = cpu_s > command->longest_s ? cpu_s : command->longest_s;
    command->refused += !wrong && WEXITSTATUS(status) == CLI_BAD_INPUT;
    command->misused += !wrong && WEXITSTATUS(status) == CLI_BAD_USAGE;
    if (!wrong)
        return WEXITSTATUS(status);
    command->found++;
    describe(wrong, text, sizeof text);
    if (is_new(text)) {
        printf("%llu of %s: blame %s: %s\n", (unsigned long long)number, base->name, line_of(command)->text, text);
        keep(command, base, edits, bytes, size, number);
    }
    return -1;
}

/* By turns one in four of them; of what cannot be read one in ten. */
static bool takes_turn(size_t command, uint64_t number, bool readable)
{
    return (command + number) % (readable ? 4 : 10) == 0;
}

static void run_all(const struct base *base, const struct edits *edits, const void *bytes, size_t size,
                    uint64_t number, bool all)
{
    bool readable = run(&commands[0], base, edits, bytes, size, number) != CLI_BAD_INPUT;
    for (size_t i = 1; i < COMMAND_LINES; i++)
        if (command_lines[i].of_job <= base->rank && (all || takes_turn(i, number, readable)))
            run(&commands[i], base, edits, bytes, size, number);
}

static void place(const struct base *base, const void *bytes, size_t size)
{
    struct profile_header *header = (struct profile_header *)base->bytes;
    unfinished_remove("in");
    header->tool_start_ns++; /* another run */
    bool good = put("base/app-1.blame", base->bytes, base->size);
    header->threads_max += 2; /* another number, as runs of blame scaling have */
    good = good && put("more/app-1.blame", base->bytes, base->size);
    header->threads_max -= 2;
    header->tool_start_ns--;
    if (!good || mkdir("in", 0777) != 0 || !put("in/app-1.blame", bytes, size) ||
        (base->rank && !put("job/rank-000001.blame", bytes, size)))
        die("cannot write");
}

/* A chunk of another file in the place of one; not in the made one, whose changes are kept as a list. */
static void put_other_chunk(const struct base *base, unsigned char *bytes, uint64_t number)
{
    const struct base *other = &bases[number / 8 % base_count];
    size_t chunks = (base->size - PROFILE_HEADER_BYTES) / PROFILE_CHUNK_BYTES,
           others = (other->size - PROFILE_HEADER_BYTES) / PROFILE_CHUNK_BYTES;
    if (base == &bases[0] || number % 8 != 0)
        return;
    memcpy(bytes + PROFILE_HEADER_BYTES + number / 64 % chunks * PROFILE_CHUNK_BYTES,
           other->bytes + PROFILE_HEADER_BYTES + number / 512 % others * PROFILE_CHUNK_BYTES,
           PROFILE_CHUNK_BYTES);
}

static void fuzz(uint64_t count, uint64_t seed)
{
    for (uint64_t i = 0; i < count && !stop_asked; i++) {
        uint64_t number = seed * 1000000 + i;
        const struct base *base = &bases[i % base_count];
        struct edits edits;
        edits_choose(&edits, base, number);
        unsigned char *bytes = malloc(base->size);
        memcpy(bytes, base->bytes, base->size);
        put_other_chunk(base, bytes, number);
        size_t size = edits_apply(&edits, bytes, base->size);
        place(base, bytes, size);
        run_all(base, &edits, bytes, size, number, false);
        free(bytes);
    }
}

/* A measurement, or changes of the made one. */
static void replay(const char *path)
{
    size_t size;
    struct edits edits;
    unsigned char *bytes = get(path, &size);
    const struct base *base = &bases[size > PROFILE_HEADER_BYTES ? base_count - 1 : 0];
    if (base == &bases[0]) {
        FILE *in = fopen(path, "r");
        if (!in || !edits_read(&edits, in))
            die(path);
        fclose(in);
        free(bytes);
        bytes = malloc(base->size);
        memcpy(bytes, base->bytes, base->size);
        size = edits_apply(&edits, bytes, base->size);
    }
    place(base, bytes, size);
    run_all(base, NULL, bytes, size, 0, true);
    free(bytes);
}

static int print_counts(void)
{
    unsigned long found = 0, runs = 0;
    printf("%8s %8s %8s %8s %8s\n", "runs", "refused", "findings", "mean ms", "most ms");
    for (size_t i = 0; i < COMMAND_LINES; i++) {
        const struct command *command = &commands[i];
        printf("%8lu %8lu %8lu %8.1f %8.0f  %s\n", command->runs, command->refused, command->found,
               1000 * command->cpu_s / (double)(command->runs ? command->runs : 1), 1000 * command->longest_s,
               line_of(command)->text);
        found += command->found;
        if (command->runs && command->misused == command->runs)
            printf("    that is no command\n");
        runs += command->runs;
    }
    printf("%8lu runs, %lu findings\n", runs, found);
    for (size_t i = 0; i < MOST_KINDS && *kinds[i].text; i++)
        printf("%8lu %s\n", kinds[i].count, kinds[i].text);
    return found > 0;
}

int main(int argc, char **argv)
{
    sigset_t child;
    bool again = argc > 3 && strcmp(argv[1], "--replay") == 0;
    if (argc != 5 && !again) {
        fputs("usage: commands COUNT SEED BASES FINDINGS, or commands --replay BASES FILE...\n", stderr);
        return 2;
    }
    setvbuf(stdout, NULL, _IOLBF, BUFSIZ);
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    sigprocmask(SIG_BLOCK, &child, NULL);
    sigaction(SIGINT, &(struct sigaction){.sa_handler = on_stop}, NULL);
    sigaction(SIGTERM, &(struct sigaction){.sa_handler = on_stop}, NULL);
    findings = again ? NULL : realpath(argv[4], NULL);
    char *given = realpath(argv[again ? 2 : 3], NULL);
    if (!given || (!again && !findings))
        die("no such folder");
    const char **paths = calloc((size_t)argc, sizeof *paths);
    for (int i = 3; again && i < argc; i++)
        if (!(paths[i] = realpath(argv[i], NULL)))
            die(argv[i]);
    read_bases(given);
    make_folders(given);
    if (!again)
        fuzz(strtoull(argv[1], NULL, 10), strtoull(argv[2], NULL, 10));
    for (int i = 3; again && i < argc; i++)
        replay(paths[i]);
    return print_counts();
}
