#include "layers/loader/got.h"

#include <stddef.h>
#include <stdint.h>

#include "layers/loader/binding.h"
#include "layers/loader/elf_view.h"
#include "layers/loader/kernel.h"

#if defined(__x86_64__)
#define GOT_ENTRY R_X86_64_GLOB_DAT
#define PLT_ENTRY R_X86_64_JUMP_SLOT
#elif defined(__aarch64__)
#define GOT_ENTRY R_AARCH64_GLOB_DAT
#define PLT_ENTRY R_AARCH64_JUMP_SLOT
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

static void got_bind_entries(uintptr_t base, const ElfW(Rela) * entries, size_t count, uint32_t type)
{
    for (size_t i = 0; entries && i < count; i++) {
        if (ELF64_R_TYPE(entries[i].r_info) != type)
            continue;
        const uintptr_t *entry = (const uintptr_t *)(base + entries[i].r_offset);
        uintptr_t stub = binding_of(*entry);
        if (*entry && stub != *entry)
            got_write((uintptr_t)entry, stub);
    }
}

void got_bind(const struct link_map *map, bool calls)
{
    struct elf_view view;
    elf_view_of_map(&view, map);
    size_t count = view.relocations_bytes / sizeof(ElfW(Rela));
    if (count > view.relative_count)
        got_bind_entries(view.base, (const ElfW(Rela) *)view.relocations + view.relative_count,
                         count - view.relative_count, GOT_ENTRY);
    if (calls)
        got_bind_entries(view.base, (const void *)view.plt_relocations, view.plt_relocations_bytes / sizeof(ElfW(Rela)),
                         PLT_ENTRY);
}
