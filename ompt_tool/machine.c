#include "ompt_tool/machine.h"

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/os.h"
#include "cct/arena.h"

/* What follows a word at the begin of a line; NULL: no line has it. */
static const char *behind(const char *text, const char *word)
{
    for (const char *line = text; line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL)
        if (strncmp(line, word, strlen(word)) == 0)
            return line + strlen(word);
    return NULL;
}

/* How long a group's threads were kept from running, and those of the groups around it. */
static uint64_t throttled_ns(const char *mount, char *group)
{
    uint64_t sum = 0;
    if (strcmp(group, "/") == 0)
        *group = '\0'; /* the root, also a container's, once */
    for (;;) {
        static char path[2 * PATH_MAX], text[1024]; /* of one thread at a time: who exits may have a small stack */
        snprintf(path, sizeof(path), "%s%s/cpu.stat", mount, group);
        os_read_text(path, text, sizeof(text));
        const char *us = behind(text, "throttled_usec "), *ns = behind(text, "throttled_time ");
        sum += us ? 1000 * strtoull(us, NULL, 10) : ns ? strtoull(ns, NULL, 10) : 0;
        char *slash = strrchr(group, '/');
        if (!slash)
            return sum;
        *slash = '\0';
    }
}

/* Of all groups: the second version's has no controllers in its line, the first version's is the one of "cpu". */
static uint64_t all_throttled_ns(void)
{
    static char groups[4096];
    char *rest = groups, *line;
    uint64_t sum = 0;
    os_read_text("/proc/self/cgroup", groups, sizeof(groups));
    while ((line = strsep(&rest, "\n"))) {
        strsep(&line, ":");
        char *controllers = line ? strsep(&line, ":") : NULL, *controller;
        if (!line)
            continue;
        if (!*controllers)
            sum += throttled_ns("/sys/fs/cgroup", line);
        while ((controller = strsep(&controllers, ",")))
            if (strcmp(controller, "cpu") == 0)
                sum += throttled_ns("/sys/fs/cgroup/cpu", line);
    }
    return sum;
}

void machine_note_tracer(void)
{
    static char text[4096], path[64], name[64];
    os_read_text("/proc/self/status", text, sizeof(text));
    const char *tracer = behind(text, "TracerPid:");
    long pid = tracer ? strtol(tracer, NULL, 10) : 0;
    if (pid <= 0)
        return;
    snprintf(path, sizeof(path), "/proc/%ld/comm", pid);
    if (os_read_text(path, name, sizeof(name)))
        name[strcspn(name, "\n")] = '\0';
    arena_text("traced_by", *name ? name : "another program");
}

void machine_note(const char *key)
{
    static const struct {
        const char *path, *word, *name;
    } sources[] = {
        {"/proc/loadavg", "", "loadavg "},
        {"/proc/stat", "cpu ", "cpu "},
        {"/proc/pressure/cpu", "some ", "pressure "},
    };
    static char note[1024], text[512];
    size_t used =
        (size_t)snprintf(note, sizeof(note), "throttled_ns %llu\nown_cpu_ns %llu\n",
                         (unsigned long long)all_throttled_ns(), (unsigned long long)clock_process_cpu_ns());
    for (size_t i = 0; i < sizeof(sources) / sizeof(sources[0]); i++) {
        os_read_text(sources[i].path, text, sizeof(text));
        const char *found = behind(text, sources[i].word);
        if (found && *found && used < sizeof(note))
            used += (size_t)snprintf(note + used, sizeof(note) - used, "%s%.*s\n", sources[i].name,
                                     (int)strcspn(found, "\n"), found);
    }
    arena_text(key, note);
}

/* A line of each variable; what does not fit, or has lines itself, is left out. */
static void environment_text(char *text, size_t bytes)
{
    size_t used = 0;
    text[0] = '\0';
    for (char **entry = environ; entry && *entry; entry++) {
        size_t length = strlen(*entry);
        bool steers = strncmp(*entry, "OMP_", 4) == 0 || strncmp(*entry, "KMP_", 4) == 0;
        if (!steers || strncmp(*entry, "OMP_TOOL", 8) == 0 || strchr(*entry, '\n') || used + length + 2 > bytes)
            continue;
        memcpy(text + used, *entry, length);
        memcpy(text + used + length, "\n", 2);
        used += length + 1;
    }
}

#if defined(__x86_64__)
#include <cpuid.h>

/* As the processor itself has it: /proc/cpuinfo asks all cores, and wakes those that sleep. */
static void model_text(char text[49])
{
    unsigned words[12] = {0};
    for (unsigned i = 0; i < 3; i++)
        if (!__get_cpuid(0x80000002u + i, &words[4 * i], &words[4 * i + 1], &words[4 * i + 2], &words[4 * i + 3]))
            break;
    memcpy(text, words, sizeof(words));
    text[48] = '\0';
}
#else
#include <sys/auxv.h>

/* Its number (MIDR_EL1): the processor itself has no name, and /proc/cpuinfo none either. */
static void model_text(char text[49])
{
    uint64_t number;
    *text = '\0';
    if (!(getauxval(AT_HWCAP) & HWCAP_CPUID)) /* the kernel answers */
        return;
    __asm__("mrs %0, midr_el1" : "=r"(number));
    snprintf(text, 49, "aarch64 implementer 0x%02x part 0x%03x r%up%u", (unsigned)(number >> 24 & 0xff),
             (unsigned)(number >> 4 & 0xfff), (unsigned)(number >> 20 & 0xf), (unsigned)(number & 0xf));
}
#endif

void machine_describe(void)
{
    char text[4096], model[49];
    model_text(model);
    if (*model)
        arena_text("cpu_model", model + strspn(model, " "));
    environment_text(text, sizeof(text));
    if (*text)
        arena_text("environment", text);
}
