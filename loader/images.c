#include "loader/images.h"

#include <stdbool.h>

#include "base/atomics.h"
#include "loader/kernel.h"

#define MOST_BYTES (16l << 20) /* of a file; LAUNCHED_IMAGES of them are the most that is mapped at a time */

static struct launched_image images[LAUNCHED_IMAGES];
static unsigned next; /* entry, modulo their number: the oldest file gives way */

struct launched_image *images_of_process(void)
{
    return images;
}

/* Makes the entry free, and unmaps its file. False: the tool is looking at it. */
static bool empty(struct launched_image *image)
{
    uint32_t state = LAUNCHED_THERE;
    bool taken = compare_exchange(&image->state, &state, LAUNCHED_FREE);
    if (taken)
        kernel_unmap(image->data, image->bytes);
    return taken || state == LAUNCHED_FREE;
}

void images_add(const struct link_map *map)
{
    struct launched_image *image = &images[next++ % LAUNCHED_IMAGES];
    int fd = *map->l_name && kernel_memory_limit() == UINT64_MAX && empty(image) ? kernel_open(map->l_name) : -1;
    if (fd < 0)
        return;
    size_t bytes = 0;
    const void *data = kernel_file_bytes(fd) <= MOST_BYTES ? kernel_map_file(fd, &bytes) : NULL;
    kernel_close(fd);
    if (!data)
        return;
    store_relaxed(&image->base, map->l_addr);
    image->data = data;
    image->bytes = bytes;
    store_release(&image->state, LAUNCHED_THERE);
}

void images_remove(const struct link_map *map)
{
    for (unsigned i = 0; i < LAUNCHED_IMAGES; i++)
        if (images[i].base == map->l_addr)
            empty(&images[i]);
}
