/* `blame run`: loads the tool before main, makes libgomp report its events to the tool, and passes on the
 * program's exit status. */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <gnu/libc-version.h>
#include <libgen.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/launched.h"
#include "base/launcher.h"
#include "base/leaks.h"
#include "base/log.h"
#include "base/run_options.h"
#include "command/cli/cli.h"
#include "command/cli/collect.h"
#include "command/cli/elf_info.h"
#include "command/cli/follow.h"
#include "command/cli/options.h"
#include "command/cli/patient_stderr.h"
#include "command/cli/run_notes.h"
#include "command/text/format.h"

/* ---- the options ---- */

/* --stacks, --stacks-file */
struct run_stacks {
    bool on;
    const char *file; /* path of the log; NULL: beside the measurement */
};

#define VARIABLE(variable, ...) variable,
#define NONE(...)
static const char *const variables[] = {RUN_OPTIONS(VARIABLE, VARIABLE, VARIABLE, NONE, VARIABLE) NULL,
                                        NULL}; /* --stacks and --stacks-file have no variables */

#define COUNT      (sizeof variables / sizeof *variables)
#define OF_TOOL    (COUNT - 2)
#define NAME_BYTES 32

static const struct usage usage = {
    .command = "run",
    .synopsis = "[options] [--] PROGRAM [ARGUMENT ...]",
    .about = "Runs a program, measures it and creates a profile directory. The tool is loaded before main, so that\n"
             "serial start-up is measured too. The exit status is the program's, or 128 + signal if a signal killed\n"
             "it. (After Ctrl-C, and in a rank of an MPI job, the same signal then also ends blame run.)\n"
             "\n"
             "Each option sets the environment variable of its name: --rate sets BLAME_RATE. Only --stacks and\n"
             "--stacks-file have no variable.",
    .examples = "  blame run ./amg -n 100\n"
                "  blame run --rate 1000 -o amg-before ./amg -n 100\n"
                "  mpirun -n 4 blame run ./solver\n"
                "  blame run --tasks creation ./sort input.txt",
    .operand = "program",
    .operands = "PROGRAM [ARGUMENT ...] after the options; see blame run --help",
    .is_program = true,
    .variables = variables,
    .lines = "BLAME_META",
    .groups = (const struct option_word[]){{"--out", "Common options"},
                                           {"--clock", "What is measured"},
                                           {"--phase-instances", "Phases and events of the program"},
                                           {"--job", "Jobs and privacy"},
                                           {"--runtime", "For special cases"},
                                           {"--stacks", "Phases and events of the program"},
                                           {NULL, NULL}},
    .alone =
        (const struct option_word[]){
            {"--trace", "1"}, {"--stacks", "0"}, {"--no-command", "1"}, {"--omp-only", "1"}, {NULL, NULL}},
};

/* Writes the name of the option that sets a variable: --events-include for BLAME_EVENTS_INCLUDE. */
static void option_of_variable(const char *variable, char name[NAME_BYTES])
{
    variable += strlen("BLAME");
    name[0] = '-';
    for (size_t i = 0; name[i]; i++)
        name[i + 1] = variable[i] == '_' ? '-' : (char)tolower((unsigned char)variable[i]);
}

/* Enables the trace that --stacks needs, and sets the rate given with --stacks. Returns false after a message
 * about wrong usage. */
static bool complete_stacks_options(struct run_stacks *stacks, int hertz, int rate)
{
    char text[16];
    const char *trace = getenv("BLAME_TRACE");
    stacks->on = hertz >= 0 || stacks->file;
    if (hertz > 0 && rate > 0 && hertz != rate) {
        fprintf(stderr, "blame run: --stacks %d: --rate already sets the rate to %d; give only one of them\n", hertz,
                rate);
        return false;
    }
    if (stacks->file && strcmp(stacks->file, "-") == 0) {
        fputs("blame run: --stacks-file -: standard output belongs to the program; expected the name of a file, or "
              "/dev/stderr\n",
              stderr);
        return false;
    }
    if (hertz > 0) {
        snprintf(text, sizeof text, "%d", hertz);
        setenv("BLAME_RATE", text, 1);
    }
    if (stacks->on && (!trace || strcmp(trace, "0") == 0))
        setenv("BLAME_TRACE", "1", 1);
    return true;
}

/* Reads the options before the program's name and sets their variables. Returns the program's index in argv,
 * 0 after printing help, -1 after a message about wrong usage. *out is the value of --out, NULL if it is not
 * given. */
static int run_options_read(int argc, char **argv, struct run_stacks *stacks, const char **out)
{
    int hertz = -1;
    /* read only to check the values: the tool takes them from the environment */
    struct run_options options = {0};
#define TEXT(variable, field, value, help) {NULL, OPTION_TEXT, &options.field, value, NULL, 0, 0, help},
#define WHOLE(variable, field, fallback, least, most, help)                                                            \
    {NULL, OPTION_WHOLE, &options.field, "N",                                                                          \
     NULL, least,        most,           help ", " #least " to " #most " (default " #fallback ")"},
#define W(word, about) {word, about},
#define WORD(variable, field, fallback, words, value, help)                                                            \
    {NULL, OPTION_WORD, &options.field, value, (const struct option_word[]){words{NULL, NULL}}, 0, 0, help},
#define FORM(variable, field, fallback, read, accepted, value, help)                                                   \
    {NULL, OPTION_FORM, &(struct option_form){read, accepted, &options.field}, value, NULL, 0, 0, help},
    struct option_spec table[] = {
        RUN_OPTIONS(TEXT, WHOLE, WORD, W,
                    FORM){"--stacks", OPTION_WHOLE, &hertz, "HZ", NULL, 0, 10000,
                          "write one line for each sample to a file beside the measurement (*.stacks), while the "
                          "program runs. HZ is the number of samples per second and thread, for example 1, 10 or 100; "
                          "the option alone, or 0, uses --rate. Sets --trace"},
        {"--stacks-file", OPTION_TEXT, &stacks->file, "FILE", NULL, 0, 0,
         "like --stacks, but writes to FILE, which may be a pipe or a terminal. If FILE exists, blame writes to "
         "FILE.1, FILE.2 ..."},
    };
    char name[COUNT][NAME_BYTES];
    const char *operand[argc];
    int count;
    *stacks = (struct run_stacks){0};
    for (size_t i = 0; i < OF_TOOL; i++) {
        option_of_variable(variables[i], name[i]);
        table[i].name = name[i];
    }
    enum options_result result = options_read(&usage, OPTION_TABLE(table), argc, argv, operand, &count);
    *out = options.out;
    if (result == OPTIONS_RUN && !complete_stacks_options(stacks, hertz, options.rate))
        return -1;
    return result == OPTIONS_RUN ? argc - count : result == OPTIONS_HELPED ? 0 : -1;
}

/* ---- where the profile is written ---- */

/* Returns whether `path` is an existing folder in which a profile directory with the default name is created:
 * it ends in a slash, or its last part is . or .. */
static bool is_default_output_folder(const char *path)
{
    struct stat st;
    const char *slash = strrchr(path, '/'), *last = slash ? slash + 1 : path;
    return (!*last || strcmp(last, ".") == 0 || strcmp(last, "..") == 0) && stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* Finds the folder that must exist before the run. The tool creates folders whose names contain % patterns. */
static void find_output_folder(const char *out, char *folder, size_t bytes)
{
    size_t length = strcspn(out, "%");
    bool inside = !out[length] && is_default_output_folder(out);
    while (!out[length] && length > 1 && out[length - 1] == '/')
        length--;
    while (!inside && length > 0 && out[length - 1] != '/')
        length--;
    while (length > 1 && out[length - 1] == '/')
        length--;
    snprintf(folder, bytes, "%.*s", length ? (int)length : 1, length ? out : ".");
}

/* Returns whether a folder can be created in `folder`; false with errno. Permissions do not show a read-only file system
 * or /proc. If a file without a name can be created, a folder can be, too; otherwise, creates a folder and removes it, for
 * which some disks need milliseconds. Returns true if a sandbox refuses mkdir() in general: the program may run, because
 * nothing is known. */
static bool can_make_folder_in(const char *folder)
{
    char path[PATH_MAX + 32];
    int fd = open(folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
    if (fd >= 0) {
        close(fd);
        return true;
    }
    bool sandbox = mkdir("", 0700) != 0 && errno != ENOENT;
    snprintf(path, sizeof path, "%s/.blame-run-XXXXXX", folder);
    if (!mkdtemp(path))
        return sandbox;
    rmdir(path);
    return true;
}

/* Returns a message about the output directory, malloc'ed; NULL if no fault is known. */
static char *output_directory_fault(const char *out)
{
    char folder[PATH_MAX];
    struct stat st;
    if (lstat(out, &st) != 0 && (errno == ENAMETOOLONG || errno == ENOTDIR || errno == ELOOP))
        return format_printable("a directory cannot have this name: %s; give another name", strerror(errno));
    if (stat(out, &st) == 0 && !S_ISDIR(st.st_mode) && !S_ISREG(st.st_mode))
        return format_printable("this is a device or a pipe; give the name of a directory");
    find_output_folder(out, folder, sizeof folder);
    if (can_make_folder_in(folder))
        return NULL;
    if (errno == ENOENT && stat(folder, &st) != 0)
        return format_printable("the directory %s does not exist; create it, or give another one", folder);
    return format_printable("cannot create a directory in %s: %s; give another one", folder, strerror(errno));
}

/* Returns false after a message if the output directory cannot be created, since the run would be lost.
 * `typed` is the value of --out, which has already set BLAME_OUT, or NULL. */
static bool run_output_can_be_made(const char *typed)
{
    const char *given = getenv("BLAME_OUT"), *disable = getenv("BLAME_DISABLE");
    if (disable && strcmp(disable, "1") == 0)
        return true;
    char *fault = output_directory_fault(given ? given : "blame");
    if (fault && launcher_speaks()) {
        char *line = typed   ? format_printable("blame run: --out %s: %s", typed, fault)
                     : given ? format_printable("blame run: BLAME_OUT=%s: %s", given, fault)
                             : format_printable("blame run: %s (--out DIR)", fault);
        fprintf(stderr, "%s\n", line);
        free(line);
    }
    free(fault);
    return !fault;
}

/* ---- the run ---- */

/* glibc version, times 100. With older versions, an audit library slows down every call through the procedure linkage
 * table that is not bound at the start. */
#define OLDEST_GLIBC 235

/* What a program built by GCC runs on: the values of BLAME_RUNTIME. */
enum run_runtime { RUNTIME_AUTO, RUNTIME_LIBOMP, RUNTIME_OWN };

/* Paths of our libraries that are loaded into the program. */
struct parts {
    char tool[PATH_MAX];
    char loader[PATH_MAX + 32];
    char mpi[PATH_MAX + 32];      /* "" if it is not installed */
    char gomp[PATH_MAX + 32];     /* the library that reports libgomp's events; "" if it is not installed */
    char pthreads[PATH_MAX + 32]; /* the library that reports waits for locks; "" if it is not installed */
};

/* A private folder for the duration of the run. It holds the list of profiles (run_notes.h). */
struct workspace {
    char folder[PATH_MAX];
    char notes[PATH_MAX + 32];
};

static volatile sig_atomic_t child_pid;

/* Signals whose handling changes during the run, so that blame run can pass on the program's status. SIGPIPE:
 * stderr may be closed. SIGXFSZ: a file may reach the size limit. SIGCHLD: if it is ignored, the kernel
 * discards the status. The program itself starts with the handling `before`. */
static struct {
    int signal;
    void (*meanwhile)(int), (*before)(int);
} changed[] = {{SIGPIPE, SIG_IGN, NULL}, {SIGXFSZ, SIG_IGN, NULL}, {SIGCHLD, SIG_DFL, NULL}};

#define CHANGED_COUNT (sizeof(changed) / sizeof(changed[0]))

/* Signals that are passed on to the program. */
static const int passed[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2};

#define PASSED_COUNT (sizeof(passed) / sizeof(passed[0]))

/* Sends a signal on to the program, unless it came from the keyboard: the terminal sends such a signal to the
 * program too. */
static void forward_signal(int signal, siginfo_t *info, void *context)
{
    bool of_keyboard = (signal == SIGINT || signal == SIGQUIT) && info->si_code > 0;
    (void)context;
    if (child_pid > 0 && !of_keyboard)
        kill(child_pid, signal);
}

/* Returns whether a file can be opened. This works even in a sandbox that refuses access(). */
static bool can_be_opened(const char *path)
{
    /* O_NONBLOCK: does not wait for the writer of a pipe */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

/* Finds the program's path as execvp() does. Returns false if there is no such program. */
static bool find_program_in_path(const char *name, char *path, size_t bytes)
{
    struct stat st;
    if (strchr(name, '/')) {
        snprintf(path, bytes, "%s", name);
        if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
            return false;
        /* If a sandbox refuses access(), execvp() decides later. */
        return access(path, X_OK) == 0 || errno == EPERM || errno == ENOSYS;
    }
    char standard[256] = "";
    confstr(_CS_PATH, standard, sizeof(standard));
    const char *at = getenv("PATH");
    for (at = at ? at : standard;; at++) {
        size_t length = strcspn(at, ":");
        snprintf(path, bytes, "%.*s/%s", length ? (int)length : 1, length ? at : ".", name);
        if (access(path, X_OK) == 0 && stat(path, &st) == 0 && S_ISREG(st.st_mode))
            return true;
        at += length;
        if (!*at)
            return false;
    }
}

/* Prints why a program cannot be run. Returns the exit status that a shell returns in this case. */
static int say_no_program(const char *name)
{
    struct stat st;
    bool exists = strchr(name, '/') && stat(name, &st) == 0;
    fprintf(stderr, "blame run: %s: %s\n", name,
            !exists               ? "there is no such program; give its path, as in ./app"
            : S_ISDIR(st.st_mode) ? "this is a directory; give the program's path"
                                  : "permission denied; check that you may execute it (chmod +x)");
    return exists ? 126 : 127;
}

static bool find_self(char self[PATH_MAX])
{
    ssize_t length = readlink("/proc/self/exe", self, PATH_MAX - 1);
    self[length > 0 ? length : 0] = '\0';
    if (length <= 0)
        fprintf(stderr,
                "blame: cannot find the tool, because /proc/self/exe cannot be read (%s); the program runs "
                "unmeasured\n",
                strerror(errno));
    return length > 0;
}

/* Stores "" if there is no such library. */
static void find_beside_tool(const struct parts *parts, const char *name, char *path, size_t bytes)
{
    snprintf(path, bytes, "%.*s/%s", (int)(strrchr(parts->tool, '/') - parts->tool), parts->tool, name);
    if (!can_be_opened(path))
        path[0] = '\0';
}

/* Finds our libraries beside the command, or where `make` or `make install` puts them. */
static bool find_our_libraries(char *self, struct parts *parts)
{
    static const char *const places[] = {".", "../lib", "../lib/blame"};
    const char *folder = dirname(self);
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        char candidate[2 * PATH_MAX];
        snprintf(candidate, sizeof(candidate), "%s/%s/libblame.so", folder, places[i]);
        if (!realpath(candidate, parts->tool)) {
            if (!can_be_opened(candidate))
                continue;
            snprintf(parts->tool, sizeof(parts->tool), "%.*s", PATH_MAX - 1,
                     candidate); /* In a sandbox that refuses faccessat2(), realpath() fails. */
        }
        find_beside_tool(parts, "libblame-loader.so", parts->loader, sizeof(parts->loader));
        find_beside_tool(parts, "libblame-mpi.so", parts->mpi, sizeof(parts->mpi));
        find_beside_tool(parts, "libblame-gomp-run.so", parts->gomp, sizeof(parts->gomp));
        find_beside_tool(parts, "libblame-pthreads.so", parts->pthreads, sizeof(parts->pthreads));
        if (parts->loader[0])
            return true;
    }
    return false;
}

/* Finds the newest libomp in the folders of the distributions' packages. BLAME_LIBOMP overrides the search. */
static bool find_libomp(char *path, size_t bytes)
{
    const char *given = getenv("BLAME_LIBOMP");
    /* The path is made absolute, because the program may change its working directory. */
    if (given && *given)
        return realpath(given, path) && can_be_opened(path);
    for (int version = 40; version >= 10; version--) {
        snprintf(path, bytes, "/usr/lib/llvm-%d/lib/libomp.so.5", version);
        if (can_be_opened(path))
            return true;
    }
#if defined(__aarch64__)
#define DEBIANS_LIBRARIES "/usr/lib/aarch64-linux-gnu"
#else
#define DEBIANS_LIBRARIES "/usr/lib/x86_64-linux-gnu"
#endif
    static const char *const common[] = {DEBIANS_LIBRARIES "/libomp.so.5", "/usr/lib64/libomp.so",
                                         "/usr/local/lib/libomp.so", "/usr/lib/libomp.so"};
    for (size_t i = 0; i < sizeof(common) / sizeof(common[0]); i++) {
        snprintf(path, bytes, "%s", common[i]);
        if (can_be_opened(path))
            return true;
    }
    return false;
}

/* Creates the workspace. If that fails, the program is still measured, but nobody writes the reports if the
 * program is killed. */
static void make_workspace(struct workspace *space)
{
    const char *given = getenv("TMPDIR"), *places[] = {given && *given ? given : "/tmp", "/tmp", "/dev/shm"};
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        snprintf(space->folder, sizeof(space->folder), "%s/blame-run-XXXXXX", places[i]);
        if (mkdtemp(space->folder)) {
            snprintf(space->notes, sizeof(space->notes), "%s/profiles", space->folder);
            return;
        }
        if (i == 0)
            fprintf(stderr, "blame: cannot create a temporary directory in %s (TMPDIR): %s\n", places[i],
                    strerror(errno));
    }
    space->notes[0] = '\0';
}

static void remove_workspace(const struct workspace *space)
{
    if (!space->notes[0])
        return;
    unlink(space->notes);
    rmdir(space->folder);
}

/* Puts a value at the front of a colon-separated variable, unless an outer blame run has already added it. */
static void prepend_to_variable(const char *variable, const char *value)
{
    const char *old = getenv(variable);
    char *text;
    if ((old && strstr(old, value)) || asprintf(&text, old && *old ? "%s:%s" : "%s", value, old) < 0)
        return;
    setenv(variable, text, 1);
    free(text);
}

/* Sets libomp's variables for programs built by GCC. Without them, libomp warns about calls that libgomp
 * accepts silently, and ends a process that loads two copies of it. The tool unsets them in a process where
 * no object makes such calls or none was built by GCC. */
static void set_variables_for_gcc(void)
{
    bool warns = getenv("KMP_WARNINGS") == NULL, refuses = getenv("KMP_DUPLICATE_LIB_OK") == NULL;
    if (warns)
        setenv("KMP_WARNINGS", "0", 1);
    if (refuses)
        setenv("KMP_DUPLICATE_LIB_OK", "TRUE", 1);
    if (warns || refuses)
        setenv("BLAME_FOR_GCC",
               warns && refuses ? "KMP_WARNINGS,KMP_DUPLICATE_LIB_OK"
               : warns          ? "KMP_WARNINGS"
                                : "KMP_DUPLICATE_LIB_OK",
               1);
}

static bool glibc_is_old(void)
{
    int major = 0, minor = 0;
    sscanf(gnu_get_libc_version(), "%d.%d", &major, &minor);
    return 100 * major + minor < OLDEST_GLIBC;
}

/* Binds calls at the start, since an audit library makes others slow, and loads libdl, from which our audit library calls
 * dlmopen(): last, so that it stands before no function of the program's. */
static void set_variables_for_old_glibc(void)
{
    const char *now = getenv("BLAME_BIND_NOW"), *others = getenv("LD_PRELOAD");
    char *list;
    if (!getenv(BIND_NOW) && !(now && strcmp(now, "0") == 0))
        setenv(BIND_NOW, BIND_NOW_OURS, 1);
    if (others && strstr(others, "libdl.so.2"))
        return;
    if (asprintf(&list, "%s%s%s", others ? others : "", others && *others ? ":" : "", "libdl.so.2") < 0)
        return;
    setenv("LD_PRELOAD", list, 1);
    free(list);
}

/* Prints why a program built by GCC does not run on a libgomp that reports its events. */
static void say_runtime(const struct elf_openmp *openmp, const struct parts *parts, const char *libomp,
                        enum run_runtime runtime)
{
    const char *why = runtime == RUNTIME_LIBOMP ? "" : " (libblame-gomp-run.so is missing beside libblame.so)";
    if (!openmp->gcc && !openmp->moved)
        return;
    if (runtime == RUNTIME_OWN)
        log_line_of_job("the program was built by GCC and keeps its own runtime (--runtime own), which is not measured",
                        NULL);
    else if (runtime == RUNTIME_AUTO && parts->gomp[0])
        return;
    else if (openmp->moved && (*why || !log_is_quiet()))
        log_line_of_job("the program was built by GCC; it runs on ", libomp, " instead of libgomp.so.1", why, NULL);
    else if (!libomp[0])
        log_line_of_job("the program was built by GCC, and no libomp.so.5 was found to run it on", why,
                        ": nothing will be measured; install libomp5-19", NULL);
}

/* Tells our audit library what libgomp is replaced by, and prints if that changes the program's runtime. The
 * audit library prints this itself for programs that this program starts. */
static void prepare_audit_library(const char *program, const struct parts *parts)
{
    char libomp[PATH_MAX] = "";
    struct elf_openmp openmp;
    const char *given = getenv("BLAME_RUNTIME"), *only = getenv("BLAME_OMP_ONLY"), *posix = getenv("BLAME_POSIX");
    enum run_runtime runtime = given && strcmp(given, "own") == 0      ? RUNTIME_OWN
                               : given && strcmp(given, "libomp") == 0 ? RUNTIME_LIBOMP
                                                                       : RUNTIME_AUTO;
    bool reports = runtime == RUNTIME_AUTO && parts->gomp[0];
    if (reports || runtime == RUNTIME_OWN || !find_libomp(libomp, sizeof(libomp)))
        libomp[0] = '\0';
    setenv("BLAME_GOMP", reports ? parts->gomp : "", 1);
    setenv("BLAME_LIBOMP", libomp, 1);
    setenv("BLAME_TOOL", only && strcmp(only, "1") == 0 ? "" : parts->tool, 1);
    setenv("BLAME_PTHREADS", posix && strcmp(posix, "0") == 0 ? "" : parts->pthreads, 1);
    prepend_to_variable("LD_AUDIT", parts->loader);
    if (glibc_is_old())
        set_variables_for_old_glibc();
    if (libomp[0])
        set_variables_for_gcc();
    elf_openmp_of(program, libomp, !reports, &openmp);
    if (openmp.mpi && !openmp.own_first && parts->mpi[0])
        prepend_to_variable("LD_PRELOAD", parts->mpi);
    say_runtime(&openmp, parts, libomp, runtime);
}

/* Tells an outer blame run not to complain about a missing profile. Writes the note that the tool leaves
 * after it has printed the reason itself. */
static void answer_outer_run(void)
{
    const char *notes = getenv("BLAME_NOTES");
    FILE *list = notes ? fopen(notes, "ae") : NULL;
    if (!list)
        return;
    run_note_put_none(list);
    fclose(list);
}

/* Sets the program's environment and prints what limits its measurement. */
static void prepare_environment(const char *program, const struct parts *parts, const struct workspace *space)
{
    char folder[PATH_MAX];
    answer_outer_run();
    setenv("OMP_TOOL_LIBRARIES", parts->tool, 1);
    if (getcwd(folder, sizeof(folder)))
        setenv("BLAME_FOLDER", folder, 1);
    if (space->notes[0])
        setenv("BLAME_NOTES", space->notes, 1);
    if (elf_checks_memory(program))
        log_line_of_job("the program uses MemorySanitizer, which does not work with an audit library (LD_AUDIT): "
                        "blame measures it only from its first use of OpenMP on",
                        NULL);
    else
        prepare_audit_library(program, parts);
}

/* Replaces this process by the program; does not return. */
static void exec_program(char **argv, const char *program)
{
    char own[24];
    setenv("BLAME_PROGRAM_PID", log_decimal((uint64_t)getpid(), own), 1);
    for (size_t i = 0; i < CHANGED_COUNT; i++)
        signal(changed[i].signal, changed[i].before);
    execvp(program, argv); /* execvp() runs a script without #! in a shell, as env and timeout do. */
    int cause = errno;
    bool exists = cause == ENOENT && strchr(program, '/') && stat(program, &(struct stat){0}) == 0;
    fprintf(stderr, "blame run: %s: %s\n", program,
            exists ? "the interpreter or the dynamic loader that it names does not exist" : strerror(cause));
    fflush(stderr);
    _exit(cause == ENOENT ? 127 : 126);
}

/* Returns a copy of the list, malloc'ed; NULL if there is no memory. */
static char **copy_environment(void)
{
    size_t count = 1;
    for (char **entry = environ; *entry; entry++)
        count++;
    char **copy = malloc(count * sizeof(*copy));
    return copy ? memcpy(copy, environ, count * sizeof(*copy)) : NULL;
}

/* Blocks the signals that are passed on to the program: one that comes before wait_for_program() handles them would end
 * blame run without the reports. Returns the mask before. */
static sigset_t block_passed_signals(void)
{
    sigset_t blocked, before;
    sigemptyset(&blocked);
    for (size_t i = 0; i < PASSED_COUNT; i++)
        sigaddset(&blocked, passed[i]);
    sigprocmask(SIG_BLOCK, &blocked, &before);
    return before;
}

/* Starts the program in a child process. `parts` is NULL if the program runs unmeasured. Returns false with errno. */
static bool start_program(char **argv, const char *program, const struct parts *parts, const struct workspace *space,
                          const sigset_t *mask)
{
    char **own = copy_environment();
    if (!own)
        return false;
    if (parts)
        prepare_environment(program, parts, space);
    pid_t pid = vfork(); /* not fork(), which would copy this process's memory to no use */
    if (pid == 0) {
        sigprocmask(SIG_SETMASK, mask, NULL);
        exec_program(argv, program);
    }
    int cause = errno;
    environ = own; /* The reports are not made under the tool. */
    errno = cause;
    child_pid = pid;
    return pid > 0;
}

/* Sets the mask and passes signals on to the program until it ends. Returns its exit status. *signal_of is the signal
 * that killed the program. */
static int wait_for_program(const sigset_t *mask, int *signal_of)
{
    struct sigaction pass = {.sa_sigaction = forward_signal, .sa_flags = SA_SIGINFO}, terminate, hang_up;
    sigaction(SIGTERM, NULL, &terminate);
    sigaction(SIGHUP, NULL, &hang_up);
    for (size_t i = 0; i < PASSED_COUNT; i++)
        sigaction(passed[i], &pass, NULL);
    sigprocmask(SIG_SETMASK, mask, NULL);
    siginfo_t ended;
    while (waitid(P_PID, (id_t)child_pid, &ended, WEXITED | WNOWAIT) < 0 && errno == EINTR)
        ; /* If a sandbox refuses waitid(), the loop below waits. */
    int status, pid = child_pid;
    child_pid = 0; /* stops forwarding before the kernel can reuse the pid */
    sigaction(SIGTERM, &terminate, NULL);
    sigaction(SIGHUP, &hang_up, NULL);
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return CLI_BAD_INPUT;
    if (WIFSIGNALED(status)) {
        fprintf(stderr, "blame: the program was killed by signal %d (%s)\n", WTERMSIG(status),
                strsignal(WTERMSIG(status)));
        *signal_of = WTERMSIG(status);
        return 128 + WTERMSIG(status);
    }
    return WEXITSTATUS(status);
}

/* Kills this process with the signal that killed the program. A shell loop, make and xargs stop at Ctrl-C
 * only if their child died of SIGINT, and an MPI launcher reports the signal that killed a rank. */
static void die_of_same_signal(int number)
{
    sigset_t signals;
    if (number != SIGINT && !launcher_starts_many())
        return;
    fflush(NULL);
    setrlimit(RLIMIT_CORE, &(struct rlimit){0}); /* The program has already dumped its own core. */
    sigemptyset(&signals);
    sigaddset(&signals, number);
    signal(number, SIG_DFL);
    sigprocmask(SIG_UNBLOCK, &signals, NULL);
    raise(number);
}

static void say_no_profile(const char *program)
{
    char owner[PATH_MAX];
    const char *tools = getenv("OMP_TOOL");
    if (tools && strcasecmp(tools, "disabled") == 0) {
        log_line_of_job("no profile: OMP_TOOL=disabled keeps OpenMP runtimes from loading a tool; unset it", NULL);
        return;
    }
    if (elf_own_tool_of(program, owner, sizeof(owner))) {
        log_line_of_job("no profile: ", owner,
                        " has an OpenMP tool of its own (ompt_start_tool), and a runtime loads only one tool", NULL);
        return;
    }
    const char *rank = launcher_starts_many() ? launcher_rank() : NULL;
    log_line_of_job(
        "no profile", rank ? " of rank " : "", rank ? rank : "",
        ": the program started no parallel region on a shared OpenMP runtime (libgomp, libomp), and used less "
        "than 0.01 s of processor time until it ended or changed its user or root; or it has an OpenMP tool of its own "
        "(ompt_start_tool), or did not "
        "inherit the environment of blame run",
        NULL);
}

/* Returns why the tool cannot measure the program; NULL if it can. */
static const char *why_unmeasured(const char *program)
{
    if (elf_kind_of(program) == ELF_KIND_STATIC)
        return "is statically linked, so no tool can be loaded and it runs unmeasured; link it dynamically";
    if (elf_kind_of(program) == ELF_KIND_FOREIGN)
        return "has another dynamic loader than glibc's, so no tool can be loaded and it runs unmeasured";
    if (elf_finds_leaks(program) && !leaks_are_off())
        return "looks for memory leaks when it ends, and would report those of the OpenMP runtime, so it runs "
               "unmeasured; set ASAN_OPTIONS=detect_leaks=0 to measure it";
    if (elf_gains_privileges(program))
        return "gains privileges (set-user-ID, set-group-ID, capabilities), so no tool may be loaded and it runs "
               "unmeasured";
    return NULL;
}

int cli_run(int argc, char **argv)
{
    /* static, because they are larger than half of a stack that the user may limit to 64 kB for the program */
    static char program[PATH_MAX], self[PATH_MAX];
    static struct parts parts;
    static struct workspace space;
    struct run_stacks stacks;
    struct follower follower = {0};
    for (size_t i = 0; i < CHANGED_COUNT; i++)
        changed[i].before = signal(changed[i].signal, changed[i].meanwhile);
    patient_stderr();
    const char *out;
    int first = run_options_read(argc, argv, &stacks, &out);
    if (first <= 0)
        return first == 0 ? CLI_DONE : CLI_BAD_USAGE;
    if (!find_program_in_path(argv[first], program, sizeof(program)))
        return say_no_program(argv[first]);
    const char *why = why_unmeasured(program);
    if (why)
        log_line_of_job(program, " ", why, NULL);
    bool attach = !why && find_self(self);
    if (attach && !find_our_libraries(self, &parts)) {
        fputs("blame run: libblame.so and libblame-loader.so are neither beside the blame command nor in ../lib or "
              "../lib/blame; run make or make install\n",
              stderr);
        return CLI_BAD_INPUT;
    }
    if (attach && !run_output_can_be_made(out))
        return CLI_BAD_USAGE;
    if (attach)
        make_workspace(&space);
    if (attach && stacks.on)
        follow_start(&follower, space.notes, stacks.file);
    sigset_t mask = block_passed_signals();
    if (!start_program(argv + first, program, attach ? &parts : NULL, &space, &mask)) {
        sigprocmask(SIG_SETMASK, &mask, NULL);
        log_line("cannot start another process (", strerror(errno),
                 "), so the program replaces blame run; if it is killed, blame finish DIR writes the reports", NULL);
        follow_end(&follower);
        if (attach)
            remove_workspace(&space);
        space.notes[0] = '\0';
        unsetenv("BLAME_NOTES");
        if (attach)
            prepare_environment(program, &parts, &space);
        exec_program(argv + first, program);
    }
    int signal_of = 0, status = wait_for_program(&mask, &signal_of);
    follow_end(&follower);
    if (attach) {
        if (space.notes[0] && collect_profiles(space.notes) == 0 && status != 126 && status != 127)
            say_no_profile(program);
        remove_workspace(&space);
    }
    if (signal_of)
        die_of_same_signal(signal_of);
    return status;
}
