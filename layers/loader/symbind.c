#include "layers/loader/symbind.h"

#include <elf.h>
#include <link.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/auxv.h>

#include "layers/loader/elf_view.h"
#include "layers/loader/kernel.h"

#define VECTOR_MOST 64 /* entries of the auxiliary vector; the kernel has some 20 */

/* This library's own ELF header and dynamic section. */
extern const ElfW(Ehdr) __ehdr_start __attribute__((visibility("hidden")));
extern ElfW(Dyn) _DYNAMIC[] __attribute__((visibility("hidden")));

/* Returns the value of this type in the auxiliary vector; 0 if it is unknown. */
static uintptr_t symbind_auxiliary(uint64_t type)
{
    ElfW(auxv_t) vector[VECTOR_MOST];
    int fd = kernel_open("/proc/self/auxv");
    long bytes = fd >= 0 ? kernel_read(fd, vector, sizeof(vector)) : 0;
    if (fd >= 0)
        kernel_close(fd);
    for (long i = 0; i < bytes / (long)sizeof(vector[0]); i++)
        if (vector[i].a_type == type)
            return vector[i].a_un.a_val;
    return 0;
}

static bool symbind_view_program(struct elf_view *view)
{
    const ElfW(Phdr) *segments = (const ElfW(Phdr) *)symbind_auxiliary(AT_PHDR);
    size_t count = symbind_auxiliary(AT_PHNUM);
    const ElfW(Phdr) *own = NULL, *dynamic = NULL;
    for (size_t i = 0; segments && i < count; i++) {
        own = segments[i].p_type == PT_PHDR ? &segments[i] : own;
        dynamic = segments[i].p_type == PT_DYNAMIC ? &segments[i] : dynamic;
    }
    /* the loader itself, if it was started by its own name, has no PT_PHDR */
    if (!own || !dynamic)
        return false;
    struct link_map program = {.l_addr = (uintptr_t)segments - own->p_vaddr};
    program.l_ld = (ElfW(Dyn) *)(program.l_addr + dynamic->p_vaddr);
    elf_view_of_map(view, &program);
    return view->gnu_hash && symbind_auxiliary(AT_BASE);
}

bool symbind_is_safe(void)
{
    struct elf_view program;
    return symbind_view_program(&program) && !elf_view_find(&program, "calloc");
}

void symbind_hide(void)
{
    const struct link_map own = {.l_addr = (uintptr_t)&__ehdr_start, .l_ld = _DYNAMIC};
    struct elf_view view;
    elf_view_of_map(&view, &own);
    const ElfW(Sym) *symbol = elf_view_find(&view, "la_symbind64");
    uintptr_t page_bytes = symbind_auxiliary(AT_PAGESZ);
    if (!symbol || !page_bytes)
        return;
    uintptr_t page = (uintptr_t)symbol & -page_bytes, end = ((uintptr_t)(symbol + 1) + page_bytes - 1) & -page_bytes;
    if (kernel_call(SYS_mprotect, (long)page, (long)(end - page), PROT_READ | PROT_WRITE, 0, 0, 0) != 0)
        return;
    ((ElfW(Sym) *)symbol)->st_value = 0; /* a name without a value is not found */
    kernel_call(SYS_mprotect, (long)page, (long)(end - page), PROT_READ, 0, 0, 0);
}
