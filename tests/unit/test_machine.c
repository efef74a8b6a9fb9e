/* needs: tests/unit/fake_clock.c */
/* What the plugin notes of the machine, of files that stand here. */
#include "ompt_tool/life/machine.h"

#include <sys/utsname.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include "base/os.h"
#include "cct/arena.h"
#include "tests/unit/fake_clock.h"
#include "tests/unit/unit.h"

static const char *cgroup, *pressure, *root, *status;
static const char *release, *other_release, *frequency, *nodes;
static bool has_machine;
static char noted[2048];

#define CPU "/sys/devices/system/cpu/cpu0/"

/* In the places of the system's and the arena's. */
size_t os_read_text(const char *path, char *text, size_t bytes)
{
    const struct {
        const char *path, *text;
    } files[] = {
        {"/proc/loadavg", "0.50 0.40 0.30 2/345 99\n"},
        {"/proc/stat", "cpu  10 20 30 40 5 6 7 8 0 0\ncpu0 1 2 3\nprocs_running 2\n"},
        {"/proc/pressure/cpu", pressure},
        {"/proc/self/cgroup", cgroup},
        {"/proc/self/status", status},
        {"/proc/4321/comm", "strace\n"},
        {"/sys/fs/cgroup/a/b/cpu.stat", "usage_usec 5\nnr_throttled 1\nthrottled_usec 2000\n"},
        {"/sys/fs/cgroup/a/cpu.stat", "throttled_usec 300\n"},
        {"/sys/fs/cgroup/cpu.stat", "usage_usec 5\n"},
        {"/sys/fs/cgroup/cpu/cpu.stat", root},
        {"/sys/fs/cgroup/cpu//cpu.stat", root},
        {"/sys/fs/cgroup/cpu/old/cpu.stat", "nr_throttled 1\nthrottled_time 77\n"},
        {"/etc/os-release", release},
        {"/usr/lib/os-release", other_release},
        {CPU "cpufreq/cpuinfo_max_freq", frequency},
        {"/proc/cpuinfo", "processor\t: 0\ncpu MHz\t\t: 2445.432\n\nprocessor\t: 1\ncpu MHz\t\t: 1.0\n"},
        {CPU "cache/index0/level", "1\n"},
        {CPU "cache/index0/type", has_machine ? "Data\n" : NULL},
        {CPU "cache/index0/size", "32K\n"},
        {CPU "cache/index1/level", "1\n"},
        {CPU "cache/index1/type", "Instruction\n"},
        {CPU "cache/index1/size", "64K\n"},
        {CPU "cache/index2/level", "2\n"},
        {CPU "cache/index2/type", "Unified\n"},
        {CPU "cache/index2/size", "1M\n"},
        {CPU "cache/index3/level", "3\n"},
        {CPU "cache/index3/type", "Unified\n"},
        {"/proc/meminfo", has_machine ? "MemTotal:       16384000 kB\nMemFree:  1 kB\n" : NULL},
        {"/sys/devices/system/node/online", nodes},
    };
    text[0] = '\0';
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        if (files[i].text && strcmp(files[i].path, path) == 0)
            snprintf(text, bytes, "%s", files[i].text);
    return strlen(text);
}

bool arena_text(const char *key, const char *value)
{
    snprintf(noted, sizeof noted, "%s=%s", key, value);
    return true;
}

UNIT_TEST(what_the_kernel_tells_is_noted)
{
    cgroup = "0::/a/b\n";
    fake_cpu_ns = 55;
    pressure = "some avg10=1.00 total=5\nfull avg10=0.00 total=0\n";
    machine_note("machine_end");
    assert_string_equal(noted, "machine_end=throttled_ns 2300000\nown_cpu_ns 55\nloadavg 0.50 0.40 0.30 2/345 99\n"
                               "cpu  10 20 30 40 5 6 7 8 0 0\npressure avg10=1.00 total=5\n");
}

UNIT_TEST(groups_of_the_first_version_are_asked_and_what_is_not_there_is_left_out)
{
    cgroup = "9:memory:/a\n4:cpuset:/a/b\n2:cpu,cpuacct:/old\n1:name=systemd:/old\n";
    pressure = NULL;
    machine_note("machine_begin");
    assert_string_equal(noted, "machine_begin=throttled_ns 77\nown_cpu_ns 55\nloadavg 0.50 0.40 0.30 2/345 99\n"
                               "cpu  10 20 30 40 5 6 7 8 0 0\n");
}

UNIT_TEST(a_container_sees_its_own_group_as_the_root_which_counts_once)
{
    cgroup = "1:cpu:/\n";
    root = "throttled_time 9\n";
    machine_note("machine_end");
    assert_non_null(strstr(noted, "throttled_ns 9\n"));
}

UNIT_TEST(lines_that_are_no_groups_do_no_harm)
{
    cgroup = ":\n\nx\n0::";
    machine_note("machine_begin");
    assert_non_null(strstr(noted, "throttled_ns 0\n"));
}

UNIT_TEST(who_traces_the_process_is_noted)
{
    noted[0] = '\0';
    machine_note_tracer(); /* without /proc */
    status = "Name:\tx\nTracerPid:\t0\nUid:\t0\n";
    machine_note_tracer();
    assert_string_equal(noted, "");
    status = "Name:\tx\nTracerPid:\t4321\nUid:\t0\n";
    machine_note_tracer();
    assert_string_equal(noted, "traced_by=strace");
    status = "TracerPid:\t77\n"; /* in another namespace */
    machine_note_tracer();
    assert_string_equal(noted, "traced_by=another program");
}

static const char *described(void)
{
    machine_describe();
    const char *line = strstr(noted, "\ndistribution=");
    return line ? line + 1 : strstr(noted, "architecture=") ? strchr(strstr(noted, "architecture="), '\n') + 1 : NULL;
}

UNIT_TEST(what_the_machine_is_is_noted)
{
    struct utsname names;
    char system[256];
    uname(&names);
    snprintf(system, sizeof system, "machine=os=%s %s\narchitecture=%s\n", names.sysname, names.release, names.machine);
    has_machine = true;
    release = "NAME=\"Debian\"\nPRETTY_NAME=\"Debian = 12\"\nID=debian\n";
    frequency = "3600000\n";
    nodes = "0-1,4\n";
    assert_string_equal(described(), "distribution=Debian = 12\ncpu_mhz=3600\nl1d_bytes=32768\nl2_bytes=1048576\n"
                                     "memory_bytes=16777216000\nnuma_nodes=3\n");
    assert_memory_equal(noted, system, strlen(system));
}

UNIT_TEST(what_the_system_does_not_say_is_left_out)
{
    has_machine = false;
    release = NULL;
    frequency = "0\n";
    nodes = NULL;
    assert_string_equal(described(), "");
    other_release = "ID=x\nPRETTY_NAME=plain";
    nodes = "-3,x\n";
    assert_string_equal(described(), "distribution=plain\n");
    other_release = "PRETTY_NAME='quoted\nX=1\n"; /* the quote does not end */
    nodes = "3-1\n";
    assert_string_equal(described(), "distribution=quoted\n");
    other_release = "PRETTY_NAME=\"\"\n";
    assert_string_equal(described(), "");
}

UNIT_TEST(without_cpufreq_the_clock_speed_is_the_kernels_where_asking_it_is_cheap)
{
    bool cheap = false;
#if defined(__x86_64__)
    unsigned eax, ebx, ecx = 0, edx;
    cheap = !__get_cpuid(6, &eax, &ebx, &ecx, &edx) || !(ecx & 1); /* cores have no clocks to be measured by */
#endif
    frequency = NULL;
    assert_string_equal(described(), cheap ? "cpu_mhz=2445\n" : "");
}

UNIT_MAIN(NULL, NULL)
