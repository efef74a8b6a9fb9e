#include "ompt_tool/locks/diversion.h"

#include <stddef.h>

uint32_t diversion_begun;

static void (*divert)(void); /* NULL: nothing is diverted */

void diversion_init(void (*how)(void))
{
    store_release(&divert, how);
}

/* May be called again: the layer may have been loaded since. */
void diversion_begin(void)
{
    void (*how)(void) = load_acquire(&divert);
    store_relaxed(&diversion_begun, 1);
    if (how)
        how();
}
