/* The loops of scripts/loop-bounds.txt over frames, modules and symbols in their worst states. Two units are part of this one. */
#define os_read_at counted_read_at
#include "ompt_tool/locks/lock_waits.c"
#undef os_read_at
#define enter   enter_loadmap
#define read_at read_at_loadmap
#include "unwind/loadmap.c"

#include "tests/unit/instructions.h"
#include "tests/unit/unwind_walk.h"

#include <fcntl.h>

#define FRAMES 128u /* of 4,096: each costs the same */

static struct walk walk;
static uint32_t reads;

ssize_t counted_read_at(int fd, void *buffer, size_t bytes, uint64_t offset)
{
    reads++;
    return pread(fd, buffer, bytes, (off_t)offset);
}

static void walk_whole(void)
{
    walk_here(&walk);
}

__attribute__((noinline)) static void descend(uint32_t depth)
{
    if (depth > 0) {
        descend(depth - 1);
    } else {
        walk_whole(); /* what else is on the stack is known then */
        assert_instructions(walk_whole, FRAMES * 104);
    }
    signal_fence();
}

UNIT_TEST(each_frame_of_a_deep_walk)
{
    descend(FRAMES);
    assert_in_range(walk.count, FRAMES, FRAMES + 50);
}

/* So many functions, one calling the next; each has code of its own. */
#define FUNCTION(number, next)                                                                                         \
    __attribute__((noinline)) static void function_##number(void)                                                      \
    {                                                                                                                  \
        next();                                                                                                        \
        signal_fence();                                                                                                \
    }

static void walk_all(void)
{
    walk_here(&walk);
    signal_fence();
}

FUNCTION(0, walk_all)
FUNCTION(1, function_0)
FUNCTION(2, function_1)
FUNCTION(3, function_2)
FUNCTION(4, function_3)
FUNCTION(5, function_4)
FUNCTION(6, function_5)
FUNCTION(7, function_6)

static void forget_recipes(void)
{
    fetch_add_acq_rel(&loadmap_generations, 1u);
}

/* Behind a change of the load map nothing is known of any address. */
UNIT_TEST(addresses_that_are_met_first)
{
    function_7(); /* what a process does once */
    forget_recipes();
    assert_instructions(function_7, 16 * 3900); /* with the frames around */
    assert_in_range(walk.count, 14, 18);
}

#define RANGES 1024u /* of MAX_RANGES */

static const struct loadmap_range *kept;

static void keep_last(void)
{
    struct loadmap_range range = {.start = 5, .end = 6, .module_id = 1};
    kept = loadmap_keep_range(&range, 0x1000);
}

/* Thousands of libraries that came and went at one address. */
UNIT_TEST(as_many_ranges_as_there_may_be_at_one_place)
{
    for (uint32_t i = 0; i < RANGES; i++) {
        struct loadmap_range range = {.start = 0x1000 + i * 16, .end = 0x1010 + i * 16, .module_id = 1};
        loadmap_keep_range(&range, 0x1000);
    }
    assert_instructions(keep_last, RANGES * 11);
}

#define SYMBOLS  100000u
#define CRITICAL ".gomp_critical_user_last.var"

/* A library whose objects are all as large as a critical section's variable, and whose names are far apart; the last one is one. */
static void write_library(const char *path)
{
    size_t strings = 4096ul * (SYMBOLS / 64);
    int file = open(path, O_CREAT | O_RDWR | O_TRUNC, 0600);
    ElfW(Ehdr) header = {.e_shoff = sizeof(header), .e_shentsize = sizeof(ElfW(Shdr)), .e_shnum = 2};
    memcpy(header.e_ident, ELFMAG, SELFMAG);
    ElfW(Shdr)
        sections[2] = {{.sh_type = SHT_SYMTAB, .sh_link = 1, .sh_offset = 4096, .sh_size = SYMBOLS * sizeof(ElfW(Sym))},
                       {.sh_type = SHT_STRTAB, .sh_offset = 4096 + SYMBOLS * sizeof(ElfW(Sym)), .sh_size = strings}};
    ElfW(Sym) *symbols = calloc(SYMBOLS, sizeof(*symbols));
    for (uint32_t i = 0; i < SYMBOLS; i++)
        symbols[i] = (ElfW(Sym)){.st_name = (uint32_t)((i * 8192ull) % (strings - 64)),
                                 .st_info = ELF64_ST_INFO(STB_LOCAL, STT_OBJECT),
                                 .st_shndx = 1,
                                 .st_size = 8,
                                 .st_value = i};
    symbols[SYMBOLS - 1].st_name = (uint32_t)(strings - sizeof(CRITICAL));
    assert_int_equal(ftruncate(file, (off_t)(sections[1].sh_offset + strings)), 0);
    assert_int_equal(pwrite(file, &header, sizeof(header), 0), sizeof(header));
    assert_int_equal(pwrite(file, sections, sizeof(sections), sizeof(header)), sizeof(sections));
    assert_int_equal(pwrite(file, symbols, SYMBOLS * sizeof(*symbols), 4096), SYMBOLS * sizeof(*symbols));
    assert_int_equal(
        pwrite(file, CRITICAL, sizeof(CRITICAL), (off_t)(sections[1].sh_offset + strings - sizeof(CRITICAL))),
        sizeof(CRITICAL));
    free(symbols);
    close(file);
}

UNIT_TEST(a_large_symbol_table_is_read_in_parts)
{
    struct loadmap_module module = {.path = unit_fresh_path()};
    uint32_t calls = 0, most = 0;
    write_library(unit_path);
    for (bool all = false; !all && calls < 1000; calls++) {
        reads = 0;
        variables.reads = READS;
        all = critical_read_module(1, &module);
        most = reads > most ? reads : most;
    }
    unit_clean();
    assert_in_range(calls, SYMBOLS / READS, SYMBOLS / READS * 3 / 2);
    assert_in_range(most, READS, READS + BLOCK + 3);
    assert_int_equal(variables.count, 1);
    assert_int_equal(variables.keys[0], PROFILE_KEY(1, SYMBOLS - 1));
}

static int set_up(void **unused)
{
    (void)unused;
    if (!loadmap_init())
        return -1;
    attach();
    return 0;
}

UNIT_MAIN(set_up, NULL)
