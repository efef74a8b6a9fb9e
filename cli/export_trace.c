#include "cli/export_trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/job_files.h"
#include "cli/open_profile.h"
#include "export/traced.h"
#include "report/text/memory.h"

/* Perfetto takes 2 to 4 times as much in memory, of which a page has 4 GB; text that is longer no Chromium reads into a page. */
#define LARGE_BYTES 500000000LL

void note_thinned(const char *path, unsigned long long kept, unsigned long long thinned)
{
    if (thinned)
        fprintf(stderr, "blame export: %s: the trace had no room for %llu of %llu samples\n", path, thinned, thinned + kept);
}

static bool open_trace(const char *path, struct opened_traces *traces)
{
    char error[512];
    struct opened_profile *opened = &traces->opened[traces->count];
    if (!open_rows("export", path, opened))
        return false;
    struct traced_process *process = &traces->processes[traces->count++];
    process->rows = opened->rows;
    process->trace = trace_read(opened->profile, error, sizeof error);
    if (process->trace)
        note_thinned(opened->profile->path, process->trace->samples, process->trace->thinned);
    else
        fprintf(stderr, "blame export: %s\n", error);
    return process->trace != NULL;
}

bool open_traces(const char *input, struct opened_traces *traces)
{
    struct stat status;
    bool job = stat(input, &status) == 0 && S_ISDIR(status.st_mode) && job_is_there(input);
    struct job_files files = job ? job_list_files(input) : (struct job_files){0};
    size_t count = job ? (size_t)files.count : 1;
    bool good = count > 0;
    if (!good)
        fprintf(stderr, JOB_WITHOUT_FILES, "export", input);
    *traces = (struct opened_traces){.opened = memory_array(count, sizeof *traces->opened),
                                     .processes = memory_array(count, sizeof *traces->processes)};
    for (size_t i = 0; i < count && good; i++)
        good = open_trace(job ? files.path[i] : input, traces);
    job_free_files(&files);
    return good;
}

void close_traces(struct opened_traces *traces)
{
    for (size_t i = 0; i < traces->count; i++) {
        trace_free(traces->processes[i].trace);
        close_profile(&traces->opened[i]);
    }
    free(traces->opened);
    free(traces->processes);
}

void note_size(const char *format, long long bytes)
{
    if (bytes > LARGE_BYTES && strcmp(format, "perfetto") == 0)
        fprintf(stderr,
                "blame export: %lld MB: Perfetto needs 2 to 4 times as much memory, and a browser's page has 4 GB; its trace_processor takes more, and "
                "blame run --trace FROM:TO measures a part\n",
                bytes / 1000000);
    else if (bytes > LARGE_BYTES)
        fprintf(stderr,
                "blame export: %lld MB: profiler.firefox.com may not read that much (Chromium: 512 MB of text); blame run --trace FROM:TO measures a part\n",
                bytes / 1000000);
}
