/* Code without call frame information, laid out by hand: what it says of its own frame. */
#include "tests/unit/unit.h"

#include <sys/mman.h>

#include "unwind/decode.h"

#define PAGE 4096u

static struct decoder *decoder;
static uint8_t *code; /* a page, at the edge of memory that cannot be read: nothing else can be mapped there */

static int setup(void **unused)
{
    (void)unused;
    decoder = decoder_make();
    code = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return decoder ? mprotect(code + PAGE, PAGE, PROT_NONE) : -1;
}

struct wish {
    unsigned asked, taken; /* the number of the candidate that is taken */
};

static bool accept(const struct recipe *recipe, void *argument)
{
    struct wish *wish = argument;
    (void)recipe;
    return wish->asked++ == wish->taken;
}

/* The recipe `cfa` + k, rbp at CFA + r (r = 0: unchanged) for the code's byte `at`. */
static void check(const char *bytes, size_t count, size_t at, enum recipe_cfa cfa, int k, int r)
{
    struct wish wish = {0, 0};
    struct recipe recipe;
    memset(code, 0xcc, PAGE);
    memcpy(code + PAGE - count, bytes, count);
    decoder_forget(decoder);
    decoder_begin_walk(decoder);
    assert_true(decoder_find(decoder, (uintptr_t)code + PAGE - count + at, accept, &wish, &recipe));
    assert_int_equal(recipe.cfa, cfa);
    assert_int_equal(recipe.cfa_offset, k);
    assert_int_equal(recipe.rbp, r ? RECIPE_RBP_AT_CFA : RECIPE_RBP_SAME);
    assert_int_equal(recipe.rbp_offset, r ? r : -8);
}

static void check_none(const char *bytes, size_t count)
{
    struct wish wish = {0, 0};
    struct recipe recipe;
    memset(code, 0xcc, PAGE);
    memcpy(code + PAGE - count, bytes, count);
    decoder_forget(decoder);
    assert_false(decoder_find(decoder, (uintptr_t)code + PAGE - count, accept, &wish, &recipe));
}

#define CHECK(bytes, at, cfa, k, r) check(bytes, sizeof(bytes) - 1, at, cfa, k, r)
#define CHECK_NONE(bytes)           check_none(bytes, sizeof(bytes) - 1)

UNIT_TEST(frames_are_left_as_the_code_leaves_them)
{
    /* push rbp; push rbx; sub rsp, 0x18; nop; add rsp, 0x18; pop rbx; pop rbp; ret: at each instruction */
    static const char by_rsp[] = "\x55\x53\x48\x83\xec\x18\x90\x48\x83\xc4\x18\x5b\x5d\xc3";
    CHECK(by_rsp, 0, RECIPE_CFA_RSP, 8, 0);
    CHECK(by_rsp, 1, RECIPE_CFA_RSP, 16, -16);
    CHECK(by_rsp, 2, RECIPE_CFA_RSP, 24, -16);
    CHECK(by_rsp, 6, RECIPE_CFA_RSP, 48, -16);
    CHECK(by_rsp, 11, RECIPE_CFA_RSP, 24, -16);
    CHECK(by_rsp, 12, RECIPE_CFA_RSP, 16, -16);
    CHECK(by_rsp, 13, RECIPE_CFA_RSP, 8, 0);
    /* push rbp; mov rbp, rsp; sub rsp, rax; nop; leave; ret */
    static const char by_rbp[] = "\x55\x48\x89\xe5\x48\x29\xc4\x90\xc9\xc3";
    CHECK(by_rbp, 0, RECIPE_CFA_RSP, 8, 0);
    CHECK(by_rbp, 1, RECIPE_CFA_RSP, 16, -16);
    CHECK(by_rbp, 7, RECIPE_CFA_RBP, 16, -16);
    /* and rsp, -32; nop; lea rsp, [rbp-8]; pop rbx; pop rbp; ret: realigned, found by rbp */
    CHECK("\x48\x83\xe4\xe0\x90\x48\x8d\x65\xf8\x5b\x5d\xc3", 0, RECIPE_CFA_RBP, 16, -16);
    /* mov rsp, [rsp+0x18]; add rsp, 0x28; ret: rsp taken back from a frame of fixed size */
    CHECK("\x48\x8b\x64\x24\x18\x48\x83\xc4\x28\xc3", 0, RECIPE_CFA_RSP, 0x30, 0);
    /* mov ebp, 1; call; add rsp, 8; pop rbp; ret 16: rbp is a number among others */
    CHECK("\xbd\x01\x00\x00\x00\xe8\x00\x00\x00\x00\x48\x83\xc4\x08\x5d\xc2\x10\x00", 0, RECIPE_CFA_RSP, 24, -16);
}

UNIT_TEST(every_branch_is_a_way_out)
{
    /* loop: dec eax; jnz loop; pop rcx; ret */
    CHECK("\xff\xc8\x75\xfc\x59\xc3", 0, RECIPE_CFA_RSP, 16, 0);
    /* jz over; jmp self; over: ret */
    CHECK("\x74\x02\xeb\xfe\xc3", 0, RECIPE_CFA_RSP, 8, 0);
    /* jz over; jmp rax (cases of a switch); over: pop rbp; ret */
    CHECK("\x74\x02\xff\xe0\x5d\xc3", 0, RECIPE_CFA_RSP, 16, -16);
    /* jmp [rip]: a linkage table, or a call as the last thing */
    CHECK("\xff\x25\x00\x00\x00\x00", 0, RECIPE_CFA_RSP, 8, 0);
}

UNIT_TEST(the_next_way_out_is_taken_when_one_leads_nowhere)
{
    /* jz over; pop rax; ret; over: ret (another function's, behind a call that does not return) */
    static const char bytes[] = "\x74\x02\x58\xc3\xc3";
    struct wish wish = {0, 1};
    struct recipe recipe;
    memcpy(code, bytes, sizeof(bytes));
    decoder_forget(decoder);
    assert_true(decoder_find(decoder, (uintptr_t)code, accept, &wish, &recipe));
    assert_int_equal(wish.asked, 2);
    assert_int_equal(recipe.cfa_offset, 16);
}

UNIT_TEST(what_cannot_be_known_is_not_guessed)
{
    CHECK_NONE("\xeb\xfe");                 /* a loop without end */
    CHECK_NONE("\xff\xe0");                 /* jmp rax */
    CHECK_NONE("\x0f\x0b\xc3");             /* ud2 */
    CHECK_NONE("\x48\x89\xc4\xc3");         /* mov rsp, rax; ret */
    CHECK_NONE("\xbd\x01\x00\x00\x00\xc3"); /* mov ebp, 1; ret */
    CHECK_NONE("\x90\x90");                 /* into memory that is not there */
    CHECK_NONE("\x06\xc3");                 /* no instruction */
}

/* Code of so many instructions: what one walk does not need the next ones have. */
UNIT_TEST(long_functions_are_followed_now_and_then)
{
    enum { LONG = 7000, BYTES = LONG + 1 };
    uint8_t *function = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct decoder *fresh = decoder_make();
    bool found[6] = {false};
    memset(function, 0x90, LONG);
    function[LONG] = 0xc3;
    for (int walk = 0; walk < 6; walk++) {
        struct wish wish = {0, 0};
        struct recipe recipe;
        decoder_forget(fresh);
        decoder_begin_walk(fresh);
        if (walk == 0 || walk >= 4)
            found[walk] = decoder_find(fresh, (uintptr_t)function, accept, &wish, &recipe);
    }
    assert_true(found[0] && found[4]); /* of 10,000; of 3,000 and four times 2,000, at most 10,000 */
    assert_false(found[5]);            /* of 3,000 and 2,000 */
    munmap(function, BYTES);
}

UNIT_TEST(random_bytes_end)
{
    uint64_t random = 88172645463325252ull;
    for (int round = 0; round < 3000; round++) {
        struct wish wish = {0, 3};
        struct recipe recipe;
        decoder_begin_walk(decoder);
        for (size_t i = 0; i < PAGE; i++)
            code[i] = (uint8_t)unit_random(&random);
        decoder_find(decoder, (uintptr_t)code + unit_random(&random) % PAGE, accept, &wish, &recipe);
    }
}

UNIT_TEST(calls_are_told_from_other_code)
{
    static const char *const calls[] = {"\xe8....",     "\xff\xd0",         "\x41\xff\xd3", "\xff\x50\x08",
                                        "\xff\x15....", "\xff\x94\x24....", "\xff\x14\xc8"};
    for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
        memset(code, 0x90, 64);
        memcpy(code + 32, calls[i], strlen(calls[i]));
        assert_true(decoder_is_behind_call((uintptr_t)code + 32 + strlen(calls[i])));
    }
    memset(code, 0x90, 64);
    assert_false(decoder_is_behind_call((uintptr_t)code + 32));
    assert_false(decoder_is_behind_call((uintptr_t)code + 2 * PAGE));
}

UNIT_MAIN(setup, NULL)
