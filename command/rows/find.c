/* Finds functions, source lines and rows while rows are made. Creates those that do not exist. */
#include <stdio.h>
#include <string.h>

#include "command/rows/build.h"
#include "command/rows/make.h"
#include "command/text/memory.h"

static const struct row_label *row_new_label(struct builder *builder, const char *name, const char *module,
                                             const char *file, int line)
{
    struct row_label *label = rows_alloc(builder->rows, sizeof *label);
    *label = (struct row_label){.name = name, .module = module, .file = file, .line = line};
    return label;
}

uint32_t rows_find_function(struct builder *builder, enum row_kind kind, const struct function *function)
{
    unsigned kind_class = kind == ROW_INLINED ? ROW_PROCEDURE : kind;
    uint64_t a = (uint64_t)function->name << 32 | function->module;
    uint64_t b = (uint64_t)function->file << 32 | (kind_class << 28 | ((unsigned)function->line & 0xfffffffu));
    uint32_t *slot = pair_map_slot(&builder->function_map, a, b);
    if (*slot != PAIR_MAP_NEW)
        return *slot;
    memory_grow(&builder->functions, &builder->function_capacity, builder->function_count, sizeof *builder->functions);
    const struct strings *strings = builder->rows->strings;
    builder->functions[builder->function_count] =
        row_new_label(builder, strings_text(strings, function->name), strings_text(strings, function->module),
                      strings_text(strings, function->file), function->line);
    *slot = (uint32_t)builder->function_count++;
    return *slot;
}

static bool row_is_child(const struct row *row, uint32_t parent, enum row_kind kind, uint32_t function, int line)
{
    return row->parent == parent && row->function == function && row->kind == kind &&
           (kind == ROW_STATEMENT ? row->label->line : row->call_line) == line;
}

uint32_t rows_find_child(struct rows *rows, struct index_map *children, uint32_t parent, enum row_kind kind,
                         uint32_t function, int line)
{
    uint32_t tag = index_map_hash((uint64_t)parent << 32 | function, (uint64_t)kind << 32 | (unsigned)line);
    index_map_reserve(children);
    struct index_entry *entry = index_map_first(children, tag);
    for (; entry->tag; entry = index_map_next(children, entry))
        if (row_is_child(&rows->row[entry->index], parent, kind, function, line))
            return entry->index;
    uint32_t index = rows_append(rows, parent, kind);
    rows->row[index].function = function;
    rows->row[index].call_line = kind == ROW_STATEMENT ? 0 : line;
    index_map_put(children, entry, tag, index);
    return index;
}

uint32_t rows_find_function_row(struct builder *builder, uint32_t parent, enum row_kind kind, uint32_t function,
                                int call_line)
{
    uint32_t index = rows_find_child(builder->rows, &builder->children, parent, kind, function, call_line);
    builder->rows->row[index].label = builder->functions[function];
    return index;
}

/* Returns the label of a source line in a module. */
static const struct row_label *row_find_line_label(struct builder *builder, const struct source_frame *frame,
                                                   const char *module)
{
    struct strings *strings = builder->rows->strings;
    uint32_t *slot = pair_map_slot(
        &builder->line_map, (uint64_t)frame->statement_file << 32 | (unsigned)frame->statement_line, (uintptr_t)module);
    if (*slot != PAIR_MAP_NEW)
        return builder->lines[*slot];
    memory_grow(&builder->lines, &builder->line_capacity, builder->line_count, sizeof *builder->lines);
    const char *file = strings_text(strings, frame->statement_file), *slash = strrchr(file, '/');
    char name[512];
    snprintf(name, sizeof name, "%s:%d", slash ? slash + 1 : file, frame->statement_line);
    builder->lines[builder->line_count] = row_new_label(builder, strings_text(strings, strings_intern(strings, name)),
                                                        module, file, frame->statement_line);
    *slot = (uint32_t)builder->line_count++;
    return builder->lines[*slot];
}

uint32_t rows_find_statement_row(struct builder *builder, uint32_t parent, const struct source_frame *frame)
{
    uint32_t index = rows_find_child(builder->rows, &builder->children, parent, ROW_STATEMENT, frame->statement_file,
                                     frame->statement_line);
    struct row *row = &builder->rows->row[index];
    if (row->label == &row_no_label)
        row->label = row_find_line_label(builder, frame, builder->rows->row[parent].label->module);
    return index;
}

uint32_t rows_find_named_row(struct builder *builder, uint32_t parent, enum row_kind kind, const char *name,
                             int call_line)
{
    struct function function = {.name = strings_intern(builder->rows->strings, name)};
    return rows_find_function_row(builder, parent, kind, rows_find_function(builder, kind, &function), call_line);
}
