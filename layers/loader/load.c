#include "layers/loader/load.h"

#include <dlfcn.h>

#include "layers/loader/elf_view.h"
#include "layers/loader/text.h"

static const struct link_map *load_find_libc(const struct link_map *map)
{
    while (map && !text_equal(text_file_name(map->l_name), "libc.so.6"))
        map = map->l_next;
    return map;
}

/* dlopen() would load the library into our own namespace, so dlmopen() is called. If that fails, dlerror() discards
 * the cause, because the program may ask for the cause of an error of its own. */
const struct link_map *load_object(const struct link_map *first, const char *path)
{
    struct elf_view view;
    const struct link_map *libc = load_find_libc(first), *loaded;
    if (!libc)
        return NULL;
    elf_view_of_map(&view, libc);
    void *(*load)(Lmid_t, const char *, int) =
        (void *(*)(Lmid_t, const char *, int))elf_view_function(&view, "dlmopen");
    char *(*discard)(void) = (char *(*)(void))elf_view_function(&view, "dlerror");
    if (!load || !discard)
        return NULL;
    if (!(loaded = load(LM_ID_BASE, path, RTLD_LAZY)))
        discard();
    return loaded;
}
