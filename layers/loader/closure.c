#include "layers/loader/closure.h"

#include "layers/loader/elf_view.h"
#include "layers/loader/text.h"

bool closure_has_symbol(const void *first, const char *name)
{
    struct elf_view view;
    for (const struct link_map *map = first; map; map = map->l_next) {
        elf_view_of_map(&view, map);
        bool searched = view.gnu_hash || !view.symbols || text_after(map->l_name, "linux-vdso");
        if (!searched || elf_view_find(&view, name))
            return true;
    }
    return false;
}

static bool closure_has_library(const struct link_map *first, const char *file)
{
    for (const struct link_map *map = first; map; map = map->l_next) {
        struct elf_view view;
        if (text_equal(text_file_name(map->l_name), file))
            return true;
        elf_view_of_map(&view, map);
        if (text_equal(elf_view_dynamic_string(&view, map, DT_SONAME), file))
            return true;
    }
    return false;
}

bool closure_is_whole(const struct link_map *first, bool (*replaced)(const char *file))
{
    for (const struct link_map *map = first; map; map = map->l_next) {
        struct elf_view view;
        elf_view_of_map(&view, map);
        for (const ElfW(Dyn) *entry = map->l_ld; view.strings && entry && entry->d_tag != DT_NULL; entry++) {
            if (entry->d_tag != DT_NEEDED)
                continue;
            const char *file = text_file_name(view.strings + entry->d_un.d_val);
            if (!(replaced && replaced(file)) && !closure_has_library(first, file))
                return false;
        }
    }
    return true;
}

bool closure_is_unbound(const struct link_map *first)
{
    for (const struct link_map *map = first; map; map = map->l_next) {
        struct elf_view view;
        elf_view_of_map(&view, map);
        if (elf_view_unbound(&view, closure_has_symbol, first))
            return true;
    }
    return false;
}
