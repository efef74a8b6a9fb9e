#include "ompt_tool/probes/probe_names.h"

#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

#include "base/atomics.h"
#include "base/hash.h"
#include "base/os.h"
#include "cct/arena.h"
#include "ompt_tool/context/capture.h"
#include "ompt_tool/session/session.h"

#define SLOTS     131072u
#define NAMES     65536u
#define TEXT_ROOM sizeof(((struct profile_name *)0)->text)
#define HASH_TEXT 18u /* number of bytes of a hash as text: "#", 16 digits, and the final 0 */
#define MISNESTED 64u /* maximum number of names that are reported as misnested */

static struct {
    uint32_t lock;
    uint32_t count;
    uint32_t misnested;
    uint32_t *slots;               /* hash table with the numbers of the names; 0: the entry is empty */
    struct profile_name **records; /* for each number, the record of the name */
    uint8_t *noted;                /* for each number, 1 if the name has been reported as misnested */
} names;

/* Not inlined, because it would take registers from the common path, which needs no hash. */
uint64_t probe_name_hash(const char *text, size_t bytes)
{
    return hash_bytes(text, bytes);
}

void probe_count_lost(void)
{
    struct profile_header *header = arena_header();
    if (header && !load_relaxed(&session.stopping))
        fetch_add_relaxed(&header->probes_lost, 1);
}

/* Copies a text in the form in which the file stores it. A text that is too long is truncated and ends in a
 * hash of the whole text. Returns true if the text was truncated. */
static bool probe_name_cut(char out[TEXT_ROOM], const char *text, size_t bytes)
{
    memset(out, 0, TEXT_ROOM);
    if (bytes < TEXT_ROOM) {
        memcpy(out, text, bytes);
        return false;
    }
    memcpy(out, text, TEXT_ROOM - HASH_TEXT);
    snprintf(out + TEXT_ROOM - HASH_TEXT, HASH_TEXT, "#%016llx", (unsigned long long)probe_name_hash(text, bytes));
    return true;
}

bool probe_name_is(const struct profile_name *record, enum profile_node_kind kind, const char *text, size_t bytes)
{
    if (likely(bytes < TEXT_ROOM))
        return record->kind == (uint32_t)kind && memcmp(record->text, text, bytes) == 0 && !record->text[bytes];
    char cut[TEXT_ROOM];
    probe_name_cut(cut, text, bytes);
    return record->kind == (uint32_t)kind && memcmp(record->text, cut, TEXT_ROOM) == 0;
}

/* Returns true if one of the comma-separated shell patterns matches the name. */
static bool probe_name_matches_patterns(const char *patterns, const char *name)
{
    char pattern[256];
    while (*patterns) {
        size_t bytes = strcspn(patterns, ",");
        if (bytes > 0 && bytes < sizeof(pattern)) {
            memcpy(pattern, patterns, bytes);
            pattern[bytes] = '\0';
            if (fnmatch(pattern, name, 0) == 0)
                return true;
        }
        patterns += bytes;
        patterns += *patterns == ',';
    }
    return false;
}

static bool probe_event_is_excluded(enum profile_node_kind kind, const char *name)
{
    const struct run_options *options = &session.options;
    if (kind != PROFILE_NODE_EVENT)
        return false;
    return (options->events_include && !probe_name_matches_patterns(options->events_include, name)) ||
           (options->events_exclude && probe_name_matches_patterns(options->events_exclude, name));
}

static bool probe_names_have_tables(void)
{
    if (!names.slots)
        names.slots = os_map(SLOTS * sizeof(*names.slots));
    if (!names.records)
        names.records = os_map((NAMES + 1) * sizeof(*names.records));
    if (!names.noted)
        names.noted = os_map(NAMES + 1);
    return names.slots && names.records && names.noted;
}

static uint32_t probe_name_add(enum profile_node_kind kind, const char *text, size_t bytes, uintptr_t place)
{
    uint32_t number;
    if (names.count == NAMES)
        return 0;
    struct profile_name *record = arena_record(PROFILE_CHUNK_NAME, &number);
    if (!record)
        return 0;
    if (probe_name_cut(record->text, text, bytes))
        record->flags |= PROFILE_NAME_CUT;
    record->place = capture_key(place - 1);
    store_release(&record->kind, (uint32_t)kind); /* before this store, readers of the file skip the record */
    names.records[number + 1] = record;
    names.count++;
    return number + 1;
}

static uint32_t probe_name_look_up(enum profile_node_kind kind, const char *text, size_t bytes, uintptr_t place)
{
    char whole[TEXT_ROOM];
    probe_name_cut(whole, text, bytes);
    if (probe_event_is_excluded(kind, whole))
        return PROBE_NAME_EXCLUDED;
    if (!probe_names_have_tables())
        return 0;
    uint32_t slot = (uint32_t)(probe_name_hash(text, bytes) % SLOTS);
    while (names.slots[slot]) {
        if (probe_name_is(names.records[names.slots[slot]], kind, text, bytes))
            return names.slots[slot];
        slot = (slot + 1) % SLOTS;
    }
    return names.slots[slot] = probe_name_add(kind, text, bytes, place);
}

uint32_t probe_name(enum profile_node_kind kind, const char *text, size_t bytes, uintptr_t place)
{
    os_lock(&names.lock);
    uint32_t number = probe_name_look_up(kind, text, bytes, place);
    os_unlock(&names.lock);
    return number;
}

struct profile_name *probe_name_record(uint32_t number)
{
    return names.records[number];
}

/* Appends a name to the line. Tabs in the name become blanks, because tabs separate the line's fields.
 * Returns the position after the name. */
static size_t misnested_put_name(char *line, size_t at, const char *name)
{
    for (; *name; name++)
        line[at++] = (char)(*name == '\t' ? ' ' : *name);
    return at;
}

static void probe_names_note_misnested(uint32_t inner, uintptr_t inner_place, uint32_t outer, uintptr_t outer_place)
{
    char line[2 * TEXT_ROOM + 64];
    if (names.noted[inner] || names.misnested == MISNESTED)
        return;
    names.noted[inner] = 1;
    names.misnested++;
    const char *text = outer == PROBE_NAME_REGION ? "<region or thread>" : outer ? names.records[outer]->text : "";
    size_t bytes = misnested_put_name(line, 0, names.records[inner]->text);
    bytes += (size_t)sprintf(line + bytes, "\t%llx\t", (unsigned long long)capture_key(inner_place - 1));
    bytes = misnested_put_name(line, bytes, text);
    sprintf(line + bytes, "\t%llx", (unsigned long long)(outer_place ? capture_key(outer_place - 1) : 0));
    arena_text("misnested", line);
}

void probe_name_misnested(uint32_t inner, uintptr_t inner_place, uint32_t outer, uintptr_t outer_place)
{
    os_lock(&names.lock);
    probe_names_note_misnested(inner, inner_place, outer, outer_place);
    os_unlock(&names.lock);
}

void probe_names_reset(void)
{
    if (names.slots)
        os_unmap(names.slots, SLOTS * sizeof(*names.slots));
    if (names.records)
        os_unmap(names.records, (NAMES + 1) * sizeof(*names.records));
    if (names.noted)
        os_unmap(names.noted, NAMES + 1);
    memset(&names, 0, sizeof(names));
}
