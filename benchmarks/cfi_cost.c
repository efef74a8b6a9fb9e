/* What reading call frame information costs, and what it leaves behind: our reader (one row in the handler,
 * nothing allocated) and libdw's (outside of it, with malloc).
 * Usage: cfi_cost LIBRARY ...; the C library is always read. Each is read by a process of its own. */
#include <dlfcn.h>
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "unwind/loadmap.h"
#include "unwind/recipe.h"

#define FIRST_NEEDS 1000u /* functions that are met for the first time */

struct table {
    const struct loadmap_module *map;
    uintptr_t *functions;
    uint32_t count;
};

static uint64_t kept;

/* Chunks of the heap that are in use: the C library's allocator, counted. */
extern void *__libc_malloc(size_t bytes);
extern void *__libc_calloc(size_t count, size_t bytes);
extern void __libc_free(void *memory);
static long chunks;

__attribute__((visibility("default"))) void *malloc(size_t bytes)
{
    chunks++;
    return __libc_malloc(bytes);
}

__attribute__((visibility("default"))) void *calloc(size_t count, size_t bytes)
{
    chunks++;
    return __libc_calloc(count, bytes);
}

__attribute__((visibility("default"))) void free(void *memory)
{
    chunks -= memory != NULL;
    __libc_free(memory);
}

static double seconds(uint64_t begin_ns)
{
    return (double)(clock_now_ns() - begin_ns) / 1e9;
}

static bool open_table(struct table *table, const struct loadmap_module *map)
{
    if (!map->view || !map->eh_frame_header)
        return false;
    const char *header = map->view + (map->eh_frame_header - map->view_vaddr);
    memcpy(&table->count, header + 8, sizeof(table->count));
    table->map = map;
    table->functions = malloc(table->count * sizeof(uintptr_t));
    for (uint32_t i = 0; i < table->count; i++) {
        int32_t start;
        memcpy(&start, header + 12 + 8 * i, sizeof(start));
        table->functions[i] = map->eh_frame_header + (uintptr_t)(intptr_t)start;
    }
    return true;
}

/* All rows, each looked for as in the handler: by its address alone. Returns their number. */
static uint64_t read_all(const struct table *table)
{
    uint64_t rows = 0;
    for (uint32_t i = 0; i < table->count; i++) {
        uintptr_t next = i + 1 < table->count ? table->functions[i + 1] : UINTPTR_MAX;
        struct cfi_row row;
        for (uintptr_t at = table->functions[i]; at < next; at = row.end, rows++) {
            if (cfi_read_row(table->map, at, &row) != CFI_ROW)
                break;
            kept += (uint64_t)recipe_of_row(&row).cfa_offset;
        }
    }
    return rows;
}

static uintptr_t random_function(const struct table *table, uint64_t *state)
{
    *state = *state * 6364136223846793005ull + 1442695040888963407ull;
    return table->functions[(*state >> 33) % table->count];
}

static uint64_t libdw_row(Dwarf_CFI *cfi, uintptr_t address, bool keep)
{
    Dwarf_Frame *frame = NULL;
    Dwarf_Addr start, end = 0;
    Dwarf_Op memory[3], *ops;
    size_t count;
    bool signal_frame;
    if (dwarf_cfi_addrframe(cfi, address, &frame) != 0)
        return 0;
    dwarf_frame_info(frame, &start, &end, &signal_frame);
    dwarf_frame_cfa(frame, &ops, &count);
    dwarf_frame_register(frame, CFI_RBP, memory, &ops, &count);
    dwarf_frame_register(frame, CFI_RIP, memory, &ops, &count);
    if (!keep)
        free(frame);
    return end;
}

static void measure_ours(const struct table *table)
{
    uint64_t state = 1, begin_ns = clock_now_ns();
    for (uint32_t i = 0; i < FIRST_NEEDS; i++)
        kept += (uint64_t)recipe_read(table->map, random_function(table, &state)).cfa_offset;
    double first = seconds(begin_ns);
    begin_ns = clock_now_ns();
    uint64_t rows = read_all(table);
    double all = seconds(begin_ns);
    printf("  ours:  %8lu rows %8.1f ms, %5.0f ns a row; first need of a function %6.0f ns; 0 bytes\n", rows,
           all * 1e3, all * 1e9 / (double)rows, first * 1e9 / FIRST_NEEDS);
}

static void print_heap(const char *what, const struct mallinfo2 *before, long chunks_before)
{
    struct mallinfo2 now = mallinfo2();
    printf("         heap after %s: %+.1f KB in %ld chunks, arena %+.1f KB\n", what,
           (double)((long)now.uordblks - (long)before->uordblks) / 1024, chunks - chunks_before,
           (double)((long)now.arena - (long)before->arena) / 1024);
}

static void measure_libdw(const struct table *table)
{
    struct mallinfo2 before = mallinfo2();
    long chunks_before = chunks;
    uint64_t rows = 0, state = 1, begin_ns = clock_now_ns();
    int fd = open(table->map->path, O_RDONLY);
    elf_version(EV_CURRENT);
    Elf *elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
    Dwarf_CFI *cfi = elf ? dwarf_getcfi_elf(elf) : NULL;
    if (!cfi) {
        printf("  libdw: %s\n", dwarf_errmsg(-1));
        return;
    }
    double opening = seconds(begin_ns);
    print_heap("opening", &before, chunks_before);
    begin_ns = clock_now_ns();
    for (uint32_t i = 0; i < FIRST_NEEDS; i++)
        kept += libdw_row(cfi, random_function(table, &state), false);
    double first = seconds(begin_ns);
    print_heap("first needs of 1,000 functions", &before, chunks_before);
    begin_ns = clock_now_ns();
    for (uint32_t i = 0; i < table->count; i++) {
        uintptr_t next = i + 1 < table->count ? table->functions[i + 1] : UINTPTR_MAX;
        for (uintptr_t at = table->functions[i]; at < next; rows++)
            if (!(at = libdw_row(cfi, at, false)))
                break;
    }
    double all = seconds(begin_ns);
    printf(
        "  libdw: %8lu rows %8.1f ms, %5.0f ns a row; first need of a function %6.0f ns; opening %.0f us\n",
        rows, all * 1e3, all * 1e9 / (double)rows, first * 1e9 / FIRST_NEEDS, opening * 1e6);
    print_heap("all rows", &before, chunks_before);
}

static void measure(const struct loadmap_module *map)
{
    struct table table;
    printf("%s\n", map->path);
    if (!open_table(&table, map)) {
        puts("  no table");
        return;
    }
    measure_ours(&table);
    measure_libdw(&table);
    fflush(stdout);
}

/* In a process of its own: a heap and page tables that nobody has used. */
static void measure_alone(const char *path)
{
    pid_t child = fork();
    if (child != 0) {
        waitpid(child, NULL, 0);
        return;
    }
    void *library = path ? dlopen(path, RTLD_LAZY) : NULL;
    const char *real = path ? realpath(path, NULL) : NULL;
    if (path && !library)
        printf("%s\n", dlerror());
    if (!loadmap_init())
        _exit(1);
    for (uint32_t id = 1; id <= loadmap_module_count(); id++) {
        const struct loadmap_module *map = loadmap_module(id);
        if (real ? strcmp(map->path, real) == 0 : strstr(map->path, "/libc.so") != NULL)
            measure(map);
    }
    _exit(0);
}

int main(int argc, char **argv)
{
    measure_alone(NULL);
    for (int i = 1; i < argc; i++)
        measure_alone(argv[i]);
    return 0;
}
