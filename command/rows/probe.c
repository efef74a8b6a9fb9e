/* The rows of phases, events and parameters, which the program reports itself. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command/rows/build.h"
#include "command/rows/make.h"

#define MOST_NESTED 256 /* maximum number of phases and events between a frame and its caller */

const struct merged_node *rows_caller_of(const struct profile *profile, const struct merged_node *node)
{
    const struct merged_node *caller = &profile->nodes[node->parent];
    for (unsigned level = 0; level < MOST_NESTED && rows_node_is_probe(caller); level++)
        caller = &profile->nodes[caller->parent];
    return caller;
}

/* Returns the frame of the user's code at an address; NULL if there is none. Skips frames of blame.h or
 * blame.F90 that are inlined into the user's code. */
static const struct symbol_frame *rows_probe_user_frame(struct builder *builder, uint64_t key)
{
    const struct symbol_frame *frames;
    size_t count = key ? symbols_lookup(builder->symbols, key, &frames) : 0, i = 0;
    for (; i + 1 < count; i++) {
        const char *slash = strrchr(frames[i].at_file, '/');
        const char *file = slash ? slash + 1 : frames[i].at_file;
        if (strcmp(file, "blame.h") != 0 && strcmp(file, "blame.F90") != 0)
            break;
    }
    return count ? &frames[i] : NULL;
}

static uint32_t rows_probe_find_function(struct builder *builder, enum row_kind kind, const char *label, uint64_t key)
{
    struct strings *strings = builder->rows->strings;
    struct function function = {.name = strings_intern(strings, label)};
    const struct symbol_frame *frame = rows_probe_user_frame(builder, key);
    if (frame) {
        const char *module = symbols_module_name(builder->symbols, PROFILE_KEY_MODULE(key));
        function.module = strings_intern(strings, module);
        function.file = strings_intern(strings, frame->at_file);
        function.line = frame->at_line > 0 ? frame->at_line : 0;
    }
    return rows_find_function(builder, kind, &function);
}

static void rows_probe_note_begin(struct builder *builder, const struct profile_name *name)
{
    struct rows *rows = builder->rows;
    size_t number = (size_t)(name - builder->profile->names), used = 1;
    const struct symbol_frame *frames;
    char list[2000] = "\n";
    if (!rows->begun_in)
        rows->begun_in = rows_alloc(rows, builder->profile->name_count * sizeof *rows->begun_in);
    if (rows->begun_in[number] || !name->place)
        return;
    size_t count = symbols_lookup(builder->symbols, name->place, &frames);
    for (size_t i = 0; i < count && used + strlen(frames[i].name) + 2 < sizeof list; i++)
        used += (size_t)snprintf(list + used, sizeof list - used, "%s\n", frames[i].name);
    rows->begun_in[number] = strings_text(rows->strings, strings_intern(rows->strings, list));
}

uint32_t rows_add_probe(struct builder *builder, uint32_t node_idx, uint32_t parent)
{
    const struct merged_node *node = &builder->profile->nodes[node_idx];
    const struct profile_name *name = profile_name_of(builder->profile, node);
    const char *text = name ? name->text : "<no name>";
    enum row_kind kind = node->kind == PROFILE_NODE_EVENT       ? ROW_EVENT
                         : node->kind == PROFILE_NODE_PARAMETER ? ROW_PARAMETER
                                                                : ROW_PHASE;
    char label[PROFILE_NAME_BYTES + 32];
    if (node->kind == PROFILE_NODE_INSTANCE && node->key == PROFILE_INSTANCE_REST)
        snprintf(label, sizeof label, "%s [others]", text);
    else if (node->kind == PROFILE_NODE_INSTANCE)
        snprintf(label, sizeof label, "%s [%lld]", text, (long long)node->key);
    else
        snprintf(label, sizeof label, "%s%s", kind == ROW_PHASE ? "phase " : kind == ROW_EVENT ? "event " : "", text);
    if (name)
        rows_probe_note_begin(builder, name);
    builder->innermost[node_idx] = builder->innermost[node->parent];
    return rows_find_function_row(builder, parent, kind,
                                  rows_probe_find_function(builder, kind, label, name ? name->place : 0), 0);
}

/* Returns the next field of a text of the form "name\tkey\tname\tkey", as an interned string. */
static const char *rows_probe_next_field(struct strings *strings, const char **at)
{
    char field[PROFILE_NAME_BYTES];
    size_t bytes = strcspn(*at, "\t");
    snprintf(field, sizeof field, "%.*s", (int)(bytes < sizeof field ? bytes : sizeof field - 1), *at);
    *at += bytes + ((*at)[bytes] == '\t');
    return strings_text(strings, strings_intern(strings, field));
}

static struct probe_location rows_probe_next_location(struct builder *builder, const char **at)
{
    struct strings *strings = builder->rows->strings;
    struct probe_location location = {.name = rows_probe_next_field(strings, at), .function = "", .file = ""};
    uint64_t key = strtoull(rows_probe_next_field(strings, at), NULL, 16);
    const struct symbol_frame *frame = rows_probe_user_frame(builder, key);
    if (frame) {
        location.function = strings_text(strings, strings_intern(strings, frame->name));
        location.file = strings_text(strings, strings_intern(strings, frame->at_file));
        location.line = frame->at_line > 0 ? frame->at_line : 0;
    }
    return location;
}

void rows_read_misnested(struct builder *builder)
{
    const struct profile *profile = builder->profile;
    struct rows *rows = builder->rows;
    size_t count = 0;
    const char *at = NULL;
    if (!profile->text)
        return;
    while ((at = profile_text_next(profile, "misnested", at)))
        count++;
    struct misnesting *misnested = rows_alloc(rows, (count + 1) * sizeof *misnested);
    for (size_t i = 0; i < count; i++) {
        const char *field = at = profile_text_next(profile, "misnested", at);
        misnested[i].inner = rows_probe_next_location(builder, &field);
        misnested[i].outer = rows_probe_next_location(builder, &field);
        if (!*misnested[i].outer.name &&
            /* `inner` ended without having begun; the record then has only one position */
            misnested[i].outer.line) {
            const char *name = misnested[i].inner.name;
            misnested[i].inner = misnested[i].outer;
            misnested[i].inner.name = name;
        }
    }
    rows->misnested = misnested;
    rows->misnested_count = count;
}
