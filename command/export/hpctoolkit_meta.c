/* Writes meta.db of an HPCToolkit database: the names of contexts and metrics, and the paths of source files. */
#include "command/export/hpctoolkit.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "command/export/formats.h"
#include "command/export/frames.h"
#include "command/profile/pair_map.h"
#include "command/profile/profile.h"
#include "command/rows/metric.h"
#include "command/rows/row.h"
#include "command/text/format.h"
#include "command/text/memory.h"
#include "command/text/source_text.h"
#include "command/text/strings.h"

#define CONTEXT_BYTES  32
#define FUNCTION_BYTES 40
#define COPIED         1u
#define LINE_BIT       1u /* bit that makes hpcviewer add a line's own values to the line's function */

enum section { GENERAL, ID_NAMES, METRICS, CONTEXTS, STRINGS, MODULES, FILES, FUNCTIONS, SECTIONS };

struct named { /* A module or source file. */
    uint32_t flags, none;
    uint64_t path; /* id of the string with the path, later the position of that string in the file */
};

struct list {
    struct named *item;
    size_t count, room;
    struct pair_map map; /* index in `item`; the keys are addresses of texts and ids of strings */
    uint64_t at;
};

struct meta {
    struct hpc_file file;
    const char *directory;
    const struct hpc_contexts *contexts;
    struct frames frames;
    struct strings *strings;
    uint32_t string_count;
    uint64_t *string_at;
    struct list modules, files;
    uint32_t *names; /* for each frame, the string id of its name */
    uint64_t functions_at;
    struct hpc_section section[SECTIONS];
};

static uint32_t hpc_intern(struct meta *meta, const char *text)
{
    char *clean = format_clean(text, false);
    uint32_t id = strings_intern(meta->strings, clean);
    meta->string_count = id >= meta->string_count ? id + 1 : meta->string_count;
    free(clean);
    return id;
}

/* Makes the directories above a file. Ignores errors, because creating the file fails if a directory is
 * missing. */
static void hpc_make_parent_directories(char *path, size_t from)
{
    for (char *slash = path + from; (slash = strchr(slash, '/')); slash++) {
        *slash = '\0';
        mkdir(path, 0777);
        *slash = '/';
    }
}

/* Replaces each ".." in a path, so that the file stays inside the database. */
static void hpc_remove_upward_steps(char *path)
{
    for (char *at = path; (at = strstr(at, "/..")); at += 3)
        if (at[3] == '/' || at[3] == '\0')
            memcpy(at, "/__", 3);
}

/* Copies a source file to src/, if it may be read. Returns its path in the database, which the caller frees,
 * or NULL if it was not copied. */
static char *hpc_copy_source(const char *directory, const char *path, bool for_others)
{
    struct source_file source;
    const char *why;
    if (!source_file_read(&source, path, NULL, for_others, &why))
        return NULL;
    char *clean = format_clean(path, false), *inside = memory_text("src/%s", clean + strspn(clean, "/"));
    hpc_remove_upward_steps(inside);
    char *target = memory_text("%s/%s", directory, inside);
    hpc_make_parent_directories(target, strlen(directory) + 1);
    FILE *out = fopen(target, "wxe");
    bool good = out && fwrite(source.text, 1, source.bytes, out) == source.bytes;
    if (out)
        good = fclose(out) == 0 && good;
    if (!good) { /* a file with that name exists already, or the name is too long */
        free(inside);
        inside = NULL;
    }
    free(clean);
    free(target);
    source_file_free(&source);
    return inside;
}

static void hpc_list_add(struct meta *meta, struct list *list, const char *text)
{
    uint32_t *seen = *text ? pair_map_slot(&list->map, 0, (uintptr_t)text) : NULL, id;
    if (!seen || *seen != PAIR_MAP_NEW)
        return;
    uint32_t *slot = pair_map_slot(&list->map, 1, id = hpc_intern(meta, text));
    if (*slot == PAIR_MAP_NEW) {
        char *copy = list == &meta->files
                         ? hpc_copy_source(meta->directory, text, source_shown_to_others(meta->file.stream))
                         : NULL;
        *slot = (uint32_t)list->count;
        memory_grow(&list->item, &list->room, list->count, sizeof *list->item);
        list->item[list->count++] =
            (struct named){.flags = copy ? COPIED : 0, .path = copy ? hpc_intern(meta, copy) : id};
        free(copy);
    }
    uint32_t number = *slot;
    *pair_map_slot(&list->map, 0, (uintptr_t)text) = number;
}

static void hpc_gather_meta(struct meta *meta)
{
    export_frames_gather(&meta->frames, meta->contexts->rows);
    meta->strings = strings_new();
    meta->names = memory_array(meta->frames.count + meta->contexts->trace_labels, sizeof *meta->names);
    for (size_t i = 0; i < meta->frames.count; i++) {
        const struct row_label *label = meta->frames.label[i];
        meta->names[i] = hpc_intern(meta, label->name);
        hpc_list_add(meta, &meta->modules, label->module);
        hpc_list_add(meta, &meta->files, label->file);
    }
    for (uint32_t i = 0; i < meta->contexts->trace_labels; i++)
        meta->names[meta->frames.count + i] = hpc_intern(meta, meta->contexts->trace_label[i]->name);
    for (size_t c = HPC_ENTRY; c < meta->contexts->count; c++)
        if (hpc_is_line(&meta->contexts->context[c]))
            hpc_list_add(meta, &meta->files, meta->contexts->context[c].file);
}

static void hpc_begin_section(struct meta *meta, enum section section)
{
    hpc_align(&meta->file, 8);
    meta->section[section].at = meta->file.at;
}

static void hpc_end_section(struct meta *meta, enum section section)
{
    meta->section[section].bytes = meta->file.at - meta->section[section].at;
}

static void hpc_put_text(struct meta *meta, const char *text)
{
    hpc_put(&meta->file, text, strlen(text) + 1);
}

static void hpc_put_general(struct meta *meta, const struct profile *profile)
{
    const char *command = profile_text(profile, "command");
    char *title = format_clean(command ? command : profile->header.program, true);
    hpc_begin_section(meta, GENERAL);
    const uint64_t head[] = {meta->file.at + 16, meta->file.at + 16 + strlen(title) + 1};
    hpc_put(&meta->file, head, sizeof head);
    hpc_put_text(meta, title);
    hpc_put_text(meta, "Measured and exported by blame, which shows the code that makes threads wait. Inclusive values "
                       "have the scope `execution`, exclusive values the scope `function`.");
    hpc_end_section(meta, GENERAL);
    free(title);
}

static void hpc_put_id_names(struct meta *meta)
{
    static const char *const kinds[] = {"SUMMARY", "NODE", "RANK", "THREAD"};
    enum { COUNT = sizeof kinds / sizeof *kinds };
    hpc_begin_section(meta, ID_NAMES);
    const uint64_t head[] = {meta->file.at + 16, COUNT};
    hpc_put(&meta->file, head, sizeof head);
    uint64_t at = meta->file.at + COUNT * sizeof at;
    for (size_t i = 0; i < COUNT; i++) {
        hpc_put(&meta->file, &at, sizeof at);
        at += strlen(kinds[i]) + 1;
    }
    for (size_t i = 0; i < COUNT; i++)
        hpc_put_text(meta, kinds[i]);
    hpc_end_section(meta, ID_NAMES);
}

struct metric_record {
    uint64_t name, scopes, summaries;
    uint16_t scope_count, summary_count;
    uint32_t none;
};

struct scope_record { /* A scope of a metric: which of a context's values it contains. */
    uint64_t scope;
    uint16_t id, none[3];
};

struct summary_record {
    uint64_t scope, formula;
    uint8_t combine, none;
    uint16_t id;
    uint32_t behind;
};

struct scope {
    uint64_t name;
    uint8_t type, bit, none[6];
};

struct metrics_head {
    uint64_t metrics;
    uint32_t metric_count;
    uint8_t metric_bytes, scope_record_bytes, summary_bytes, none;
    uint64_t scopes;
    uint16_t scope_count;
    uint8_t scope_bytes, behind[5];
};

static const struct {
    const char *name;
    uint8_t type;
} scopes[] = {{"execution", 2},
              /* scopes in the order in which the values of a metric are stored; hpcviewer does not show
               * scopes of type 3 (transitive) */
              {"function", 0}};
enum { SCOPES = sizeof scopes / sizeof *scopes };

static void hpc_put_metrics(struct meta *meta)
{
    static const char formula[] = "$$";
    struct hpc_file *file = &meta->file;
    const struct hpc_contexts *contexts = meta->contexts;
    size_t count = contexts->metrics;
    uint16_t values = contexts->values;
    hpc_begin_section(meta, METRICS);
    uint64_t metrics = file->at + sizeof(struct metrics_head), records = metrics + count * sizeof(struct metric_record),
             summaries = records + values * sizeof(struct scope_record),
             scopes_at = summaries + values * sizeof(struct summary_record),
             text = scopes_at + SCOPES * sizeof(struct scope), at = text + sizeof formula;
    const struct metrics_head head = {metrics,
                                      (uint32_t)count,
                                      sizeof(struct metric_record),
                                      sizeof(struct scope_record),
                                      sizeof(struct summary_record),
                                      0,
                                      scopes_at,
                                      SCOPES,
                                      sizeof(struct scope),
                                      {0}};
    hpc_put(file, &head, sizeof head);
    uint64_t name_at = at;
    for (size_t i = 0; i < SCOPES; i++)
        name_at += strlen(scopes[i].name) + 1;
    for (size_t metric = 0; metric < count; metric++) {
        const struct metric_record record = {name_at,
                                             records + metric * SCOPES * sizeof(struct scope_record),
                                             summaries + metric * SCOPES * sizeof(struct summary_record),
                                             SCOPES,
                                             SCOPES,
                                             0};
        hpc_put(file, &record, sizeof record);
        name_at += strlen(contexts->name[metric]) + 1;
    }
    for (uint16_t id = 0; id < values; id++)
        hpc_put(file, &(struct scope_record){.scope = scopes_at + id % SCOPES * sizeof(struct scope), .id = id},
                sizeof(struct scope_record));
    for (uint16_t id = 0; id < values; id++)
        hpc_put(file,
                &(struct summary_record){
                    .scope = scopes_at + id % SCOPES * sizeof(struct scope), .formula = text, .id = id},
                sizeof(struct summary_record));
    for (size_t i = 0; i < SCOPES; i++) {
        hpc_put(file, &(struct scope){.name = at, .type = scopes[i].type}, sizeof(struct scope));
        at += strlen(scopes[i].name) + 1;
    }
    hpc_put_text(meta, formula);
    for (size_t i = 0; i < SCOPES; i++)
        hpc_put_text(meta, scopes[i].name);
    for (size_t metric = 0; metric < count; metric++)
        hpc_put_text(meta, contexts->name[metric]);
    hpc_end_section(meta, METRICS);
}

static void hpc_put_strings(struct meta *meta)
{
    hpc_begin_section(meta, STRINGS);
    meta->string_at = memory_array(meta->string_count, sizeof *meta->string_at);
    for (uint32_t id = 0; id < meta->string_count; id++) {
        meta->string_at[id] = meta->file.at;
        hpc_put_text(meta, strings_text(meta->strings, id));
    }
    hpc_end_section(meta, STRINGS);
}

static void hpc_put_list(struct meta *meta, struct list *list, enum section section)
{
    hpc_begin_section(meta, section);
    list->at = meta->file.at + 16;
    const uint64_t head[] = {list->at, (uint64_t)sizeof *list->item << 32 | list->count};
    hpc_put(&meta->file, head, sizeof head);
    for (size_t i = 0; i < list->count; i++)
        list->item[i].path = meta->string_at[list->item[i].path];
    hpc_put(&meta->file, list->item, list->count * sizeof *list->item);
    hpc_end_section(meta, section);
}

/* Returns the position in the file of the item with that text, or 0 if the text is empty. */
static uint64_t hpc_item_position(struct list *list, const char *text)
{
    return *text ? list->at + *pair_map_slot(&list->map, 0, (uintptr_t)text) * sizeof *list->item : 0;
}

static void hpc_put_functions(struct meta *meta)
{
    size_t count = meta->frames.count + meta->contexts->trace_labels;
    hpc_begin_section(meta, FUNCTIONS);
    meta->functions_at = meta->file.at + 16;
    const uint64_t head[] = {meta->functions_at, (uint64_t)FUNCTION_BYTES << 32 | count};
    hpc_put(&meta->file, head, sizeof head);
    for (size_t i = 0; i < count; i++) {
        const struct row_label *label =
            i < meta->frames.count ? meta->frames.label[i] : meta->contexts->trace_label[i - meta->frames.count];
        const uint64_t record[] = {meta->string_at[meta->names[i]], hpc_item_position(&meta->modules, label->module), 0,
                                   hpc_item_position(&meta->files, label->file),
                                   label->line > 0 ? (uint32_t)label->line : 0};
        _Static_assert(sizeof record == FUNCTION_BYTES, "must match the table of [FS] in FORMATS.md");
        hpc_put(&meta->file, record, sizeof record);
    }
    hpc_end_section(meta, FUNCTIONS);
}

struct context_record {
    uint64_t bytes, children;
    uint32_t id;
    uint8_t flags, relation, type, words;
    uint16_t propagation, none[3];
    uint64_t flex[2];
};

static size_t hpc_context_bytes(const struct hpc_context *context)
{
    return CONTEXT_BYTES + (hpc_is_line(context) ? 16 : 8);
}

static void hpc_put_context(struct meta *meta, uint32_t number, uint64_t bytes, uint64_t children)
{
    const struct hpc_context *context = &meta->contexts->context[number];
    struct context_record record = {.bytes = bytes, .children = bytes ? children : 0, .id = number};
    if (hpc_is_line(context)) {
        record.flags = 2;
        record.type = 2;
        record.words = 2;
        record.propagation = LINE_BIT;
        record.flex[0] = hpc_item_position(&meta->files, context->file);
        record.flex[1] = (uint32_t)context->line;
    } else {
        bool traced = context->traced != 0;
        size_t function = traced ? meta->frames.count + context->traced - 1 : meta->frames.of_row[context->row];
        record.flags = 1;
        record.relation = !traced && meta->contexts->rows->row[context->row].kind == ROW_INLINED ? 2 : 1;
        record.words = 1;
        record.flex[0] = meta->functions_at + FUNCTION_BYTES * function;
    }
    hpc_put(&meta->file, &record, hpc_context_bytes(context));
}

static void hpc_put_contexts(struct meta *meta)
{
    const struct hpc_context *context = meta->contexts->context;
    size_t count = meta->contexts->count;
    hpc_begin_section(meta, CONTEXTS);
    const uint64_t head[] = {meta->file.at + 16, 32 << 16 | 1};
    hpc_put(&meta->file, head, sizeof head);
    uint64_t *bytes = memory_array(count, sizeof *bytes), *children = memory_array(count, sizeof *children),
             at = meta->file.at + 32;
    for (size_t c = HPC_ENTRY + 1; c < count; c++)
        bytes[context[c].parent] += hpc_context_bytes(&context[c]);
    for (size_t c = HPC_ENTRY; c < count; c++) {
        children[c] = at;
        at += bytes[c];
    }
    const uint64_t entry[] = {bytes[HPC_ENTRY], bytes[HPC_ENTRY] ? children[HPC_ENTRY] : 0, 1ull << 32 | HPC_ENTRY,
                              meta->string_at[meta->names[meta->frames.of_row[0]]]};
    hpc_put(&meta->file, entry, sizeof entry);
    for (size_t c = HPC_ENTRY; c < count; c++)
        for (uint32_t child = context[c].first; child; child = context[child].next)
            hpc_put_context(meta, child, bytes[child], children[child]);
    hpc_end_section(meta, CONTEXTS);
    free(bytes);
    free(children);
}

static void hpc_free_meta(struct meta *meta)
{
    export_frames_free(&meta->frames);
    strings_free(meta->strings);
    free(meta->string_at);
    free(meta->names);
    free(meta->modules.item);
    free(meta->files.item);
    pair_map_free(&meta->modules.map);
    pair_map_free(&meta->files.map);
}

bool hpc_write_meta(const char *directory, const struct profile *profile, const struct hpc_contexts *contexts)
{
    struct meta meta = {.directory = directory, .contexts = contexts};
    if (!hpc_open(&meta.file, directory, "meta.db", SECTIONS))
        return false;
    hpc_gather_meta(&meta);
    hpc_put_general(&meta, profile);
    hpc_put_id_names(&meta);
    hpc_put_metrics(&meta);
    hpc_put_strings(&meta);
    hpc_put_list(&meta, &meta.modules, MODULES);
    hpc_put_list(&meta, &meta.files, FILES);
    hpc_put_functions(&meta);
    hpc_put_contexts(&meta);
    hpc_align(&meta.file, 8);
    hpc_free_meta(&meta);
    return hpc_close(&meta.file, "meta", meta.section, SECTIONS, "_meta.db");
}
