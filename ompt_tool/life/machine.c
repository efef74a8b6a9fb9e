#include "ompt_tool/life/machine.h"

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/os.h"
#include "cct/arena.h"

/* Returns what follows `word` in the first line that begins with `word`; NULL if there is no such line. */
static const char *machine_text_after(const char *text, const char *word)
{
    for (const char *line = text; line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL)
        if (strncmp(line, word, strlen(word)) == 0)
            return line + strlen(word);
    return NULL;
}

/* Returns for how many ns this cgroup, and those that contain it, kept their threads from running
 * (throttling). */
static uint64_t machine_throttled_ns(const char *mount, char *group)
{
    uint64_t sum = 0;
    if (strcmp(group, "/") == 0)
        *group = '\0'; /* this way the root cgroup, or a container's, is counted only once */
    for (;;) {
        /* static, because the stack of an exiting thread may be small; only one thread at a time executes
         * this */
        static char path[2 * PATH_MAX], text[1024];
        snprintf(path, sizeof(path), "%s%s/cpu.stat", mount, group);
        os_read_text(path, text, sizeof(text));
        const char *us = machine_text_after(text, "throttled_usec "), *ns = machine_text_after(text, "throttled_time ");
        sum += us ? 1000 * strtoull(us, NULL, 10) : ns ? strtoull(ns, NULL, 10) : 0;
        char *slash = strrchr(group, '/');
        if (!slash)
            return sum;
        *slash = '\0';
    }
}

/* Returns the throttled time of all of the process's cgroups in ns. A line for cgroup version 2 names no
 * controllers; a line for version 1 counts if it names "cpu". */
static uint64_t machine_all_throttled_ns(void)
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
            sum += machine_throttled_ns("/sys/fs/cgroup", line);
        while ((controller = strsep(&controllers, ",")))
            if (strcmp(controller, "cpu") == 0)
                sum += machine_throttled_ns("/sys/fs/cgroup/cpu", line);
    }
    return sum;
}

void machine_note_tracer(void)
{
    static char text[4096], path[64], name[64];
    os_read_text("/proc/self/status", text, sizeof(text));
    const char *tracer = machine_text_after(text, "TracerPid:");
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
                         (unsigned long long)machine_all_throttled_ns(), (unsigned long long)clock_process_cpu_ns());
    for (size_t i = 0; i < sizeof(sources) / sizeof(sources[0]); i++) {
        os_read_text(sources[i].path, text, sizeof(text));
        const char *found = machine_text_after(text, sources[i].word);
        if (found && *found && used < sizeof(note))
            used += (size_t)snprintf(note + used, sizeof(note) - used, "%s%.*s\n", sources[i].name,
                                     (int)strcspn(found, "\n"), found);
    }
    arena_text(key, note);
}

/* Writes one line for each OMP_, KMP_ or GOMP_ variable. Omits a variable if its value has several lines, or if
 * there is no room. */
static void machine_openmp_environment(char *text, size_t bytes)
{
    size_t used = 0;
    text[0] = '\0';
    for (char **entry = environ; entry && *entry; entry++) {
        size_t length = strlen(*entry);
        bool steers =
            strncmp(*entry, "OMP_", 4) == 0 || strncmp(*entry, "KMP_", 4) == 0 || strncmp(*entry, "GOMP_", 5) == 0;
        if (!steers || strncmp(*entry, "OMP_TOOL", 8) == 0 || strchr(*entry, '\n') || used + length + 2 > bytes)
            continue;
        memcpy(text + used, *entry, length);
        memcpy(text + used + length, "\n", 2);
        used += length + 1;
    }
}

#if defined(__x86_64__)
#include <cpuid.h>

#define HAS_APERFMPERF 1u /* bit in ecx of cpuid leaf 6: if set, the kernel measures clock speeds */

/* Returns true if /proc/cpuinfo can be read without querying other cores. On older kernels, such a query
 * takes up to 10 ms. */
static bool machine_cpuinfo_is_cheap(void)
{
    unsigned eax, ebx, ecx, edx;
    return !__get_cpuid(6, &eax, &ebx, &ecx, &edx) || !(ecx & HAS_APERFMPERF);
}

/* Copies the name that the processor reports itself. (Reading /proc/cpuinfo queries all cores and wakes those
 * that sleep.) */
static void machine_model_text(char text[49])
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

/* Returns false, because on this architecture /proc/cpuinfo does not show clock speeds. */
static bool machine_cpuinfo_is_cheap(void)
{
    return false;
}

/* Writes the processor's number (MIDR_EL1). The processor has no name, neither in a register nor in
 * /proc/cpuinfo. */
static void machine_model_text(char text[49])
{
    uint64_t number;
    *text = '\0';
    /* without this flag, the kernel does not support the read below */
    if (!(getauxval(AT_HWCAP) & HWCAP_CPUID))
        return;
    __asm__("mrs %0, midr_el1" : "=r"(number));
    snprintf(text, 49, "aarch64 implementer 0x%02x part 0x%03x r%up%u", (unsigned)(number >> 24 & 0xff),
             (unsigned)(number >> 4 & 0xfff), (unsigned)(number >> 20 & 0xf), (unsigned)(number & 0xf));
}
#endif

#define MOST_CACHES 16 /* maximum number of caches of a core */
#define CACHE_PATH  "/sys/devices/system/cpu/cpu0/cache/index%d/%s"

/* A text of lines "NAME=VALUE". */
struct facts {
    char text[640];
    size_t used;
};

/* Adds a line NAME=VALUE, unless the value is empty or there is no room. */
static void machine_put_fact(struct facts *facts, const char *name, const char *value, size_t bytes)
{
    size_t room = sizeof(facts->text) - facts->used, length = strlen(name) + bytes + 2;
    if (bytes && length < room)
        facts->used += (size_t)snprintf(facts->text + facts->used, room, "%s=%.*s\n", name, (int)bytes, value);
}

static void machine_put_number(struct facts *facts, const char *name, uint64_t value)
{
    char digits[24];
    int bytes = snprintf(digits, sizeof(digits), "%llu", (unsigned long long)value);
    machine_put_fact(facts, name, digits, value ? (size_t)bytes : 0);
}

static void machine_put_system(struct facts *facts)
{
    struct utsname names;
    char text[sizeof(names.sysname) + sizeof(names.release) + 2];
    if (uname(&names) != 0)
        return;
    int bytes = snprintf(text, sizeof(text), "%s %s", names.sysname, names.release);
    machine_put_fact(facts, "os", text, (size_t)bytes);
    machine_put_fact(facts, "architecture", names.machine, strlen(names.machine));
}

static void machine_put_distribution(struct facts *facts)
{
    char text[2048];
    if (!os_read_text("/etc/os-release", text, sizeof(text)))
        os_read_text("/usr/lib/os-release", text, sizeof(text));
    const char *name = machine_text_after(text, "PRETTY_NAME=");
    char quote = name && (*name == '"' || *name == '\'') ? *name++ : '\n';
    if (name)
        machine_put_fact(facts, "distribution", name, strcspn(name, (char[]){quote, '\n', '\0'}));
}

/* Adds the maximum clock speed of core 0; without cpufreq, as in a virtual machine, its present clock speed. */
static void machine_put_clock_speed(struct facts *facts)
{
    char text[2048]; /* large enough for the lines of core 0 */
    uint64_t khz = 0;
    if (os_read_text("/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq", text, sizeof(text)))
        khz = strtoull(text, NULL, 10);
    else if (machine_cpuinfo_is_cheap() && os_read_text("/proc/cpuinfo", text, sizeof(text))) {
        const char *speed = machine_text_after(text, "cpu MHz");
        khz = speed ? 1000 * strtoull(speed + strspn(speed, "\t :"), NULL, 10) : 0;
    }
    machine_put_number(facts, "cpu_mhz", khz / 1000);
}

/* Converts a size in the kernel's form, such as "32K", to bytes. */
static uint64_t machine_cache_bytes(const char *text)
{
    char *unit;
    uint64_t size = strtoull(text, &unit, 10);
    return *unit == 'K' ? size << 10 : *unit == 'M' ? size << 20 : size;
}

/* Adds the sizes of those caches of core 0 that hold data, one for each level. */
static void machine_put_caches(struct facts *facts)
{
    static const char *const names[] = {"l1d_bytes", "l2_bytes", "l3_bytes"};
    uint64_t bytes[3] = {0};
    for (int i = 0; i < MOST_CACHES; i++) {
        char path[96], text[32];
        snprintf(path, sizeof(path), CACHE_PATH, i, "type");
        if (!os_read_text(path, text, sizeof(text)))
            break;
        if (*text == 'I') /* Instruction */
            continue;
        snprintf(path, sizeof(path), CACHE_PATH, i, "level");
        os_read_text(path, text, sizeof(text));
        unsigned long level = strtoul(text, NULL, 10);
        snprintf(path, sizeof(path), CACHE_PATH, i, "size");
        if (level >= 1 && level <= 3 && os_read_text(path, text, sizeof(text)))
            bytes[level - 1] = machine_cache_bytes(text);
    }
    for (int i = 0; i < 3; i++)
        machine_put_number(facts, names[i], bytes[i]);
}

/* Returns how many numbers a list such as "0-3,8" contains. */
static uint64_t machine_count_list(const char *text)
{
    uint64_t count = 0;
    while (*text >= '0' && *text <= '9') {
        char *end;
        uint64_t first = strtoull(text, &end, 10), last = *end == '-' ? strtoull(end + 1, &end, 10) : first;
        count += last >= first ? last - first + 1 : 0;
        text = *end == ',' ? end + 1 : end;
    }
    return count;
}

static void machine_put_memory(struct facts *facts)
{
    char text[1024];
    os_read_text("/proc/meminfo", text, sizeof(text));
    const char *total = machine_text_after(text, "MemTotal:");
    machine_put_number(facts, "memory_bytes", total ? strtoull(total, NULL, 10) << 10 : 0);
    os_read_text("/sys/devices/system/node/online", text, sizeof(text));
    machine_put_number(facts, "numa_nodes", machine_count_list(text));
}

static void machine_put_all(void)
{
    struct facts facts = {.used = 0};
    machine_put_system(&facts);
    machine_put_distribution(&facts);
    machine_put_clock_speed(&facts);
    machine_put_caches(&facts);
    machine_put_memory(&facts);
    if (facts.used)
        arena_text("machine", facts.text);
}

void machine_describe(void)
{
    char text[4096], model[49];
    machine_model_text(model);
    if (*model)
        arena_text("cpu_model", model + strspn(model, " "));
    machine_openmp_environment(text, sizeof(text));
    if (*text)
        arena_text("environment", text);
    machine_put_all();
}
