/* Stores the answers of symbol lookups in the file of names, beside the measurement file. Names thus remain
 * known when a binary changes or disappears. */
#include "command/symbols/kept.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/image_path.h"
#include "cct/profile_format.h"
#include "command/symbols/answers.h"
#include "command/symbols/state.h"
#include "command/symbols/symbols.h"
#include "command/text/unfinished.h"

#define MEASUREMENT ".blame"
#define ID_DIGITS   8 /* number of digits of a build id that messages show */

/* Returns the path of the file of names, or, if `whole` is false, of the temporary file from which it is
 * renamed. The caller frees the path. */
static char *symbols_kept_file_path(const char *measurement, bool whole)
{
    char part[32] = "";
    const char *slash = strrchr(measurement, '/'), *name = slash ? slash + 1 : measurement;
    size_t length = strlen(name), ending = sizeof MEASUREMENT - 1;
    char *path = NULL;
    if (!whole)
        snprintf(part, sizeof part, ".%ld.part", (long)getpid());
    if (length > ending && strcmp(name + length - ending, MEASUREMENT) == 0)
        length -= ending;
    return asprintf(&path, "%.*s%s%.*s.symbols%s", (int)(name - measurement), measurement, whole ? "" : ".",
                    (int)length, name, part) < 0
               ? NULL
               : path;
}

static uint8_t *symbols_kept_read_file(const char *path, size_t *bytes)
{
    struct stat status;
    uint8_t *data = NULL;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return NULL;
    if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && (data = malloc((size_t)status.st_size + 1))) {
        ssize_t got;
        for (*bytes = 0; *bytes < (size_t)status.st_size; *bytes += (size_t)got) {
            got = read(fd, data + *bytes, (size_t)status.st_size - *bytes);
            if (got <= 0)
                break;
        }
    }
    close(fd);
    return data;
}

/* Returns whether to use the stored answers about a module. Usually they are used, because the module's file
 * may have lost its debug information since. They are not used if the file now has more detailed names, or if
 * another version of blame stored them. */
static bool symbols_kept_is_answer_wanted(void *context, uint32_t module_id, bool same_tool)
{
    struct symbols *symbols = context;
    struct symbols_module *module = symbols_module_of(symbols, module_id);
    module->source = &symbols->answers.sources[module_id - 1];
    return !symbols_module_open(module) ||
           (same_tool && symbols_module_level(module) <= (enum symbols_level)module->source->level);
}

const char *symbols_recall(struct symbols *symbols, const struct profile_header *header, const char *measurement,
                           const struct symbols_numbers *numbers)
{
    size_t bytes = 0;
    char *path = symbols_kept_file_path(measurement, true);
    if (!numbers)
        symbols_beside(symbols, measurement);
    symbols->file = path ? symbols_kept_read_file(path, &bytes) : NULL;
    const struct symbols_file file = {symbols->file, bytes, header, numbers, symbols_kept_is_answer_wanted, symbols};
    const char *why = symbols->file ? symbols_file_decode(&symbols->answers, &symbols->pool, &file) : NULL;
    const char *text =
        why ? pool_text(&symbols->pool, "%s: %s; names are taken from the binaries alone", path, why) : NULL;
    if (why) {
        struct symbols_source *sources = symbols->answers.sources;
        memset(sources, 0, symbols->module_count * sizeof *sources);
        symbols->answers.sources = NULL;
        symbols_answers_free(&symbols->answers);
        for (size_t i = 0; i < symbols->module_count; i++)
            symbols->modules[i].source = NULL;
        symbols->answers = (struct symbols_answers){.sources = sources, .module_count = symbols->module_count};
    }
    free(path);
    return text;
}

bool symbols_are_kept(const struct symbols *symbols)
{
    return symbols->file != NULL;
}

bool symbols_have_news(const struct symbols *symbols)
{
    return symbols->news;
}

static int symbols_kept_write_file(const char *measurement, const uint8_t *data, size_t bytes)
{
    char *path = symbols_kept_file_path(measurement, true), *temporary = symbols_kept_file_path(measurement, false);
    FILE *out = path && temporary ? unfinished_file(temporary) : NULL;
    struct stat status; /* The file of names gets the same permissions as the measurement file. */
    if (out && stat(measurement, &status) == 0)
        fchmod(fileno(out), status.st_mode & 0666);
    int wrong = out ? 0 : path && temporary ? errno : ENOMEM;
    if (out) {
        errno = 0;
        fwrite(data, 1, bytes, out);
        wrong = ferror(out) ? (errno ? errno : EIO) : 0;
        if (fclose(out) != 0 && !wrong)
            wrong = errno ? errno : EIO;
        if (!wrong && rename(temporary, path) != 0)
            wrong = errno;
        unfinished_remove(temporary); /* does nothing if the rename succeeded */
    }
    free(path);
    free(temporary);
    return wrong;
}

/* Removes the copies of module files that were deleted during the run. When the answers are stored, the
 * copies are no longer needed. */
static void symbols_kept_remove_image_copies(const struct symbols *symbols, const char *measurement)
{
    char directory[PATH_MAX], path[PATH_MAX];
    if (!image_path(directory, sizeof directory, measurement, 0) || access(directory, F_OK) != 0)
        return;
    for (size_t i = 0; i < symbols->module_count; i++)
        if (image_path(path, sizeof path, measurement, symbols->modules[i].id))
            unlink(path);
    rmdir(directory);
}

int symbols_keep(struct symbols *symbols, const struct profile_header *header, const char *measurement)
{
    size_t bytes = 0;
    if (!symbols->news)
        return 0;
    for (size_t i = 0; i < symbols->module_count; i++) {
        struct symbols_module *module = &symbols->modules[i];
        struct symbols_source *source = &symbols->answers.sources[i];
        if (module->main.elf && !source->named) {
            symbols_module_stat(module, source);
            source->level = (uint8_t)symbols_module_level(module);
        }
    }
    uint8_t *data = symbols_file_encode(&symbols->answers, header, &bytes);
    int wrong = data ? symbols_kept_write_file(measurement, data, bytes) : ENOMEM;
    free(data);
    symbols->news = symbols->news && wrong;
    if (!wrong)
        symbols_kept_remove_image_copies(symbols, measurement);
    return wrong;
}

/* Finds the modules that were asked about and whose file is not the measured one. If `named` is set, counts
 * only modules with stored names, otherwise only modules without. Returns the first of them, and sets *count
 * to their number. */
static const struct symbols_module *symbols_kept_changed_module(const struct symbols *symbols, bool named,
                                                                size_t *count)
{
    const struct symbols_module *first = NULL;
    *count = 0;
    for (size_t i = 0; i < symbols->module_count; i++) {
        const struct symbols_module *module = &symbols->modules[i];
        bool lost = !module->source && module->found != SYMBOLS_SAME_BUILD && module->unnamed;
        bool kept =
            module->source && module->found == SYMBOLS_OTHER_BUILD && !(module->record->flags & PROFILE_MODULE_VDSO);
        if (named ? kept : lost) {
            first = first ? first : module;
            ++*count;
        }
    }
    return first;
}

static void symbols_kept_put_change(FILE *out, struct symbols *symbols, const struct symbols_module *module,
                                    size_t count)
{
    size_t bytes = module->record->build_id_bytes;
    bool other = module->found == SYMBOLS_OTHER_BUILD;
    fprintf(out, "%s ", module->base_name);
    if (other && bytes && bytes <= sizeof module->record->build_id) {
        const char *then = symbols_hex(&symbols->pool, module->record->build_id, bytes);
        fprintf(out, "(build id was %.*s..., is now %.*s%s) ", ID_DIGITS, then, ID_DIGITS,
                *module->build_now ? module->build_now : "none", *module->build_now ? "..." : "");
    }
    if (count > 1)
        fprintf(out, "and %zu more files ", count - 1);
    fputs(other ? "changed since this run" : "can no longer be read", out);
    if (symbols->elsewhere)
        fputs(", or cannot be read from here: the program ran in another mount namespace (unshare, a container) or "
              "on another machine",
              out);
}

/* Appends a report on missing files with split debug information (-gsplit-dwarf). They are missing, for
 * example, if the program was built in a temporary directory. */
static bool symbols_kept_put_split(FILE *out, struct symbols *symbols, const char *before)
{
    for (size_t i = 0; i < symbols->module_count; i++) {
        const struct symbols_module *module = &symbols->modules[i];
        if (!module->split_lost)
            continue;
        const char *package = pool_text(&symbols->pool, "%s.dwp", module->main.path);
        fprintf(out, "%s%s: inlined functions are missing, because ", before, module->base_name);
        if (access(package, R_OK) == 0)
            fprintf(out, "its split debug information is in %s, a format that this libdw cannot read", package);
        else if (module->split_lost_count > 1)
            fprintf(out, "%s and %zu more .dwo files cannot be read", module->split_lost, module->split_lost_count - 1);
        else
            fprintf(out, "%s cannot be read", module->split_lost);
        fputs(" (build without -gsplit-dwarf, or keep the .dwo files where the compiler wrote them)", out);
        return true;
    }
    return false;
}

char *symbols_changes(struct symbols *symbols)
{
    size_t kept, lost, bytes;
    char *text = NULL;
    const struct symbols_module *of_kept = symbols_kept_changed_module(symbols, true, &kept);
    const struct symbols_module *of_lost = symbols_kept_changed_module(symbols, false, &lost);
    FILE *out = open_memstream(&text, &bytes);
    if (!out)
        return NULL;
    if (of_kept) {
        symbols_kept_put_change(out, symbols, of_kept, kept);
        fputs("; names and lines are those of the run", out);
    }
    if (of_lost) {
        fputs(of_kept ? "; " : "", out);
        symbols_kept_put_change(out, symbols, of_lost, lost);
        fputs(", and the profile has kept no names: functions appear as addresses", out);
    }
    bool split = symbols_kept_put_split(out, symbols, of_kept || of_lost ? "; " : "");
    if (fclose(out) != 0 || !(of_kept || of_lost || split)) {
        free(text);
        return NULL;
    }
    return text;
}
