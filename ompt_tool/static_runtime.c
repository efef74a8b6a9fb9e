#include "ompt_tool/static_runtime.h"

#include <link.h>
#include <string.h>

static bool needs_runtime(const struct dl_phdr_info *program)
{
    const char *strings = NULL;
    const ElfW(Dyn) *dynamic = NULL;
    for (unsigned i = 0; i < program->dlpi_phnum; i++)
        if (program->dlpi_phdr[i].p_type == PT_DYNAMIC)
            dynamic = (const ElfW(Dyn) *)(program->dlpi_addr + program->dlpi_phdr[i].p_vaddr);
    for (const ElfW(Dyn) *entry = dynamic; entry && entry->d_tag != DT_NULL; entry++)
        if (entry->d_tag == DT_STRTAB && entry->d_un.d_ptr >= program->dlpi_addr) /* the loader made it absolute */
            strings = (const char *)entry->d_un.d_ptr;
    for (const ElfW(Dyn) *entry = dynamic; strings && entry->d_tag != DT_NULL; entry++) {
        const char *name = strings + entry->d_un.d_val;
        if (entry->d_tag == DT_NEEDED && (strncmp(name, "libgomp", 7) == 0 || strncmp(name, "libomp", 6) == 0 || strncmp(name, "libiomp5", 8) == 0))
            return true;
    }
    return false;
}

static bool has_text(const struct dl_phdr_info *program, const char *text, size_t bytes)
{
    for (unsigned i = 0; i < program->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &program->dlpi_phdr[i];
        bool only_code = segment->p_flags & PF_X && segment->p_offset; /* the first has the file's headers, and may have texts */
        if (segment->p_type == PT_LOAD && segment->p_flags & PF_R && !(segment->p_flags & PF_W) && !only_code &&
            memmem((const void *)(program->dlpi_addr + segment->p_vaddr), segment->p_filesz, text, bytes))
            return true;
    }
    return false;
}

/* Looks at the first object only, the program: for texts that libgomp's start and errors need. A stripped program has them, too. */
static int look(struct dl_phdr_info *program, size_t bytes, void *unused)
{
    static const char variable[] = "GOMP_SPINCOUNT", error[] = "\nlibgomp: ";
    (void)bytes, (void)unused;
    return !needs_runtime(program) && has_text(program, variable, sizeof(variable)) && has_text(program, error, sizeof(error)) ? 1 : -1;
}

bool static_runtime_is_there(void)
{
    static int found; /* a forked child has what its parent found */
    if (!found)
        found = dl_iterate_phdr(look, NULL);
    return found > 0;
}
