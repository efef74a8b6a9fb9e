/* programs: names (tests/names.mk) */
#include "test_symbols_variants.h"

#include <dlfcn.h>
#include <elfutils/libdwelf.h>

#include "command/symbols/machine.h"
#include "command/symbols/tail_calls.h"

#define PROGRAM   1
#define C_LIBRARY 2

static const char *const all_variants[] = {
    "tail_chains-clang-O2", "tail_chains-clang-dwarf4", "tail_chains-clang-nopie", "tail_chains-clang-nodebug",
    "tail_chains-gcc-O2",   "tail_chains-gcc-noplt",    "tail_chains-gcc-nopie",   "tail_chains-gcc-nodebug",
};

struct setting {
    struct variant variant;
    struct profile_module modules[2];
    bool debug, gcc;
};

static bool open_setting(struct setting *setting, const char *name)
{
    Dl_info library;
    struct variant *variant = &setting->variant;
    *setting = (struct setting){.debug = !strstr(name, "nodebug"), .gcc = strstr(name, "gcc") != NULL};
    variant_path(variant->path, sizeof variant->path, name);
    if (access(variant->path, R_OK) != 0) {
        print_message("no %s\n", variant->path);
        return false;
    }
    assert_true(symbols_elf_open(&variant->file, variant->path));
    assert_true(dladdr((void *)(uintptr_t)puts, &library) != 0);
    strcpy(setting->modules[PROGRAM - 1].path, variant->path);
    strcpy(setting->modules[C_LIBRARY - 1].path, library.dli_fname);
    variant->symbols = symbols_open(setting->modules, 2);
    return true;
}

static void close_setting(struct setting *setting)
{
    variant_close(&setting->variant);
}

static uint64_t key_of(struct setting *setting, const char *function)
{
    return PROFILE_KEY(PROGRAM, variant_symbol(&setting->variant, function, 0).st_value);
}

/* The n-th call, by address, that `from` makes of `to`, a function of the program or of another module. */
static uint64_t call_of(struct setting *setting, const char *from, const char *to, int n)
{
    const struct symbol_call *list;
    size_t count = symbols_calls(setting->variant.symbols, key_of(setting, from), &list);
    for (size_t i = 0; i < count; i++) {
        const struct symbol_frame *frames;
        const char *name = list[i].name;
        if (list[i].target) {
            size_t places = symbols_lookup(setting->variant.symbols, list[i].target, &frames);
            name = frames[places - 1].name;
        }
        if (!list[i].tail && strcmp(name, to) == 0 && n-- == 0)
            return list[i].key;
    }
    fail_msg("%s: %s does not call %s", setting->variant.path, from, to);
    return 0;
}

static const char *launch_of(const struct setting *setting)
{
    return setting->gcc ? "GOMP_parallel" : "__kmpc_fork_call";
}

/* Frames as "f:line > <a or b>", lines where known. */
static const char *text_of(struct setting *setting, const struct tail_frame *missing, size_t count)
{
    static char text[1000];
    text[0] = '\0';
    for (size_t i = 0; i < count; i++) {
        const struct symbol_frame *frames;
        size_t length = strlen(text);
        const char *arrow = i ? " > " : "";
        if (missing[i].candidates) {
            snprintf(text + length, sizeof text - length, "%s<%s>", arrow, missing[i].candidates);
            continue;
        }
        size_t places = symbols_lookup(setting->variant.symbols, missing[i].key, &frames);
        int line = missing[i].at_jump ? frames[0].at_line : 0;
        length += (size_t)snprintf(text + length, sizeof text - length, "%s%s", arrow, frames[places - 1].name);
        if (line)
            snprintf(text + length, sizeof text - length, ":%d", line);
    }
    return text;
}

static const char *chain_of(struct setting *setting, uint64_t caller, uint64_t callee)
{
    const struct tail_frame *missing;
    size_t count = tail_calls_between(setting->variant.symbols, caller, callee, &missing);
    return text_of(setting, missing, count);
}

typedef void check(struct setting *);

static void with_each_variant(check *check_one)
{
    for (size_t i = 0; i < sizeof all_variants / sizeof *all_variants; i++) {
        struct setting setting;
        if (open_setting(&setting, all_variants[i])) {
            check_one(&setting);
            close_setting(&setting);
        }
    }
}

static void assert_chain(struct setting *setting, const char *called, const char *callee, const char *expected,
                         const char *without_debug)
{
    const char *chain = chain_of(setting, call_of(setting, "main", called, 0), key_of(setting, callee) + 1);
    assert_string_equal(chain, setting->debug ? expected : without_debug);
}

static void check_unique(struct setting *setting)
{
    assert_chain(setting, "go_chain", "goal", "go_chain:28 > middle:22", "go_chain > middle");
    assert_chain(setting, "go_chain", "middle", "go_chain:28", "go_chain");
    assert_chain(setting, "go_inlined", "goal", "go_inlined:72", "go_inlined");
    /* Twice: from the cache. */
    assert_chain(setting, "go_chain", "goal", "go_chain:28 > middle:22", "go_chain > middle");
}

UNIT_TEST(a_unique_chain_gives_its_functions_and_lines)
{
    with_each_variant(check_unique);
}

static void check_ambiguous(struct setting *setting)
{
    assert_chain(setting, "go_either", "goal", "go_either > <left or right>", "go_either > <left or right>");
    assert_chain(setting, "go_either", "left", "go_either:46", "go_either");
}

UNIT_TEST(an_ambiguous_chain_names_the_candidates)
{
    with_each_variant(check_ambiguous);
}

static void check_unknown(struct setting *setting)
{
    bool known = setting->debug || setting->gcc; /* jmp *%rax could be a switch */
    assert_chain(setting, "go_pointer", "goal", "go_pointer", known ? "go_pointer" : "");
}

UNIT_TEST(behind_a_pointer_only_the_function_called_is_certain)
{
    with_each_variant(check_unknown);
}

static void check_nothing(struct setting *setting)
{
    assert_chain(setting, "stays", "stays", "", "");
    assert_chain(setting, "stays", "goal", "", ""); /* no jump: such a stack cannot be explained */
    assert_string_equal(chain_of(setting, call_of(setting, "stays", "goal", 0), key_of(setting, "goal")), "");
    assert_string_equal(chain_of(setting, key_of(setting, "main"), key_of(setting, "goal")), "");
    assert_string_equal(chain_of(setting, PROFILE_KEY(0, 0x1234), key_of(setting, "goal")), "");
    assert_string_equal(chain_of(setting, call_of(setting, "main", "stays", 0), PROFILE_KEY(7, 1)), "");
}

UNIT_TEST(frames_that_call_one_another_miss_nothing)
{
    with_each_variant(check_nothing);
}

static void check_library(struct setting *setting)
{
    uint64_t puts_key = symbols_function_named(setting->variant.symbols, C_LIBRARY, "puts");
    assert_int_not_equal(puts_key, 0);
    assert_string_equal(chain_of(setting, call_of(setting, "main", "go_puts", 0), puts_key + 5),
                        setting->debug ? "go_puts:66" : "go_puts");
}

UNIT_TEST(a_jump_into_another_module_is_followed_by_name)
{
    with_each_variant(check_library);
}

static void check_region(struct setting *setting)
{
    const char *launch = launch_of(setting);
    assert_chain(setting, "go_region", "goal",
                 setting->gcc ? "go_region:83 > go_region [parallel tail_chains.c:84]:85"
                              : "go_region:84 > go_region [parallel tail_chains.c:84]:85",
                 "go_region > go_region [parallel]");
    /* Two regions jump to the same function: what the host hands over tells which. */
    const char *first = chain_of(setting, call_of(setting, "regions", launch, 0), key_of(setting, "other_goal"));
    assert_string_equal(first, setting->debug ? "regions [parallel tail_chains.c:95]:98" : "regions [parallel]");
    const char *second = chain_of(setting, call_of(setting, "regions", launch, 1), key_of(setting, "other_goal"));
    assert_string_equal(second, setting->debug ? "regions [parallel tail_chains.c:101]:102" : "regions [parallel]");
}

UNIT_TEST(regions_keep_their_construct)
{
    with_each_variant(check_region);
}

static void check_task(struct setting *setting)
{
    uint64_t fork = call_of(setting, "tasks", launch_of(setting), 0);
    const char *construct = setting->debug ? "tasks [task tail_chains.c:115]:118" : "tasks [parallel]";
    /* clang's tasks return a value and do not jump. */
    assert_string_equal(chain_of(setting, fork, key_of(setting, "task_goal")), setting->gcc ? construct : "");
}

/* With BLAME_TASKS=creation the frame above a task is the call that created it. */
static void check_created_task(struct setting *setting)
{
    static const char *const constructs[] = {"two_tasks [task tail_chains.c:132]:135",
                                             "two_tasks [task tail_chains.c:137]:140"};
    for (int i = 0; setting->gcc && i < 2; i++) {
        const char *chain =
            chain_of(setting, call_of(setting, "two_tasks", "GOMP_task", i), key_of(setting, "either_goal"));
        assert_string_equal(chain, setting->debug ? constructs[i] : "two_tasks [parallel]");
    }
}

UNIT_TEST(below_the_call_that_created_it_a_task_is_known)
{
    with_each_variant(check_created_task);
}

UNIT_TEST(a_task_that_jumped_away_keeps_its_construct)
{
    with_each_variant(check_task);
}

/* ---- machine code ---- */

static void check_lock(struct setting *setting)
{
    const struct tail_frame *missing;
    struct symbols *symbols = setting->variant.symbols;
    size_t count = tail_calls_to_lock(symbols, call_of(setting, "main", "go_critical", 0), &missing);
    const char *chain = text_of(setting, missing, count);
    assert_true(strncmp(chain, "go_critical", strlen("go_critical")) == 0);
    assert_int_equal(strchr(chain, ':') != NULL, setting->debug);
    count = tail_calls_to_lock(symbols, call_of(setting, "main", "go_mutex", 0), &missing);
    assert_true(strncmp(text_of(setting, missing, count), "go_mutex", strlen("go_mutex")) == 0);
    assert_int_equal(tail_calls_to_lock(symbols, call_of(setting, "main", "go_puts", 0), &missing), 0);
    assert_int_equal(tail_calls_to_lock(symbols, call_of(setting, "main", "stays", 0), &missing), 0);
}

UNIT_TEST(a_function_that_ends_in_the_release_of_a_lock_released_it)
{
    with_each_variant(check_lock);
}

UNIT_TEST(every_function_of_real_code_is_decoded_to_its_end)
{
    struct setting setting;
    if (!open_setting(&setting, "tail_chains-gcc-O2") && !open_setting(&setting, "tail_chains-clang-O2"))
        skip();
    struct symbols_elf file;
    GElf_Shdr header;
    size_t functions = 0;
    assert_true(symbols_elf_open(&file, setting.modules[C_LIBRARY - 1].path));
    Elf_Data *data = elf_getdata(symbols_elf_section(file.elf, ".dynsym", &header), NULL);
    GElf_Sym symbol;
    for (int i = 0; gelf_getsym(data, i, &symbol); i++) {
        size_t room, at = 0;
        const uint8_t *code = symbols_elf_bytes(file.elf, symbol.st_value, &room);
        struct symbols_instruction instruction;
        if (GELF_ST_TYPE(symbol.st_info) != STT_FUNC || !code || symbol.st_shndx == SHN_UNDEF)
            continue;
        while (at < symbol.st_size &&
               symbols_machine_of(file.elf)->decode(code + at, room - at, symbol.st_value + at, &instruction))
            at += instruction.bytes;
        if (at != symbol.st_size)
            fail_msg("%s is not decoded at +0x%zx", elf_strptr(file.elf, header.sh_link, symbol.st_name), at);
        functions++;
    }
    assert_true(functions > 1000);
    symbols_elf_close(&file);
    close_setting(&setting);
}

static struct symbols_instruction decoded(const char *code, size_t bytes)
{
    struct symbols_instruction instruction;
    assert_true(symbols_decode((const uint8_t *)code, bytes, 0x1000, &instruction));
    assert_int_equal(instruction.bytes, bytes);
    return instruction;
}

UNIT_TEST(calls_jumps_and_addresses_are_read)
{
    struct symbols_instruction call = decoded("\xe8\x10\x00\x00\x00", 5);
    assert_int_equal(call.flow, SYMBOLS_CALL);
    assert_int_equal(call.target, 0x1015);
    assert_int_equal(decoded("\xe9\xfb\xff\xff\xff", 5).target, 0x1000);
    assert_int_equal(decoded("\x0f\x84\x00\x01\x00\x00", 6).flow, SYMBOLS_BRANCH);
    struct symbols_instruction slot = decoded("\xf2\xff\x25\x09\x00\x00\x00", 7);
    assert_true(slot.flow == SYMBOLS_JUMP && slot.indirect && slot.target == 0x1010);
    struct symbols_instruction address = decoded("\x4c\x8d\x0d\xf9\xff\xff\xff", 7); /* lea, r9 */
    assert_true(address.to == 9 && address.from < 0 && address.value == 0x1000);
    struct symbols_instruction copy = decoded("\x48\x89\xef", 3); /* mov %rbp,%rdi */
    assert_true(copy.to == 7 && copy.from == 5);
    assert_int_equal(decoded("\xbf\x00\x12\x40\x00", 5).value, 0x401200);
    assert_int_equal(decoded("\x5f", 1).written, 1u << 7);
    assert_int_equal(decoded("\xc5\xf8\x77", 3).flow, SYMBOLS_NEXT);
    struct symbols_instruction unused;
    assert_false(symbols_decode((const uint8_t *)"\xe8\x10", 2, 0, &unused)); /* cut off */
    assert_false(symbols_decode((const uint8_t *)"\x06", 1, 0, &unused));     /* no such instruction */
}

static struct symbols_instruction decoded_a64(uint32_t code)
{
    struct symbols_instruction instruction;
    assert_true(symbols_decode_a64((const uint8_t *)&code, sizeof code, 0x11000, &instruction));
    assert_int_equal(instruction.bytes, sizeof code);
    return instruction;
}

UNIT_TEST(so_are_those_of_aarch64)
{
    struct symbols_instruction call = decoded_a64(0x97ffffff), jump = decoded_a64(0x14000002),
                               branch = decoded_a64(0x54000060);
    assert_true(call.flow == SYMBOLS_CALL && call.target == 0x10ffc && !call.indirect);
    assert_true(jump.flow == SYMBOLS_JUMP && jump.target == 0x11008);
    assert_true(branch.flow == SYMBOLS_BRANCH && branch.target == 0x1100c);
    assert_int_equal(decoded_a64(0xb4000040).target, 0x11008);                                     /* cbz */
    assert_int_equal(decoded_a64(0x36180040).target, 0x11008);                                     /* tbz */
    assert_true(decoded_a64(0xd63f0100).flow == SYMBOLS_CALL && decoded_a64(0xd63f0100).indirect); /* blr x8 */
    assert_true(decoded_a64(0xd63f091f).flow == SYMBOLS_CALL);                                     /* blraaz x8 */
    assert_true(decoded_a64(0xd61f0220).flow == SYMBOLS_JUMP && decoded_a64(0xd61f0220).indirect); /* br x17 */
    assert_true(decoded_a64(0xd65f03c0).flow == SYMBOLS_END &&
                decoded_a64(0xd65f0bff).flow == SYMBOLS_END); /* ret, retaa */
    assert_true(decoded_a64(0xd4200020).flow == SYMBOLS_END); /* brk */
    struct symbols_instruction page = decoded_a64(0xb0000002),
                               more = decoded_a64(0x91004042); /* adrp x2, 0x12000; add x2, x2, #16 */
    assert_true(page.to == 2 && page.from < 0 && page.value == 0x12000);
    assert_true(more.to == 2 && more.from == 2 && more.value == 16);
    struct symbols_instruction copy = decoded_a64(0xaa1303e0); /* mov x0, x19 */
    assert_true(copy.to == 0 && copy.from == 19 && copy.value == 0);
    assert_int_equal(decoded_a64(0xf9400e11).written & 1u << 17, 1u << 17); /* ldr x17, [x16, #24] */
    assert_int_equal(decoded_a64(0xa94153f3).written & (1u << 19 | 1u << 20), 1u << 19 | 1u << 20); /* ldp x19, x20 */
    assert_int_equal(decoded_a64(0xd503201f).flow, SYMBOLS_NEXT);
    static const uint32_t stub[] = {0xd503245f, 0xb0000010, 0xf9400e11,
                                    0xd61f0220}; /* bti c; adrp x16; ldr x17; br x17 */
    assert_int_equal(symbols_decode_a64_slot((const uint8_t *)stub, sizeof stub, 0x11000), 0x12018);
    assert_int_equal(symbols_decode_a64_slot((const uint8_t *)(stub + 1), sizeof stub - 4, 0x11000), 0x12018);
    assert_int_equal(symbols_decode_a64_slot((const uint8_t *)(stub + 2), sizeof stub - 8, 0x11000), 0);
}

UNIT_MAIN(NULL, NULL)
