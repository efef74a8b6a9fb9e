/* A database of HPCToolkit's, as hpcviewer opens it. */
#include "export/hpctoolkit.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "export/export.h"
#include "report/text/memory.h"

static bool make_directory(const char *directory, const char *name)
{
    char *path = memory_text("%s/%s", directory, name);
    bool good = mkdir(path, 0777) == 0;
    free(path);
    return good;
}

bool export_hpctoolkit(const char *directory, struct locations *locations)
{
    const struct rows *rows = locations->rows;
    struct hpc_contexts contexts;
    struct hpc_profiles profiles = {0};
    hpc_contexts_make(&contexts, rows);
    bool good = make_directory(directory, "src") && make_directory(directory, "metrics") && hpc_write_trace(directory, locations, &contexts) &&
                hpc_write_meta(directory, locations->profile, &contexts) &&
                hpc_write_metrics(directory, &contexts) && hpc_write_profiles(directory, locations, &contexts, &profiles) &&
                hpc_write_cct(directory, &contexts, &profiles);
    int why = errno;
    free(profiles.info);
    hpc_contexts_free(&contexts);
    errno = why;
    return good;
}
