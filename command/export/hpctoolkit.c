/* Writes HPCToolkit databases, which hpcviewer shows. */
#include "command/export/hpctoolkit.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "command/export/export.h"
#include "command/export/formats.h"
#include "command/export/locations.h"
#include "command/text/memory.h"

static bool hpc_make_directory(const char *directory, const char *name)
{
    char *path = memory_text("%s/%s", directory, name);
    bool good = mkdir(path, 0777) == 0;
    free(path);
    return good;
}

bool export_hpctoolkit(const char *directory, const struct export_input *input)
{
    struct locations *locations = input->locations;
    const struct rows *rows = locations->rows;
    struct hpc_contexts contexts;
    struct hpc_profiles profiles = {0};
    hpc_contexts_make(&contexts, rows);
    bool good = hpc_make_directory(directory, "src") && hpc_make_directory(directory, "metrics") &&
                hpc_write_trace(directory, locations, &contexts) &&
                hpc_write_meta(directory, locations->profile, &contexts) && hpc_write_metrics(directory, &contexts) &&
                hpc_write_profiles(directory, locations, &contexts, &profiles) &&
                hpc_write_cct(directory, &contexts, &profiles);
    int why = errno;
    free(profiles.info);
    hpc_contexts_free(&contexts);
    errno = why;
    return good;
}
