/* Rows of what the program says of itself. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/rows_build.h"

#define MOST_NESTED 256 /* phases and events between a frame and its caller */

const struct merged_node *rows_caller_of(const struct profile *profile, const struct merged_node *node)
{
    const struct merged_node *caller = &profile->nodes[node->parent];
    for (unsigned level = 0; level < MOST_NESTED && node_is_marker(caller); level++)
        caller = &profile->nodes[caller->parent];
    return caller;
}

static uint32_t find_named_function(struct builder *builder, enum row_kind kind, const char *label,
                                    uint64_t place)
{
    struct strings *strings = builder->rows->strings;
    struct function function = {.name = strings_intern(strings, label)};
    const struct symbol_frame *frames;
    if (place && symbols_lookup(builder->symbols, place, &frames) > 0) {
        const char *module = symbols_module_name(builder->symbols, PROFILE_KEY_MODULE(place));
        function.module = strings_intern(strings, module);
        function.file = strings_intern(strings, frames[0].at_file);
        function.line = frames[0].at_line > 0 ? frames[0].at_line : 0;
    }
    return rows_find_function(builder, kind, &function);
}

uint32_t rows_add_marker(struct builder *builder, uint32_t node_idx, uint32_t parent)
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
        snprintf(label, sizeof label, "%s%s",
                 kind == ROW_PHASE   ? "phase "
                 : kind == ROW_EVENT ? "event "
                                     : "",
                 text);
    builder->innermost[node_idx] = builder->innermost[node->parent];
    return rows_find_function_row(builder, parent, kind,
                                  find_named_function(builder, kind, label, name ? name->place : 0), 0);
}

/* The next field of "name\tkey\tname\tkey", as an id. */
static const char *next_field(struct strings *strings, const char **at)
{
    char field[PROFILE_NAME_BYTES];
    size_t bytes = strcspn(*at, "\t");
    snprintf(field, sizeof field, "%.*s", (int)(bytes < sizeof field ? bytes : sizeof field - 1), *at);
    *at += bytes + ((*at)[bytes] == '\t');
    return strings_text(strings, strings_intern(strings, field));
}

static struct named_place next_place(struct builder *builder, const char **at)
{
    struct strings *strings = builder->rows->strings;
    struct named_place place = {.name = next_field(strings, at), .function = "", .file = ""};
    const struct symbol_frame *frames;
    uint64_t key = strtoull(next_field(strings, at), NULL, 16);
    if (key && symbols_lookup(builder->symbols, key, &frames) > 0) {
        place.function = strings_text(strings, strings_intern(strings, frames[0].name));
        place.file = strings_text(strings, strings_intern(strings, frames[0].at_file));
        place.line = frames[0].at_line > 0 ? frames[0].at_line : 0;
    }
    return place;
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
    builder->no_memory |= !misnested;
    for (size_t i = 0; misnested && i < count; i++) {
        const char *field = at = profile_text_next(profile, "misnested", at);
        misnested[i].inner = next_place(builder, &field);
        misnested[i].outer = next_place(builder, &field);
        if (!*misnested[i].outer.name && misnested[i].outer.line) { /* an end alone has one place */
            const char *name = misnested[i].inner.name;
            misnested[i].inner = misnested[i].outer;
            misnested[i].inner.name = name;
        }
    }
    rows->misnested = misnested;
    rows->misnested_count = misnested ? count : 0;
}
