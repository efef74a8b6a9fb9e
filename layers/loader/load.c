#include "layers/loader/load.h"

#include <dlfcn.h>

#include "layers/loader/elf_view.h"
#include "layers/loader/text.h"

/* Returns the address of a function of the C library, which was in a library of its own before glibc 2.34; 0 if there is none. */
static uintptr_t load_find(const struct link_map *first, const char *name)
{
    uintptr_t function = 0;
    for (const struct link_map *map = first; map && !function; map = map->l_next) {
        const char *file = text_file_name(map->l_name);
        struct elf_view view;
        if (!text_equal(file, "libc.so.6") && !text_equal(file, "libdl.so.2"))
            continue;
        elf_view_of_map(&view, map);
        function = elf_view_function(&view, name);
    }
    return function;
}

/* dlopen() would load the library into our own namespace, so dlmopen() is called. If that fails, dlerror() discards
 * the cause, because the program may ask for the cause of an error of its own. */
const struct link_map *load_object(const struct link_map *first, const char *path)
{
    const struct link_map *loaded;
    void *(*load)(Lmid_t, const char *, int) = (void *(*)(Lmid_t, const char *, int))load_find(first, "dlmopen");
    char *(*discard)(void) = (char *(*)(void))load_find(first, "dlerror");
    if (!load || !discard)
        return NULL;
    if (!(loaded = load(LM_ID_BASE, path, RTLD_LAZY)))
        discard();
    return loaded;
}
