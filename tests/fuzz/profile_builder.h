/* Builds measurement files as the plugin writes them, in memory. */
#ifndef BLAME_TESTS_PROFILE_BUILDER_H
#define BLAME_TESTS_PROFILE_BUILDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct profile_metric;
struct profile_module;
struct profile_name;
struct profile_thread;

struct profile_builder {
    unsigned char *bytes; /* the file, malloc'ed */
    size_t size;
    uint32_t open_chunk[128]; /* by tree: the chunk that nodes go to, + 1 */
    uint32_t time_chunk[128]; /* by tree, as open_chunk */
    uint32_t thread_chunk, module_chunk, text_chunk, name_chunk;
};

void builder_start(struct profile_builder *builder);
void builder_free(struct profile_builder *builder);
struct profile_header *builder_header(struct profile_builder *builder);
struct profile_chunk *builder_chunk(struct profile_builder *builder, uint32_t n);
/* The record of a node; pointers are valid until the next builder call. */
struct profile_node *builder_at(struct profile_builder *builder, uint32_t node_idx);

uint32_t builder_node(struct profile_builder *builder, uint32_t tree, uint32_t parent, uint8_t kind, uint64_t key);
/* Gives the node a metric record, or adds to the one it has. */
void builder_metric(struct profile_builder *builder, uint32_t tree, uint32_t node_idx,
                    const struct profile_metric *metric);
/* Puts another record of a metric's size in its place. */
void builder_record(struct profile_builder *builder, uint32_t tree, uint32_t node_idx, const void *record);
/* A node of kind LANE or TIME with its record, in a chunk of kind TIME; the record's unit is the node's `metric`. */
uint32_t builder_time(struct profile_builder *builder, uint32_t tree, uint32_t parent, uint8_t kind, const void *record,
                      size_t bytes);
void builder_thread(struct profile_builder *builder, const struct profile_thread *thread);
void builder_module(struct profile_builder *builder, const struct profile_module *module);
/* The name's number. */
uint32_t builder_name(struct profile_builder *builder, const struct profile_name *name);
void builder_text(struct profile_builder *builder, const char *key, const char *value);
/* A trace of the tree's, of so many records. */
void builder_trace(struct profile_builder *builder, uint32_t tree, uint32_t records, unsigned seed);
bool builder_write(const struct profile_builder *builder, const char *path);

/* A profile with some of everything: `trees` trees of `nodes` nodes each, three threads, two modules. */
void builder_example(struct profile_builder *builder, uint32_t trees, uint32_t nodes, unsigned seed);

#endif
