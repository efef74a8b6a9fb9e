/* Stacks laid out by hand, as compiled code would: a path is known when, and only when, it was kept. */
#include "tests/unit/unit.h"

#include "ompt_tool/context/creation_memo.h"
#include "unwind/unwind.h"

#define WORDS     8192
#define FUNCTIONS 24u
#define CODE      0x400000u
#define CALLS     3u /* from each function */
#define LONGEST   40

/* What a function's frame is like. The first are found by rsp, the others by rbp; of these every second
 * varies in size. */
enum { BY_RSP, BY_RSP_SAVING, BY_RBP, BY_RBP_VARIED, KINDS };

static const struct loadmap_range code = {.permanent = 1};
static uintptr_t stack[WORDS];
static struct creation_memo *memo;
static struct unwind_frame frames[LONGEST + 3];
static int frame_count;
static size_t varied_words; /* in frames of varied size; 0: as many as comes */
static uint64_t seed = 88172645463325252u;

static int make(void **unused)
{
    (void)unused;
    memo = creation_memo_make();
    return memo ? 0 : -1;
}

static int unmake(void **unused)
{
    (void)unused;
    creation_memo_free(memo);
    return 0;
}

#define WITH_MEMO(name) UNIT_TEST_WITH(name, make, unmake)

static uintptr_t return_address(unsigned function, unsigned call)
{
    return CODE + function * 256 + call * 16;
}

/* A chain of calls, innermost first: function * CALLS + number of the call in it. */
struct chain {
    int length;
    unsigned call[LONGEST];
};

/* One frame at `at`, and its caller's return address and rbp; returns the caller's stack pointer. */
static uintptr_t *lay_frame(uintptr_t *at, unsigned kind, unsigned function, uintptr_t **rbp_slot, uintptr_t caller)
{
    struct unwind_frame *frame = &frames[frame_count++];
    size_t words = 2 + function % 5;
    if (kind == BY_RBP_VARIED)
        words = varied_words ? varied_words : words + unit_random(&seed) % 32;
    uintptr_t *cfa = at + words + 2; /* locals, saved rbp, return address */
    memset(at, 0, words * sizeof(*at));
    *frame = (struct unwind_frame){.stack = (uintptr_t)at, .cfa = (uintptr_t)cfa, .range = &code};
    bool by_rbp = kind == BY_RBP || kind == BY_RBP_VARIED;
    frame->recipe.cfa = by_rbp ? RECIPE_CFA_RBP : RECIPE_CFA_RSP;
    frame->recipe.cfa_offset = by_rbp ? 16 : (int32_t)(8 * (words + 2));
    frame->recipe.rbp = kind == BY_RSP ? RECIPE_RBP_SAME : RECIPE_RBP_AT_CFA;
    frame->recipe.rbp_offset = (kind == BY_RSP ? -8 : -16) / RECIPE_R_UNIT;
    cfa[-1] = caller;
    cfa[-2] = 0x5555;
    if (by_rbp && *rbp_slot)
        **rbp_slot = (uintptr_t)(cfa - 2); /* what its callee saved is its frame pointer */
    if (kind != BY_RSP)
        *rbp_slot = cfa - 2;
    return cfa;
}

/* The tool's frame, the runtime's, the chain's, and the runtime's that called the task. */
static struct creation_key lay(const struct chain *chain, size_t shift)
{
    uintptr_t *at = stack + 16 + shift, *rbp_slot = NULL;
    frame_count = 0;
    at = lay_frame(at, BY_RSP, 0, &rbp_slot, CODE - 16);
    rbp_slot = NULL;
    uintptr_t first = return_address(chain->call[0] / CALLS, chain->call[0] % CALLS);
    at = lay_frame(at, BY_RBP, 1, &rbp_slot, first);
    struct creation_key key = {.creator = 7, .codeptr = first, .low = (uintptr_t)(at - 2)};
    for (int i = 0; i < chain->length; i++) {
        unsigned function = chain->call[i] / CALLS, next = i + 1 < chain->length ? chain->call[i + 1] : 0;
        uintptr_t caller = i + 1 < chain->length ? return_address(next / CALLS, next % CALLS) : CODE - 32;
        at = lay_frame(at, function % KINDS, function, &rbp_slot, caller);
    }
    key.high = (uintptr_t)(at + 2);
    lay_frame(at, BY_RBP, 2, &rbp_slot, CODE - 48);
    frames[frame_count - 1].cfa = key.high + 16;
    return key;
}

static bool keep(const struct creation_key *key, int count, bool cut, uint32_t context)
{
    creation_memo_begin(memo, key);
    for (int i = 0; i < count; i++)
        creation_memo_note(memo, &frames[i]);
    return creation_memo_keep(memo, cut, context);
}

static struct chain random_chain(void)
{
    struct chain chain = {.length = 1 + (int)(unit_random(&seed) % LONGEST)};
    for (int i = 0; i < chain.length; i++) /* few different ones inside, so that paths share their begin */
        chain.call[i] = (unsigned)(unit_random(&seed) % (i < 3 ? 4 : FUNCTIONS * CALLS));
    return chain;
}

WITH_MEMO(test_only_kept_paths_are_known)
{
    enum { CHAINS = 3000 };
    static struct chain chains[CHAINS];
    for (int i = 0; i < CHAINS; i++) {
        bool known = false;
        chains[i] = random_chain();
        for (int j = 0; j < i && !known; j++)
            known = memcmp(&chains[i], &chains[j], sizeof(chains[i])) == 0;
        struct creation_key key = lay(&chains[i], unit_random(&seed) % 64);
        if (known)
            continue;
        assert_int_equal(creation_memo_find(memo, &key), 0);
        assert_true(keep(&key, frame_count, false, (uint32_t)i + 1));
        for (int round = 0; round < 3; round++) { /* elsewhere on the stack, with frames of other sizes */
            int earlier = (int)(unit_random(&seed) % ((unsigned)i + 1));
            key = lay(&chains[earlier], unit_random(&seed) % 64);
            uint32_t found = creation_memo_find(memo, &key);
            assert_int_not_equal(found, 0);
            assert_memory_equal(&chains[found - 1], &chains[earlier], sizeof(chains[0]));
        }
    }
}

/* One long frame of varied size, and three short ones: the outermost return address is at the same place. */
WITH_MEMO(test_frames_that_span_the_same_bytes_are_told_apart)
{
    const unsigned varied = BY_RBP_VARIED * CALLS;
    const struct chain one = {1, {varied}}, three = {3, {varied, varied, varied}};
    varied_words = 8;
    struct creation_key short_frames = lay(&three, 0);
    varied_words = 3 * (8 + 2) - 2;
    struct creation_key long_frame = lay(&one, 0);
    assert_int_equal(short_frames.high, long_frame.high);
    assert_true(keep(&long_frame, frame_count, false, 1));
    varied_words = 8;
    short_frames = lay(&three, 0);
    assert_int_equal(creation_memo_find(memo, &short_frames), 0);
    assert_true(keep(&short_frames, frame_count, false, 3));
    varied_words = 5;
    short_frames = lay(&three, 8);
    assert_int_equal(creation_memo_find(memo, &short_frames), 3);
    long_frame = lay(&one, 16);
    assert_int_equal(creation_memo_find(memo, &long_frame), 1);
    varied_words = 0;
}

WITH_MEMO(test_creator_place_and_end_are_part_of_a_path)
{
    struct chain chain = {4, {0, 4, 9, 13}};
    struct creation_key key = lay(&chain, 0), other = key;
    assert_true(keep(&key, frame_count, false, 5));
    assert_int_equal(creation_memo_find(memo, &key), 5);
    assert_false(keep(&key, frame_count, false, 6)); /* it is there */
    other.creator = 8;
    assert_int_equal(creation_memo_find(memo, &other), 0);
    other = key;
    other.codeptr++;
    assert_int_equal(creation_memo_find(memo, &other), 0);
    other = key;
    other.high += 16;
    assert_int_equal(creation_memo_find(memo, &other), 0);
    other.high = key.high - 32; /* the task begins further in: frames behind it are not looked at */
    assert_int_equal(creation_memo_find(memo, &other), 0);
}

WITH_MEMO(test_a_path_cut_by_depth_is_known_whatever_follows)
{
    struct chain chain = {6, {0, 4, 9, 13, 17, 21}}, longer = {7, {0, 4, 9, 13, 17, 25, 21}};
    struct creation_key key = lay(&chain, 0);
    assert_true(keep(&key, 5, true, 5));
    assert_int_equal(creation_memo_find(memo, &key), 5);
    key = lay(&longer, 8);
    assert_int_equal(creation_memo_find(memo, &key), 5);
}

WITH_MEMO(test_a_frame_left_by_other_means_is_not_kept)
{
    struct chain chain = {4, {0, 4, 9, 13}};
    static const uint8_t others[] = {RECIPE_CFA_AT_RBP, RECIPE_CFA_PLT, RECIPE_OUTERMOST, RECIPE_SLOW};
    for (size_t i = 0; i < sizeof(others); i++) {
        struct creation_key key = lay(&chain, 0);
        frames[3].recipe.cfa = others[i];
        assert_false(keep(&key, frame_count, false, 5));
        assert_int_equal(creation_memo_find(memo, &key), 0);
    }
    /* rbp is needed, and was not saved where it can be read again */
    struct chain by_rbp = {2, {0, 2 * CALLS}};
    struct creation_key key = lay(&by_rbp, 0);
    frames[1].recipe.rbp = RECIPE_RBP_SAME;
    assert_false(keep(&key, frame_count, false, 5));
    /* the runtime's frame is not where it says */
    key = lay(&chain, 0);
    key.low -= 16;
    assert_false(keep(&key, frame_count, false, 5));
}

/* A frame pointer that leads off the task's stack, or back inward, fits no path. */
WITH_MEMO(test_a_wild_frame_pointer_is_not_followed)
{
    struct chain chain = {3, {2 * CALLS, 2 * CALLS, 2 * CALLS}};
    struct creation_key key = lay(&chain, 0);
    assert_true(keep(&key, frame_count, false, 5));
    uintptr_t *saved = (uintptr_t *)key.low;
    const uintptr_t right = *saved, wild[] = {0, 8, key.low - 8, key.high, UINTPTR_MAX & ~(uintptr_t)7, right + 1};
    for (size_t i = 0; i < sizeof(wild) / sizeof(*wild); i++) {
        *saved = wild[i];
        assert_int_equal(creation_memo_find(memo, &key), 0);
    }
    *saved = key.low; /* the word behind is the innermost return address, which is another one than it was */
    assert_int_equal(creation_memo_find(memo, &key), 0);
    *saved = right;
    assert_int_equal(creation_memo_find(memo, &key), 5);
}

WITH_MEMO(test_room_for_many_thousand_paths_and_then_says_so)
{
    struct chain chain = {3, {0, 4, 9}};
    uint32_t count = 0;
    while (creation_memo_is_good(memo)) {
        struct creation_key key = lay(&chain, 0);
        key.creator = ++count;
        assert_true(keep(&key, frame_count, false, count));
        assert_int_equal(creation_memo_find(memo, &key), count);
        assert_true(count < 10000000);
    }
    assert_true(count > 40000);
}

UNIT_MAIN(NULL, NULL)
