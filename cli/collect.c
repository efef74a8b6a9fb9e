#include "cli/collect.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/os.h"
#include "cct/profile_read.h"
#include "report/files/output.h"
#include "report/symbols/symbols.h"
#include "report/views/summary.h"

/* True if it is a profile. */
static bool finish_profile(const char *directory, const char *file)
{
    char error[512];
    if (access(file, F_OK) != 0)
        return false; /* no region, no profile: the process has removed it */
    struct profile *profile = profile_read(file, error, sizeof(error));
    if (!profile) {
        fprintf(stderr, "blame: %s\n", error);
        return true;
    }
    bool wanted = !profile->header.wants_region;
    if (!wanted && kill(profile->header.pid, 0) != 0) { /* not one that runs on behind the program */
        unlink(file);
        rmdir(directory);
    } else if (wanted && !profile->header.finished) {
        struct symbols *symbols = symbols_open(profile->modules, profile->module_count);
        struct report_tables tables = report_tables_make(profile, symbols);
        if (profile->header.csv && report_write_files(profile, &tables, directory, error, sizeof(error)) != 0)
            fprintf(stderr, "blame: %s\n", error);
        if (profile->header.summary)
            report_print_summary(stderr, profile, &tables, directory);
        int wrong = symbols_keep(symbols, &profile->header, profile->path);
        if (wrong)
            fprintf(stderr, "blame: %s: its names cannot be kept: %s; keep the binaries to read it\n",
                    profile->path, strerror(wrong));
        report_tables_free(&tables);
        symbols_close(symbols);
    }
    profile_free(profile);
    return wanted;
}

static bool collect_one(const char *directory, const char *file)
{
    char target[PATH_MAX];
    const char *name = strrchr(file, '/');
    size_t length = strlen(directory);
    if (strncmp(file, directory, length) == 0 && file[length] == '/')
        return finish_profile(directory, file);
    if (!name || snprintf(target, sizeof(target), "%s%s", directory, name) >= (int)sizeof(target))
        return true;
    /* It lay in memory for the time of the run; a process that ended well has moved it itself. */
    if (access(file, F_OK) == 0) {
        if (!os_copy_file(file, target)) {
            fprintf(stderr, "blame: %s: %s; the profile stays in %s\n", target, strerror(errno), file);
            return true;
        }
        unlink(file);
    }
    return finish_profile(directory, target);
}

int collect_profiles(const char *notes)
{
    char line[2 * PATH_MAX + 2];
    int count = 0;
    bool empty = true;
    FILE *list = fopen(notes, "re");
    while (list && fgets(line, sizeof(line), list)) {
        char *tab = strchr(line, '\t'), *end = strchr(line, '\n');
        empty = false;
        if (!tab || !end) {
            count++;
            continue;
        }
        *tab = *end = '\0';
        count += collect_one(line, tab + 1);
    }
    if (list)
        fclose(list);
    /* A limit on files may keep the tool from writing its line: the file alone says that it was there. */
    return list && empty ? 1 : count;
}
