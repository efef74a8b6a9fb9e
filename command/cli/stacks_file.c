#include "command/cli/stacks_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "command/cli/job_files.h"
#include "command/cli/open_profile.h"
#include "command/profile/read.h"
#include "command/text/memory.h"

struct opened {
    const char *command, *path;
    struct trace_tail tail;
    struct symbols *symbols;
};

static struct symbols *open_stack_symbols(void *data)
{
    struct opened *opened = data;
    if (opened->symbols)
        symbols_close(opened->symbols);
    trace_tail_tables(&opened->tail);
    opened->symbols = memory_check(symbols_open(opened->tail.modules, opened->tail.module_count));
    const char *why = symbols_recall(opened->symbols, &opened->tail.header, opened->path, NULL);
    if (why)
        fprintf(stderr, "blame %s: %s\n", opened->command, why);
    return opened->symbols;
}

static void say_missing_samples(const struct opened *opened)
{
    const struct trace_tail *tail = &opened->tail;
    uint64_t missing = tail->damaged ? 0 : trace_tail_missing(tail);
    if (missing)
        fprintf(stderr, "blame %s: %s: %llu samples %s\n", opened->command, opened->path, (unsigned long long)missing,
                tail->header.room_error
                    ? "are missing, because the measurement file could not grow; --out of blame run writes it "
                      "elsewhere"
                    : "are missing, because the trace was full; a larger --trace-limit of blame run keeps them");
    if (tail->damaged)
        fprintf(stderr,
                "blame %s: %s: damaged: the end of the trace in %llu trees cannot be read; only what precedes the "
                "damage was written\n",
                opened->command, opened->path, (unsigned long long)tail->damaged);
}

static bool write_sample_stacks(struct opened *opened, FILE *out, enum stacks_clock clock)
{
    struct trace_sample sample;
    bool good = trace_tail_refresh(&opened->tail);
    if (!good) {
        fprintf(stderr, "blame %s: %s: cannot be read: %s\n", opened->command, opened->path,
                errno ? strerror(errno) : "it became shorter");
        return false;
    }
    if (!opened->tail.header.traced) {
        fprintf(stderr,
                "blame %s: %s: has no trace, which is needed for stacks; measure again with blame run --trace or "
                "--stacks\n",
                opened->command, opened->path);
        return false;
    }
    struct stacks *stacks = export_stacks_new(out, &opened->tail, clock, open_stack_symbols, opened);
    while (good && trace_tail_next(&opened->tail, &sample))
        good = export_stacks_put(stacks, &sample);
    say_missing_samples(opened);
    export_stacks_free(stacks);
    return good;
}

static bool write_file_stacks(const char *command, const char *path, FILE *out, enum stacks_clock clock)
{
    struct opened opened = {.command = command, .path = path};
    char error[512];
    struct profile_header header;
    struct stat status;
    int file = profile_read_header(path, &header) ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    bool whole = file >= 0 && fstat(file, &status) == 0 &&
                 status.st_size >= (off_t)PROFILE_HEADER_BYTES + (off_t)header.chunk_count * PROFILE_CHUNK_BYTES;
    if (!whole) {
        struct profile *profile = profile_read(path, error, sizeof error); /* only to get the error message */
        fprintf(stderr, "blame %s: %s\n", command, profile ? "its file changes" : error);
        profile_free(profile);
        if (file >= 0)
            close(file);
        return false;
    }
    trace_tail_open(&opened.tail, file);
    bool good = write_sample_stacks(&opened, out, clock);
    if (opened.symbols)
        symbols_close(opened.symbols);
    trace_tail_close(&opened.tail);
    close(file);
    return good;
}

/* Writes the stacks from each rank's own file, because the merged file has no trace. */
static bool write_job_stacks(const char *command, const char *directory, FILE *out, enum stacks_clock clock)
{
    struct job_files files = job_list_files(directory);
    bool good = files.count > 0;
    if (!good)
        fprintf(stderr, JOB_WITHOUT_FILES, command, directory);
    for (int i = 0; i < files.count && good; i++)
        good = write_file_stacks(command, files.path[i], out, clock);
    job_free_files(&files);
    return good;
}

bool stacks_write(const char *command, const char *input, FILE *out, enum stacks_clock clock)
{
    if (job_is_there(input))
        return write_job_stacks(command, input, out, clock);
    char *path = find_measurement(command, input);
    bool good = path && write_file_stacks(command, path, out, clock);
    free(path);
    return good;
}
