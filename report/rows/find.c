/* Functions, source lines and rows while rows are made: each is looked for before it is made. */
#include <stdio.h>
#include <string.h>

#include "report/rows/build.h"
#include "report/rows/make.h"
#include "report/text/grow.h"

bool rows_grow(struct builder *builder, void *list, size_t count, size_t *capacity, size_t size)
{
    bool good = grow_list(list, capacity, count, size);
    builder->no_memory |= !good;
    return good;
}

static const struct row_label *new_label(struct builder *builder, const char *name, const char *module,
                                         const char *file, int line)
{
    struct row_label *label = rows_alloc(builder->rows, sizeof *label);
    builder->no_memory |= !label;
    if (!label)
        return &row_no_label;
    *label = (struct row_label){.name = name, .module = module, .file = file, .line = line};
    return label;
}

uint32_t rows_find_function(struct builder *builder, enum row_kind kind, const struct function *function)
{
    unsigned kind_class = kind == ROW_INLINED ? ROW_PROCEDURE : kind;
    uint64_t a = (uint64_t)function->name << 32 | function->module;
    uint64_t b =
        (uint64_t)function->file << 32 | (kind_class << 28 | ((unsigned)function->line & 0xfffffffu));
    uint32_t *slot = pair_map_slot(&builder->function_map, a, b);
    if (!slot || *slot != PAIR_MAP_NEW) {
        builder->no_memory |= !slot;
        return slot ? *slot : 0;
    }
    if (!rows_grow(builder, &builder->functions, builder->function_count, &builder->function_capacity,
                   sizeof *builder->functions)) {
        *slot = 0;
        return 0;
    }
    const struct strings *strings = builder->rows->strings;
    builder->functions[builder->function_count] =
        new_label(builder, strings_text(strings, function->name), strings_text(strings, function->module),
                  strings_text(strings, function->file), function->line);
    *slot = (uint32_t)builder->function_count++;
    return *slot;
}

static bool is_child(const struct row *row, uint32_t parent, enum row_kind kind, uint32_t function, int line)
{
    return row->parent == parent && row->function == function && row->kind == kind &&
           (kind == ROW_STATEMENT ? row->label->line : row->call_line) == line;
}

/* A new row has no label yet. */
static uint32_t find_child(struct builder *builder, uint32_t parent, enum row_kind kind, uint32_t function,
                           int line)
{
    struct rows *rows = builder->rows;
    uint32_t tag = index_map_hash((uint64_t)parent << 32 | function, (uint64_t)kind << 32 | (unsigned)line);
    builder->no_memory |= !index_map_reserve(&builder->children);
    if (builder->no_memory)
        return 0;
    struct index_entry *entry = index_map_first(&builder->children, tag);
    for (; entry->tag; entry = index_map_next(&builder->children, entry))
        if (is_child(&rows->row[entry->index], parent, kind, function, line))
            return entry->index;
    uint32_t index = rows_append(rows, parent, kind);
    if ((builder->no_memory = index == ROW_NONE))
        return 0;
    rows->row[index].function = function;
    index_map_put(&builder->children, entry, tag, index);
    return index;
}

uint32_t rows_find_function_row(struct builder *builder, uint32_t parent, enum row_kind kind,
                                uint32_t function, int call_line)
{
    uint32_t index = find_child(builder, parent, kind, function, call_line);
    if (builder->no_memory)
        return 0;
    builder->rows->row[index].label = builder->functions[function];
    builder->rows->row[index].call_line = call_line;
    return index;
}

/* What is shown for a source line in a module. */
static const struct row_label *find_line(struct builder *builder, const struct place *place,
                                         const char *module)
{
    struct strings *strings = builder->rows->strings;
    uint32_t *slot = pair_map_slot(&builder->line_map,
                                   (uint64_t)place->statement_file << 32 | (unsigned)place->statement_line,
                                   (uintptr_t)module);
    builder->no_memory |= !slot;
    if (slot && *slot != PAIR_MAP_NEW)
        return builder->lines[*slot];
    if (builder->no_memory || !rows_grow(builder, &builder->lines, builder->line_count,
                                         &builder->line_capacity, sizeof *builder->lines))
        return &row_no_label;
    const char *file = strings_text(strings, place->statement_file), *slash = strrchr(file, '/');
    char name[512];
    snprintf(name, sizeof name, "%s:%d", slash ? slash + 1 : file, place->statement_line);
    builder->lines[builder->line_count] = new_label(
        builder, strings_text(strings, strings_intern(strings, name)), module, file, place->statement_line);
    *slot = (uint32_t)builder->line_count++;
    return builder->lines[*slot];
}

uint32_t rows_find_statement_row(struct builder *builder, uint32_t parent, const struct place *place)
{
    uint32_t index = find_child(builder, parent, ROW_STATEMENT, place->statement_file, place->statement_line);
    if (builder->no_memory || builder->rows->row[index].label != &row_no_label)
        return index;
    const char *module = builder->rows->row[parent].label->module;
    builder->rows->row[index].label = find_line(builder, place, module);
    return index;
}

uint32_t rows_find_named_row(struct builder *builder, uint32_t parent, enum row_kind kind, const char *name,
                             int call_line)
{
    struct function function = {.name = strings_intern(builder->rows->strings, name)};
    return rows_find_function_row(builder, parent, kind, rows_find_function(builder, kind, &function),
                                  call_line);
}
