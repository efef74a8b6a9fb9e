#include "command/rows/own.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command/text/format.h"
#include "command/text/memory.h"

static bool rows_text_begins_with_one_of(const char *text, const char *const *prefix)
{
    for (; *prefix; prefix++)
        if (strncmp(text, *prefix, strlen(*prefix)) == 0)
            return true;
    return false;
}

bool rows_file_is_system_source(const char *file)
{
    static const char *const folders[] = {"/usr/include/", "/usr/lib/", "/usr/lib64/", "/lib/", NULL};
    bool rust = strncmp(file, "/rustc/", 7) == 0 || strstr(file, "/.cargo/registry/");
    bool python = strncmp(file, "<frozen ", 8) == 0 || (strstr(file, "/lib/python3") && !strstr(file, "-packages/"));
    return rust || python || rows_text_begins_with_one_of(file, folders) || strstr(file, "/include/c++/");
}

static bool rows_path_is_in_system_folder(const char *path)
{
    static const char *const folders[] = {"/lib", "/usr/lib", "/bin/", "/sbin/", "/usr/bin/", "/usr/sbin/", NULL};
    return rows_text_begins_with_one_of(path, folders);
}

bool rows_module_is_language_support(const char *name)
{
    static const char *const names[] = {"libc.",       "libm.",        "libmvec.",   "libstdc++.",
                                        "libgcc_s.",   "libc++",       "libunwind",  "libpthread.",
                                        "libgfortran", "libquadmath.", "libFortran", NULL};
    return rows_text_begins_with_one_of(name, names);
}

static bool rows_module_is_program(const struct profile_module *module)
{
    return module->flags & PROFILE_MODULE_EXECUTABLE;
}

/* Returns whether a module is an interpreter whose script's functions are in the contexts: Python with its own extension
 * modules, R. What the interpreter does counts for the script's line. */
static bool rows_module_is_interpreter(const struct profile *profile, const char *name)
{
    bool script = false, known = false;
    for (size_t i = 0; i < profile->module_count && !(script && known); i++) {
        const struct profile_module *module = &profile->modules[i];
        script |= (module->flags & PROFILE_MODULE_PYTHON) != 0;
        known |= !(module->flags & PROFILE_MODULE_PYTHON) && strstr(module->path, "/lib-dynload/") &&
                 strcmp(format_base_name(module->path), name) == 0;
    }
    return script && (known || row_module_runs_scripts(name));
}

/* Returns whether a module belongs to the user: the program, or a library outside the system's folders. If
 * the program itself came with the system (an interpreter), libraries in those folders belong to the user as
 * well. So does an unknown module. */
static bool rows_module_is_own(const struct profile *profile, const char *name)
{
    const unsigned never = PROFILE_MODULE_RUNTIME | PROFILE_MODULE_SYSTEM | PROFILE_MODULE_TOOL;
    bool system_program = false, found = false;
    for (size_t i = 0; i < profile->module_count; i++)
        system_program |=
            rows_module_is_program(&profile->modules[i]) && rows_path_is_in_system_folder(profile->modules[i].path);
    for (size_t i = 0; i < profile->module_count; i++) {
        const struct profile_module *module = &profile->modules[i];
        if (strcmp(format_base_name(module->path), name) != 0)
            continue;
        found = true;
        if (rows_module_is_program(module) || (!(module->flags & never) && !rows_module_is_language_support(name) &&
                                               (system_program || !rows_path_is_in_system_folder(module->path))))
            return true;
    }
    return !found;
}

static bool row_is_foreign(const struct profile *profile, const struct row *row)
{
    const struct row_label *label = row->label;
    switch (row->kind) {
    case ROW_RUNTIME:
        return true;
    case ROW_PSEUDO:
        return strcmp(label->name, "<lock handoff>") == 0 || strcmp(label->name, ROW_NAME_UNTOLD_WAIT) == 0 ||
               row_is_spinning(row) || strcmp(label->name, "<unknown function>") == 0 ||
               strcmp(label->name, "<tail call>") == 0;
    case ROW_PROCEDURE:
    case ROW_INLINED:
    case ROW_PARALLEL:
    case ROW_TASK:
        if (rows_file_is_system_source(label->file) || rows_module_is_interpreter(profile, label->module))
            return true;
        return !rows_module_is_own(profile, label->module) && !(*label->file == '/' && access(label->file, R_OK) == 0);
    default:
        return false;
    }
}

void rows_mark_foreign(struct rows *rows, const struct profile *profile)
{
    enum { NOT_ASKED, OWN, FOREIGN };
    uint32_t functions = 0;
    for (size_t i = 0; i < rows->count; i++)
        if (rows->row[i].kind != ROW_STATEMENT && rows->row[i].function != ROW_NONE &&
            rows->row[i].function >= functions)
            functions = rows->row[i].function + 1;
    uint8_t *answer = memory_array(functions, sizeof *answer);
    for (size_t i = 0; i < rows->count; i++) {
        struct row *row = &rows->row[i];
        if (row->kind == ROW_STATEMENT || row->function == ROW_NONE)
            continue;
        uint8_t *known = &answer[row->function];
        if (*known == NOT_ASKED)
            *known = row_is_foreign(profile, row) ? FOREIGN : OWN;
        row->foreign = *known == FOREIGN;
    }
    free(answer);
}
