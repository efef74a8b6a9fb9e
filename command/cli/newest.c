#include "command/cli/newest.h"

#include <dirent.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "command/cli/job_files.h"

/* Returns whether a directory contains a measurement. *newest is the latest modification time of its
 * measurements. */
static bool measurement_time(const char *directory, struct timespec *newest)
{
    DIR *entries = opendir(directory);
    struct stat status;
    bool found = false;
    for (struct dirent *entry; entries && (entry = readdir(entries));) {
        if (!is_measurement(entry) || fstatat(dirfd(entries), entry->d_name, &status, 0) != 0)
            continue;
        bool newer = !found || status.st_mtim.tv_sec > newest->tv_sec ||
                     (status.st_mtim.tv_sec == newest->tv_sec && status.st_mtim.tv_nsec > newest->tv_nsec);
        *newest = newer ? status.st_mtim : *newest;
        found = true;
    }
    if (entries)
        closedir(entries);
    return found;
}

static int may_be_profile(const struct dirent *entry)
{
    return strcmp(entry->d_name, ".") == 0 || entry->d_name[0] != '.';
}

const char *newest_profile(void)
{
    static char path[NAME_MAX + 1];
    struct dirent **entries = NULL;
    struct timespec newest = {0}, time = {0};
    bool found = false;
    int count = scandir(".", &entries, may_be_profile, versionsort);
    for (int i = 0; i < count; i++) {
        if (measurement_time(entries[i]->d_name, &time) &&
            (!found || time.tv_sec > newest.tv_sec ||
             (time.tv_sec == newest.tv_sec && time.tv_nsec >= newest.tv_nsec))) {
            snprintf(path, sizeof path, "%s", entries[i]->d_name);
            newest = time;
            found = true;
        }
        free(entries[i]);
    }
    free(entries);
    return found ? path : NULL;
}
