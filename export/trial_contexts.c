#include "export/trial_contexts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "compare/canonical.h"
#include "report/profile/pair_map.h"
#include "report/text/memory.h"

static uint64_t mix(uint64_t hash, uint64_t with)
{
    hash = (hash ^ with) * HASH_FACTOR;
    return hash ^ hash >> 29;
}

static uint64_t mix_text(uint64_t hash, const char *text)
{
    return mix(hash, text ? hash_bytes(text, strlen(text)) : 0);
}

static uint64_t own_identity(const struct row *row)
{
    uint64_t hash = mix(row->kind + 1u, (uint64_t)row->call_line);
    hash = mix_text(mix_text(mix_text(hash, row->label->name), row->label->module), row->label->file);
    return mix(hash, (uint64_t)row->label->line);
}

static uint64_t canonical_hash(const struct row *row)
{
    char *name = canonical_name(row->kind, row->label->name), *module = canonical_module(row->label->module ? row->label->module : "");
    uint64_t hash = mix_text(mix_text(row->kind == ROW_INLINED ? ROW_PROCEDURE : row->kind, name), module);
    free(name);
    free(module);
    return hash;
}

/* What a label's text is worth is asked once. */
struct label_hashes {
    struct pair_map place;
    uint64_t *own, *canonical;
    size_t count, own_room, canonical_room;
};

static size_t find_label(struct label_hashes *hashes, const struct row *row)
{
    uint32_t *place = pair_map_slot(&hashes->place, (uintptr_t)row->label, (uint64_t)row->kind << 32 | (uint32_t)row->call_line);
    if (*place != PAIR_MAP_NEW)
        return *place;
    *place = (uint32_t)hashes->count;
    memory_grow(&hashes->own, &hashes->own_room, hashes->count, sizeof *hashes->own);
    memory_grow(&hashes->canonical, &hashes->canonical_room, hashes->count, sizeof *hashes->canonical);
    hashes->own[hashes->count] = own_identity(row);
    hashes->canonical[hashes->count] = row->kind == ROW_STATEMENT ? 0 : canonical_hash(row);
    return hashes->count++;
}

void contexts_identify(const struct rows *rows, int64_t **identity, int64_t **path)
{
    struct label_hashes hashes = {0};
    struct pair_map taken = {0};
    *identity = memory_array(rows->count, sizeof **identity);
    *path = memory_array(rows->count, sizeof **path);
    for (uint32_t i = 0; i < rows->count; i++) {
        const struct row *row = &rows->row[i];
        size_t label = find_label(&hashes, row);
        uint64_t above = i ? (uint64_t)(*identity)[row->parent] : 0, above_path = i ? (uint64_t)(*path)[row->parent] : 0;
        uint64_t own = mix(above, i ? hashes.own[label] : ROW_ROOT + 1u);
        /* Siblings that nothing tells apart are told apart by their order. */
        while (*pair_map_slot(&taken, own, 1) != PAIR_MAP_NEW)
            own = mix(own, 1);
        *pair_map_slot(&taken, own, 1) = i;
        (*identity)[i] = (int64_t)own;
        (*path)[i] = (int64_t)(!i ? own : row->kind == ROW_STATEMENT ? above_path : mix(above_path, hashes.canonical[label]));
    }
    pair_map_free(&taken);
    pair_map_free(&hashes.place);
    free(hashes.own);
    free(hashes.canonical);
}
