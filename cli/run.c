/* `blame run`: loads the tool before main, sends GCC's programs to libomp, passes the program's end on. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "cli/cli.h"
#include "cli/collect.h"
#include "cli/elf_info.h"
#include "cli/run_options.h"

#define LIBOMP_FILE_BYTES 1024

/* A private folder for the length of the run: the libgomp.so.1 that is libomp, and the list of profiles. */
struct workspace {
    char folder[PATH_MAX];
    char gomp[PATH_MAX + 32];
    char notes[PATH_MAX + 32];
};

static volatile sig_atomic_t child_pid;

/* A closed stderr, or a limit on files, must not keep us from passing the program's status on. The program has them
 * as they were. */
static struct {
    int signal;
    void (*before)(int);
} ignored[] = {{SIGPIPE, NULL}, {SIGXFSZ, NULL}};

#define IGNORED_COUNT (sizeof(ignored) / sizeof(ignored[0]))

static void forward(int signal)
{
    if (child_pid > 0)
        kill(child_pid, signal);
}

/* Where execvp would find the program; false if nowhere. */
static bool find_program(const char *name, char *path, size_t bytes)
{
    if (strchr(name, '/')) {
        snprintf(path, bytes, "%s", name);
        return access(path, X_OK) == 0;
    }
    const char *at = getenv("PATH");
    for (; at && *at; at += strcspn(at, ":"), at += *at == ':') {
        snprintf(path, bytes, "%.*s/%s", (int)strcspn(at, ":"), at, name);
        struct stat st;
        if (access(path, X_OK) == 0 && stat(path, &st) == 0 && S_ISREG(st.st_mode))
            return true;
    }
    return false;
}

/* libblame.so beside the command, or where `make install` puts it. */
static bool find_tool(char *path, size_t bytes)
{
    static const char *const places[] = {"libblame.so", "../lib/blame/libblame.so"};
    char self[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);
    if (length <= 0)
        return false;
    self[length] = '\0';
    const char *folder = dirname(self);
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        char candidate[PATH_MAX];
        if (snprintf(candidate, sizeof(candidate), "%s/%s", folder, places[i]) >= (int)sizeof(candidate))
            continue;
        char *absolute = realpath(candidate, NULL);
        if (absolute && strlen(absolute) < bytes) {
            strcpy(path, absolute);
            free(absolute);
            return true;
        }
        free(absolute);
    }
    return false;
}

/* The newest libomp on this machine: where Debian's packages put it, or where the loader finds one. */
static bool find_libomp(char *path, size_t bytes)
{
    const char *given = getenv("BLAME_LIBOMP");
    if (given && *given) {
        snprintf(path, bytes, "%s", given);
        return access(path, R_OK) == 0;
    }
    for (int version = 40; version >= 10; version--) {
        snprintf(path, bytes, "/usr/lib/llvm-%d/lib/libomp.so.5", version);
        if (access(path, R_OK) == 0)
            return true;
    }
    static const char *const common[] = {"/usr/lib/x86_64-linux-gnu/libomp.so.5", "/usr/lib64/libomp.so",
                                         "/usr/local/lib/libomp.so", "/usr/lib/libomp.so"};
    for (size_t i = 0; i < sizeof(common) / sizeof(common[0]); i++) {
        snprintf(path, bytes, "%s", common[i]);
        if (access(path, R_OK) == 0)
            return true;
    }
    return false;
}

static bool make_workspace(struct workspace *space)
{
    const char *base = getenv("TMPDIR");
    snprintf(space->folder, sizeof(space->folder), "%s/blame-run-XXXXXX", base && *base ? base : "/tmp");
    if (!mkdtemp(space->folder))
        return false;
    snprintf(space->gomp, sizeof(space->gomp), "%s/libgomp.so.1", space->folder);
    snprintf(space->notes, sizeof(space->notes), "%s/profiles", space->folder);
    return true;
}

static void remove_workspace(const struct workspace *space)
{
    unlink(space->gomp);
    unlink(space->notes);
    rmdir(space->folder);
}

static void prepend(const char *variable, const char *value)
{
    const char *old = getenv(variable);
    char *text;
    if (asprintf(&text, old && *old ? "%s:%s" : "%s", value, old) < 0)
        return;
    setenv(variable, text, 1);
    free(text);
}

/* libomp makes a small file in /dev/shm as it starts, and dies of a limit below that; libgomp does not. */
static bool limit_ends_libomp(void)
{
    struct rlimit limit;
    return getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < LIBOMP_FILE_BYTES;
}

/* What the program will be told by its environment; only lines for the user are printed here. */
static void prepare(const char *program, const char *tool, const struct workspace *space)
{
    char libomp[PATH_MAX];
    if (elf_loads(program, "libgomp.so.1 ")) {
        if (limit_ends_libomp()) {
            fputs("blame: built by GCC, and the limit on the size of files (ulimit -f) is too low for libomp: it runs "
                  "unmeasured\n",
                  stderr);
            return;
        }
        if (find_libomp(libomp, sizeof(libomp)) && symlink(libomp, space->gomp) == 0) {
            char missing[256];
            if (elf_missing(program, space->folder, missing, sizeof(missing))) {
                fprintf(stderr,
                        "blame: built by GCC, and needs %s, which %s does not have: it runs unmeasured\n",
                        missing, libomp);
                return;
            }
            prepend("LD_LIBRARY_PATH", space->folder);
            fprintf(stderr, "blame: built by GCC: runs on %s instead of libgomp.so.1\n", libomp);
        } else {
            fputs("blame: built by GCC, and no libomp.so.5 was found to run it on (package libomp5-19): "
                  "nothing will be "
                  "measured\n",
                  stderr);
        }
    }
    prepend("LD_PRELOAD", tool);
    setenv("OMP_TOOL_LIBRARIES", tool, 1);
    setenv("BLAME_PRELOADED", "1", 1);
    setenv("BLAME_NOTES", space->notes, 1);
}

static int start(char **argv, const char *program)
{
    char start_ns[32];
    pid_t pid = fork();
    if (pid == 0) {
        snprintf(start_ns, sizeof(start_ns), "%llu", (unsigned long long)clock_now_ns());
        setenv("BLAME_START_NS", start_ns, 1);
        for (size_t i = 0; i < IGNORED_COUNT; i++)
            signal(ignored[i].signal, ignored[i].before);
        execvp(program, argv); /* runs a script without #! by the shell, as env and timeout do */
        int cause = errno;
        fprintf(stderr, "blame run: %s: %s\n", program, strerror(cause));
        _exit(cause == ENOENT ? 127 : 126);
    }
    child_pid = pid;
    return pid > 0;
}

/* Keyboard signals reach the program by themselves; others are passed on. */
static int wait_for_program(void)
{
    struct sigaction ignore = {.sa_handler = SIG_IGN}, pass = {.sa_handler = forward};
    sigaction(SIGINT, &ignore, NULL);
    sigaction(SIGQUIT, &ignore, NULL);
    sigaction(SIGTERM, &pass, NULL);
    sigaction(SIGHUP, &pass, NULL);
    sigaction(SIGUSR1, &pass, NULL);
    sigaction(SIGUSR2, &pass, NULL);
    int status;
    while (waitpid(child_pid, &status, 0) < 0)
        if (errno != EINTR)
            return CLI_BAD_INPUT;
    if (WIFSIGNALED(status)) {
        fprintf(stderr, "blame: the program was killed by signal %d (%s)\n", WTERMSIG(status),
                strsignal(WTERMSIG(status)));
        return 128 + WTERMSIG(status);
    }
    return WEXITSTATUS(status);
}

static void say_no_profile(const char *program)
{
    fputs("blame: no profile: the program did not start an OpenMP runtime with tool support: does it use "
          "OpenMP, with libomp or libgomp?",
          stderr);
    if (!elf_loads(program, "libgomp.so.1 "))
        fputs(" A GCC program that it starts, as scripts do, needs a blame run of its own there.", stderr);
    fputs("\n", stderr);
}

int cli_run(int argc, char **argv)
{
    char program[PATH_MAX], tool[PATH_MAX];
    struct workspace space;
    for (size_t i = 0; i < IGNORED_COUNT; i++)
        ignored[i].before = signal(ignored[i].signal, SIG_IGN);
    int first = run_options_read(argc, argv);
    if (first <= 0)
        return first == 0 ? CLI_DONE : CLI_BAD_USAGE;
    if (!find_program(argv[first], program, sizeof(program))) {
        bool exists = strchr(argv[first], '/') && access(argv[first], F_OK) == 0;
        fprintf(stderr, "blame run: %s: %s\n", argv[first],
                exists ? "permission denied; may you execute it (chmod +x)?"
                       : "no such program; give its path, as in ./app");
        return exists ? 126 : 127;
    }
    bool linked_statically = elf_kind_of(program) == ELF_KIND_STATIC;
    bool attach = !linked_statically && !elf_gains_privileges(program);
    if (linked_statically)
        fprintf(
            stderr,
            "blame: %s is statically linked: nothing to attach to; it runs unmeasured; link it dynamically\n",
            program);
    else if (!attach)
        fprintf(stderr,
                "blame: %s gains privileges (set-user-ID, set-group-ID, capabilities), which no tool may use: it runs "
                "unmeasured\n",
                program);
    if (attach && !find_tool(tool, sizeof(tool))) {
        fputs("blame run: libblame.so is neither beside the blame command nor in ../lib/blame: run make, or "
              "make install\n",
              stderr);
        return CLI_BAD_INPUT;
    }
    if (attach && !make_workspace(&space)) {
        fprintf(stderr, "blame run: %s: %s; TMPDIR says where temporary files may be\n", space.folder,
                strerror(errno));
        return CLI_BAD_INPUT;
    }
    if (attach)
        prepare(program, tool, &space);
    if (!start(argv + first, program)) {
        perror("blame run: fork");
        if (attach)
            remove_workspace(&space);
        return CLI_BAD_INPUT;
    }
    int status = wait_for_program();
    if (attach) {
        if (collect_profiles(space.notes) == 0 && status != 126 && status != 127)
            say_no_profile(program);
        remove_workspace(&space);
    }
    return status;
}
