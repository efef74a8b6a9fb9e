#include "layers/loader/search_path.h"

#include "layers/loader/elf_view.h"
#include "layers/loader/kernel.h"
#include "layers/loader/text.h"

/* A path that is being composed. */
struct composed {
    char *text;
    size_t length, bytes;
};

static void compose(struct composed *path, const char *text, size_t count)
{
    for (size_t i = 0; i < count && text[i] && path->length + 1 < path->bytes; i++)
        path->text[path->length++] = text[i];
    path->text[path->length] = '\0';
}

/* Appends the folder that contains the object. The loader knows the program only as "". */
static void compose_origin(struct composed *path, const struct link_map *object)
{
    char program[1024] = "";
    const char *name = object->l_name;
    if (!*name) {
        kernel_call(SYS_readlinkat, AT_FDCWD, (long)"/proc/self/exe", (long)program, sizeof(program) - 1, 0, 0);
        name = program;
    }
    size_t folder = (size_t)(text_file_name(name) - name);
    compose(path, folder ? name : ".", folder > 1 ? folder - 1 : 1);
}

/* Appends a folder of a DT_RUNPATH. Returns false if it contains another variable than $ORIGIN. */
static bool compose_folder(struct composed *path, const char *folder, size_t count, const struct link_map *object)
{
    for (size_t i = 0; i < count; i++) {
        const char *plain = text_after(&folder[i], "$ORIGIN"), *braced = text_after(&folder[i], "${ORIGIN}");
        if (folder[i] != '$') {
            compose(path, &folder[i], 1);
        } else if (plain || braced) {
            compose_origin(path, object);
            i = (size_t)((plain ? plain : braced) - folder) - 1;
        } else {
            return false;
        }
    }
    return true;
}

static bool is_library(const char *path)
{
    char magic[EI_CLASS + 1] = "";
    int fd = kernel_open(path);
    long got = fd >= 0 ? kernel_read(fd, magic, sizeof(magic)) : 0;
    if (fd >= 0)
        kernel_close(fd);
    return got == sizeof(magic) && magic[EI_MAG0] == ELFMAG0 && text_after(&magic[1], "ELF") &&
           magic[EI_CLASS] == ELFCLASS64;
}

/* Searches a list of folders, separated by colons or semicolons. An empty one is the current directory. */
static bool search_list(const char *list, const struct link_map *object, const char *library, struct composed *path)
{
    while (*list) {
        size_t count = 0;
        while (list[count] && list[count] != ':' && list[count] != ';')
            count++;
        path->length = 0;
        compose(path, count ? "" : ".", 1);
        if (compose_folder(path, list, count, object)) {
            compose(path, "/", 1);
            compose(path, library, path->bytes);
            if (path->length + 1 < path->bytes && is_library(path->text))
                return true;
        }
        list += count + (list[count] != '\0');
    }
    return false;
}

bool search_path_find(const struct link_map *needer, const char *first, const char *library, char *path, size_t bytes)
{
    struct composed composed = {path, 0, bytes};
    struct elf_view view;
    elf_view_of_map(&view, needer);
    const char *folders = elf_view_dynamic_string(&view, needer, DT_RUNPATH);
    return *folders &&
           (search_list(first, needer, library, &composed) || search_list(folders, needer, library, &composed));
}
