/* Memory for a run, and what a run's begin and end have written, so that it can be taken back. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "tests/memory/model.h"

#define POOL_BYTES (1ull << 30) /* of addresses */
#define MAP_BYTES  (64ull << 20)
#define MAX_UNDO   (1u << 20)

static char *pool, *mapped;
static size_t pool_used, map_used;

static struct undo {
    uintptr_t address;
    uint64_t value;
    unsigned size;
} undos[MAX_UNDO];
static uint32_t undone;

static char *reserve(size_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED)
        abort();
    return memory;
}

void *pool_take(size_t bytes)
{
    if (!pool)
        pool = reserve(POOL_BYTES);
    void *taken = pool + pool_used;
    pool_used += (bytes + 15) & ~(size_t)15;
    if (pool_used > POOL_BYTES)
        abort();
    return taken;
}

void pool_reset(void)
{
    pool_used = map_used = 0;
}

/* At the same addresses in each run; zeroed, since a run takes back what it has written. */
void *model_map(size_t bytes)
{
    if (!mapped)
        mapped = reserve(MAP_BYTES);
    void *taken = mapped + map_used;
    map_used += (bytes + 4095) & ~(size_t)4095;
    if (map_used > MAP_BYTES)
        abort();
    return taken;
}

void undo_note(uintptr_t address, size_t bytes)
{
    for (size_t at = 0; at < bytes; at += 8) {
        struct undo *undo = &undos[undone++];
        if (undone == MAX_UNDO)
            abort();
        *undo = (struct undo){.address = address + at, .size = bytes - at < 8 ? (unsigned)(bytes - at) : 8};
        memcpy(&undo->value, (const void *)undo->address, undo->size);
    }
}

void undo_all(uint32_t from)
{
    while (undone > from) {
        const struct undo *undo = &undos[--undone];
        memcpy((void *)undo->address, &undo->value, undo->size);
    }
}

uint32_t undo_count(void)
{
    return undone;
}
