/* Arrays that grow. The array has room for `room` items and contains `count` of them. */
#ifndef BLAME_COMMAND_TEXT_GROW_H
#define BLAME_COMMAND_TEXT_GROW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* Reallocates the array if it has no room for one more item. `list` is the address of the pointer to the
 * array. Returns false and changes nothing if memory runs out. */
static inline bool grow_list(void *list, size_t *room, size_t count, size_t item_bytes)
{
    void *items;
    if (count < *room)
        return true;
    memcpy(&items, list, sizeof items);
    size_t larger = *room ? *room * 2 : 64;
    items = reallocarray(items, larger, item_bytes);
    if (!items)
        return false;
    memcpy(list, &items, sizeof items);
    *room = larger;
    return true;
}

#endif
