#include "command/views/lines.h"

#include <string.h>

#include "command/profile/profile.h"
#include "command/rows/own.h"
#include "command/text/format.h"

/* Returns whether a program belongs to the system. Users do not compile such programs. */
static bool is_of_system(const char *path)
{
    static const char *const folders[] = {"/usr/bin/", "/usr/sbin/", "/usr/lib", "/bin/", "/sbin/", "/lib"};
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        if (strncmp(path, folders[i], strlen(folders[i])) == 0)
            return true;
    return false;
}

bool lines_are_missing(const struct profile *profile, const struct rows *rows)
{
    uint32_t program = profile_program(profile);
    bool any = false;
    if (!program || is_of_system(profile->modules[program - 1].path))
        return false;
    const char *module = format_base_name(profile->modules[program - 1].path);
    for (size_t i = 0; i < rows->count; i++) {
        const struct row *row = &rows->row[i];
        bool function = row->kind == ROW_PROCEDURE || row->kind == ROW_INLINED || row->kind == ROW_PARALLEL ||
                        row->kind == ROW_TASK;
        if (!function || row->foreign || strcmp(row->label->module, module) != 0)
            continue;
        if (*row->label->file)
            return false;
        any |= row->exclusive->samples > 0;
    }
    return any;
}
