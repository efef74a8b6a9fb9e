/* Matching of names between runs. A group contains all labels with the same kind, module and canonical name.
 * One run may have several such labels: constructs of one function, lambdas, static functions of different
 * files. Each of them is an entry. Entries of different builds are matched by align_places(), entries of one
 * build by equality. */
#include "command/compare/names.h"

#include <ctype.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "command/profile/pair_map.h"
#include "command/profile/profile.h"
#include "command/rows/row.h"
#include "command/text/format.h"
#include "command/text/memory.h"
#include "command/text/strings.h"

/* ---- canonical names ---- */

/* suffixes that compilers append to symbols of copied functions; a number may follow */
static const char *const copy_mark[] = {".isra", ".part",     ".constprop", ".cold",
                                        ".llvm", ".lto_priv", ".clone",     ".specialized"};

static bool starts(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

/* Returns the length of a copy mark with its number; 0 if there is none. */
static size_t copy_mark_bytes(const char *text)
{
    for (size_t i = 0; i < sizeof copy_mark / sizeof *copy_mark; i++) {
        if (!starts(text, copy_mark[i]))
            continue;
        const char *end = text + strlen(copy_mark[i]);
        if (*end == '.' && isdigit((unsigned char)end[1]))
            for (end++; isdigit((unsigned char)*end);)
                end++;
        if (!isalnum((unsigned char)*end) && *end != '_')
            return (size_t)(end - text);
    }
    return 0;
}

/* Returns the length of a number in front of "}", such as "#2" in {lambda(int)#2}; 0 if there is none. */
static size_t number_in_braces(const char *text)
{
    const char *end = text;
    if (*end++ != '#' || !isdigit((unsigned char)*end))
        return 0;
    while (isdigit((unsigned char)*end))
        end++;
    return *end == '}' ? (size_t)(end - text) : 0;
}

/* Returns the length of the bracketed text; 0 if it is not closed. */
static size_t bracketed(const char *text, char open, char close)
{
    size_t depth = 0;
    for (const char *at = text; *at; at++) {
        depth += *at == open;
        depth -= *at == close;
        if (!depth)
            return (size_t)(at + 1 - text);
    }
    return 0;
}

/* Returns the length of a compiler's name for a lambda: main::{lambda(int)#1}, main::$_0, <lambda(int)>. */
static size_t lambda_bytes(const char *text)
{
    if (starts(text, "{lambda("))
        return bracketed(text, '{', '}');
    if (starts(text, "<lambda(")) {
        size_t parameters = bracketed(text + 7, '(', ')'), bytes = 7 + parameters;
        return parameters ? bytes + (text[bytes] == '>') : 0;
    }
    return starts(text, "$_") && isdigit((unsigned char)text[2]) ? 2 + strspn(text + 2, "0123456789") : 0;
}

/* Returns the length of "operator<<" and the like, whose signs are not brackets. */
static size_t operator_bytes(const char *begin, const char *text)
{
    bool word = text > begin && (isalnum((unsigned char)text[-1]) || text[-1] == '_');
    if (word || !starts(text, "operator"))
        return 0;
    if (starts(text + 8, "()") || starts(text + 8, "[]"))
        return 10;
    return 8 + strspn(text + 8, "<>=!+-*/%^&|~,");
}

/* Returns how many bytes to leave out. depth: nesting in template arguments, which keep their parentheses. */
static size_t skipped(const char *begin, const char *text, int depth)
{
    if (starts(text, " [clone ") || starts(text, " [lambda ")) {
        const char *end = strchr(text, ']');
        return end ? (size_t)(end + 1 - text) : 0;
    }
    if (*text == '.' && text > begin)
        return copy_mark_bytes(text);
    if (*text == '#')
        return number_in_braces(text);
    if (*text == ' ' && text[1] == '>' && text > begin && text[-1] == '>')
        return 1;
    if (depth)
        return 0;
    if (starts(text, " const") && (!text[6] || text[6] == ':' || text[6] == ' '))
        return 6;
    return *text == '(' && text > begin && !starts(text, "(anonymous") ? bracketed(text, '(', ')') : 0;
}

static char *copy(char *to, const char *from, size_t bytes)
{
    memcpy(to, from, bytes);
    return to + bytes;
}

/* Returns the construct's bracket, which is the last one. */
static const char *find_bracket(const char *name)
{
    const char *bracket = strrchr(name, '[');
    return bracket && (starts(bracket, "[parallel") || starts(bracket, "[task")) ? bracket : NULL;
}

/* Drops "{lambda}", because GCC omits it for inlined lambdas. */
static void drop_lambda_of_operator(char *name)
{
    static const char text[] = "::{lambda}::operator()";
    for (char *at = name; (at = strstr(at, text));)
        memmove(at, at + 10, strlen(at + 10) + 1);
}

char *canonical_name(enum row_kind kind, const char *name)
{
    bool construct = kind == ROW_PARALLEL || kind == ROW_TASK;
    const char *bracket = construct ? find_bracket(name) : NULL;
    char *result = memory_array(4 * strlen(name) + 16, 1), *to = result;
    int depth = 0;
    for (const char *from = name; *from && from != bracket;) {
        size_t lambda = lambda_bytes(from), sign = operator_bytes(name, from);
        size_t skip = lambda ? lambda : sign ? sign : skipped(name, from, depth);
        if (lambda)
            to = stpcpy(to, "{lambda}");
        else if (sign)
            to = copy(to, from, sign);
        if (skip) {
            from += skip;
            continue;
        }
        depth += *from == '<';
        depth -= *from == '>' && depth;
        *to++ = *from++;
    }
    *to = '\0';
    drop_lambda_of_operator(result);
    strcat(result, !bracket ? "" : kind == ROW_TASK ? "[task]" : "[parallel]");
    return result;
}

char *canonical_module(const char *module)
{
    char *result = memory_text("%s", module), *mark = strstr(result, ".so.");
    if (mark && strspn(mark + 3, ".0123456789") == strlen(mark + 3))
        mark[3] = '\0';
    return result;
}

size_t canonical_host_bytes(const char *canonical)
{
    const char *bracket = find_bracket(canonical), *mark = strstr(canonical, "::operator()");
    if (!bracket && mark)
        return (size_t)(mark - canonical);
    return bracket && bracket > canonical ? (size_t)(bracket - canonical - 1) : 0;
}

/* ---- matching source positions after lines have moved ---- */

#define OTHER_FILE 1e6 /* distance in lines between different files; more than any move within a file */
#define MOST_CELLS (1u << 24)

/* Compares by file, then by line. */
static int align_order(const struct align_place *left, const struct align_place *right)
{
    int order = strcmp(left->file, right->file);
    return order ? order : (left->line > right->line) - (left->line < right->line);
}

static double distance(const struct align_place *a, const struct align_place *b)
{
    double lines = a->line > b->line ? (double)a->line - b->line : (double)b->line - a->line;
    bool known = *a->file && *b->file;
    return known && strcmp(a->file, b->file) != 0 ? OTHER_FILE : lines;
}

/* Fills cost[i][j]: the least cost of matching the first i positions of the shorter list with i of the first
 * j of the longer. */
static void fill_costs(double *cost, const struct align_place *shorter, size_t n, const struct align_place *longer,
                       size_t m)
{
    size_t width = m + 1;
    for (size_t i = 1; i <= n; i++)
        for (size_t j = i; j <= m - (n - i); j++) {
            double matched = cost[(i - 1) * width + j - 1] + distance(&shorter[i - 1], &longer[j - 1]);
            bool may_skip = j > i;
            double skipped = may_skip ? cost[i * width + j - 1] : 0;
            cost[i * width + j] = may_skip && skipped <= matched ? skipped : matched;
        }
}

void align_places(const struct align_place *a, size_t a_count, const struct align_place *b, size_t b_count,
                  size_t *match)
{
    bool a_shorter = a_count < b_count;
    size_t n = a_shorter ? a_count : b_count, m = a_shorter ? b_count : a_count;
    for (size_t i = 0; i < b_count; i++)
        match[i] = ALIGN_NONE;
    if (n == m || n > MOST_CELLS / (m + 1)) {
        for (size_t i = 0; i < n; i++)
            match[i] = i;
        return;
    }
    double *cost = memory_array((n + 1) * (m + 1), sizeof *cost);
    fill_costs(cost, a_shorter ? a : b, n, a_shorter ? b : a, m);
    for (size_t i = n, j = m; i > 0;) {
        if (j > i && cost[i * (m + 1) + j] == cost[i * (m + 1) + j - 1]) {
            j--;
            continue;
        }
        i--;
        j--;
        match[a_shorter ? j : i] = a_shorter ? i : j;
    }
    free(cost);
}

/* ---- the names of all runs ---- */

#define BUILD_UNKNOWN 0 /* differs from every build, even from another unknown one */
#define BUILD_MIXED   (PAIR_MAP_NEW - 1)

/* Where a name is defined. host_line: for constructs and lambdas, the first line of the enclosing function; 0
 * if unknown. */
struct position {
    struct align_place place;
    int host_line;
};

struct entry {
    uint32_t group;
    uint32_t next;            /* next entry of the group, + 1; 0: none */
    uint32_t build;           /* build of the last run that has the entry */
    struct position position; /* there */
};

struct group {
    uint32_t name;    /* string */
    uint32_t first;   /* entry + 1 */
    uint32_t pending; /* first label of the current run, + 1; 0: none */
    uint32_t pending_count;
};

/* A label of the current run. */
struct pending {
    const struct row_label *label;
    uint32_t group, next;
    uint32_t build;
    uint32_t entry;
    struct position position;
};

struct compare_names {
    const struct profile *const *profile;
    struct strings *strings;
    struct pair_map build_map; /* module -> build of all runs, BUILD_MIXED if they differ */
    struct pair_map group_map; /* name, kind and module -> group */
    struct group *group;
    size_t group_count, group_room;
    struct entry *entry;
    size_t entry_count, entry_room;
};

struct run_names {
    struct compare_names *names;
    const struct profile *profile;
    struct pair_map builds; /* module -> build */
    struct pair_map labels; /* label, kind -> pending */
    struct pair_map hosts;  /* name, module -> pending label of the procedure + 1; 0: several */
    struct pending *pending;
    size_t pending_count, pending_room;
};

/* ---- modules ---- */

/* Returns the id of a module's name. The program always has the same id, whatever its file is called. */
static uint32_t module_id(struct compare_names *names, const struct profile *profile, const char *base_name)
{
    const char *program = profile_text(profile, "program");
    if (program && strcmp(program, base_name) == 0)
        return strings_intern(names->strings, "<program>");
    char *module = canonical_module(base_name);
    uint32_t id = strings_intern(names->strings, module);
    free(module);
    return id;
}

static uint32_t build_of(struct compare_names *names, const struct profile_module *module)
{
    char text[2 * sizeof module->build_id + 1];
    if (!module->build_id_bytes || module->build_id_bytes > sizeof module->build_id)
        return BUILD_UNKNOWN;
    for (uint32_t i = 0; i < module->build_id_bytes; i++)
        snprintf(text + 2 * i, 3, "%02x", module->build_id[i]);
    return strings_intern(names->strings, text);
}

static void note_builds(struct compare_names *names, const struct profile *profile, struct pair_map *map)
{
    for (size_t i = 0; i < profile->module_count; i++) {
        if (profile->modules[i].flags & PROFILE_MODULE_PYTHON)
            continue; /* Python code has no build */
        uint32_t build = build_of(names, &profile->modules[i]);
        uint32_t *slot = pair_map_slot(map, module_id(names, profile, format_base_name(profile->modules[i].path)), 0);
        *slot = *slot == PAIR_MAP_NEW ? build : *slot == build && build != BUILD_UNKNOWN ? build : BUILD_MIXED;
    }
}

struct compare_names *names_new(const struct profile *const *profile, size_t count)
{
    struct compare_names *names = memory_array(1, sizeof *names);
    names->strings = strings_new();
    names->profile = profile;
    for (size_t i = 0; i < count; i++)
        note_builds(names, profile[i], &names->build_map);
    return names;
}

void names_free(struct compare_names *names)
{
    if (!names)
        return;
    strings_free(names->strings);
    pair_map_free(&names->build_map);
    pair_map_free(&names->group_map);
    free(names->group);
    free(names->entry);
    free(names);
}

/* ---- labels to groups ---- */

/* Returns whether a label is an address: "app+0x10" or "[parallel app+0x10]", with or without a function in
 * front. */
static bool is_address_label(const struct row_label *label)
{
    const char *offset = strstr(label->name, "+0x");
    size_t bytes = strlen(label->module);
    return offset && bytes && (size_t)(offset - label->name) >= bytes &&
           strncmp(offset - bytes, label->module, bytes) == 0 &&
           (offset - bytes == label->name || strchr(" [", offset[-(ptrdiff_t)bytes - 1]));
}

/* Returns a row's canonical name. A line is named by its distance from its function's first line. An address
 * without symbol is named by its module, unless all runs have the same build of the module. */
static char *canonical_row_name(struct run_names *run, const struct rows *rows, const struct row *row, uint32_t module)
{
    if (row_is_probe(row)) /* a name chosen by the program is used as it is */
        return memory_text("%s", row->label->name);
    if (row->kind == ROW_STATEMENT) {
        const struct row_label *function = rows->row[row->parent].label;
        bool relative = function->line > 0 && strcmp(function->file, row->label->file) == 0;
        return relative ? memory_text("line %+d", row->label->line - function->line)
                        : memory_text("%s", row->label->name);
    }
    if (is_address_label(row->label)) {
        uint32_t *build = pair_map_slot(&run->names->build_map, module, 0);
        if (*build != PAIR_MAP_NEW && *build != BUILD_MIXED && *build != BUILD_UNKNOWN)
            return memory_text("%s", row->label->name);
        return memory_text("%s (no symbols)", strings_text(run->names->strings, module));
    }
    return canonical_name(row->kind, row->label->name);
}

static uint32_t find_group(struct run_names *run, const struct rows *rows, const struct row *row, uint32_t module)
{
    struct compare_names *names = run->names;
    unsigned kind = row->kind == ROW_INLINED ? ROW_PROCEDURE : row->kind;
    char *text = canonical_row_name(run, rows, row, module);
    uint32_t name = strings_intern(names->strings, text);
    free(text);
    uint32_t *slot = pair_map_slot(&names->group_map, name, (uint64_t)kind << 32 | module);
    if (*slot == PAIR_MAP_NEW) {
        memory_grow(&names->group, &names->group_room, names->group_count, sizeof *names->group);
        *slot = (uint32_t)names->group_count;
        names->group[names->group_count++] = (struct group){.name = name};
    }
    return *slot;
}

/* Returns a row's source position. Only functions and constructs with a known line have one, as only they can
 * share a name. */
static struct align_place source_place(struct compare_names *names, const struct row *row)
{
    const struct row_label *label = row->label;
    bool offset = strstr(label->name, "+0x") != NULL;
    struct align_place none = {.file = ""};
    if (row->kind == ROW_STATEMENT || row->kind == ROW_PSEUDO || row->kind == ROW_RUNTIME || offset ||
        row_is_probe(row))
        return none;
    uint32_t file = strings_intern(names->strings, format_base_name(label->file));
    return (struct align_place){strings_text(names->strings, file), label->line};
}

static void note_host(struct run_names *run, const struct row *row, uint32_t name, uint32_t module, size_t pending)
{
    if (row->kind != ROW_PROCEDURE && row->kind != ROW_INLINED)
        return;
    uint32_t *slot = pair_map_slot(&run->hosts, name, module);
    *slot = *slot == PAIR_MAP_NEW ? (uint32_t)pending + 1 : 0;
}

/* Adds a label: once in each run for a function or construct, once in each function for a line. */
static uint32_t add_label(struct run_names *run, const struct rows *rows, const struct row *row)
{
    struct compare_names *names = run->names;
    const struct row_label *below = row->kind == ROW_STATEMENT ? rows->row[row->parent].label : NULL;
    uint64_t kind = row->kind == ROW_INLINED ? ROW_PROCEDURE : row->kind;
    uint32_t *slot = pair_map_slot(&run->labels, (uintptr_t)row->label, (uintptr_t)below << 4 | kind);
    if (*slot != PAIR_MAP_NEW)
        return *slot;
    memory_grow(&run->pending, &run->pending_room, run->pending_count, sizeof *run->pending);
    uint32_t index = *slot = (uint32_t)run->pending_count++;
    struct pending *pending = &run->pending[index];
    /* Phases, events and parameters are identified by name alone, wherever they begin. */
    uint32_t module = row_is_probe(row) ? 0 : module_id(names, run->profile, row->label->module);
    uint32_t *build = pair_map_slot(&run->builds, module, 0);
    if (*build == PAIR_MAP_NEW || *build == BUILD_MIXED)
        *build = BUILD_UNKNOWN;
    *pending = (struct pending){.label = row->label, .build = *build, .position = {source_place(names, row), 0}};
    pending->group = find_group(run, rows, row, module);
    struct group *group = &names->group[pending->group];
    pending->next = group->pending;
    group->pending = index + 1;
    group->pending_count++;
    note_host(run, row, group->name, module, index);
    return index;
}

/* ---- groups to entries ---- */

static void find_host(struct run_names *run, struct pending *pending)
{
    struct compare_names *names = run->names;
    const char *text = strings_text(names->strings, names->group[pending->group].name);
    size_t bytes = canonical_host_bytes(text);
    if (!bytes)
        return;
    char *host = memory_check(strndup(text, bytes));
    uint32_t module = module_id(names, run->profile, pending->label->module);
    uint32_t *slot = pair_map_slot(&run->hosts, strings_intern(names->strings, host), module);
    free(host);
    if (*slot != PAIR_MAP_NEW && *slot > 0)
        pending->position.host_line = run->pending[*slot - 1].label->line;
    else
        *slot = 0;
}

struct candidates {
    struct align_place *place;
    uint32_t *index;
    size_t count;
};

static struct candidates candidates_new(size_t room)
{
    return (struct candidates){memory_array(room, sizeof(struct align_place)), memory_array(room, sizeof(uint32_t)), 0};
}

static void candidates_free(struct candidates *list)
{
    free(list->place);
    free(list->index);
}

/* Inserts a candidate in order. Lists are short and mostly sorted already. */
static void candidates_put(struct candidates *list, struct align_place place, uint32_t index)
{
    size_t at = list->count++;
    for (; at > 0 && align_order(&list->place[at - 1], &place) > 0; at--) {
        list->place[at] = list->place[at - 1];
        list->index[at] = list->index[at - 1];
    }
    list->place[at] = place;
    list->index[at] = index;
}

static uint32_t find_entry_of_build(const struct compare_names *names, const struct group *group,
                                    const struct pending *pending)
{
    for (uint32_t e = group->first; e; e = names->entry[e - 1].next) {
        const struct entry *entry = &names->entry[e - 1];
        bool one_build = entry->build == pending->build && entry->build != BUILD_UNKNOWN;
        if (one_build && align_order(&entry->position.place, &pending->position.place) == 0)
            return e - 1;
    }
    return ROW_NONE;
}

static void set_entry(struct compare_names *names, struct pending *pending, uint32_t index)
{
    struct group *group = &names->group[pending->group];
    if (index == ROW_NONE) {
        memory_grow(&names->entry, &names->entry_room, names->entry_count, sizeof *names->entry);
        index = (uint32_t)names->entry_count++;
        names->entry[index] = (struct entry){.group = pending->group, .next = group->first};
        group->first = index + 1;
    }
    names->entry[index].position = pending->position;
    names->entry[index].build = pending->build;
    pending->entry = index;
}

/* Returns the position relative to the enclosing function, if all positions of the group have one. */
static struct align_place place_in(const struct position *position, bool below_host)
{
    struct align_place place = position->place;
    place.line -= below_host ? position->host_line : 0;
    return place;
}

static bool all_have_hosts(const struct run_names *run, const struct group *group)
{
    for (uint32_t e = group->first; e; e = run->names->entry[e - 1].next)
        if (!run->names->entry[e - 1].position.host_line)
            return false;
    return group->pending && run->pending[group->pending - 1].position.host_line;
}

/* Matches labels that are new in this build with entries of other builds. Labels with equal positions become
 * one entry: template instances that differ only in a lambda's number. */
static void align_rest(struct run_names *run, struct group *group, bool below_host, struct candidates *known,
                       struct candidates *rest)
{
    struct compare_names *names = run->names;
    if (!rest->count)
        return;
    uint32_t build = run->pending[rest->index[0]].build;
    for (uint32_t e = group->first; e; e = names->entry[e - 1].next)
        if (names->entry[e - 1].build != build || build == BUILD_UNKNOWN)
            candidates_put(known, place_in(&names->entry[e - 1].position, below_host), e - 1);
    struct candidates unique = candidates_new(rest->count);
    size_t *match = memory_array(rest->count, sizeof *match), at = 0;
    for (size_t i = 0; i < rest->count; i++)
        if (i == 0 || align_order(&rest->place[i - 1], &rest->place[i]) != 0)
            candidates_put(&unique, rest->place[i], rest->index[i]);
    align_places(known->place, known->count, unique.place, unique.count, match);
    for (size_t i = 0; i < rest->count; i++) {
        struct pending *pending = &run->pending[rest->index[i]];
        bool again = i > 0 && align_order(&rest->place[i - 1], &rest->place[i]) == 0;
        if (i > 0 && !again)
            at++;
        uint32_t entry = again                     ? run->pending[rest->index[i - 1]].entry
                         : match[at] == ALIGN_NONE ? ROW_NONE
                                                   : known->index[match[at]];
        set_entry(names, pending, entry);
    }
    candidates_free(&unique);
    free(match);
}

static void settle_group(struct run_names *run, uint32_t group_index)
{
    struct compare_names *names = run->names;
    struct group *group = &names->group[group_index];
    size_t entries = 0;
    for (uint32_t e = group->first; e; e = names->entry[e - 1].next)
        entries++;
    struct candidates known = candidates_new(entries), rest = candidates_new(group->pending_count);
    bool below_host = all_have_hosts(run, group);
    for (uint32_t p = group->pending; p; p = run->pending[p - 1].next) {
        struct pending *pending = &run->pending[p - 1];
        const struct align_place *place = &pending->position.place;
        bool placed = *place->file || place->line;
        uint32_t same = placed         ? find_entry_of_build(names, group, pending)
                        : group->first ? group->first - 1
                                       : ROW_NONE;
        if (same != ROW_NONE || !placed)
            set_entry(names, pending, same);
        else
            candidates_put(&rest, place_in(&pending->position, below_host), p - 1);
    }
    align_rest(run, group, below_host, &known, &rest);
    group->pending = group->pending_count = 0;
    candidates_free(&known);
    candidates_free(&rest);
}

void names_of_run(struct compare_names *names, size_t run_index, const struct rows *rows, uint32_t *entry)
{
    struct run_names run = {.names = names, .profile = names->profile[run_index]};
    note_builds(names, run.profile, &run.builds);
    for (size_t i = 0; i < rows->count; i++)
        entry[i] = add_label(&run, rows, &rows->row[i]);
    for (size_t i = 0; i < run.pending_count; i++)
        find_host(&run, &run.pending[i]);
    for (uint32_t g = 0; g < names->group_count; g++)
        if (names->group[g].pending)
            settle_group(&run, g);
    for (size_t i = 0; i < rows->count; i++)
        entry[i] = run.pending[entry[i]].entry;
    pair_map_free(&run.builds);
    pair_map_free(&run.labels);
    pair_map_free(&run.hosts);
    free(run.pending);
}

const char *names_canonical(const struct compare_names *names, uint32_t entry)
{
    return strings_text(names->strings, names->group[names->entry[entry].group].name);
}

static const char *keep_text(struct compare_names *names, const char *text)
{
    return strings_text(names->strings, strings_intern(names->strings, text));
}

struct row_label names_keep(struct compare_names *names, const struct row_label *label)
{
    return (struct row_label){.name = keep_text(names, label->name),
                              .module = keep_text(names, label->module),
                              .file = keep_text(names, label->file),
                              .line = label->line};
}
