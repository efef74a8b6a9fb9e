#include "base/os_thread.h"

#include <stdio.h>
#include <string.h>

#include "base/os.h"

char os_thread_state(pid_t tid)
{
    char path[64], text[256];
    snprintf(path, sizeof(path), "/proc/self/task/%d/stat", (int)tid);
    os_read_text(path, text, sizeof(text));
    const char *name_end = strrchr(text, ')');
    return name_end && name_end[1] ? name_end[2] : '\0';
}
