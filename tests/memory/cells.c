/* Which bytes are a word: what one access has written and another one reads. */
#include <string.h>

#include "tests/memory/model.h"

#define CELL_BITS 18
#define CELLS     (1u << CELL_BITS)

/* Eight bytes: where words begin in them, as all accesses so far had it. That outlives runs. */
struct cell {
    uintptr_t address; /* 0: not in use */
    uint64_t run;      /* that the words are of */
    uint8_t begins;    /* a bit a byte */
    uint32_t word[8];  /* 0: never written to */
};

static struct cell cells[CELLS];

static struct cell *cell_of(uintptr_t address)
{
    uintptr_t at = address & ~(uintptr_t)7;
    uint32_t place = (uint32_t)((at >> 3) * 0x9e3779b97f4a7c15ull >> (64 - CELL_BITS));
    while (cells[place].address && cells[place].address != at)
        place = (place + 1) % CELLS;
    struct cell *cell = &cells[place];
    cell->address = at;
    if (cell->run != model_run) {
        cell->run = model_run;
        memset(cell->word, 0, sizeof(cell->word));
    }
    return cell;
}

/* A word begins at the address: not in the middle of one that was written to in this run. */
static void mark_begin(uintptr_t address)
{
    struct cell *cell = cell_of(address);
    unsigned at = address & 7;
    uint8_t had = cell->begins;
    cell->begins |= (uint8_t)(1u << at | 1u);
    if (had == cell->begins)
        return;
    for (unsigned i = 0; i < 8; i++)
        if (cell->word[i])
            threads_leave(RUN_AGAIN); /* a word turns out to be two */
}

void cells_mark(uintptr_t address, size_t bytes)
{
    mark_begin(address);
    if ((address + bytes) & 7)
        mark_begin(address + bytes);
}

/* How long the word at the address is. */
static unsigned size_at(const struct cell *cell, uintptr_t address)
{
    unsigned at = address & 7, end = at + 1;
    while (end < 8 && !(cell->begins >> end & 1))
        end++;
    return end - at;
}

uint32_t *cells_word(uintptr_t address, unsigned *size)
{
    struct cell *cell = cell_of(address);
    *size = size_at(cell, address);
    return &cell->word[address & 7];
}

/* False: nobody has written there in this run. */
bool cells_are_written(uintptr_t address, unsigned bytes)
{
    const struct cell *cell = cell_of(address);
    bool is = false;
    for (unsigned i = 0; i < 8; i++)
        is |= cell->word[i] != 0;
    return is || (address & 7) + bytes > 8;
}
