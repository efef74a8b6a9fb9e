#include <inttypes.h>
#include <stdlib.h>

#include "export/firefox.h"
#include "report/text/format.h"
#include "report/text/json_text.h"
#include "report/text/memory.h"

/* Modules and source files of functions, numbered as they appear. */
struct tables {
    const char **modules, **sources;
    uint32_t *module_of, *source_of; /* by function; PAIR_MAP_NEW: none */
    size_t module_count, source_count;
};

uint32_t firefox_string(struct firefox *firefox, const char *text)
{
    char *clean = format_clean(text, false);
    uint32_t id = strings_intern(firefox->strings, clean);
    firefox->string_count = id >= firefox->string_count ? id + 1 : firefox->string_count;
    free(clean);
    return id;
}

void firefox_begin_column(struct firefox *firefox, const char *name)
{
    fprintf(firefox->out, "\"%s\":[", name);
}

void firefox_put_constant(struct firefox *firefox, const char *name, const char *value, size_t count)
{
    firefox_begin_column(firefox, name);
    for (size_t i = 0; i < count; i++) {
        fputs(i ? "," : "", firefox->out);
        fputs(value, firefox->out);
    }
    fputs("],", firefox->out);
}

void firefox_put_ms(struct firefox *firefox, double ns)
{
    json_decimal(firefox->out, ns / 1e6, 6);
}

static uint32_t number_of(struct pair_map *map, uint32_t text, const char *name, const char **list, size_t *count)
{
    if (!*name)
        return PAIR_MAP_NEW;
    uint32_t *slot = pair_map_slot(map, text, 0);
    if (*slot == PAIR_MAP_NEW) {
        list[*count] = name;
        *slot = (uint32_t)(*count)++;
    }
    return *slot;
}

static struct tables gather(struct trace_stacks *stacks)
{
    size_t room = stacks->function_count + 1;
    struct tables tables = {.modules = memory_array(room, sizeof *tables.modules),
                            .sources = memory_array(room, sizeof *tables.sources),
                            .module_of = memory_array(room, sizeof *tables.module_of),
                            .source_of = memory_array(room, sizeof *tables.source_of)};
    struct pair_map modules = {0}, sources = {0};
    for (size_t i = 0; i < stacks->function_count; i++) {
        const char *module = stacks->functions[i]->module, *file = stacks->functions[i]->file;
        tables.module_of[i] = number_of(&modules, strings_intern(stacks->texts, module), module, tables.modules, &tables.module_count);
        tables.source_of[i] = number_of(&sources, strings_intern(stacks->texts, file), file, tables.sources, &tables.source_count);
    }
    pair_map_free(&modules);
    pair_map_free(&sources);
    return tables;
}

static void free_tables(struct tables *tables)
{
    free(tables->modules);
    free(tables->sources);
    free(tables->module_of);
    free(tables->source_of);
}

static void put_stacks(struct firefox *firefox)
{
    const struct trace_stacks *stacks = &firefox->stacks;
    fputs("\"stackTable\":{", firefox->out);
    firefox_begin_column(firefox, "frame");
    for (size_t i = 0; i < stacks->stack_count; i++)
        fprintf(firefox->out, "%s%u", i ? "," : "", stacks->stacks[i].frame - 1);
    fputs("],\n", firefox->out);
    firefox_begin_column(firefox, "prefixOffset"); /* so far back is the caller; 0: there is none */
    for (size_t i = 0; i < stacks->stack_count; i++)
        fprintf(firefox->out, "%s%zu", i ? "," : "", stacks->stacks[i].parent ? i + 1 - stacks->stacks[i].parent : 0);
    fprintf(firefox->out, "],\"length\":%zu},\n", stacks->stack_count);
}

static void put_index(struct firefox *firefox, size_t at, uint32_t index, const char *none)
{
    fputs(at ? "," : "", firefox->out);
    if (index == PAIR_MAP_NEW)
        fputs(none, firefox->out);
    else
        fprintf(firefox->out, "%" PRIu32, index);
}

static void put_frames(struct firefox *firefox)
{
    const struct trace_stacks *stacks = &firefox->stacks;
    size_t count = stacks->frame_count;
    fputs("\"frameTable\":{", firefox->out);
    firefox_put_constant(firefox, "address", "-1", count);
    firefox_put_constant(firefox, "lib", "-1", count);
    firefox_put_constant(firefox, "inlineDepth", "0", count);
    firefox_put_constant(firefox, "subcategory", "0", count);
    firefox_put_constant(firefox, "nativeSymbol", "null", count);
    firefox_put_constant(firefox, "innerWindowID", "0", count);
    firefox_put_constant(firefox, "column", "null", count);
    firefox_put_constant(firefox, "originalLocation", "null", count);
    firefox_begin_column(firefox, "category");
    for (size_t i = 0; i < count; i++)
        put_index(firefox, i, stacks->frames[i].state, "");
    fputs("],", firefox->out);
    firefox_begin_column(firefox, "func");
    for (size_t i = 0; i < count; i++)
        put_index(firefox, i, stacks->frames[i].function - 1, "");
    fputs("],", firefox->out);
    firefox_begin_column(firefox, "line");
    for (size_t i = 0; i < count; i++)
        put_index(firefox, i, stacks->frames[i].line > 0 ? (uint32_t)stacks->frames[i].line : PAIR_MAP_NEW, "null");
    fprintf(firefox->out, "],\"length\":%zu},\n", count);
}

static void put_functions(struct firefox *firefox, const struct tables *tables)
{
    const struct row_label **functions = firefox->stacks.functions;
    size_t count = firefox->stacks.function_count;
    fputs("\"funcTable\":{", firefox->out);
    firefox_put_constant(firefox, "isJS", "false", count);
    firefox_put_constant(firefox, "relevantForJS", "false", count);
    firefox_put_constant(firefox, "columnNumber", "null", count);
    firefox_put_constant(firefox, "originalLocation", "null", count);
    firefox_begin_column(firefox, "name");
    for (size_t i = 0; i < count; i++)
        put_index(firefox, i, firefox_string(firefox, functions[i]->name), "");
    fputs("],", firefox->out);
    firefox_begin_column(firefox, "resource");
    for (size_t i = 0; i < count; i++)
        put_index(firefox, i, tables->module_of[i], "-1");
    fputs("],", firefox->out);
    firefox_begin_column(firefox, "source");
    for (size_t i = 0; i < count; i++)
        put_index(firefox, i, tables->source_of[i], "null");
    fputs("],", firefox->out);
    firefox_begin_column(firefox, "lineNumber");
    for (size_t i = 0; i < count; i++)
        put_index(firefox, i, functions[i]->line > 0 ? (uint32_t)functions[i]->line : PAIR_MAP_NEW, "null");
    fprintf(firefox->out, "],\"length\":%zu},\n", count);
}

static void put_texts(struct firefox *firefox, const char *column, const char **texts, size_t count)
{
    firefox_begin_column(firefox, column);
    for (size_t i = 0; i < count; i++)
        put_index(firefox, i, firefox_string(firefox, texts[i]), "");
    fprintf(firefox->out, "],\"length\":%zu},\n", count);
}

void firefox_put_shared(struct firefox *firefox)
{
    struct tables tables = gather(&firefox->stacks);
    fputs("\"shared\":{\n", firefox->out);
    put_stacks(firefox);
    put_frames(firefox);
    put_functions(firefox, &tables);
    fputs("\"resourceTable\":{", firefox->out);
    firefox_put_constant(firefox, "host", "null", tables.module_count);
    firefox_put_constant(firefox, "type", "1", tables.module_count); /* a library */
    put_texts(firefox, "name", tables.modules, tables.module_count);
    fputs("\"sources\":{", firefox->out);
    firefox_put_constant(firefox, "id", "null", tables.source_count);
    firefox_put_constant(firefox, "startLine", "1", tables.source_count);
    firefox_put_constant(firefox, "startColumn", "1", tables.source_count);
    firefox_put_constant(firefox, "sourceMapURL", "null", tables.source_count);
    firefox_put_constant(firefox, "content", "null", tables.source_count);
    put_texts(firefox, "filename", tables.sources, tables.source_count);
    fputs("\"nativeSymbols\":{\"libIndex\":[],\"address\":[],\"name\":[],\"functionSize\":[],\"length\":0},\n"
          "\"sourceLocationTable\":{\"source\":[],\"line\":[],\"column\":[],\"length\":0},\n",
          firefox->out);
    firefox_begin_column(firefox, "stringArray");
    for (uint32_t i = 0; i < firefox->string_count; i++) {
        fputs(i ? ",\n" : "", firefox->out);
        json_text(firefox->out, strings_text(firefox->strings, i));
    }
    fputs("]}", firefox->out);
    free_tables(&tables);
}
