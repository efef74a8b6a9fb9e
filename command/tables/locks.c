#include "command/tables/locks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cct/profile_tree.h"
#include "command/profile/pair_map.h"
#include "command/rows/own.h"
#include "command/symbols/symbols.h"
#include "command/text/format.h"
#include "command/text/memory.h"

#define PATH_NAMES 24 /* maximum number of names in a context's path */

const char *const lock_kind_name[] = {
    [PROFILE_LOCK_UNKNOWN] = "unknown",   [PROFILE_LOCK_LOCK] = "lock",     [PROFILE_LOCK_NEST_LOCK] = "nest_lock",
    [PROFILE_LOCK_CRITICAL] = "critical", [PROFILE_LOCK_ATOMIC] = "atomic", [PROFILE_LOCK_ORDERED] = "ordered",
    [PROFILE_LOCK_MUTEX] = "mutex",       [PROFILE_LOCK_RWLOCK] = "rwlock", [PROFILE_LOCK_SPIN] = "spinlock",
    [PROFILE_LOCK_WORD] = "futex",
};

/* Returns the name of the program's data object that contains a lock's absolute address. Returns "" for a lock on
 * the heap, on a stack, or in the runtime, as that of all critical sections without a name. The caller frees the
 * name. */
static char *lock_table_find_symbol(const struct profile *profile, struct symbols *symbols, uint64_t address)
{
    for (size_t i = 0; i < profile->module_count; i++) {
        const struct profile_module *module = &profile->modules[i];
        /* A wait id holds only the low 56 bits of the address. In a prelinked module, the subtraction may
         * wrap. */
        uint64_t vaddr = address - module->load_bias;
        if (vaddr < module->vaddr_low || vaddr >= module->vaddr_high || module->flags & PROFILE_MODULE_RUNTIME)
            continue;
        const char *symbol = symbols_data(symbols, (uint32_t)i + 1, vaddr);
        if (symbol)
            return memory_text("%s", symbol);
    }
    return memory_text("%s", "");
}

static size_t lock_table_count_nodes(const struct profile *profile)
{
    size_t count = 0;
    for (size_t i = 0; i < profile->node_count; i++)
        count += profile->nodes[i].kind == PROFILE_NODE_LOCK;
    return count;
}

static int lock_table_compare_contexts(const void *left, const void *right)
{
    const struct lock_context *a = left, *b = right;
    if (a->lock != b->lock)
        return a->lock < b->lock ? -1 : 1;
    if (a->wait_ns != b->wait_ns)
        return a->wait_ns > b->wait_ns ? -1 : 1;
    return (a->row > b->row) - (a->row < b->row);
}

static int lock_table_compare_entries(const void *left, const void *right)
{
    const struct lock_entry *a = left, *b = right;
    if (a->wait_ns != b->wait_ns)
        return a->wait_ns > b->wait_ns ? -1 : 1;
    if (a->wait_id != b->wait_id)
        return a->wait_id < b->wait_id ? -1 : 1;
    return (a->kind > b->kind) - (a->kind < b->kind);
}

struct lock_gathering {
    const struct profile *profile;
    const struct rows *rows;
    struct lock_table *table;
    struct pair_map locks; /* maps a lock key to the lock's index */
    /* map a lock's index and a row to the index of the context in `context` or `waiter` */
    struct pair_map holders, waiters;
    struct lock_context *waiter;
    size_t waiter_count;
};

/* Returns the list's entry for a lock and a row. Creates the entry if there is none. */
static struct lock_context *lock_table_find_context(struct pair_map *map, struct lock_context *list, size_t *count,
                                                    uint32_t lock, uint32_t row)
{
    uint32_t *slot = pair_map_slot(map, lock, row);
    if (*slot == PAIR_MAP_NEW) {
        *slot = (uint32_t)*count;
        list[(*count)++] = (struct lock_context){.lock = lock, .row = row};
    }
    return &list[*slot];
}

/* Returns the entry of the lock with a key. Creates the entry if there is none. */
static struct lock_entry *lock_table_entry_of(struct lock_gathering *to, uint64_t key)
{
    struct lock_table *table = to->table;
    uint32_t *slot = pair_map_slot(&to->locks, key, 0), kind = PROFILE_LOCK_KEY_KIND(key);
    if (*slot == PAIR_MAP_NEW) {
        *slot = (uint32_t)table->count;
        table->lock[table->count++] = (struct lock_entry){
            .wait_id = PROFILE_LOCK_KEY_ID(key),
            .kind = kind <= PROFILE_LOCK_SPIN || kind == PROFILE_LOCK_WORD ? kind : PROFILE_LOCK_UNKNOWN,
            .waiter = ROW_NONE,
        };
    }
    return &table->lock[*slot];
}

static void lock_table_gather_node(struct lock_gathering *to, const struct merged_node *node, uint32_t row)
{
    struct lock_table *table = to->table;
    struct lock_entry *lock = lock_table_entry_of(to, node->key);
    uint32_t number = (uint32_t)(lock - table->lock);
    lock->wait_ns += node->metric.lock_wait;
    lock->contended += node->metric.waits;
    if (row != ROW_NONE && row_is_no_core(&to->rows->row[row]))
        lock->no_core_ns += node->metric.lock_wait;
    if (row == ROW_NONE || to->rows->row[row].kind == ROW_PSEUDO)
        return;
    if (node->metric.lock_wait > 0) {
        struct lock_context *holder =
            lock_table_find_context(&to->holders, table->context, &table->context_count, number, row);
        lock->context_count += holder->wait_ns == 0;
        holder->wait_ns += node->metric.lock_wait;
    }
    if (node->metric.lock_wait_here > 0)
        lock_table_find_context(&to->waiters, to->waiter, &to->waiter_count, number, row)->wait_ns +=
            node->metric.lock_wait_here;
}

/* Groups the contexts by lock, and then sorts the locks. Each lock stores the index of its first context. */
static void lock_table_sort(struct lock_table *table)
{
    qsort(table->context, table->context_count, sizeof *table->context, lock_table_compare_contexts);
    uint32_t first = 0;
    for (size_t i = 0; i < table->count; i++) {
        table->lock[i].first_context = first;
        first += table->lock[i].context_count;
    }
    qsort(table->lock, table->count, sizeof *table->lock, lock_table_compare_entries);
}

static void lock_table_find_top_waiters(struct lock_gathering *to)
{
    for (size_t i = 0; i < to->waiter_count; i++) {
        const struct lock_context *waiter = &to->waiter[i];
        struct lock_entry *lock = &to->table->lock[waiter->lock];
        if (waiter->wait_ns > lock->waiter_ns || (waiter->wait_ns == lock->waiter_ns && waiter->row < lock->waiter)) {
            lock->waiter_ns = waiter->wait_ns;
            lock->waiter = waiter->row;
        }
    }
}

/* Returns the source position of a call as "function file:line". key: an address inside the call. */
static char *lock_table_call_text(struct symbols *symbols, uint64_t key)
{
    const struct symbol_frame *frame;
    symbols_lookup(symbols, key, &frame);
    return frame->at_line > 0 ? memory_text("%s %s:%d", frame->name, format_base_name(frame->at_file), frame->at_line)
                              : memory_text("%s", frame->name);
}

/* Adds what the tool recorded about each lock. Several locks may have had the same address, one after
 * another. If they had different initialisers, the one after which threads waited most is used. */
static void lock_table_gather_waits(struct lock_gathering *to, struct symbols *symbols)
{
    const struct profile *profile = to->profile;
    double *most = memory_array(to->table->count, sizeof *most);
    uint64_t *initialiser = memory_array(to->table->count, sizeof *initialiser);
    for (size_t i = 0; i < profile->lock_count; i++) {
        const struct profile_lock *from = &profile->locks[i];
        uint32_t *slot = pair_map_slot(&to->locks, from->key, 0);
        if (*slot == PAIR_MAP_NEW)
            continue; /* the lock is in no LOCK node, because no waiting for it was blamed on anybody */
        struct lock_entry *lock = &to->table->lock[*slot];
        lock->longest_ns = from->longest_ns > lock->longest_ns ? from->longest_ns : lock->longest_ns;
        lock->initialisers += from->initialiser != 0;
        if (from->sum_ns > most[*slot] || !initialiser[*slot]) {
            most[*slot] = from->sum_ns;
            initialiser[*slot] = from->initialiser;
        }
        const char *variable = from->variable ? symbols_data(symbols, PROFILE_KEY_MODULE(from->variable),
                                                             PROFILE_KEY_VADDR(from->variable))
                                              : NULL;
        if (variable && !lock->symbol)
            lock->symbol = memory_text("%s", variable);
    }
    for (size_t i = 0; i < to->table->count; i++) {
        struct lock_entry *lock = &to->table->lock[i];
        lock->initialiser = initialiser[i] ? lock_table_call_text(symbols, initialiser[i]) : memory_text("%s", "");
        if (!lock->symbol)
            lock->symbol = lock_table_find_symbol(profile, symbols, lock->wait_id);
    }
    free(most);
    free(initialiser);
}

/* Marks critical sections without a name. GCC enters these by a function of their own (GOMP_critical_start),
 * which passes no variable. */
static void lock_table_find_unnamed(struct lock_gathering *to, struct symbols *symbols)
{
    const struct profile *profile = to->profile;
    for (size_t i = 0; i < profile->node_count; i++) {
        const struct merged_node *node = &profile->nodes[i], *caller = &profile->nodes[node->parent];
        if (node->kind != PROFILE_NODE_LOCK || PROFILE_LOCK_KEY_KIND(node->key) != PROFILE_LOCK_CRITICAL ||
            caller->kind != PROFILE_NODE_FRAME || !(node->metric.lock_wait_here > 0))
            continue;
        struct lock_entry *lock = lock_table_entry_of(to, node->key);
        if (*lock->symbol || lock->unnamed)
            continue;
        const struct symbol_call *call = symbols_call_at(symbols, caller->key);
        lock->unnamed = call && strcmp(call->name, "GOMP_critical_start") == 0;
    }
}

/* Returns the source line of a lock without a variable: the line where threads waited, which is also the line
 * of the construct. If that is in an inlined function of a library (std::mutex::lock), returns the line of the
 * program's own code that called it. Returns "" if it is unknown. The caller frees the text. */
static char *lock_table_source_line(const struct lock_gathering *from, const struct lock_entry *lock)
{
    const struct row *rows = from->rows->row, *row = lock->waiter != ROW_NONE ? &rows[lock->waiter] : NULL;
    if (!row || row->kind != ROW_STATEMENT)
        return memory_text("%s", "");
    const struct row *function = &rows[row->parent];
    int line = 0;
    for (; function->foreign && function->call_line > 0 && function->parent != ROW_NONE;
         function = &rows[function->parent])
        line = function->call_line;
    if (!function->foreign && rows_file_is_system_source(row->label->file))
        line = line ? line : function->label->line; /* the compiler has lost the inlined function */
    return line && !function->foreign && *function->label->file
               ? memory_text("%s:%d", format_base_name(function->label->file), line)
               : memory_text("%s", row->label->name);
}

static char *lock_table_make_name(const struct lock_gathering *from, const struct lock_entry *lock)
{
    static const char critical[] = "critical ";
    const char *kind = lock_kind_name[lock->kind];
    bool construct = lock->kind != PROFILE_LOCK_LOCK && lock->kind != PROFILE_LOCK_NEST_LOCK;
    if (lock->unnamed)
        return memory_text("critical (unnamed)");
    if (strncmp(lock->symbol, critical, sizeof critical - 1) == 0 && lock->symbol[sizeof critical - 1] != '(')
        return memory_text("critical(%s)", lock->symbol + sizeof critical - 1);
    if (*lock->symbol && lock->kind >= PROFILE_LOCK_MUTEX)
        return memory_text("%s %s", kind, lock->symbol);
    if (*lock->symbol)
        return memory_text("%s", lock->symbol);
    if (*lock->initialiser)
        return memory_text("%s of %s", kind, lock->initialiser);
    char *source = construct ? lock_table_source_line(from, lock) : NULL;
    char *name = source && *source ? memory_text("%s %s", kind, source)
                                   : memory_text("0x%llx", (unsigned long long)lock->wait_id);
    free(source);
    return name;
}

static void lock_table_gather_all(struct lock_gathering *to, struct symbols *symbols)
{
    const struct profile *profile = to->profile;
    for (size_t i = 0; i < profile->node_count; i++)
        if (profile->nodes[i].kind == PROFILE_NODE_LOCK)
            lock_table_gather_node(to, &profile->nodes[i], to->rows->node_row[i]);
    lock_table_find_top_waiters(to);
    lock_table_gather_waits(to, symbols);
    lock_table_find_unnamed(to, symbols);
    for (size_t i = 0; i < to->table->count; i++)
        to->table->lock[i].name = lock_table_make_name(to, &to->table->lock[i]);
}

struct lock_table *lock_table_gather(const struct profile *profile, const struct rows *rows, struct symbols *symbols)
{
    struct lock_table *table = memory_array(1, sizeof *table);
    size_t most = lock_table_count_nodes(profile);
    struct lock_gathering to = {
        .profile = profile, .rows = rows, .table = table, .waiter = memory_array(most, sizeof *to.waiter)};
    table->rows = rows;
    table->inits_lost = profile->header.lock_inits_lost;
    table->lock = memory_array(most, sizeof *table->lock);
    table->context = memory_array(most, sizeof *table->context);
    lock_table_gather_all(&to, symbols);
    pair_map_free(&to.locks);
    pair_map_free(&to.holders);
    pair_map_free(&to.waiters);
    free(to.waiter);
    lock_table_sort(table);
    return table;
}

void lock_table_free(struct lock_table *table)
{
    if (!table)
        return;
    for (size_t i = 0; i < table->count; i++) {
        free(table->lock[i].name);
        free(table->lock[i].symbol);
        free(table->lock[i].initialiser);
    }
    free(table->lock);
    free(table->context);
    free(table);
}

char *lock_table_context_path(const struct rows *rows, uint32_t row)
{
    uint32_t way[PATH_NAMES], count = 0, at = row;
    char *text;
    FILE *out = memory_stream(&text);
    if (rows->row[at].kind == ROW_STATEMENT)
        at = rows->row[at].parent;
    for (; at != 0 && at != ROW_NONE && count < PATH_NAMES; at = rows->row[at].parent)
        way[count++] = at;
    if (at != 0 && at != ROW_NONE)
        fputs("... > ", out);
    while (count-- > 0)
        fprintf(out, "%s%s", rows->row[way[count]].label->name, count ? " > " : "");
    if (rows->row[row].kind == ROW_STATEMENT)
        fprintf(out, " %s", rows->row[row].label->name);
    memory_stream_close(out);
    return text;
}
