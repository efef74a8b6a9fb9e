#include "command/cli/follow.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/log.h"
#include "base/os.h"
#include "command/cli/finish.h"
#include "command/cli/run_notes.h"
#include "command/export/stacks.h"
#include "command/profile/read.h"
#include "command/text/memory.h"

#define LOOK_MS      500
#define NICENESS     10     /* lower priority than the program's threads */
#define MAX_ATTEMPTS 100000 /* the highest number appended to the log's name */
#define ENDING       ".blame"

/* A measurement that is still growing. */
struct followed {
    struct followed *next;
    /* wanted: preferred path of the log; if the file exists, a number is appended */
    char *directory, *wanted;
    char *log; /* path of the log; NULL: not opened yet */
    int file;
    bool given_up; /* whether writing the log has failed */
    FILE *out;
    struct trace_tail tail;
    struct symbols *symbols;
    struct stacks *stacks;
};

static struct symbols *open_followed_symbols(void *data)
{
    struct followed *followed = data;
    if (followed->symbols)
        symbols_close(followed->symbols);
    trace_tail_tables(&followed->tail);
    followed->symbols = memory_check(symbols_open(followed->tail.modules, followed->tail.module_count));
    symbols_still_runs(followed->symbols, followed->tail.header.pid);
    return followed->symbols;
}

/* Opens an existing pipe or terminal, or creates a file with the read permissions of the measurement. Returns
 * -1 with errno. */
static int open_stack_log(struct followed *followed)
{
    struct stat there, measured;
    mode_t mode = fstat(followed->file, &measured) == 0 ? measured.st_mode & 0666 : 0600;
    followed->log = memory_text("%s", followed->wanted);
    if (stat(followed->log, &there) == 0 && !S_ISREG(there.st_mode))
        return open(followed->log, O_WRONLY | O_APPEND | O_CLOEXEC | O_NONBLOCK);
    int file;
    for (int i = 1; (file = open(followed->log, O_RDWR | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, mode)) < 0 &&
                    errno == EEXIST && i < MAX_ATTEMPTS;
         i++) {
        free(followed->log);
        followed->log = memory_text("%s.%d", followed->wanted, i);
    }
    return file;
}

/* Removes the last line of the log if it is incomplete. */
static void drop_partial_line(int file)
{
    struct stat now;
    char byte = '\n';
    if (fstat(file, &now) != 0 || !S_ISREG(now.st_mode))
        return;
    off_t end = now.st_size;
    while (end > 0 && pread(file, &byte, 1, end - 1) == 1 && byte != '\n')
        end--;
    if (end < now.st_size && ftruncate(file, end) != 0)
        return;
}

static void give_up_stack_log(struct followed *followed, int cause)
{
    followed->given_up = true;
    log_line(followed->log, ": the log of stacks cannot be written: ", strerror(cause), "; blame export ",
             log_word(followed->directory, (char[LOG_WORD_BYTES]){0}), " --format stacks writes the log later", NULL);
    if (!followed->out)
        return;
    __fpurge(followed->out); /* Drops what is buffered, which fclose() would write. */
    drop_partial_line(fileno(followed->out));
}

static bool begin_stack_log(struct followed *followed)
{
    int file = open_stack_log(followed);
    if (file >= 0)
        fcntl(file, F_SETFL,
              /* O_NONBLOCK was only needed so that opening a pipe without a reader fails */
              fcntl(file, F_GETFL) & ~O_NONBLOCK);
    followed->out = file >= 0 ? fdopen(file, "a") : NULL;
    if (!followed->out) {
        give_up_stack_log(followed, errno);
        return false;
    }
    log_line_of_job("stacks: tail -f ", followed->log, NULL);
    followed->stacks = export_stacks_new(followed->out, &followed->tail, STACKS_WALL, open_followed_symbols, followed);
    return true;
}

/* Writes the new samples to the log. */
static void write_new_samples(struct followed *followed)
{
    struct trace_sample sample;
    if (followed->given_up || !trace_tail_refresh(&followed->tail) || followed->tail.header.wants_region)
        /* A process without a parallel region removes its directory at its end, and only an empty directory
         * can be removed. */
        return;
    while (trace_tail_next(&followed->tail, &sample))
        if ((!followed->out && !begin_stack_log(followed)) || !export_stacks_put(followed->stacks, &sample)) {
            if (!followed->given_up)
                give_up_stack_log(followed, errno);
            return;
        }
    if (followed->out && fflush(followed->out) != 0)
        give_up_stack_log(followed, errno);
}

static void say_followed_missing(const struct followed *followed)
{
    char number[24];
    uint64_t missing = followed->out && !followed->given_up ? trace_tail_missing(&followed->tail) : 0;
    if (missing)
        log_line(followed->log, ": ", log_decimal(missing, number),
                 " samples are missing, because newer samples replaced them in the trace before they were read; give "
                 "a larger --trace-limit",
                 NULL);
}

static void forget_followed(struct followed *followed)
{
    say_followed_missing(followed);
    if (followed->stacks)
        export_stacks_free(followed->stacks);
    if (followed->symbols)
        symbols_close(followed->symbols);
    if (followed->out)
        fclose(followed->out);
    trace_tail_close(&followed->tail);
    close(followed->file);
    free(followed->directory);
    free(followed->wanted);
    free(followed->log);
    free(followed);
}

static struct followed *follow_file(const struct run_note *note, const char *output)
{
    const char *directory = note->text[RUN_NOTE_DIRECTORY], *file = note->text[RUN_NOTE_FILE],
               *target = note->text[RUN_NOTE_TARGET];
    const char *name = strrchr(*target ? target : file, '/');
    int descriptor = open(file, O_RDONLY | O_CLOEXEC);
    struct profile_header header;
    if (descriptor < 0 || !name || !profile_read_header(file, &header)) {
        if (descriptor >= 0)
            close(descriptor);
        return NULL;
    }
    struct followed *followed = memory_array(1, sizeof *followed);
    int length = (int)strlen(name);
    length -=
        length > (int)strlen(ENDING) && strcmp(name + length - strlen(ENDING), ENDING) == 0 ? (int)strlen(ENDING) : 0;
    followed->directory = memory_text("%s", directory);
    followed->wanted = output ? memory_text("%s", output) : memory_text("%s%.*s.stacks", directory, length, name);
    followed->file = descriptor;
    trace_tail_open(&followed->tail, descriptor);
    return followed;
}

struct following {
    const char *notes, *output;
    FILE *list;
    struct followed *first;
};

static void look_for_new_profiles(struct following *following)
{
    struct run_note note = {0};
    if (!following->list)
        following->list = fopen(following->notes, "re");
    if (!following->list)
        return;
    clearerr(following->list);
    while (run_note_next(following->list, &note)) {
        struct followed *followed = follow_file(&note, following->output);
        if (!followed)
            continue;
        followed->next = following->first;
        following->first = followed;
    }
    run_note_free(&note);
}

/* Writes the new samples of all processes. Once a process has ended, writes its last samples and forgets it. */
static void follow_all_profiles(struct following *following, bool last)
{
    look_for_new_profiles(following);
    for (struct followed **at = &following->first; *at;) {
        struct followed *followed = *at;
        struct profile_header *header = &followed->tail.header;
        bool over = last || header->finished || (header->pid && os_is_dead(header->pid));
        write_new_samples(followed);
        if (!over) {
            at = &followed->next;
            continue;
        }
        *at = followed->next;
        forget_followed(followed);
    }
}

/* Ignores the signals with which a terminal ends its programs, because the last samples must still be
 * written. */
static void follow_set_signals(void)
{
    static const int signals[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGPIPE, SIGXFSZ};
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        signal(signals[i], SIG_IGN);
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    for (int fd = STDIN_FILENO; null >= 0 && fd <= STDOUT_FILENO; fd++)
        dup2(null, fd);
    finish_offer_ourselves();
    errno = 0;
    if (nice(NICENESS) == -1 && errno)
        return; /* The lower priority is only a courtesy. */
}

static void follow_no_memory(void)
{
    log_line("not enough memory to write the log of stacks; blame export DIR --format stacks writes the log later",
             NULL);
}

/* Writes the logs until the program ends, then ends this process. */
static void follow_until(int end, const char *notes, const char *output)
{
    struct following following = {.notes = notes, .output = output};
    struct pollfd ended = {.fd = end, .events = POLLIN};
    memory_exhausted = follow_no_memory;
    follow_set_signals();
    bool last = false;
    while (!last) {
        last = poll(&ended, 1, LOOK_MS) > 0;
        if (last) /* From now on, signals may end this process. */
            for (int number = SIGINT; number <= SIGTERM; number++)
                if (number == SIGINT || number == SIGQUIT || number == SIGTERM)
                    signal(number, SIG_DFL);
        follow_all_profiles(&following, last);
    }
    _exit(0);
}

void follow_start(struct follower *follower, const char *notes, const char *output)
{
    int ends[2] = {-1, -1};
    *follower = (struct follower){.end = -1};
    pid_t pid = *notes && pipe2(ends, O_CLOEXEC) == 0 ? fork() : -1;
    if (pid == 0) {
        close(ends[1]);
        follow_until(ends[0], notes, output);
    }
    if (pid < 0)
        log_line("the log of stacks cannot be written: ", *notes ? strerror(errno) : "no temporary directory",
                 "; blame export DIR --format stacks writes the log later", NULL);
    if (ends[0] >= 0)
        close(ends[0]);
    if (pid < 0 && ends[1] >= 0)
        close(ends[1]);
    if (pid > 0)
        *follower = (struct follower){pid, ends[1]};
}

void follow_end(struct follower *follower)
{
    int status = 0;
    if (!follower->pid)
        return;
    close(follower->end);
    while (waitpid(follower->pid, &status, 0) < 0)
        if (errno != EINTR)
            return;
    if (status != 0)
        log_line("the log of stacks is incomplete (", WIFSIGNALED(status) ? strsignal(WTERMSIG(status)) : "an error",
                 "); blame export DIR --format stacks writes the whole log", NULL);
}
