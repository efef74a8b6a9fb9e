#include "ompt_tool/dependences.h"

#include <link.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Runtime functions that may wait for dependences. GCC calls GOMP_task for every task, even one without
 * dependences. */
static const char *const waits[] = {"__kmpc_omp_wait_deps", "__kmpc_omp_taskwait_deps_51", "GOMP_taskwait_depend",
                                    "GOMP_task"};

/* The parts of a loaded object's dynamic section that list the functions it calls in other objects: each such
 * function has a relocation. */
struct object {
    uintptr_t bias;
    const ElfW(Sym) * symbols;
    const char *strings;
    const ElfW(Rela) * jumps, *others;
    size_t jump_bytes, other_bytes;
    ElfW(Sxword) jump_type;
};

/* Returns the address in an entry of the dynamic section. The loader has replaced the offsets there by
 * addresses, except in the kernel's own object (the vDSO), for which this returns NULL. */
static const void *dependences_address(const struct object *object, const ElfW(Dyn) * entry)
{
    return entry->d_un.d_ptr >= object->bias ? (const void *)entry->d_un.d_ptr : NULL;
}

static void dependences_take_entry(struct object *object, const ElfW(Dyn) * entry)
{
    switch (entry->d_tag) {
    case DT_SYMTAB:
        object->symbols = dependences_address(object, entry);
        break;
    case DT_STRTAB:
        object->strings = dependences_address(object, entry);
        break;
    case DT_JMPREL:
        object->jumps = dependences_address(object, entry);
        break;
    case DT_PLTRELSZ:
        object->jump_bytes = entry->d_un.d_val;
        break;
    case DT_PLTREL:
        object->jump_type = (ElfW(Sxword))entry->d_un.d_val;
        break;
    case DT_RELA:
        object->others = dependences_address(object, entry);
        break;
    case DT_RELASZ:
        object->other_bytes = entry->d_un.d_val;
        break;
    default:
        break;
    }
}

static bool dependences_may_wait(const struct object *object, const ElfW(Rela) * relocation)
{
    const ElfW(Sym) *symbol = &object->symbols[ELF64_R_SYM(relocation->r_info)];
    if (ELF64_R_SYM(relocation->r_info) == 0 || symbol->st_shndx != SHN_UNDEF)
        return false;
    const char *name = object->strings + symbol->st_name;
    for (size_t i = 0; i < sizeof(waits) / sizeof(*waits); i++)
        if (*name == *waits[i] && strcmp(name, waits[i]) == 0)
            return true;
    return false;
}

static bool dependences_any_waits(const struct object *object, const ElfW(Rela) * relocations, size_t bytes)
{
    for (size_t i = 0; relocations && i < bytes / sizeof(*relocations); i++)
        if (dependences_may_wait(object, &relocations[i]))
            return true;
    return false;
}

static int dependences_object_waits(struct dl_phdr_info *info, size_t bytes, void *unused)
{
    struct object object = {.bias = info->dlpi_addr};
    const ElfW(Dyn) *dynamic = NULL;
    (void)bytes, (void)unused;
    for (unsigned i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
            dynamic = (const ElfW(Dyn) *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
    for (const ElfW(Dyn) *entry = dynamic; entry && entry->d_tag != DT_NULL; entry++)
        dependences_take_entry(&object, entry);
    if (!object.symbols || !object.strings || (object.jumps && object.jump_type != DT_RELA))
        return 0;
    return dependences_any_waits(&object, object.jumps, object.jump_bytes) ||
           dependences_any_waits(&object, object.others, object.other_bytes);
}

bool dependences_are_waited_for(void)
{
    return dl_iterate_phdr(dependences_object_waits, NULL) != 0;
}
