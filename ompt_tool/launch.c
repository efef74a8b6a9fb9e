#include "ompt_tool/launch.h"

#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/launched.h"

__attribute__((visibility("default"))) struct launched blame_launched;

static int wants_gcc(struct dl_phdr_info *object, size_t bytes, void *unused)
{
    const char *strings = NULL;
    const ElfW(Dyn) *dynamic = NULL;
    (void)bytes, (void)unused;
    for (unsigned i = 0; i < object->dlpi_phnum; i++)
        if (object->dlpi_phdr[i].p_type == PT_DYNAMIC)
            dynamic = (const ElfW(Dyn) *)(object->dlpi_addr + object->dlpi_phdr[i].p_vaddr);
    for (const ElfW(Dyn) *entry = dynamic; entry && entry->d_tag != DT_NULL; entry++)
        if (entry->d_tag == DT_STRTAB &&
            entry->d_un.d_ptr >= object->dlpi_addr) /* the loader made it absolute */
            strings = (const char *)entry->d_un.d_ptr;
    for (const ElfW(Dyn) *entry = dynamic; strings && entry->d_tag != DT_NULL; entry++)
        if (entry->d_tag == DT_NEEDED && strncmp(strings + entry->d_un.d_val, "libgomp", 7) == 0)
            return 1;
    return 0;
}

bool launch_wants_region(void)
{
    const char *pid = getenv("BLAME_PROGRAM_PID");
    bool named = pid && strtol(pid, NULL, 10) == (long)getpid();
    return blame_launched.image_start_ns && !(blame_launched.before_main && named);
}

void launch_restore_environment(void)
{
    const char *set = secure_getenv("BLAME_FOR_GCC");
    if (!set || dl_iterate_phdr(wants_gcc, NULL))
        return;
    char name[64];
    for (const char *at = set; *at; at += strcspn(at, ","), at += *at == ',') {
        snprintf(name, sizeof(name), "%.*s", (int)strcspn(at, ","), at);
        unsetenv(name);
    }
    unsetenv("BLAME_FOR_GCC");
}

const char *launch_notes(void)
{
    const char *notes = secure_getenv("BLAME_NOTES");
    return notes && *notes ? notes : NULL;
}
