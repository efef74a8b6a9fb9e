/* Writes cct.db of an HPCToolkit database: the values of profile.db, context by context. */
#include "command/export/hpctoolkit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "command/text/memory.h"

/* For each context in turn, the values of all profiles are collected. A profile has a cursor, which points to
 * the next context with values in the profile, and which waits in a list of that context. Therefore the cost
 * of a context depends on how many profiles have values for it, not on how many profiles there are. */

#define CONTEXTS_AT_ONCE 16384u

struct info {
    uint64_t value_count, values;
    uint16_t metric_count, none[3];
    uint64_t metrics;
};

struct value {
    uint32_t profile;
    double value;
} __attribute__((packed));

struct values_of {
    uint16_t metric;
    uint64_t first;
} __attribute__((packed));

/* A position in a profile: the contexts and values that have not been written yet. */
struct cursor {
    uint32_t profile;
    uint32_t left; /* unread contexts */
    const struct hpc_values_of *at;
    const struct hpc_value *values, *value, *end;
    uint64_t value_count;
    struct cursor *next; /* next cursor that waits for the same context */
};

struct walk {
    struct cursor *cursor;
    struct cursor **waiting; /* for each context, the first of the cursors that wait for it */
    /* cursors of the profiles that have values for the current context, sorted by profile */
    struct cursor **here;
    size_t here_count;
};

static void hpc_wait_for_next_context(struct walk *walk, struct cursor *cursor)
{
    if (!cursor->left)
        return;
    cursor->next = walk->waiting[cursor->at->context];
    walk->waiting[cursor->at->context] = cursor;
}

static void hpc_start_walk(struct walk *walk, const struct hpc_profiles *profiles, size_t contexts, const char *bytes)
{
    *walk = (struct walk){.cursor = memory_array(profiles->count, sizeof *walk->cursor),
                          .here = memory_array(profiles->count, sizeof *walk->here),
                          .waiting = memory_array(contexts, sizeof *walk->waiting)};
    for (uint32_t i = 1; i < profiles->count; i++) {
        const struct hpc_profile_info *info = &profiles->info[i];
        walk->cursor[i] = (struct cursor){.profile = i,
                                          .left = info->context_count,
                                          .at = (const void *)(bytes + info->contexts),
                                          .values = (const void *)(bytes + info->values),
                                          .value_count = info->value_count};
        hpc_wait_for_next_context(walk, &walk->cursor[i]);
    }
}

static int hpc_compare_cursors(const void *left, const void *right)
{
    const struct cursor *a = *(struct cursor *const *)left, *b = *(struct cursor *const *)right;
    return (a->profile > b->profile) - (a->profile < b->profile);
}

static void hpc_walk_to_context(struct walk *walk, uint32_t context)
{
    walk->here_count = 0;
    for (struct cursor *cursor = walk->waiting[context], *next; cursor; cursor = next) {
        next = cursor->next;
        cursor->value = cursor->values + cursor->at->first;
        cursor->left--;
        cursor->end = cursor->values + (cursor->left ? cursor->at[1].first : cursor->value_count);
        cursor->at++;
        walk->here[walk->here_count++] = cursor;
        hpc_wait_for_next_context(walk, cursor);
    }
    qsort(walk->here, walk->here_count, sizeof *walk->here, hpc_compare_cursors);
}

static void hpc_put_context_values(struct hpc_file *file, struct walk *walk, uint16_t values, struct info *info)
{
    struct values_of metrics[values];
    hpc_align(file, 4);
    info->values = file->at;
    for (uint16_t v = 0; v < values && walk->here_count; v++) {
        uint64_t before = info->value_count;
        for (size_t i = 0; i < walk->here_count; i++) {
            struct cursor *cursor = walk->here[i];
            if (cursor->value == cursor->end || cursor->value->metric != v)
                continue;
            struct value value = {cursor->profile, cursor->value++->value};
            hpc_put(file, &value, sizeof value);
            info->value_count++;
        }
        if (info->value_count > before)
            metrics[info->metric_count++] = (struct values_of){v, before};
    }
    info->metrics = file->at;
    hpc_put(file, metrics, info->metric_count * sizeof *metrics);
}

/* Maps profile.db into memory. Returns NULL and sets errno on failure. */
static const char *hpc_map_profiles(const char *directory, size_t *bytes)
{
    char *path = memory_text("%s/profile.db", directory);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    struct stat status;
    void *map = MAP_FAILED;
    free(path);
    if (file >= 0 && fstat(file, &status) == 0)
        map = mmap(NULL, *bytes = (size_t)status.st_size, PROT_READ, MAP_PRIVATE, file, 0);
    if (file >= 0)
        close(file);
    return map == MAP_FAILED ? NULL : map;
}

bool hpc_write_cct(const char *directory, const struct hpc_contexts *contexts, const struct hpc_profiles *profiles)
{
    size_t bytes;
    struct hpc_file file;
    struct walk walk;
    const char *map = hpc_map_profiles(directory, &bytes);
    if (!map || !hpc_open(&file, directory, "cct.db", 1))
        return false;
    struct hpc_section section = {.at = file.at, .bytes = HPC_INFOS_BYTES + contexts->count * sizeof(struct info)};
    const uint64_t head[] = {section.at + HPC_INFOS_BYTES, (uint64_t)sizeof(struct info) << 32 | contexts->count};
    struct info *infos = memory_array(contexts->count, sizeof *infos);
    hpc_put(&file, head, sizeof head);
    hpc_put(&file, infos, contexts->count * sizeof *infos);
    hpc_start_walk(&walk, profiles, contexts->count, map);
    for (uint32_t c = 0; c < contexts->count; c++) {
        hpc_walk_to_context(&walk, c);
        hpc_put_context_values(&file, &walk, contexts->values, &infos[c]);
        /* this process no longer needs the pages it has read, which stay in the page cache */
        if (c % CONTEXTS_AT_ONCE == 0)
            madvise((void *)map, bytes, MADV_DONTNEED);
    }
    hpc_align(&file, 8);
    bool there = fflush(file.stream) == 0 && fseek(file.stream, (long)head[0], SEEK_SET) == 0;
    if (!there || fwrite(infos, sizeof *infos, contexts->count, file.stream) != contexts->count ||
        fseek(file.stream, 0, SEEK_END) != 0)
        file.why = file.why ? file.why : errno;
    bool good = hpc_close(&file, "ctxt", &section, 1, "__ctx.db");
    int why = errno;
    free(infos);
    free(walk.cursor);
    free(walk.here);
    free(walk.waiting);
    munmap((void *)map, bytes);
    errno = why;
    return good;
}
