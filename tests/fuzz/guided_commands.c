/* needs: tests/fuzz/in_process.c tests/fuzz/command_lines.c tests/fuzz/changes.c tests/fuzz/commands_edits.c tests/fuzz/profile_builder.c */
/* libs: -Wl,--wrap=exit */
/* Whole commands over measurement files that are changed: a made one, one of a job that was merged, one of a killed process. */
#include <stdlib.h>
#include <string.h>

#include "cct/profile_format.h"
#include "tests/fuzz/changes.h"
#include "tests/fuzz/commands.h"
#include "tests/fuzz/in_process.h"
#include "tests/fuzz/profile_builder.h"

#define FILES 3u

static struct base files[FILES];
static unsigned char *changed;

static void add_file(size_t number, unsigned char *bytes, size_t size)
{
    files[number] = (struct base){.bytes = bytes, .size = size};
    base_forget_binaries(&files[number]);
}

static void make_killed(struct base *base)
{
    struct profile_header *header = (struct profile_header *)base->bytes;
    header->finished = 0;
    header->end_ns = 0;
    header->threads_max = 0;
    header->pid = 1 << 22; /* nobody has it */
}

static void make_files(void)
{
    struct profile_builder builder;
    size_t size;
    builder_example(&builder, 1, 24, 1);
    builder_trace(&builder, 1, 60, 1);
    builder_text(&builder, "job_identity", IN_PROCESS_JOB);
    add_file(0, builder.bytes, builder.size);
    in_process_start(files[0].bytes, files[0].size);
    unsigned char *merged = in_process_merged(&size), *killed = malloc(builder.size);
    memcpy(killed, files[0].bytes, files[0].size);
    add_file(1, merged, size);
    add_file(2, killed, builder.size);
    make_killed(&files[2]);
    changed = malloc(size > builder.size ? size : builder.size);
    atexit(in_process_print_counts);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t count);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t count)
{
    if (!files[0].bytes)
        make_files();
    if (count < CHANGES_HEAD)
        return 0;
    const struct base *file = &files[data[1] % FILES];
    memcpy(changed, file->bytes, file->size);
    in_process_run(data[0], changed, changes_apply(data, count, changed, file->size));
    return 0;
}

void changes_choose(struct change *change, size_t file)
{
    static const uint8_t widths[] = {[1] = 0, [2] = 1, [4] = 2, [8] = 3};
    struct edits edits;
    const struct base *base = &files[file % FILES];
    if (!base->bytes)
        make_files();
    edits_choose(&edits, base, (uint64_t)random() << 31 ^ (uint64_t)random());
    *change = (struct change){.at = (uint32_t)edits.edit[0].at, .value = edits.edit[0].value, .how = CHANGE_END};
    if (edits.edit[0].bytes)
        change->how = widths[edits.edit[0].bytes];
    else
        return;
    size_t chunks = (base->size - PROFILE_HEADER_BYTES) / PROFILE_CHUNK_BYTES;
    if (random() % 16 == 0)
        *change =
            (struct change){.at = PROFILE_HEADER_BYTES + (uint32_t)((size_t)random() % chunks * PROFILE_CHUNK_BYTES),
                            .how = CHANGE_COPY | 3,
                            .value = PROFILE_HEADER_BYTES + (size_t)random() % chunks * PROFILE_CHUNK_BYTES};
}
