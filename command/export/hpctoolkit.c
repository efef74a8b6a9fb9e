/* Writes HPCToolkit databases, which hpcviewer shows. */
#include "command/export/hpctoolkit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "command/export/export.h"
#include "command/export/formats.h"
#include "command/export/frames.h"
#include "command/export/locations.h"
#include "command/export/measures.h"
#include "command/export/trace_stacks.h"
#include "command/profile/pair_map.h"
#include "command/profile/profile.h"
#include "command/profile/trace.h"
#include "command/rows/metric.h"
#include "command/rows/row.h"
#include "command/text/format.h"
#include "command/text/json_text.h"
#include "command/text/memory.h"
#include "command/text/source_text.h"
#include "command/text/strings.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
               "numbers are copied from memory, and the format is little-endian");

#define HPC_GLOBAL 0u /* number of the context that contains all others */
#define HPC_ENTRY  1u /* number of the context of the program's root */

static inline bool hpc_is_line(const struct hpc_context *context)
{
    return context->row == ROW_NONE && !context->traced;
}

/* A profile's record in profile.db, which FORMATS.md calls {PI}. It says where the profile's values and
 * contexts are stored. */
struct hpc_profile_info {
    uint64_t value_count, values;
    uint32_t context_count, none;
    uint64_t contexts;
    uint64_t id_tuple;
    uint32_t flags, behind;
};

struct hpc_profiles {
    struct hpc_profile_info *info; /* one record for each profile; profile 0 is the sum of all */
    size_t count;
};

struct hpc_value { /* a value in profile.db */
    uint16_t metric;
    double value;
} __attribute__((packed));

struct hpc_values_of { /* index of a context's first value in profile.db */
    uint32_t context;
    uint64_t first;
} __attribute__((packed));

/* ---- common to all files of a database ---- */

#define HEADER_BYTES 16

bool hpc_open(struct hpc_file *file, const char *directory, const char *name, size_t sections)
{
    static const char nothing[HEADER_BYTES];
    char *path = memory_text("%s/%s", directory, name);
    *file = (struct hpc_file){.stream = fopen(path, "wxe")};
    free(path);
    if (!file->stream)
        return false;
    for (size_t i = 0; i <= sections; i++)
        hpc_put(file, nothing, sizeof nothing);
    return true;
}

void hpc_put(struct hpc_file *file, const void *data, size_t bytes)
{
    if (bytes && fwrite_unlocked(data, 1, bytes, file->stream) != bytes &&
        !file->why) /* if bytes is 0, `data` may be NULL */
        file->why = errno;
    file->at += bytes;
}

static void hpc_align(struct hpc_file *file, size_t to)
{
    static const char zeros[8];
    hpc_put(file, zeros, (to - file->at % to) % to);
}

bool hpc_close(struct hpc_file *file, const char *format, const struct hpc_section *sections, size_t count,
               const char *footer)
{
    hpc_put(file, footer, strlen(footer));
    errno = 0;
    bool good = fflush(file->stream) == 0 && !file->why && !ferror(file->stream) &&
                fseek(file->stream, 0, SEEK_SET) == 0 &&
                fprintf(file->stream, "HPCTOOLKIT%s%c%c", format, 4, 0) == HEADER_BYTES &&
                fwrite(sections, sizeof *sections, count, file->stream) == count && fflush(file->stream) == 0;
    int why = file->why ? file->why : errno ? errno : EIO;
    fclose(file->stream);
    errno = why;
    return good;
}

/* Writes into `to` the name under which hpcviewer shows a metric, such as "lock wait (sec)". Returns `to`. */
static const char *hpc_metric_name(const struct rows *rows, enum metric metric, char *to, size_t bytes)
{
    snprintf(to, bytes, "%s%s", metric_title(metric), export_in_ns(rows, metric) ? " (sec)" : "");
    return to;
}

/* ---- contexts: rows, and the source lines of their calls ---- */

static const char UNKNOWN_FILE[] = "<unknown file>"; /* hpcviewer shows a line only if it has a file */

/* Adds a context and returns its number. The parent must already exist. */
static uint32_t hpc_add_context(struct hpc_contexts *contexts, struct hpc_context context)
{
    memory_grow(&contexts->context, &contexts->room, contexts->count, sizeof *contexts->context);
    uint32_t number = (uint32_t)contexts->count++;
    contexts->context[number] = context;
    if (number <= HPC_ENTRY)
        return number;
    struct hpc_context *parent = &contexts->context[context.parent];
    if (parent->first)
        contexts->context[parent->last].next = number;
    else
        parent->first = number;
    parent->last = number;
    return number;
}

static uint32_t hpc_find_line(struct hpc_contexts *contexts, struct pair_map *lines, uint32_t parent, const char *file,
                              int line)
{
    if (!*file)
        file = UNKNOWN_FILE;
    /* File names are interned, so equal names have equal addresses. */
    uint32_t *slot = pair_map_slot(lines, (uint64_t)parent << 32 | (uint32_t)line, (uintptr_t)file);
    if (*slot == PAIR_MAP_NEW)
        *slot = hpc_add_context(contexts,
                                (struct hpc_context){.parent = parent, .row = ROW_NONE, .file = file, .line = line});
    return *slot;
}

static void hpc_name_metrics(struct hpc_contexts *contexts)
{
    char name[64];
    export_measures_gather_beside(&contexts->beside, contexts->rows, false);
    contexts->metrics = METRIC_COLUMNS + contexts->beside.count;
    contexts->values = (uint16_t)(2 * contexts->metrics);
    contexts->name = memory_array(contexts->metrics, sizeof *contexts->name);
    for (enum metric metric = 0; metric < METRIC_COLUMNS; metric++)
        contexts->name[metric] = memory_text("%s", hpc_metric_name(contexts->rows, metric, name, sizeof name));
    for (size_t i = METRIC_COLUMNS; i < contexts->metrics; i++) {
        const struct measure *measure = &contexts->beside.measure[i - METRIC_COLUMNS];
        contexts->name[i] = memory_text("%s%s", measure->title, measure->in_seconds ? " (sec)" : "");
    }
}

void hpc_contexts_make(struct hpc_contexts *contexts, const struct rows *rows)
{
    struct pair_map lines = {0};
    *contexts = (struct hpc_contexts){.rows = rows, .of_row = memory_array(rows->count, sizeof *contexts->of_row)};
    hpc_name_metrics(contexts);
    hpc_add_context(contexts, (struct hpc_context){0});
    contexts->of_row[0] = hpc_add_context(contexts, (struct hpc_context){0});
    for (uint32_t i = 1; i < rows->count; i++) {
        const struct row *row = &rows->row[i];
        uint32_t parent = contexts->of_row[row->parent];
        const char *called_in = rows->row[row->parent].label->file;
        if (row->kind == ROW_STATEMENT) {
            contexts->of_row[i] = hpc_find_line(contexts, &lines, parent, row->label->file, row->label->line);
            continue;
        }
        if (row->call_line > 0)
            parent = hpc_find_line(contexts, &lines, parent, called_in, row->call_line);
        contexts->of_row[i] = hpc_add_context(contexts, (struct hpc_context){.parent = parent, .row = i});
    }
    pair_map_free(&lines);
}

void hpc_contexts_free(struct hpc_contexts *contexts)
{
    free(contexts->context);
    free(contexts->of_row);
    for (size_t i = 0; i < contexts->metrics; i++)
        free(contexts->name[i]);
    free(contexts->name);
    export_measures_free(&contexts->beside);
}

/* ---- meta.db: the names of contexts and metrics, and the paths of source files ---- */

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

/* ---- metrics/default.yaml: how hpcviewer shows metrics, and metrics computed from them ---- */

/* Writes an input of a metric. Names are written as JSON strings, which are valid YAML, because a counter's
 * name may contain any character. */
static void hpc_put_yaml_input(FILE *out, const char *name, size_t metric, bool inclusive)
{
    fprintf(out, "  - &m%zu%c\n    metric: ", metric, inclusive ? 'I' : 'E');
    json_text(out, name);
    fprintf(out, "\n    scope: %s\n    formula: $$\n    combine: sum\n", inclusive ? "execution" : "function");
}

/* Writes a formula for the sum of the metrics. It nests sums of two, because hpcviewer's "+" takes only two
 * operands. */
static void hpc_put_yaml_sum(FILE *out, const size_t *metrics, size_t count, char which)
{
    for (size_t i = 1; i < count; i++)
        fputs("{\"+\": [", out);
    for (size_t i = 0; i < count; i++)
        fprintf(out, "%s*m%zu%c%s", i ? ", " : "", metrics[i], which, i ? "]}" : "");
}

static void hpc_copy_metric_numbers(size_t *to, const enum metric *metrics, size_t count)
{
    for (size_t i = 0; i < count; i++)
        to[i] = metrics[i];
}

/* Writes a metric whose value is the sum of `metrics`, or, if of_effort is set, that sum as a percentage of
 * the effort. The variant of a metric with a single input is called `Sum`, because Hatchet requires exactly
 * one input below that name. */
static void hpc_put_yaml_metric(FILE *out, const char *name, const char *description, const size_t *metrics,
                                size_t count, bool of_effort)
{
    static const char *const part[] = {"inclusive", "exclusive"};
    size_t effort[METRIC_PARTS];
    hpc_copy_metric_numbers(effort, metric_parts, METRIC_PARTS);
    fputs("  - name: ", out);
    json_text(out, name);
    fprintf(out, "\n    description: \"%s.\"\n    variants:\n      %s:\n        render: [number%s]\n        formula:\n",
            description, count == 1 && !of_effort ? "Sum" : "Total", of_effort ? "" : ", percent");
    for (int i = 0; i < 2; i++) {
        fprintf(out, "          %s: {standard: ", part[i]);
        if (of_effort)
            fputs("{\"/\": [{\"*\": [100, ", out);
        hpc_put_yaml_sum(out, metrics, count, "IE"[i]);
        if (of_effort) {
            fputs("]}, ", out);
            hpc_put_yaml_sum(out, effort, METRIC_PARTS, "IE"[i]);
            fputs("]}", out);
        }
        fputs("}\n", out);
    }
}

static const char *hpc_metric_about(const struct hpc_contexts *contexts, size_t metric)
{
    return metric < METRIC_COLUMNS ? metric_about((enum metric)metric)
                                   : contexts->beside.measure[metric - METRIC_COLUMNS].about;
}

/* Writes metrics/default.yaml. */
static bool hpc_write_metrics(const char *directory, const struct hpc_contexts *contexts)
{
    static const size_t work = METRIC_WORK, idleness = METRIC_IDLENESS;
    size_t blame[METRIC_BLAME_PARTS], effort[METRIC_PARTS];
    hpc_copy_metric_numbers(blame, metric_blame_part, METRIC_BLAME_PARTS);
    hpc_copy_metric_numbers(effort, metric_parts, METRIC_PARTS);
    char *path = memory_text("%s/metrics/default.yaml", directory), name[64];
    FILE *out = fopen(path, "wxe");
    free(path);
    if (!out)
        return false;
    fputs("version: 0\ninputs:\n", out);
    for (size_t metric = 0; metric < contexts->metrics; metric++) {
        hpc_put_yaml_input(out, contexts->name[metric], metric, true);
        hpc_put_yaml_input(out, contexts->name[metric], metric, false);
    }
    fputs("roots:\n", out);
    hpc_put_yaml_metric(out, hpc_metric_name(contexts->rows, METRIC_BLAME, name, sizeof name),
                        metric_about(METRIC_BLAME), blame, METRIC_BLAME_PARTS, false);
    for (size_t metric = 0; metric < contexts->metrics; metric++)
        hpc_put_yaml_metric(out, contexts->name[metric], hpc_metric_about(contexts, metric), &metric, 1, false);
    hpc_put_yaml_metric(out, "effort", metric_about(METRIC_EFFORT), effort, METRIC_PARTS, false);
    hpc_put_yaml_metric(out, "relative work (%)", "Work as a percentage of the effort in this context", &work, 1, true);
    hpc_put_yaml_metric(out, "relative idleness (%)", "Idleness as a percentage of the effort in this context",
                        &idleness, 1, true);
    bool good = fflush(out) == 0 && !ferror(out);
    int why = errno;
    fclose(out);
    errno = why;
    return good;
}

/* ---- profile.db: the values of contexts, location by location ---- */

#define INFO_BYTES  48 /* FORMATS.md says 40 bytes, but its fields take 48 */
#define IS_SUMMARY  1u
#define NOT_LISTED  UINT32_MAX
#define INFOS_BYTES 16

_Static_assert(sizeof(struct hpc_profile_info) == INFO_BYTES, "must match the table of {PI} in FORMATS.md");

/* in the order in which hpc_put_id_names writes their names */
enum kind { KIND_SUMMARY, KIND_NODE, KIND_RANK, KIND_THREAD };

struct id {
    uint8_t kind, none;
    uint16_t flags;
    uint32_t logical;
    uint64_t physical;
};

/* The values of one profile. Only contexts with a value are listed. */
struct plane {
    const struct hpc_contexts *contexts;
    uint32_t *slot;   /* for each context, its index in `listed`, or NOT_LISTED if it has no value */
    uint32_t *listed; /* numbers of the contexts that have a value, in increasing order */
    size_t count, room;
    double *value; /* values of the listed contexts, contexts->values for each */
};

static double *hpc_plane_values(const struct plane *plane, size_t listed)
{
    return plane->value + listed * plane->contexts->values;
}

/* Lists the contexts that have a row in `from`, and all their ancestors. */
static void hpc_list_contexts(struct plane *plane, const struct location_rows *from)
{
    const struct hpc_contexts *contexts = plane->contexts;
    for (size_t i = 0; i < from->rows->count; i++)
        for (uint32_t c = contexts->of_row[from->of[i]]; plane->slot[c] == NOT_LISTED; c = contexts->context[c].parent)
            plane->slot[c] = 0; /* marks the context as listed; the index is set below */
    plane->count = 0;
    for (uint32_t c = 0; c < contexts->count; c++) {
        if (plane->slot[c] == NOT_LISTED)
            continue;
        plane->slot[c] = (uint32_t)plane->count;
        plane->listed[plane->count++] = c;
    }
    if (plane->count > plane->room) {
        free(plane->value);
        plane->value = memory_array((plane->room = plane->count) * plane->contexts->values, sizeof *plane->value);
    }
    memset(plane->value, 0, plane->count * plane->contexts->values * sizeof *plane->value);
}

/* Adds the row's measures that are not metrics. A measure without own values, or without inclusive values,
 * leaves that column at 0. */
static void hpc_add_measures(const struct hpc_contexts *contexts, const struct rows *rows, const struct row *row,
                             double *value)
{
    for (size_t i = 0; i < contexts->beside.count; i++) {
        const struct measure *measure = &contexts->beside.measure[i];
        if (export_measure_has(measure, false))
            value[2 * i + 1] += export_measure_own(measure, rows, row);
        if (export_measure_has(measure, true) && row->kind != ROW_STATEMENT)
            value[2 * i] = export_measure_inclusive(measure, rows, row);
    }
}

static void hpc_add_rows(struct plane *plane, const struct location_rows *from)
{
    for (size_t i = 0; i < from->rows->count; i++) {
        const struct row *row = &from->rows->row[i];
        double *value = hpc_plane_values(plane, plane->slot[plane->contexts->of_row[from->of[i]]]);
        for (enum metric metric = 0; metric < METRIC_COLUMNS; metric++) {
            value[2 * metric + 1] += metric_value(from->rows, row->exclusive, metric);
            if (row->kind != ROW_STATEMENT)
                value[2 * metric] = metric_value(from->rows, row->inclusive, metric);
        }
        hpc_add_measures(plane->contexts, from->rows, row, value + 2 * METRIC_COLUMNS);
    }
}

/* Computes the inclusive values of lines, because no row has them: the line's own values plus the inclusive
 * values of the functions called on the line. One pass from the last context to the first is enough, because
 * a parent has a smaller number than its children. */
static void hpc_sum_lines(struct plane *plane)
{
    for (size_t i = plane->count; i-- > 1;) {
        const struct hpc_context *context = &plane->contexts->context[plane->listed[i]];
        bool of_line = context->parent == HPC_GLOBAL || hpc_is_line(&plane->contexts->context[context->parent]);
        double *value = hpc_plane_values(plane, i), *parent = hpc_plane_values(plane, plane->slot[context->parent]);
        for (size_t v = 0; v < plane->contexts->values; v += 2) {
            if (hpc_is_line(context))
                value[v] += value[v + 1];
            if (of_line)
                parent[v] += value[v];
        }
    }
}

static void hpc_put_values(struct hpc_file *file, const struct plane *plane, struct hpc_profile_info *info)
{
    hpc_align(file, 8);
    info->values = file->at;
    for (size_t i = 0; i < plane->count; i++) {
        uint64_t before = info->value_count;
        for (uint16_t v = 0; v < plane->contexts->values; v++) {
            struct hpc_value value = {v, hpc_plane_values(plane, i)[v]};
            if (value.value == 0)
                continue;
            hpc_put(file, &value, sizeof value);
            info->value_count++;
        }
        info->context_count += info->value_count > before;
    }
    hpc_align(file, 4);
    info->contexts = file->at;
    struct hpc_values_of of = {0};
    for (size_t i = 0; i < plane->count; i++) {
        uint64_t count = 0;
        for (size_t v = 0; v < plane->contexts->values; v++)
            count += hpc_plane_values(plane, i)[v] != 0;
        of.context = plane->listed[i];
        if (count)
            hpc_put(file, &of, sizeof of);
        of.first += count;
    }
}

static void hpc_put_plane(struct hpc_file *file, struct plane *plane, const struct location_rows *from,
                          struct hpc_profile_info *info)
{
    hpc_list_contexts(plane, from);
    hpc_add_rows(plane, from);
    hpc_sum_lines(plane);
    hpc_put_values(file, plane, info);
    for (size_t i = 0; i < plane->count; i++)
        plane->slot[plane->listed[i]] = NOT_LISTED;
}

static bool hpc_put_locations(struct hpc_file *file, struct plane *plane, struct locations *locations,
                              struct hpc_profiles *profiles)
{
    struct location_rows read;
    for (size_t i = 0; i < locations->count; i++) {
        if (!export_locations_read(locations, i, &read))
            return false;
        hpc_put_plane(file, plane, &read, &profiles->info[1 + i]);
        export_location_rows_free(&read);
    }
    return true;
}

/* Returns how many threads the earlier processes of a rank have, given the result `before` for the preceding
 * location `ahead`. */
static uint32_t hpc_threads_before(const struct location *ahead, const struct location *location, uint32_t before)
{
    if (ahead->process == location->process)
        return before;
    if (!location->of_rank || ahead->rank != location->rank)
        return 0;
    return before + (ahead->thread == LOCATION_NO_THREAD ? 1 : (uint32_t)ahead->thread + 1);
}

/* Writes the identifier of a location, which must be unique. If the processes of a job have no ranks, their
 * numbers are used as ranks. The threads of all processes of a rank are numbered consecutively. */
static void hpc_put_id_tuple(struct hpc_file *file, const struct location *location, uint32_t before, bool job)
{
    bool threaded = location->thread != LOCATION_NO_THREAD;
    uint32_t rank = location->ranked ? location->rank : (uint32_t)location->process,
             thread = before + (threaded ? (uint32_t)location->thread : 0);
    struct id ids[3] = {{.kind = KIND_NODE, .logical = location->node, .physical = location->node}};
    uint64_t count = 1;
    if (location->ranked || job)
        ids[count++] = (struct id){.kind = KIND_RANK, .logical = rank, .physical = rank};
    if (threaded || location->of_rank)
        ids[count++] = (struct id){.kind = KIND_THREAD, .logical = thread, .physical = thread};
    hpc_put(file, &count, sizeof count);
    hpc_put(file, ids, count * sizeof *ids);
}

static bool hpc_finish_profiles(struct hpc_file *file, const struct locations *locations, struct hpc_profiles *profiles)
{
    hpc_align(file, 8);
    struct hpc_section tuples = {.at = file->at};
    for (uint32_t i = 0, before = 0; i < locations->count; i++) {
        const struct location *location = &locations->location[i];
        profiles->info[1 + i].id_tuple = file->at;
        before = i ? hpc_threads_before(location - 1, location, before) : 0;
        hpc_put_id_tuple(file, location, before, locations->processes > 1);
    }
    tuples.bytes = file->at - tuples.at;
    struct hpc_section infos = {.at = file->at, .bytes = INFOS_BYTES + profiles->count * INFO_BYTES};
    const uint64_t head[] = {infos.at + INFOS_BYTES, (uint64_t)INFO_BYTES << 32 | profiles->count};
    hpc_put(file, head, sizeof head);
    hpc_put(file, profiles->info, profiles->count * INFO_BYTES);
    const struct hpc_section sections[] = {infos, tuples};
    return hpc_close(file, "prof", sections, 2, "_prof.db");
}

/* Writes profile.db. Profile 0 is the sum, and each location has a profile of its own. */
static bool hpc_write_profiles(const char *directory, struct locations *locations, const struct hpc_contexts *contexts,
                               struct hpc_profiles *profiles)
{
    struct hpc_file file;
    struct location_rows sum;
    if (!hpc_open(&file, directory, "profile.db", 2))
        return false;
    profiles->count = 1 + locations->count;
    profiles->info = memory_array(profiles->count, sizeof *profiles->info);
    profiles->info[0].flags = IS_SUMMARY;
    struct plane plane = {.contexts = contexts,
                          .slot = memory_array(contexts->count, sizeof *plane.slot),
                          .listed = memory_array(contexts->count, sizeof *plane.listed)};
    memset(plane.slot, 0xff, contexts->count * sizeof *plane.slot);
    export_locations_sum(locations, &sum);
    hpc_put_plane(&file, &plane, &sum, &profiles->info[0]);
    bool good = hpc_put_locations(&file, &plane, locations, profiles);
    free(plane.slot);
    free(plane.listed);
    free(plane.value);
    int why = errno;
    bool closed = hpc_finish_profiles(&file, locations, profiles);
    if (!good)
        errno = why;
    return closed && good;
}

/* ---- cct.db: the same values, context by context ---- */

/* For each context in turn, the values of all profiles are collected. A profile has a cursor, which points to
 * the next context with values in the profile, and which waits in a list of that context. Therefore the cost
 * of a context depends on how many profiles have values for it, not on how many profiles there are. */

#define CONTEXTS_AT_ONCE 16384u

struct info {
    uint64_t value_count, values;
    uint16_t metric_count, none[3];
    uint64_t metrics;
};

struct value {
    uint32_t profile;
    double value;
} __attribute__((packed));

struct values_of {
    uint16_t metric;
    uint64_t first;
} __attribute__((packed));

/* A position in a profile: the contexts and values that have not been written yet. */
struct cursor {
    uint32_t profile;
    uint32_t left; /* unread contexts */
    const struct hpc_values_of *at;
    const struct hpc_value *values, *value, *end;
    uint64_t value_count;
    struct cursor *next; /* next cursor that waits for the same context */
};

struct walk {
    struct cursor *cursor;
    struct cursor **waiting; /* for each context, the first of the cursors that wait for it */
    /* cursors of the profiles that have values for the current context, sorted by profile */
    struct cursor **here;
    size_t here_count;
};

static void hpc_wait_for_next_context(struct walk *walk, struct cursor *cursor)
{
    if (!cursor->left)
        return;
    cursor->next = walk->waiting[cursor->at->context];
    walk->waiting[cursor->at->context] = cursor;
}

static void hpc_start_walk(struct walk *walk, const struct hpc_profiles *profiles, size_t contexts, const char *bytes)
{
    *walk = (struct walk){.cursor = memory_array(profiles->count, sizeof *walk->cursor),
                          .here = memory_array(profiles->count, sizeof *walk->here),
                          .waiting = memory_array(contexts, sizeof *walk->waiting)};
    for (uint32_t i = 1; i < profiles->count; i++) {
        const struct hpc_profile_info *info = &profiles->info[i];
        walk->cursor[i] = (struct cursor){.profile = i,
                                          .left = info->context_count,
                                          .at = (const void *)(bytes + info->contexts),
                                          .values = (const void *)(bytes + info->values),
                                          .value_count = info->value_count};
        hpc_wait_for_next_context(walk, &walk->cursor[i]);
    }
}

static int hpc_compare_cursors(const void *left, const void *right)
{
    const struct cursor *a = *(struct cursor *const *)left, *b = *(struct cursor *const *)right;
    return (a->profile > b->profile) - (a->profile < b->profile);
}

static void hpc_walk_to_context(struct walk *walk, uint32_t context)
{
    walk->here_count = 0;
    for (struct cursor *cursor = walk->waiting[context], *next; cursor; cursor = next) {
        next = cursor->next;
        cursor->value = cursor->values + cursor->at->first;
        cursor->left--;
        cursor->end = cursor->values + (cursor->left ? cursor->at[1].first : cursor->value_count);
        cursor->at++;
        walk->here[walk->here_count++] = cursor;
        hpc_wait_for_next_context(walk, cursor);
    }
    qsort(walk->here, walk->here_count, sizeof *walk->here, hpc_compare_cursors);
}

static void hpc_put_context_values(struct hpc_file *file, struct walk *walk, uint16_t values, struct info *info)
{
    struct values_of metrics[values];
    hpc_align(file, 4);
    info->values = file->at;
    for (uint16_t v = 0; v < values && walk->here_count; v++) {
        uint64_t before = info->value_count;
        for (size_t i = 0; i < walk->here_count; i++) {
            struct cursor *cursor = walk->here[i];
            if (cursor->value == cursor->end || cursor->value->metric != v)
                continue;
            struct value value = {cursor->profile, cursor->value++->value};
            hpc_put(file, &value, sizeof value);
            info->value_count++;
        }
        if (info->value_count > before)
            metrics[info->metric_count++] = (struct values_of){v, before};
    }
    info->metrics = file->at;
    hpc_put(file, metrics, info->metric_count * sizeof *metrics);
}

/* Maps profile.db into memory. Returns NULL and sets errno on failure. */
static const char *hpc_map_profiles(const char *directory, size_t *bytes)
{
    char *path = memory_text("%s/profile.db", directory);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    struct stat status;
    void *map = MAP_FAILED;
    free(path);
    if (file >= 0 && fstat(file, &status) == 0)
        map = mmap(NULL, *bytes = (size_t)status.st_size, PROT_READ, MAP_PRIVATE, file, 0);
    if (file >= 0)
        close(file);
    return map == MAP_FAILED ? NULL : map;
}

/* Writes cct.db, which has the values of profile.db sorted by context. The sum is left out. */
static bool hpc_write_cct(const char *directory, const struct hpc_contexts *contexts,
                          const struct hpc_profiles *profiles)
{
    size_t bytes;
    struct hpc_file file;
    struct walk walk;
    const char *map = hpc_map_profiles(directory, &bytes);
    if (!map || !hpc_open(&file, directory, "cct.db", 1))
        return false;
    struct hpc_section section = {.at = file.at, .bytes = INFOS_BYTES + contexts->count * sizeof(struct info)};
    const uint64_t head[] = {section.at + INFOS_BYTES, (uint64_t)sizeof(struct info) << 32 | contexts->count};
    struct info *infos = memory_array(contexts->count, sizeof *infos);
    hpc_put(&file, head, sizeof head);
    hpc_put(&file, infos, contexts->count * sizeof *infos);
    hpc_start_walk(&walk, profiles, contexts->count, map);
    for (uint32_t c = 0; c < contexts->count; c++) {
        hpc_walk_to_context(&walk, c);
        hpc_put_context_values(&file, &walk, contexts->values, &infos[c]);
        /* this process no longer needs the pages it has read, which stay in the page cache */
        if (c % CONTEXTS_AT_ONCE == 0)
            madvise((void *)map, bytes, MADV_DONTNEED);
    }
    hpc_align(&file, 8);
    bool there = fflush(file.stream) == 0 && fseek(file.stream, (long)head[0], SEEK_SET) == 0;
    if (!there || fwrite(infos, sizeof *infos, contexts->count, file.stream) != contexts->count ||
        fseek(file.stream, 0, SEEK_END) != 0)
        file.why = file.why ? file.why : errno;
    bool good = hpc_close(&file, "ctxt", &section, 1, "__ctx.db");
    int why = errno;
    free(infos);
    free(walk.cursor);
    free(walk.here);
    free(walk.waiting);
    munmap((void *)map, bytes);
    errno = why;
    return good;
}

/* ---- trace.db: the context of each thread over time ---- */

/* hpcviewer shows a line for each thread, which consists of samples. A sample's colour extends halfway to the
 * samples before and after it. Spans begin and end halfway between two samples, so the first and the last
 * sample of a span are enough to draw the span. */

#define UNKNOWN_STATE PROFILE_TIME_STATES

struct trace_head {
    uint64_t traces;
    uint32_t count;
    uint8_t trace_bytes, none[3];
    uint64_t first_ns, last_ns;
};

struct hpc_trace_line {
    uint32_t profile, none;
    uint64_t begin, end;
};

struct element {
    uint64_t time_ns;
    uint32_t context;
} __attribute__((packed));

struct line {
    struct hpc_file *file;
    uint64_t period_ns;          /* sampling period */
    uint64_t start_ns, epoch_ns; /* the same instant on the clock of the trace and in ns since the epoch */
    uint64_t first_ns, last_ns;  /* times of the first and the last element; 0: no element yet */
};

/* Returns the number of the child with that name, or 0 if there is none. */
static uint32_t hpc_find_child(const struct hpc_contexts *contexts, uint32_t parent, const char *name)
{
    for (uint32_t child = contexts->context[parent].first; child; child = contexts->context[child].next) {
        const struct hpc_context *context = &contexts->context[child];
        if (context->row != ROW_NONE && strcmp(contexts->rows->row[context->row].label->name, name) == 0)
            return child;
    }
    return 0;
}

static uint32_t hpc_number_label(struct hpc_contexts *contexts, const struct row_label *label)
{
    uint32_t i = 0;
    while (i < contexts->trace_labels && contexts->trace_label[i] != label)
        i++;
    if (i == contexts->trace_labels)
        contexts->trace_label[contexts->trace_labels++] = label;
    return i + 1;
}

/* Returns the child context for a thread state, and adds it if necessary. */
static uint32_t hpc_find_state_context(struct hpc_trace *trace, uint32_t parent, size_t state)
{
    static const struct row_label unknown = {"<not sampled>", "", "", 0};
    struct hpc_contexts *contexts = trace->contexts;
    const struct row_label *label = state == UNKNOWN_STATE ? &unknown : &trace_state_label[state];
    uint32_t *slot = pair_map_slot(&trace->known, parent, PROFILE_TIME_STATES + state);
    if (*slot != PAIR_MAP_NEW)
        return *slot;
    uint32_t child = hpc_find_child(contexts, parent, label->name);
    /* a state's row is a child of the function, not of the line */
    if (!child && hpc_is_line(&contexts->context[parent]))
        child = hpc_find_child(contexts, contexts->context[parent].parent, label->name);
    if (!child)
        child = hpc_add_context(
            contexts,
            (struct hpc_context){.parent = parent, .row = ROW_NONE, .traced = hpc_number_label(contexts, label)});
    return *slot = child;
}

static uint32_t hpc_find_span_context(struct hpc_trace *trace, const struct trace_span *span)
{
    /* contexts are keys of the same map; the complement of a node is larger than any context's number */
    const uint64_t node = ~(uint64_t)span->node;
    uint32_t known = *pair_map_slot(&trace->known, node, span->state);
    if (known != PAIR_MAP_NEW)
        return known;
    const struct rows *rows = trace->contexts->rows;
    const char *state = trace_state_label[span->state].name;
    uint32_t row = export_trace_row(rows, span->node), context = trace->contexts->of_row[row];
    if (state && strcmp(rows->row[row].label->name, state) != 0) /* the row is not that of the state itself */
        context = hpc_find_state_context(trace, context, span->state);
    return *pair_map_slot(&trace->known, node, span->state) = context;
}

/* Writes an element. If its time is not later than that of the previous element, the time is increased to the
 * next possible value. */
static void hpc_put_trace_element(struct line *line, uint64_t time_ns, uint32_t context)
{
    struct element element = {line->epoch_ns + (time_ns > line->start_ns ? time_ns - line->start_ns : 0), context};
    if (line->last_ns && element.time_ns <= line->last_ns)
        element.time_ns = line->last_ns + 1;
    hpc_put(line->file, &element, sizeof element);
    line->first_ns = line->last_ns ? line->first_ns : element.time_ns;
    line->last_ns = element.time_ns;
}

/* Writes the time that a thread spent in a context as two elements, in the middle of the first and of the
 * last sampling period. If the time is not longer than a sampling period, it becomes one element. */
static void hpc_put_trace_time(struct line *line, uint64_t begin_ns, uint64_t end_ns, uint32_t context)
{
    uint64_t length_ns = end_ns - begin_ns, half_ns = (length_ns < line->period_ns ? length_ns : line->period_ns) / 2;
    if (!length_ns)
        return;
    hpc_put_trace_element(line, begin_ns + half_ns, context);
    if (length_ns > line->period_ns)
        hpc_put_trace_element(line, end_ns - half_ns, context);
}

/* Writes the line of a thread. Adjacent spans in the same context are combined. */
static void hpc_put_lane(struct line *line, struct hpc_trace *trace, const struct trace_lane *lane)
{
    uint64_t begin_ns = lane->spans[0].begin_ns, end_ns = begin_ns;
    uint32_t now = HPC_GLOBAL;
    for (size_t i = 0; i < lane->span_count; i++) {
        const struct trace_span *span = &lane->spans[i];
        uint32_t context = hpc_find_span_context(trace, span);
        if (span->begin_ns > end_ns || context != now) {
            hpc_put_trace_time(line, begin_ns, end_ns, now);
            if (span->begin_ns > end_ns)
                hpc_put_trace_time(line, end_ns, span->begin_ns,
                                   hpc_find_state_context(trace, HPC_ENTRY, UNKNOWN_STATE));
            begin_ns = span->begin_ns;
            now = context;
        }
        end_ns = span->end_ns;
    }
    hpc_put_trace_time(line, begin_ns, end_ns, now);
}

bool hpc_put_trace(struct hpc_trace *trace, uint32_t profile, const struct profile_header *header,
                   const struct trace_lane *lane)
{
    if (!trace->file.stream && !hpc_open(&trace->file, trace->directory, "trace.db", 1))
        return false;
    hpc_align(&trace->file, 8);
    struct hpc_trace_line entry = {.profile = profile, .begin = trace->file.at};
    struct line line = {.file = &trace->file,
                        .period_ns = header->period_ns,
                        .start_ns = header->start_ns,
                        .epoch_ns = header->start_realtime_ns > 0 ? (uint64_t)header->start_realtime_ns : 0};
    hpc_put_lane(&line, trace, lane);
    entry.end = trace->file.at;
    if (entry.end == entry.begin)
        return true;
    memory_grow(&trace->line, &trace->room, trace->count, sizeof *trace->line);
    trace->line[trace->count++] = entry;
    trace->first_ns = trace->count == 1 || line.first_ns < trace->first_ns ? line.first_ns : trace->first_ns;
    trace->last_ns = line.last_ns > trace->last_ns ? line.last_ns : trace->last_ns;
    return true;
}

static bool hpc_finish_trace(struct hpc_trace *trace)
{
    struct hpc_file *file = &trace->file;
    hpc_align(file, 8);
    struct hpc_section section = {.at = file->at,
                                  .bytes = sizeof(struct trace_head) + trace->count * sizeof *trace->line};
    const struct trace_head head = {section.at + sizeof head, (uint32_t)trace->count, sizeof *trace->line, {0},
                                    trace->first_ns,          trace->last_ns};
    hpc_put(file, &head, sizeof head);
    hpc_put(file, trace->line, trace->count * sizeof *trace->line);
    return hpc_close(file, "trce", &section, 1, "trace.db");
}

bool hpc_close_trace(struct hpc_trace *trace)
{
    bool good = !trace->file.stream || hpc_finish_trace(trace);
    int why = errno;
    pair_map_free(&trace->known);
    free(trace->line);
    errno = why;
    return good;
}

/* Writes the traces of one process, whose first location is `from`. */
static bool hpc_put_process(struct hpc_trace *trace, const struct locations *locations, size_t from,
                            const struct profile_header *header, const struct trace *read)
{
    struct pair_map lanes = {0};
    size_t process = locations->location[from].process;
    bool good = true;
    for (uint32_t i = 0; i < read->lane_count; i++)
        if (read->lanes[i].span_count)
            *pair_map_slot(&lanes, read->lanes[i].tree, 0) = i;
    for (size_t i = from; good && i < locations->count && locations->location[i].process == process; i++) {
        const struct profile_thread *record = locations->location[i].record;
        uint32_t lane = record ? *pair_map_slot(&lanes, record->tree, 0) : PAIR_MAP_NEW;
        if (lane != PAIR_MAP_NEW)
            good = hpc_put_trace(trace, (uint32_t)i + 1, header, &read->lanes[lane]);
    }
    pair_map_free(&lanes);
    return good;
}

/* Writes trace.db, which shows what each thread did over time, for the processes that have a trace. Adds the
 * contexts that occur only in traces, so it must run before the other files are written. */
static bool hpc_write_trace(const char *directory, struct locations *locations, struct hpc_contexts *contexts)
{
    struct hpc_trace trace = {.directory = directory, .contexts = contexts};
    bool good = true;
    for (size_t i = 0; good && i < locations->count; i++) {
        struct profile_header header;
        if (i && locations->location[i].process == locations->location[i - 1].process)
            continue;
        struct trace *read = export_locations_read_trace(locations, locations->location[i].process, &header);
        good = !read || hpc_put_process(&trace, locations, i, &header, read);
        int why = errno;
        trace_free(read);
        errno = why;
    }
    return hpc_close_trace(&trace) && good;
}

/* ---- the database ---- */

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
