#include <stdlib.h>
#include <string.h>

#include "report/profile/profile.h"
#include "export/pprof.h"
#include "report/text/format.h"
#include "report/text/memory.h"

typedef Perftools__Profiles__Profile part_message;
#define PART_INIT PERFTOOLS__PROFILES__PROFILE__INIT

int64_t pprof_string(struct pprof *pprof, const char *text)
{
    char *clean = format_clean(text, false);
    uint32_t id = strings_intern(pprof->strings, clean);
    if (id >= pprof->string_count)
        pprof->string_count = id + 1;
    free(clean);
    return id;
}

static uint32_t find_function(struct pprof *pprof, uint32_t frame, const char *file)
{
    const char *own = pprof->frames.label[frame]->file;
    file = file ? file : own;
    /* The text of files is interned: one address, one file. */
    uint32_t *slot = pair_map_slot(&pprof->function_map, frame, (uintptr_t)file);
    if (*slot != PAIR_MAP_NEW)
        return *slot;
    memory_grow(&pprof->function, &pprof->function_room, pprof->function_count, sizeof *pprof->function);
    pprof->function[pprof->function_count] = (struct pprof_function){.frame = frame, .file = file};
    *slot = (uint32_t)pprof->function_count++;
    return *slot;
}

uint32_t pprof_line(struct pprof *pprof, uint32_t outer, uint32_t frame, const char *file, int line)
{
    uint32_t function = find_function(pprof, frame, file);
    uint32_t *slot = pair_map_slot(&pprof->line_map, (uint64_t)outer << 32 | function, (uint32_t)line);
    if (*slot != PAIR_MAP_NEW)
        return *slot + 1;
    memory_grow(&pprof->line, &pprof->line_room, pprof->line_count, sizeof *pprof->line);
    pprof->line[pprof->line_count] = (struct pprof_line){.outer = outer, .function = function, .line = line};
    *slot = (uint32_t)pprof->line_count++;
    return *slot + 1;
}

uint64_t pprof_location(struct pprof *pprof, uint32_t line)
{
    if (!pprof->line[line - 1].location)
        pprof->line[line - 1].location = ++pprof->location_count;
    return pprof->line[line - 1].location;
}

void pprof_write(struct pprof *pprof, const part_message *part)
{
    size_t bytes = perftools__profiles__profile__get_packed_size(part);
    if (bytes > pprof->packed_room) {
        pprof->packed_room = 2 * bytes;
        pprof->packed = memory_check(realloc(pprof->packed, pprof->packed_room));
    }
    if (!pprof->good)
        return;
    perftools__profiles__profile__pack(part, pprof->packed);
    pprof->good = gzip_put(&pprof->gzip, pprof->packed, bytes);
}

/* Ids of mappings are those of modules. Two modules of one base name cannot be told apart by the rows: what
 * is in either is said to be in the first. */
static uint64_t mapping_of(struct pprof *pprof, const char *module)
{
    if (!*module)
        return 0;
    uint32_t *slot = pair_map_slot(&pprof->mapping_map, (uintptr_t)module, 0);
    if (*slot == PAIR_MAP_NEW) {
        const struct profile *profile = pprof->profile;
        *slot = 0;
        for (size_t i = 0; i < profile->module_count && !*slot; i++)
            if (!(profile->modules[i].flags & PROFILE_MODULE_PYTHON) && strcmp(format_base_name(profile->modules[i].path), module) == 0)
                *slot = (uint32_t)i + 1;
    }
    return *slot;
}

static void write_location(struct pprof *pprof, uint32_t innermost)
{
    size_t count = 0, n = 0;
    for (uint32_t at = innermost; at; at = pprof->line[at - 1].outer)
        count++;
    Perftools__Profiles__Line *lines = memory_array(count, sizeof *lines);
    Perftools__Profiles__Line **list = memory_array(count, sizeof *list);
    Perftools__Profiles__Location location = PERFTOOLS__PROFILES__LOCATION__INIT, *locations = &location;
    uint32_t outermost = innermost;
    for (uint32_t at = innermost; at; at = pprof->line[at - 1].outer, n++) {
        const struct pprof_line *line = &pprof->line[at - 1];
        lines[n] = (Perftools__Profiles__Line)PERFTOOLS__PROFILES__LINE__INIT;
        lines[n].function_id = (uint64_t)line->function + 1;
        lines[n].line = line->line;
        list[n] = &lines[n];
        outermost = at;
    }
    uint32_t frame = pprof->function[pprof->line[outermost - 1].function].frame;
    location.id = pprof->line[innermost - 1].location;
    location.mapping_id = mapping_of(pprof, pprof->frames.label[frame]->module);
    location.n_line = n;
    location.line = list;
    part_message part = PART_INIT;
    part.n_location = 1;
    part.location = &locations;
    pprof_write(pprof, &part);
    free(lines);
    free(list);
}

static void write_function(struct pprof *pprof, uint32_t index)
{
    const struct pprof_function *of = &pprof->function[index];
    const struct row_label *label = pprof->frames.label[of->frame];
    Perftools__Profiles__Function function = PERFTOOLS__PROFILES__FUNCTION__INIT, *functions = &function;
    function.id = (uint64_t)index + 1;
    function.name = pprof_string(pprof, label->name);
    function.filename = pprof_string(pprof, of->file);
    function.start_line = of->file == label->file ? label->line : 0;
    part_message part = PART_INIT;
    part.n_function = 1;
    part.function = &functions;
    pprof_write(pprof, &part);
}

static void write_mapping(struct pprof *pprof, size_t index)
{
    const struct profile_module *module = &pprof->profile->modules[index];
    char build_id[2 * sizeof module->build_id + 1] = "";
    for (uint32_t byte = 0; byte < module->build_id_bytes; byte++)
        snprintf(build_id + 2 * byte, 3, "%02x", module->build_id[byte]);
    Perftools__Profiles__Mapping mapping = PERFTOOLS__PROFILES__MAPPING__INIT, *mappings = &mapping;
    mapping.id = index + 1;
    mapping.memory_start = module->load_bias + module->vaddr_low;
    mapping.memory_limit = module->load_bias + module->vaddr_high;
    mapping.filename = pprof_string(pprof, module->path);
    mapping.build_id = pprof_string(pprof, build_id);
    mapping.has_functions = mapping.has_filenames = mapping.has_line_numbers = mapping.has_inline_frames = 1;
    part_message part = PART_INIT;
    part.n_mapping = 1;
    part.mapping = &mappings;
    pprof_write(pprof, &part);
}

void pprof_write_tables(struct pprof *pprof)
{
    for (size_t i = 0; pprof->good && i < pprof->profile->module_count; i++)
        if (!(pprof->profile->modules[i].flags & PROFILE_MODULE_PYTHON))
            write_mapping(pprof, i);
    for (uint32_t i = 0; pprof->good && i < pprof->line_count; i++)
        if (pprof->line[i].location)
            write_location(pprof, i + 1);
    for (uint32_t i = 0; pprof->good && i < pprof->function_count; i++)
        write_function(pprof, i);
    for (uint32_t id = 0; pprof->good && id < pprof->string_count; id++) {
        char *text = (char *)strings_text(pprof->strings, id);
        part_message part = PART_INIT;
        part.n_string_table = 1;
        part.string_table = &text;
        pprof_write(pprof, &part);
    }
}
