#include "command/files/output.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "command/files/csv.h"
#include "command/files/json.h"
#include "command/tables/locks.h"
#include "command/tables/phases.h"
#include "command/text/memory.h"
#include "command/text/unfinished.h"

static void output_profile(FILE *out, const struct profile *profile, const struct report_tables *tables)
{
    (void)profile;
    write_profile_csv(out, tables->rows, false);
}

static void output_threads(FILE *out, const struct profile *profile, const struct report_tables *tables)
{
    (void)tables;
    write_threads_csv(out, profile, NULL);
}

static void output_locks(FILE *out, const struct profile *profile, const struct report_tables *tables)
{
    (void)profile;
    write_locks_csv(out, tables->locks);
}

static void output_waits(FILE *out, const struct profile *profile, const struct report_tables *tables)
{
    (void)profile;
    write_waits_csv(out, tables->rows, tables->waits);
}

static void output_phases(FILE *out, const struct profile *profile, const struct report_tables *tables)
{
    struct phase_table *table = phases_gather(profile, tables->rows);
    write_phases_csv(out, tables->rows, table);
    phases_free(table);
}

static void output_ranks(FILE *out, const struct profile *profile, const struct report_tables *tables)
{
    (void)tables;
    write_ranks_csv(out, profile);
}

static void output_spread(FILE *out, const struct profile *profile, const struct report_tables *tables)
{
    write_spread_csv(out, profile, tables->rows);
}

static void output_balance(FILE *out, const struct profile *profile, const struct report_tables *tables)
{
    write_balance_csv(out, profile, tables->rows);
}

static void output_wakes(FILE *out, const struct profile *profile, const struct report_tables *tables)
{
    (void)profile;
    write_wakes_csv(out, tables->wakes);
}

static bool output_has_wakes(const struct profile *profile)
{
    return profile->wake_count > 0;
}

static bool output_is_for_job(const struct profile *profile)
{
    return profile->header.merged > 0;
}

static void output_json(FILE *out, const struct profile *profile, const struct report_tables *tables)
{
    write_run_json(out, profile, tables);
}

static const struct output_file {
    const char *name;
    void (*put)(FILE *out, const struct profile *profile, const struct report_tables *tables);
    /* decides whether the file is written; NULL: it is always written */
    bool (*wanted)(const struct profile *profile);
} files[] = {
    {.name = "profile.csv", .put = output_profile},
    {.name = "threads.csv", .put = output_threads},
    {.name = "locks.csv", .put = output_locks},
    {.name = "waits.csv", .put = output_waits},
    {.name = "wakes.csv", .put = output_wakes, .wanted = output_has_wakes},
    {.name = "phases.csv", .put = output_phases, .wanted = phases_any},
    {.name = "ranks.csv", .put = output_ranks, .wanted = output_is_for_job},
    {.name = "spread.csv", .put = output_spread, .wanted = output_is_for_job},
    {.name = "balance.csv", .put = output_balance, .wanted = output_is_for_job},
    {.name = "run.json", .put = output_json},
};

#define FILE_COUNT (sizeof files / sizeof *files)

/* Final and temporary path of each file; NULL if the file is not written. */
static struct {
    char *path, *temporary;
} out[FILE_COUNT];

/* Removes the temporary files that were not renamed. */
static void output_remove_temporaries(void)
{
    for (size_t i = 0; i < FILE_COUNT; i++) {
        if (out[i].temporary)
            unfinished_remove(out[i].temporary);
        free(out[i].path);
        free(out[i].temporary);
        out[i].path = out[i].temporary = NULL;
    }
}

/* Writes one file under its temporary name. Returns 0 or an errno value. */
static int output_write_file(size_t number, const struct profile *profile, const struct report_tables *tables,
                             const char *dir)
{
    char *temporary = memory_text("%s/.%s.%ld.part", dir, files[number].name, (long)getpid());
    FILE *stream = unfinished_file(temporary);
    if (!stream) {
        free(temporary);
        return errno;
    }
    out[number].path = memory_text("%s/%s", dir, files[number].name);
    out[number].temporary = temporary;
    /* If only the owner may enter the directory (BLAME_PRIVATE), the file is made private as well, because it
     * may be copied to another place. */
    struct stat above;
    if (stat(dir, &above) == 0 && (above.st_mode & 077) == 0)
        fchmod(fileno(stream), 0600);
    errno = 0;
    files[number].put(stream, profile, tables);
    int wrong = ferror(stream) ? (errno ? errno : EIO) : 0;
    errno = 0;
    /* On a network file system, a full disk or a quota may show only here. */
    if (fclose(stream) != 0 && !wrong)
        wrong = errno ? errno : EIO;
    return wrong;
}

int report_write_files(const struct profile *profile, const struct report_tables *tables, const char *dir, char *error,
                       size_t error_bytes)
{
    int wrong = 0;
    size_t written = 0, renamed = 0;
    for (; written < FILE_COUNT && !wrong; written += !wrong)
        if (!files[written].wanted || files[written].wanted(profile))
            wrong = output_write_file(written, profile, tables, dir);
    unfinished_hold();
    for (; renamed < FILE_COUNT && !wrong; renamed += !wrong)
        if (out[renamed].temporary && rename(out[renamed].temporary, out[renamed].path) != 0)
            wrong = errno;
    unfinished_release();
    if (wrong) {
        snprintf(error, error_bytes, "cannot write %s/%s: %s; the measurement itself (*.blame) is kept", dir,
                 files[written < FILE_COUNT ? written : renamed].name, strerror(wrong));
        for (size_t i = 0; i < renamed; i++)
            if (out[i].path)
                unlink(out[i].path);
    }
    output_remove_temporaries();
    return wrong ? -1 : 0;
}
