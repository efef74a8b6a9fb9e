#include "command/export/stacks.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cct/profile_time.h"
#include "cct/profile_tree.h"
#include "command/profile/pair_map.h"
#include "command/rows/mpi_names.h"
#include "command/text/format.h"
#include "command/text/memory.h"

#define MOST_NODES 100000u /* maximum number of nodes read for one path */
#define CIRCLE     UINT32_MAX
#define READ_AGAIN 4 /* maximum number of attempts to read a path that the running program keeps changing */
#define NS_PER_US  1000u
#define NO_FRAME   UINT32_MAX

/* A node whose path to the root is final, so that it is read only once. */
struct known {
    uint32_t parent; /* 1 + index in `known` of the parent; 0: no parent */
    uint32_t frame;  /* index in `frames`; NO_FRAME: the node has no frame */
};

struct stacks {
    FILE *out,
        /* buffer for one line of output. One fwrite copies the line to `out`, so that errno tells why writing
         * failed, and is not overwritten by looking up names */
        *line;
    char *text;
    size_t bytes;
    struct trace_tail *tail;
    enum stacks_clock clock;
    struct symbols *(*open)(void *), *symbols;
    void *data;
    struct pair_map frame_of; /* for each pair of node key and kind, an index in `frames` */
    char **frames;            /* a node's frames as they appear in the output, inlined functions first */
    size_t frame_count, frame_room;
    struct pair_map known_of; /* for each node index in the measurement file, 1 + an index in `known` */
    struct known *known;
    size_t known_count, known_room;
    struct profile_node *path; /* nodes on the path of the current sample, innermost first */
    uint32_t *path_idx;
    size_t path_count, path_room, idx_room;
};

static const char *const state_name[PROFILE_TIME_STATES] = {"work",     "overhead", "idle",    "lock_wait",
                                                            "mpi_wait", "no_core",  "blocked", "stopped"};

struct stacks *export_stacks_new(FILE *out, struct trace_tail *tail, enum stacks_clock clock,
                                 struct symbols *(*symbols)(void *), void *data)
{
    struct stacks *stacks = memory_array(1, sizeof *stacks);
    *stacks = (struct stacks){.out = out, .tail = tail, .clock = clock, .open = symbols, .data = data};
    stacks->line = memory_check(open_memstream(&stacks->text, &stacks->bytes));
    return stacks;
}

void export_stacks_free(struct stacks *stacks)
{
    for (size_t i = 0; i < stacks->frame_count; i++)
        free(stacks->frames[i]);
    free(stacks->frames);
    free(stacks->known);
    free(stacks->path);
    free(stacks->path_idx);
    pair_map_free(&stacks->frame_of);
    pair_map_free(&stacks->known_of);
    fclose(stacks->line);
    free(stacks->text);
    free(stacks);
}

/* ---- frames ---- */

static char *export_stacks_frame_text(const char *name, const char *file, int line, uint64_t address)
{
    char *clean_name = format_escaped(name, ";"), *clean_file = format_escaped(file && *file ? file : "?", ";:");
    char *text = memory_text("%s:%s:%d:0x%" PRIx64, clean_name, clean_file, line > 0 ? line : 0, address);
    free(clean_name);
    free(clean_file);
    return text;
}

static size_t export_stacks_lookup(struct stacks *stacks, uint64_t key, const struct symbol_frame **frame)
{
    if (!stacks->symbols || (PROFILE_KEY_MODULE(key) > stacks->tail->module_count && trace_tail_has_more(stacks->tail)))
        stacks->symbols = stacks->open(stacks->data);
    return symbols_lookup(stacks->symbols, key, frame);
}

static char *export_stacks_code_text(struct stacks *stacks, uint64_t key)
{
    const struct symbol_frame *frame;
    size_t count = export_stacks_lookup(stacks, key, &frame);
    char *text = NULL;
    for (size_t i = 0; i < count; i++) {
        char *one = export_stacks_frame_text(frame[i].name, frame[i].at_file, frame[i].at_line, PROFILE_KEY_VADDR(key));
        char *both = text ? memory_text("%s;%s", text, one) : one;
        if (text) {
            free(text);
            free(one);
        }
        text = both;
    }
    return text;
}

static char *export_stacks_holder_text(struct stacks *stacks, uint64_t key)
{
    const struct symbol_frame *frame;
    export_stacks_lookup(stacks, key, &frame);
    char *name = memory_text(ROW_NAME_HOLDER, frame->name),
         *text = export_stacks_frame_text(name, frame->at_file, frame->at_line, PROFILE_KEY_VADDR(key));
    free(name);
    return text;
}

/* Returns the text of a phase, event or parameter. Its source line is the one where the program first used
 * it. */
static char *export_stacks_probe_text(struct stacks *stacks, const struct profile_node *node)
{
    const struct symbol_frame *frame = NULL;
    if (node->key > stacks->tail->name_count && trace_tail_has_more(stacks->tail))
        stacks->symbols = stacks->open(stacks->data);
    if (node->key == 0 || node->key > stacks->tail->name_count)
        return export_stacks_frame_text("<no name>", NULL, 0, 0);
    const struct profile_name *name = &stacks->tail->names[node->key - 1];
    if (name->place)
        export_stacks_lookup(stacks, name->place, &frame);
    char label[sizeof name->text + 8]; /* name as rows show it */
    snprintf(label, sizeof label, "%s%s",
             node->kind == PROFILE_NODE_PHASE   ? "phase "
             : node->kind == PROFILE_NODE_EVENT ? "event "
                                                : "",
             name->text);
    return export_stacks_frame_text(label, frame ? frame->at_file : NULL, frame ? frame->at_line : 0,
                                    PROFILE_KEY_VADDR(name->place));
}

/* Returns the text of a node's frames, which the caller frees, or NULL if the node has no frame. */
static char *export_stacks_node_text(struct stacks *stacks, const struct profile_node *node)
{
    char number[32];
    switch (node->kind) {
    case PROFILE_NODE_FRAME:
    case PROFILE_NODE_RUNTIME:
        return export_stacks_code_text(stacks, node->key);
    case PROFILE_NODE_HOLDER:
        return export_stacks_holder_text(stacks, node->key);
    case PROFILE_NODE_MPI:
        return export_stacks_frame_text(row_mpi_call_name(node->key), NULL, 0, 0);
    case PROFILE_NODE_PSEUDO: /* "no core" and "blocked" are states of the context around them, not frames */
        return node->key == PROFILE_PSEUDO_NO_CORE || node->key == PROFILE_PSEUDO_BLOCKED
                   ? NULL
                   : export_stacks_frame_text(row_pseudo_name(node->key), NULL, 0, 0);
    case PROFILE_NODE_PHASE:
    case PROFILE_NODE_EVENT:
    case PROFILE_NODE_PARAMETER:
        return export_stacks_probe_text(stacks, node);
    case PROFILE_NODE_INSTANCE:
        snprintf(number, sizeof number, node->key == PROFILE_INSTANCE_REST ? "[others]" : "[%" PRId64 "]",
                 (int64_t)node->key);
        return export_stacks_frame_text(number, NULL, 0, 0);
    default:
        return NULL;
    }
}

static uint32_t export_stacks_frame_of(struct stacks *stacks, const struct profile_node *node)
{
    uint32_t *slot = pair_map_slot(&stacks->frame_of, node->key, node->kind);
    if (*slot != PAIR_MAP_NEW)
        return *slot - 1; /* NO_FRAME is stored as NO_FRAME + 1, which is 0 */
    char *text = export_stacks_node_text(stacks, node);
    uint32_t frame = NO_FRAME;
    if (text) {
        memory_grow(&stacks->frames, &stacks->frame_room, stacks->frame_count, sizeof *stacks->frames);
        frame = (uint32_t)stacks->frame_count++;
        stacks->frames[frame] = text;
    }
    *slot = frame + 1;
    return frame;
}

/* ---- paths ---- */

static uint32_t *export_stacks_known_slot(struct stacks *stacks, uint32_t node_idx)
{
    return pair_map_slot(&stacks->known_of, node_idx, 0);
}

static void export_stacks_add_to_path(struct stacks *stacks, uint32_t node_idx, const struct profile_node *node)
{
    memory_grow(&stacks->path, &stacks->path_room, stacks->path_count, sizeof *stacks->path);
    memory_grow(&stacks->path_idx, &stacks->idx_room, stacks->path_count, sizeof *stacks->path_idx);
    stacks->path[stacks->path_count] = *node;
    stacks->path_idx[stacks->path_count++] = node_idx;
}

/* Reads the nodes from node_idx outward until a node is in `known`, and returns 1 + the index of that node in
 * `known`. Returns 0 if the path ends without such a node, and CIRCLE if the nodes form a cycle, as in a
 * damaged file. Moved nodes are part of the path too, because a cycle may lead through them. */
static uint32_t export_stacks_read_path(struct stacks *stacks, uint32_t node_idx)
{
    struct profile_node node;
    /* a node passed earlier; when it is met again, the nodes form a cycle */
    uint32_t mark = 0, next_mark = 1;
    stacks->path_count = 0;
    for (uint32_t steps = 0; node_idx && steps < MOST_NODES; steps++) {
        uint32_t *slot = export_stacks_known_slot(stacks, node_idx);
        if (*slot != PAIR_MAP_NEW && *slot != 0)
            return *slot;
        *slot = 0;
        if (node_idx == mark)
            return CIRCLE;
        if (steps == next_mark) {
            mark = node_idx;
            next_mark *= 2;
        }
        if (!trace_tail_node(stacks->tail, node_idx, &node))
            return 0;
        export_stacks_add_to_path(stacks, node_idx, &node);
        node_idx = node.kind == PROFILE_NODE_MOVED ? (uint32_t)node.key : node.parent;
    }
    return 0;
}

static bool export_stacks_path_is_unchanged(const struct stacks *stacks)
{
    struct profile_node node;
    for (size_t i = 0; i < stacks->path_count; i++) {
        const struct profile_node *before = &stacks->path[i];
        if (!trace_tail_node(stacks->tail, stacks->path_idx[i], &node) || node.key != before->key ||
            node.parent != before->parent || node.kind != before->kind)
            return false;
    }
    return true;
}

/* Adds the nodes of the path to `known`. Only a path that reaches the root may be added. The path of a node
 * below a region's placeholder changes when the region's context becomes known. */
static void export_stacks_keep_path(struct stacks *stacks, uint32_t outer)
{
    for (size_t i = stacks->path_count; i-- > 0;) {
        memory_grow(&stacks->known, &stacks->known_room, stacks->known_count, sizeof *stacks->known);
        stacks->known[stacks->known_count++] = (struct known){outer, export_stacks_frame_of(stacks, &stacks->path[i])};
        outer = (uint32_t)stacks->known_count;
        *export_stacks_known_slot(stacks, stacks->path_idx[i]) = outer;
    }
    stacks->path_count = 0;
}

/* Assigns the unresolved context to the nodes of a cycle, because a cycle never reaches the root. Returns 1 +
 * the index of the unresolved context in `known`. */
static uint32_t export_stacks_keep_cycle(struct stacks *stacks)
{
    const struct profile_node unknown = {.kind = PROFILE_NODE_PSEUDO, .key = PROFILE_PSEUDO_UNRESOLVED};
    memory_grow(&stacks->known, &stacks->known_room, stacks->known_count, sizeof *stacks->known);
    stacks->known[stacks->known_count++] = (struct known){0, export_stacks_frame_of(stacks, &unknown)};
    for (size_t i = 0; i < stacks->path_count; i++)
        *export_stacks_known_slot(stacks, stacks->path_idx[i]) = (uint32_t)stacks->known_count;
    stacks->path_count = 0;
    return (uint32_t)stacks->known_count;
}

static void export_stacks_put_frame(struct stacks *stacks, uint32_t frame, bool *first)
{
    if (frame == NO_FRAME)
        return;
    if (!*first)
        putc(';', stacks->line);
    fputs(stacks->frames[frame], stacks->line);
    *first = false;
}

static void export_stacks_put_path(struct stacks *stacks, uint32_t node_idx)
{
    uint32_t outer = 0;
    bool first = true;
    for (int i = 0; i < READ_AGAIN; i++) {
        outer = export_stacks_read_path(stacks, node_idx);
        if (export_stacks_path_is_unchanged(stacks))
            break;
    }
    if (outer == CIRCLE)
        outer = export_stacks_keep_cycle(stacks);
    const struct profile_node *last = stacks->path_count ? &stacks->path[stacks->path_count - 1] : NULL;
    bool ends = outer || (last && last->kind == PROFILE_NODE_ROOT);
    if (ends && last) {
        export_stacks_keep_path(stacks, outer);
        outer = (uint32_t)stacks->known_count;
    }
    for (size_t i = 0; i < stacks->path_count; i++)
        export_stacks_put_frame(stacks, export_stacks_frame_of(stacks, &stacks->path[i]), &first);
    if (!ends) { /* the region is still running, so its context is unknown */
        struct profile_node fork = {.kind = PROFILE_NODE_FRAME,
                                    .key = last && last->kind == PROFILE_NODE_REGION ? last->key : 0};
        struct profile_node unknown = {.kind = PROFILE_NODE_PSEUDO, .key = PROFILE_PSEUDO_UNRESOLVED};
        if (fork.key)
            export_stacks_put_frame(stacks, export_stacks_frame_of(stacks, &fork), &first);
        export_stacks_put_frame(stacks, export_stacks_frame_of(stacks, &unknown), &first);
    }
    for (; outer; outer = stacks->known[outer - 1].parent)
        export_stacks_put_frame(stacks, stacks->known[outer - 1].frame, &first);
}

bool export_stacks_put(struct stacks *stacks, const struct trace_sample *sample)
{
    const struct profile_header *header = &stacks->tail->header;
    bool ran = sample->state == PROFILE_TIME_WORK || sample->state == PROFILE_TIME_OVERHEAD;
    if (stacks->clock == STACKS_CPU && !ran)
        return true;
    uint64_t ns = stacks->clock == STACKS_CPU          ? sample->cpu_ns
                  : sample->time_ns > header->start_ns ? sample->time_ns - header->start_ns
                                                       : 0;
    uint64_t us = ns / NS_PER_US;
    rewind(stacks->line);
    fprintf(stacks->line, "%" PRIu64 ".%06u\t%u\t", us / 1000000, (unsigned)(us % 1000000),
            header->ranks || header->in_job ? header->rank : 0);
    if (sample->thread == TRACE_NO_THREAD)
        fputs("?\t", stacks->line);
    else
        fprintf(stacks->line, "%u\t", sample->thread);
    fprintf(stacks->line, "%s\t", state_name[sample->state % PROFILE_TIME_STATES]);
    if (sample->node)
        export_stacks_put_path(stacks, sample->node);
    putc('\n', stacks->line);
    memory_check(fflush(stacks->line) == 0 ? stacks->line : NULL);
    return fwrite(stacks->text, 1, stacks->bytes, stacks->out) == stacks->bytes;
}
