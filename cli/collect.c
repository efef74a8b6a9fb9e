#include "cli/collect.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/os.h"
#include "cct/profile_read.h"
#include "report/output.h"
#include "report/symbols.h"

static void finish_profile(const char *directory, const char *file)
{
    char error[512];
    struct profile *profile = profile_read(file, error, sizeof(error));
    if (!profile) {
        fprintf(stderr, "blame: %s\n", error);
        return;
    }
    if (!profile->header.finished) {
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
}

static void collect_one(const char *directory, const char *file)
{
    char target[PATH_MAX];
    const char *name = strrchr(file, '/');
    size_t length = strlen(directory);
    if (strncmp(file, directory, length) == 0 && file[length] == '/') {
        finish_profile(directory, file);
        return;
    }
    /* It lay in memory for the time of the run; a process that ended well has moved it itself. */
    if (!name || access(file, F_OK) != 0 ||
        snprintf(target, sizeof(target), "%s%s", directory, name) >= (int)sizeof(target))
        return;
    if (!os_copy_file(file, target)) {
        fprintf(stderr, "blame: %s: %s; the profile stays in %s\n", target, strerror(errno), file);
        return;
    }
    unlink(file);
    finish_profile(directory, target);
}

int collect_profiles(const char *notes)
{
    char line[2 * PATH_MAX + 2];
    int count = 0;
    FILE *list = fopen(notes, "re");
    while (list && fgets(line, sizeof(line), list)) {
        char *tab = strchr(line, '\t'), *end = strchr(line, '\n');
        count++;
        if (!tab || !end)
            continue;
        *tab = *end = '\0';
        collect_one(line, tab + 1);
    }
    if (list)
        fclose(list);
    /* A limit on files may keep the tool from writing its line: the file alone says that it was there. */
    return list && count == 0 ? 1 : count;
}
