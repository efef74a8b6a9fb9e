#include "report/files/output.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "report/files/csv.h"
#include "report/files/json.h"
#include "report/tables/locks.h"
#include "report/tables/phases.h"

/* What the writers need, made once. */
struct material {
    const struct profile *profile;
    struct rows *rows;
    struct lock_table *locks;
    struct wait_table *waits;
};

static bool put_profile(FILE *out, const struct material *material)
{
    write_profile_csv(out, material->rows);
    return true;
}

static bool put_threads(FILE *out, const struct material *material)
{
    write_threads_csv(out, material->profile);
    return true;
}

static bool put_locks(FILE *out, const struct material *material)
{
    return write_locks_csv(out, material->locks);
}

static bool put_waits(FILE *out, const struct material *material)
{
    write_waits_csv(out, material->rows, material->waits);
    return true;
}

static bool put_phases(FILE *out, const struct material *material)
{
    struct phase_table *table = phases_gather(material->profile, material->rows);
    if (table)
        write_phases_csv(out, material->rows, table);
    phases_free(table);
    return table != NULL;
}

static bool put_json(FILE *out, const struct material *material)
{
    return write_run_json(out, material->profile, material->rows);
}

static const struct output_file {
    const char *name;
    bool (*put)(FILE *out, const struct material *material); /* false: no memory */
    bool (*wanted)(const struct profile *profile);           /* NULL: always */
} files[] = {
    {.name = "profile.csv", .put = put_profile},
    {.name = "threads.csv", .put = put_threads},
    {.name = "locks.csv", .put = put_locks},
    {.name = "waits.csv", .put = put_waits},
    {.name = "phases.csv", .put = put_phases, .wanted = phases_any},
    {.name = "run.json", .put = put_json},
};

#define FILE_COUNT (sizeof files / sizeof *files)

static bool is_wanted(const struct output_file *file, const struct material *material)
{
    return !file->wanted || file->wanted(material->profile);
}

/* Both names of an output file; false if they are too long. */
static bool make_paths(const char *dir, const char *name, char *path, char *temporary, size_t bytes)
{
    int length = snprintf(path, bytes, "%s/%s", dir, name);
    int temporary_length = snprintf(temporary, bytes, "%s/.%s.%ld", dir, name, (long)getpid());
    return length >= 0 && temporary_length >= 0 && (size_t)length < bytes && (size_t)temporary_length < bytes;
}

/* Writes one file under its temporary name. Returns 0 or an errno value. */
static int write_one(const struct output_file *file, const struct material *material, const char *dir,
                     const char *temporary)
{
    FILE *out = fopen(temporary, "wxe");
    if (!out)
        return errno;
    /* In a directory of its owner alone (BLAME_PRIVATE) a file is, too: it may be copied. */
    struct stat above;
    if (stat(dir, &above) == 0 && (above.st_mode & 077) == 0)
        fchmod(fileno(out), 0600);
    errno = 0;
    bool memory = file->put(out, material);
    int wrong = !memory ? ENOMEM : ferror(out) ? (errno ? errno : EIO) : 0;
    errno = 0;
    /* A full disk, or a quota on a network file system, may show no earlier than here. */
    if (fclose(out) != 0 && !wrong)
        wrong = errno ? errno : EIO;
    return wrong;
}

static int write_all(const struct material *material, const char *dir, char *error, size_t error_bytes)
{
    char path[4096], temporary[4096];
    int wrong = 0;
    size_t written = 0, renamed = 0;
    for (; written < FILE_COUNT && !wrong; written += !wrong) {
        if (!is_wanted(&files[written], material))
            continue;
        wrong = make_paths(dir, files[written].name, path, temporary, sizeof path) ? 0 : ENAMETOOLONG;
        if (!wrong)
            wrong = write_one(&files[written], material, dir, temporary);
        if (wrong && wrong != EEXIST && wrong != ENAMETOOLONG)
            unlink(temporary);
    }
    for (; renamed < FILE_COUNT && !wrong; renamed += !wrong) {
        if (!is_wanted(&files[renamed], material))
            continue;
        make_paths(dir, files[renamed].name, path, temporary, sizeof path);
        if (rename(temporary, path) != 0)
            wrong = errno;
    }
    if (!wrong)
        return 0;
    snprintf(error, error_bytes, "cannot write %s/%s: %s; the measurement itself (*.blame) is kept", dir,
             files[written < FILE_COUNT ? written : renamed].name, strerror(wrong));
    for (size_t i = renamed; i < written; i++)
        if (make_paths(dir, files[i].name, path, temporary, sizeof path))
            unlink(temporary);
    for (size_t i = 0; i < renamed; i++)
        if (make_paths(dir, files[i].name, path, temporary, sizeof path))
            unlink(path);
    return -1;
}

int report_write_files(const struct profile *profile, const struct report_tables *tables, const char *dir,
                       char *error, size_t error_bytes)
{
    struct material material = {
        .profile = profile, .rows = tables->rows, .locks = tables->locks, .waits = tables->waits};
    if (material.waits)
        return write_all(&material, dir, error, error_bytes);
    snprintf(error, error_bytes, "cannot write %s/profile.csv: not enough memory", dir);
    return -1;
}
