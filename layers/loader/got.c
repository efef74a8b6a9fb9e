#include "layers/loader/got.h"

#include <stddef.h>
#include <stdint.h>

#include "layers/loader/binding.h"
#include "layers/loader/elf_view.h"
#include "layers/loader/kernel.h"

#if defined(__x86_64__)
#define GOT_ENTRY R_X86_64_GLOB_DAT
#elif defined(__aarch64__)
#define GOT_ENTRY R_AARCH64_GLOB_DAT
#endif

/* Writes to memory that may be read-only by now (PT_GNU_RELRO), through the process's memory file. If that is refused, the
 * call stays libc's. */
static void got_write(uintptr_t at, uintptr_t value)
{
    int fd = (int)kernel_call(SYS_openat, AT_FDCWD, (long)"/proc/self/mem", O_WRONLY | O_CLOEXEC, 0, 0, 0);
    if (fd < 0)
        return;
    kernel_call(SYS_pwrite64, fd, (long)&value, sizeof(value), (long)at, 0, 0);
    kernel_close(fd);
}

void got_bind(const struct link_map *map)
{
    struct elf_view view;
    elf_view_of_map(&view, map);
    const ElfW(Rela) *entries = (const void *)view.relocations;
    for (size_t i = view.relative_count; entries && i < view.relocations_bytes / sizeof(*entries); i++) {
        if (ELF64_R_TYPE(entries[i].r_info) != GOT_ENTRY)
            continue;
        const uintptr_t *entry = (const uintptr_t *)(view.base + entries[i].r_offset);
        uintptr_t stub = binding_of(*entry);
        if (*entry && stub != *entry)
            got_write((uintptr_t)entry, stub);
    }
}
