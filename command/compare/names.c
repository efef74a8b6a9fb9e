/* Matches names between runs. A group contains all labels with the same kind, module and canonical name. One
 * run may have several such labels: constructs of one function, lambdas, static functions of different files.
 * Each of these labels is an entry of the group. Entries of the same build match if they are equal. Entries
 * of different builds are matched by align_source_lines(). */
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

/* suffixes that compilers append to the symbols of copied functions; a number may follow a suffix */
static const char *const copy_mark[] = {".isra", ".part",     ".constprop", ".cold",
                                        ".llvm", ".lto_priv", ".clone",     ".specialized"};

static bool canonical_starts_with(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

/* Returns the length of a copy mark and its number at the start of a text; 0 if there is none. */
static size_t canonical_copy_mark_bytes(const char *text)
{
    for (size_t i = 0; i < sizeof copy_mark / sizeof *copy_mark; i++) {
        if (!canonical_starts_with(text, copy_mark[i]))
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

/* Returns the length of a number before "}", such as "#2" in {lambda(int)#2}; 0 if there is none. */
static size_t canonical_lambda_number_bytes(const char *text)
{
    const char *end = text;
    if (*end++ != '#' || !isdigit((unsigned char)*end))
        return 0;
    while (isdigit((unsigned char)*end))
        end++;
    return *end == '}' ? (size_t)(end - text) : 0;
}

/* Returns the length of a bracketed text, including the brackets; 0 if the bracket is not closed. */
static size_t canonical_bracketed_bytes(const char *text, char open, char close)
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

/* Returns the length of a compiler's name for a lambda (main::{lambda(int)#1}, main::$_0, <lambda(int)>); 0
 * if there is none. */
static size_t canonical_lambda_bytes(const char *text)
{
    if (canonical_starts_with(text, "{lambda("))
        return canonical_bracketed_bytes(text, '{', '}');
    if (canonical_starts_with(text, "<lambda(")) {
        size_t parameters = canonical_bracketed_bytes(text + 7, '(', ')'), bytes = 7 + parameters;
        return parameters ? bytes + (text[bytes] == '>') : 0;
    }
    return canonical_starts_with(text, "$_") && isdigit((unsigned char)text[2]) ? 2 + strspn(text + 2, "0123456789")
                                                                                : 0;
}

/* Returns the length of an operator's name, such as "operator<<", whose signs are not brackets; 0 if there is
 * none. */
static size_t canonical_operator_bytes(const char *begin, const char *text)
{
    bool word = text > begin && (isalnum((unsigned char)text[-1]) || text[-1] == '_');
    if (word || !canonical_starts_with(text, "operator"))
        return 0;
    if (canonical_starts_with(text + 8, "()") || canonical_starts_with(text + 8, "[]"))
        return 10;
    return 8 + strspn(text + 8, "<>=!+-*/%^&|~,");
}

/* Returns how many bytes of the name, from `text` on, the canonical name leaves out. depth: nesting depth of
 * template arguments, in which parentheses are kept. */
static size_t canonical_skip_bytes(const char *begin, const char *text, int depth)
{
    if (canonical_starts_with(text, " [clone ") || canonical_starts_with(text, " [lambda ")) {
        const char *end = strchr(text, ']');
        return end ? (size_t)(end + 1 - text) : 0;
    }
    if (*text == '.' && text > begin)
        return canonical_copy_mark_bytes(text);
    if (*text == '#')
        return canonical_lambda_number_bytes(text);
    if (*text == ' ' && text[1] == '>' && text > begin && text[-1] == '>')
        return 1;
    if (depth)
        return 0;
    if (canonical_starts_with(text, " const") && (!text[6] || text[6] == ':' || text[6] == ' '))
        return 6;
    return *text == '(' && text > begin && !canonical_starts_with(text, "(anonymous")
               ? canonical_bracketed_bytes(text, '(', ')')
               : 0;
}

static char *canonical_copy(char *to, const char *from, size_t bytes)
{
    memcpy(to, from, bytes);
    return to + bytes;
}

/* Returns the bracket of a construct, such as "[parallel", which is the last bracket in the name; NULL if
 * there is none. */
static const char *canonical_find_construct(const char *name)
{
    const char *bracket = strrchr(name, '[');
    return bracket && (canonical_starts_with(bracket, "[parallel") || canonical_starts_with(bracket, "[task")) ? bracket
                                                                                                               : NULL;
}

/* Removes "{lambda}" before "operator()", because GCC leaves it out for inlined lambdas. */
static void canonical_drop_lambda(char *name)
{
    static const char text[] = "::{lambda}::operator()";
    for (char *at = name; (at = strstr(at, text));)
        memmove(at, at + 10, strlen(at + 10) + 1);
}

char *canonical_name(enum row_kind kind, const char *name)
{
    bool construct = kind == ROW_PARALLEL || kind == ROW_TASK;
    const char *bracket = construct ? canonical_find_construct(name) : NULL;
    char *result = memory_array(4 * strlen(name) + 16, 1), *to = result;
    int depth = 0;
    for (const char *from = name; *from && from != bracket;) {
        size_t lambda = canonical_lambda_bytes(from), sign = canonical_operator_bytes(name, from);
        size_t skip = lambda ? lambda : sign ? sign : canonical_skip_bytes(name, from, depth);
        if (lambda)
            to = stpcpy(to, "{lambda}");
        else if (sign)
            to = canonical_copy(to, from, sign);
        if (skip) {
            from += skip;
            continue;
        }
        depth += *from == '<';
        depth -= *from == '>' && depth;
        *to++ = *from++;
    }
    *to = '\0';
    canonical_drop_lambda(result);
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
    const char *bracket = canonical_find_construct(canonical), *mark = strstr(canonical, "::operator()");
    if (!bracket && mark)
        return (size_t)(mark - canonical);
    return bracket && bracket > canonical ? (size_t)(bracket - canonical - 1) : 0;
}

/* ---- matching source positions after lines have moved ---- */

/* distance in lines between positions in different files; larger than any distance within a file */
#define OTHER_FILE 1e6
#define MOST_CELLS (1u << 24)

/* Compares two positions by file, then by line. */
static int align_order(const struct source_line *left, const struct source_line *right)
{
    int order = strcmp(left->file, right->file);
    return order ? order : (left->line > right->line) - (left->line < right->line);
}

static double align_distance(const struct source_line *a, const struct source_line *b)
{
    double lines = a->line > b->line ? (double)a->line - b->line : (double)b->line - a->line;
    bool known = *a->file && *b->file;
    return known && strcmp(a->file, b->file) != 0 ? OTHER_FILE : lines;
}

/* Computes cost[i][j]: the lowest cost of matching the first i positions of the shorter list with i of the
 * first j positions of the longer list. */
static void align_fill_costs(double *cost, const struct source_line *shorter, size_t n,
                             const struct source_line *longer, size_t m)
{
    size_t width = m + 1;
    for (size_t i = 1; i <= n; i++)
        for (size_t j = i; j <= m - (n - i); j++) {
            double matched = cost[(i - 1) * width + j - 1] + align_distance(&shorter[i - 1], &longer[j - 1]);
            bool may_skip = j > i;
            double skipped = may_skip ? cost[i * width + j - 1] : 0;
            cost[i * width + j] = may_skip && skipped <= matched ? skipped : matched;
        }
}

void align_source_lines(const struct source_line *a, size_t a_count, const struct source_line *b, size_t b_count,
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
    align_fill_costs(cost, a_shorter ? a : b, n, a_shorter ? b : a, m);
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

#define BUILD_UNKNOWN 0 /* build that equals no build, not even another unknown one */
#define BUILD_MIXED   (PAIR_MAP_NEW - 1)

/* The position at which a name is defined. host_line: for a construct or lambda, the first line of the
 * function that contains it; 0 if unknown. */
struct position {
    struct source_line source;
    int host_line;
};

struct entry {
    uint32_t group;
    uint32_t next;            /* 1 + index of the next entry of the group; 0: none */
    uint32_t build;           /* build of the last run that has the entry */
    struct position position; /* position of the name in that build */
};

struct group {
    uint32_t name;    /* string id */
    uint32_t first;   /* 1 + first entry */
    uint32_t pending; /* 1 + index of the group's first label in the current run; 0: none */
    uint32_t pending_count;
};

/* A label of the current run that may not have an entry yet. */
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
    /* maps a module to its build; BUILD_MIXED if the module's builds differ between runs */
    struct pair_map build_map;
    struct pair_map group_map; /* maps (name, kind and module) to the index of the group */
    struct group *group;
    size_t group_count, group_room;
    struct entry *entry;
    size_t entry_count, entry_room;
};

struct run_names {
    struct compare_names *names;
    const struct profile *profile;
    struct pair_map builds; /* maps a module to its build in the current run */
    struct pair_map labels; /* maps (label, kind) to an index in `pending` */
    /* maps (name, module) of a procedure to 1 + index of its label in `pending`; 0: several procedures have
     * this name */
    struct pair_map hosts;
    struct pending *pending;
    size_t pending_count, pending_room;
};

/* ---- modules ---- */

/* Returns the string id of a module's name. The program has the same id in all runs, whatever the name of its
 * file is. */
static uint32_t compare_names_module_id(struct compare_names *names, const struct profile *profile,
                                        const char *base_name)
{
    const char *program = profile_text(profile, "program");
    if (program && strcmp(program, base_name) == 0)
        return strings_intern(names->strings, "<program>");
    char *module = canonical_module(base_name);
    uint32_t id = strings_intern(names->strings, module);
    free(module);
    return id;
}

static uint32_t compare_names_module_build(struct compare_names *names, const struct profile_module *module)
{
    char text[2 * sizeof module->build_id + 1];
    if (!module->build_id_bytes || module->build_id_bytes > sizeof module->build_id)
        return BUILD_UNKNOWN;
    for (uint32_t i = 0; i < module->build_id_bytes; i++)
        snprintf(text + 2 * i, 3, "%02x", module->build_id[i]);
    return strings_intern(names->strings, text);
}

static void compare_names_note_builds(struct compare_names *names, const struct profile *profile, struct pair_map *map)
{
    for (size_t i = 0; i < profile->module_count; i++) {
        if (profile->modules[i].flags & PROFILE_MODULE_PYTHON)
            continue; /* Python code has no build */
        uint32_t build = compare_names_module_build(names, &profile->modules[i]);
        uint32_t *slot =
            pair_map_slot(map, compare_names_module_id(names, profile, format_base_name(profile->modules[i].path)), 0);
        *slot = *slot == PAIR_MAP_NEW ? build : *slot == build && build != BUILD_UNKNOWN ? build : BUILD_MIXED;
    }
}

struct compare_names *compare_names_new(const struct profile *const *profile, size_t count)
{
    struct compare_names *names = memory_array(1, sizeof *names);
    names->strings = strings_new();
    names->profile = profile;
    for (size_t i = 0; i < count; i++)
        compare_names_note_builds(names, profile[i], &names->build_map);
    return names;
}

void compare_names_free(struct compare_names *names)
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

/* Returns whether a label is an address, such as "app+0x10" or "[parallel app+0x10]". The address may come
 * after a function's name. */
static bool compare_names_label_is_address(const struct row_label *label)
{
    const char *offset = strstr(label->name, "+0x");
    size_t bytes = strlen(label->module);
    return offset && bytes && (size_t)(offset - label->name) >= bytes &&
           strncmp(offset - bytes, label->module, bytes) == 0 &&
           (offset - bytes == label->name || strchr(" [", offset[-(ptrdiff_t)bytes - 1]));
}

/* Returns the canonical name of a row. A statement is named by its distance from the first line of its
 * function. An address without a symbol is named by its module, unless all runs have the same build of the
 * module. */
static char *canonical_row_name(struct run_names *run, const struct rows *rows, const struct row *row, uint32_t module)
{
    if (row_is_probe(row)) /* the program chose the name, so it is used as it is */
        return memory_text("%s", row->label->name);
    if (row->kind == ROW_STATEMENT) {
        const struct row_label *function = rows->row[row->parent].label;
        bool relative = function->line > 0 && strcmp(function->file, row->label->file) == 0;
        return relative ? memory_text("line %+d", row->label->line - function->line)
                        : memory_text("%s", row->label->name);
    }
    if (compare_names_label_is_address(row->label)) {
        uint32_t *build = pair_map_slot(&run->names->build_map, module, 0);
        if (*build != PAIR_MAP_NEW && *build != BUILD_MIXED && *build != BUILD_UNKNOWN)
            return memory_text("%s", row->label->name);
        return memory_text("%s (no symbols)", strings_text(run->names->strings, module));
    }
    return canonical_name(row->kind, row->label->name);
}

static uint32_t compare_names_find_group(struct run_names *run, const struct rows *rows, const struct row *row,
                                         uint32_t module)
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

/* Returns the source position of a row. Only functions and constructs with a known line have a position,
 * because only these can share a name. */
static struct source_line compare_names_row_source(struct compare_names *names, const struct row *row)
{
    const struct row_label *label = row->label;
    bool offset = strstr(label->name, "+0x") != NULL;
    struct source_line none = {.file = ""};
    if (row->kind == ROW_STATEMENT || row->kind == ROW_PSEUDO || row->kind == ROW_RUNTIME || offset ||
        row_is_probe(row))
        return none;
    uint32_t file = strings_intern(names->strings, format_base_name(label->file));
    return (struct source_line){strings_text(names->strings, file), label->line};
}

static void compare_names_note_host(struct run_names *run, const struct row *row, uint32_t name, uint32_t module,
                                    size_t pending)
{
    if (row->kind != ROW_PROCEDURE && row->kind != ROW_INLINED)
        return;
    uint32_t *slot = pair_map_slot(&run->hosts, name, module);
    *slot = *slot == PAIR_MAP_NEW ? (uint32_t)pending + 1 : 0;
}

/* Adds a row's label and returns its index in `pending`. A function or construct is added once in each run,
 * and a line once in each function. */
static uint32_t compare_names_add_label(struct run_names *run, const struct rows *rows, const struct row *row)
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
    /* A phase, event or parameter is identified by its name alone, wherever it begins. */
    uint32_t module = row_is_probe(row) ? 0 : compare_names_module_id(names, run->profile, row->label->module);
    uint32_t *build = pair_map_slot(&run->builds, module, 0);
    if (*build == PAIR_MAP_NEW || *build == BUILD_MIXED)
        *build = BUILD_UNKNOWN;
    *pending =
        (struct pending){.label = row->label, .build = *build, .position = {compare_names_row_source(names, row), 0}};
    pending->group = compare_names_find_group(run, rows, row, module);
    struct group *group = &names->group[pending->group];
    pending->next = group->pending;
    group->pending = index + 1;
    group->pending_count++;
    compare_names_note_host(run, row, group->name, module, index);
    return index;
}

/* ---- groups to entries ---- */

static void compare_names_find_host(struct run_names *run, struct pending *pending)
{
    struct compare_names *names = run->names;
    const char *text = strings_text(names->strings, names->group[pending->group].name);
    size_t bytes = canonical_host_bytes(text);
    if (!bytes)
        return;
    char *host = memory_check(strndup(text, bytes));
    uint32_t module = compare_names_module_id(names, run->profile, pending->label->module);
    uint32_t *slot = pair_map_slot(&run->hosts, strings_intern(names->strings, host), module);
    free(host);
    if (*slot != PAIR_MAP_NEW && *slot > 0)
        pending->position.host_line = run->pending[*slot - 1].label->line;
    else
        *slot = 0;
}

struct candidates {
    struct source_line *source;
    uint32_t *index;
    size_t count;
};

static struct candidates compare_names_candidates_new(size_t room)
{
    return (struct candidates){memory_array(room, sizeof(struct source_line)), memory_array(room, sizeof(uint32_t)), 0};
}

static void compare_names_candidates_free(struct candidates *list)
{
    free(list->source);
    free(list->index);
}

/* Inserts a candidate in the order of positions. Lists are short and already mostly sorted. */
static void compare_names_candidates_put(struct candidates *list, struct source_line source, uint32_t index)
{
    size_t at = list->count++;
    for (; at > 0 && align_order(&list->source[at - 1], &source) > 0; at--) {
        list->source[at] = list->source[at - 1];
        list->index[at] = list->index[at - 1];
    }
    list->source[at] = source;
    list->index[at] = index;
}

static uint32_t compare_names_find_entry(const struct compare_names *names, const struct group *group,
                                         const struct pending *pending)
{
    for (uint32_t e = group->first; e; e = names->entry[e - 1].next) {
        const struct entry *entry = &names->entry[e - 1];
        bool one_build = entry->build == pending->build && entry->build != BUILD_UNKNOWN;
        if (one_build && align_order(&entry->position.source, &pending->position.source) == 0)
            return e - 1;
    }
    return ROW_NONE;
}

static void compare_names_set_entry(struct compare_names *names, struct pending *pending, uint32_t index)
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

/* Returns the source line of a position. If below_host, the line is relative to the first line of the
 * function that contains the position. */
static struct source_line compare_names_position_in_host(const struct position *position, bool below_host)
{
    struct source_line source = position->source;
    source.line -= below_host ? position->host_line : 0;
    return source;
}

static bool compare_names_group_has_hosts(const struct run_names *run, const struct group *group)
{
    for (uint32_t e = group->first; e; e = run->names->entry[e - 1].next)
        if (!run->names->entry[e - 1].position.host_line)
            return false;
    return group->pending && run->pending[group->pending - 1].position.host_line;
}

/* Matches the labels that are new in this build with entries of other builds. Labels with equal positions
 * share one entry, because they are template instances that differ only in the number of a lambda. */
static void compare_names_align_rest(struct run_names *run, struct group *group, bool below_host,
                                     struct candidates *known, struct candidates *rest)
{
    struct compare_names *names = run->names;
    if (!rest->count)
        return;
    uint32_t build = run->pending[rest->index[0]].build;
    for (uint32_t e = group->first; e; e = names->entry[e - 1].next)
        if (names->entry[e - 1].build != build || build == BUILD_UNKNOWN)
            compare_names_candidates_put(
                known, compare_names_position_in_host(&names->entry[e - 1].position, below_host), e - 1);
    struct candidates unique = compare_names_candidates_new(rest->count);
    size_t *match = memory_array(rest->count, sizeof *match), at = 0;
    for (size_t i = 0; i < rest->count; i++)
        if (i == 0 || align_order(&rest->source[i - 1], &rest->source[i]) != 0)
            compare_names_candidates_put(&unique, rest->source[i], rest->index[i]);
    align_source_lines(known->source, known->count, unique.source, unique.count, match);
    for (size_t i = 0; i < rest->count; i++) {
        struct pending *pending = &run->pending[rest->index[i]];
        bool again = i > 0 && align_order(&rest->source[i - 1], &rest->source[i]) == 0;
        if (i > 0 && !again)
            at++;
        uint32_t entry = again                     ? run->pending[rest->index[i - 1]].entry
                         : match[at] == ALIGN_NONE ? ROW_NONE
                                                   : known->index[match[at]];
        compare_names_set_entry(names, pending, entry);
    }
    compare_names_candidates_free(&unique);
    free(match);
}

static void compare_names_settle_group(struct run_names *run, uint32_t group_index)
{
    struct compare_names *names = run->names;
    struct group *group = &names->group[group_index];
    size_t entries = 0;
    for (uint32_t e = group->first; e; e = names->entry[e - 1].next)
        entries++;
    struct candidates known = compare_names_candidates_new(entries),
                      rest = compare_names_candidates_new(group->pending_count);
    bool below_host = compare_names_group_has_hosts(run, group);
    for (uint32_t p = group->pending; p; p = run->pending[p - 1].next) {
        struct pending *pending = &run->pending[p - 1];
        const struct source_line *source = &pending->position.source;
        bool known_position = *source->file || source->line;
        uint32_t same = known_position ? compare_names_find_entry(names, group, pending)
                        : group->first ? group->first - 1
                                       : ROW_NONE;
        if (same != ROW_NONE || !known_position)
            compare_names_set_entry(names, pending, same);
        else
            compare_names_candidates_put(&rest, compare_names_position_in_host(&pending->position, below_host), p - 1);
    }
    compare_names_align_rest(run, group, below_host, &known, &rest);
    group->pending = group->pending_count = 0;
    compare_names_candidates_free(&known);
    compare_names_candidates_free(&rest);
}

void compare_names_of_run(struct compare_names *names, size_t run_index, const struct rows *rows, uint32_t *entry)
{
    struct run_names run = {.names = names, .profile = names->profile[run_index]};
    compare_names_note_builds(names, run.profile, &run.builds);
    for (size_t i = 0; i < rows->count; i++)
        entry[i] = compare_names_add_label(&run, rows, &rows->row[i]);
    for (size_t i = 0; i < run.pending_count; i++)
        compare_names_find_host(&run, &run.pending[i]);
    for (uint32_t g = 0; g < names->group_count; g++)
        if (names->group[g].pending)
            compare_names_settle_group(&run, g);
    for (size_t i = 0; i < rows->count; i++)
        entry[i] = run.pending[entry[i]].entry;
    pair_map_free(&run.builds);
    pair_map_free(&run.labels);
    pair_map_free(&run.hosts);
    free(run.pending);
}

const char *compare_names_canonical(const struct compare_names *names, uint32_t entry)
{
    return strings_text(names->strings, names->group[names->entry[entry].group].name);
}

static const char *compare_names_keep_text(struct compare_names *names, const char *text)
{
    return strings_text(names->strings, strings_intern(names->strings, text));
}

struct row_label compare_names_keep(struct compare_names *names, const struct row_label *label)
{
    return (struct row_label){.name = compare_names_keep_text(names, label->name),
                              .module = compare_names_keep_text(names, label->module),
                              .file = compare_names_keep_text(names, label->file),
                              .line = label->line};
}
