#include "report/locks.h"

#include <stdlib.h>
#include <string.h>

#include "cct/pair_map.h"

const char *const lock_kind_name[] = {
    [PROFILE_LOCK_UNKNOWN] = "unknown",     [PROFILE_LOCK_LOCK] = "lock",
    [PROFILE_LOCK_NEST_LOCK] = "nest_lock", [PROFILE_LOCK_CRITICAL] = "critical",
    [PROFILE_LOCK_ATOMIC] = "atomic",       [PROFILE_LOCK_ORDERED] = "ordered",
};

/* The data object at an absolute address, malloc'ed. A lock on a heap or stack has none. */
static char *find_symbol(const struct profile *profile, struct symbols *symbols, uint64_t address)
{
    for (size_t i = 0; i < profile->module_count; i++) {
        const struct profile_module *module = &profile->modules[i];
        /* The wait id keeps 56 bits of the address; the subtraction may wrap for a prelinked module. */
        uint64_t vaddr = address - module->load_bias;
        if (vaddr < module->vaddr_low || vaddr >= module->vaddr_high)
            continue;
        const char *symbol = symbols_data(symbols, (uint32_t)i + 1, vaddr);
        if (symbol)
            return strdup(symbol);
    }
    return strdup("");
}

static size_t count_lock_nodes(const struct profile *profile)
{
    size_t count = 0;
    for (size_t i = 0; i < profile->node_count; i++)
        count += profile->nodes[i].kind == PROFILE_NODE_LOCK;
    return count;
}

static int compare_contexts(const void *left, const void *right)
{
    const struct lock_context *a = left, *b = right;
    if (a->lock != b->lock)
        return a->lock < b->lock ? -1 : 1;
    if (a->wait_ns != b->wait_ns)
        return a->wait_ns > b->wait_ns ? -1 : 1;
    return (a->row > b->row) - (a->row < b->row);
}

static int compare_locks(const void *left, const void *right)
{
    const struct lock_entry *a = left, *b = right;
    if (a->wait_ns != b->wait_ns)
        return a->wait_ns > b->wait_ns ? -1 : 1;
    if (a->wait_id != b->wait_id)
        return a->wait_id < b->wait_id ? -1 : 1;
    return (a->kind > b->kind) - (a->kind < b->kind);
}

/* Adds one lock node; false: no memory. */
static bool gather_node(struct lock_table *table, const struct rows *rows, const struct merged_node *node,
                        uint32_t row, struct pair_map *locks, struct pair_map *contexts)
{
    uint32_t *slot = pair_map_slot(locks, node->key, 0);
    if (!slot)
        return false;
    if (*slot == PAIR_MAP_NEW) {
        uint32_t kind = PROFILE_LOCK_KEY_KIND(node->key);
        *slot = (uint32_t)table->count;
        table->lock[table->count++] = (struct lock_entry){
            .wait_id = PROFILE_LOCK_KEY_ID(node->key),
            .kind = kind <= PROFILE_LOCK_ORDERED ? kind : PROFILE_LOCK_UNKNOWN,
        };
    }
    uint32_t lock = *slot;
    table->lock[lock].wait_ns += node->metric.lock_wait;
    table->lock[lock].contended += node->metric.waits;
    if (!(node->metric.lock_wait > 0) || row == ROW_NONE || rows->row[row].kind == ROW_PSEUDO)
        return true;
    slot = pair_map_slot(contexts, lock, row);
    if (!slot)
        return false;
    if (*slot == PAIR_MAP_NEW) {
        *slot = (uint32_t)table->context_count;
        table->context[table->context_count++] = (struct lock_context){.lock = lock, .row = row};
        table->lock[lock].context_count++;
    }
    table->context[*slot].wait_ns += node->metric.lock_wait;
    return true;
}

/* Groups the contexts by lock; then the locks, which know where theirs begin, may be sorted on their own. */
static void sort_table(struct lock_table *table)
{
    qsort(table->context, table->context_count, sizeof *table->context, compare_contexts);
    uint32_t first = 0;
    for (size_t i = 0; i < table->count; i++) {
        table->lock[i].first_context = first;
        first += table->lock[i].context_count;
    }
    qsort(table->lock, table->count, sizeof *table->lock, compare_locks);
}

struct lock_table *locks_gather(const struct profile *profile, const struct rows *rows,
                                struct symbols *symbols)
{
    struct pair_map locks = {0}, contexts = {0};
    struct lock_table *table = calloc(1, sizeof *table);
    size_t most = count_lock_nodes(profile);
    bool good = table != NULL;
    if (good) {
        table->lock = calloc(most + 1, sizeof *table->lock);
        table->context = calloc(most + 1, sizeof *table->context);
        good = table->lock && table->context;
    }
    for (size_t i = 0; i < profile->node_count && good; i++)
        if (profile->nodes[i].kind == PROFILE_NODE_LOCK)
            good = gather_node(table, rows, &profile->nodes[i], rows->node_row[i], &locks, &contexts);
    for (size_t i = 0; good && i < table->count; i++) {
        table->lock[i].symbol = find_symbol(profile, symbols, table->lock[i].wait_id);
        good = table->lock[i].symbol != NULL;
    }
    pair_map_free(&locks);
    pair_map_free(&contexts);
    if (!good) {
        locks_free(table);
        return NULL;
    }
    sort_table(table);
    return table;
}

void locks_free(struct lock_table *table)
{
    if (!table)
        return;
    for (size_t i = 0; table->lock && i < table->count; i++)
        free(table->lock[i].symbol);
    free(table->lock);
    free(table->context);
    free(table);
}
