/* cct.db: the values of profile.db once more, by context. All profiles are walked side by side, each in the order of contexts. */
#include "export/hpctoolkit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "report/text/memory.h"

#define INFOS_BYTES 16

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

/* What is not yet written of a profile, and of it of the context that is. */
struct cursor {
    uint32_t profile;
    uint32_t left; /* contexts */
    const struct hpc_values_of *at;
    const struct hpc_value *values, *value, *end;
    uint64_t value_count;
};

struct walk {
    struct cursor *cursor;
    size_t count;
    struct cursor **here; /* that have the context */
    size_t here_count;
};

static void start(struct walk *walk, const struct hpc_profiles *profiles, const char *bytes)
{
    *walk = (struct walk){.cursor = memory_array(profiles->count, sizeof *walk->cursor), .here = memory_array(profiles->count, sizeof *walk->here)};
    for (uint32_t i = 1; i < profiles->count; i++) {
        const struct hpc_profile_info *info = &profiles->info[i];
        walk->cursor[walk->count++] = (struct cursor){.profile = i,
                                                      .left = info->context_count,
                                                      .at = (const void *)(bytes + info->contexts),
                                                      .values = (const void *)(bytes + info->values),
                                                      .value_count = info->value_count};
    }
}

static void go_to(struct walk *walk, uint32_t context)
{
    walk->here_count = 0;
    for (size_t i = 0; i < walk->count; i++) {
        struct cursor *cursor = &walk->cursor[i];
        if (!cursor->left || cursor->at->context != context)
            continue;
        cursor->value = cursor->values + cursor->at->first;
        cursor->left--;
        cursor->end = cursor->values + (cursor->left ? cursor->at[1].first : cursor->value_count);
        cursor->at++;
        walk->here[walk->here_count++] = cursor;
    }
}

static void put_context(struct hpc_file *file, struct walk *walk, struct info *info)
{
    struct values_of metrics[HPC_VALUES];
    hpc_align(file, 4);
    info->values = file->at;
    for (uint16_t v = 0; v < HPC_VALUES && walk->here_count; v++) {
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

/* The profiles as they were written; NULL: errno says why. */
static const char *map_profiles(const char *directory, size_t *bytes)
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
    const char *map = map_profiles(directory, &bytes);
    if (!map || !hpc_open(&file, directory, "cct.db", 1))
        return false;
    struct hpc_section section = {.at = file.at, .bytes = INFOS_BYTES + contexts->count * sizeof(struct info)};
    const uint64_t head[] = {section.at + INFOS_BYTES, (uint64_t)sizeof(struct info) << 32 | contexts->count};
    struct info *infos = memory_array(contexts->count, sizeof *infos);
    hpc_put(&file, head, sizeof head);
    hpc_put(&file, infos, contexts->count * sizeof *infos);
    start(&walk, profiles, map);
    for (uint32_t c = 0; c < contexts->count; c++) {
        go_to(&walk, c);
        put_context(&file, &walk, &infos[c]);
    }
    hpc_align(&file, 8);
    if (fflush(file.stream) == 0 && fseek(file.stream, (long)head[0], SEEK_SET) == 0) {
        fwrite(infos, sizeof *infos, contexts->count, file.stream);
        fseek(file.stream, 0, SEEK_END);
    }
    bool good = hpc_close(&file, "ctxt", &section, 1, "__ctx.db");
    int why = errno;
    free(infos);
    free(walk.cursor);
    free(walk.here);
    munmap((void *)map, bytes);
    errno = why;
    return good;
}
