/* R's calls, by records and objects as R 4.2 has them in memory, made here: sound ones, and others. */
#include "tests/unit/unit.h"

#include "unwind/loadmap.h"
#include "unwind/r.h"

#define RECORD   264 /* bytes of a record, as far as it is read */
#define RECORDS  4
#define BETWEEN  512
#define FUNCTION 4
#define LOOP     1

enum { NIL = 0, SYMBOL = 1, LIST = 2, CLOSURE = 3, ENVIRONMENT = 4, CALL = 6, CHARACTERS = 9 };

/* What R exports. */
uintptr_t R_GlobalContext, R_NilValue, R_SrcrefSymbol;
void Rf_eval(void);

void Rf_eval(void)
{
}

static unsigned char stack[RECORDS * BETWEEN] __attribute__((aligned(16)));
static unsigned char nil[56], srcref[56], srcref_name[64], closure[56], environment[56];
static unsigned char symbol[RECORDS][56], name[RECORDS][512], call[RECORDS][56], member[3][56];

static void put(unsigned char *object, size_t at, const void *word)
{
    memcpy(object + at, &word, sizeof(word));
}

static unsigned char *make_object(unsigned char *object, unsigned type, const void *first, const void *rest)
{
    object[0] = (unsigned char)(type | 0x40);
    put(object, 32, first);
    put(object, 40, rest);
    return object;
}

static unsigned char *make_symbol(unsigned char *object, unsigned char *text, const char *as)
{
    text[0] = CHARACTERS;
    put(text, 32, (void *)strlen(as));
    memcpy(text + 48, as, strlen(as) + 1);
    return make_object(object, SYMBOL, text, nil);
}

static unsigned char *record(int number)
{
    return stack + number * BETWEEN + 64;
}

static void make_record(int number, int flags)
{
    unsigned char *to = record(number);
    memset(to, 0, RECORD);
    put(to, 0, number + 1 < RECORDS ? record(number + 1) : nil);
    memcpy(to + 8, &flags, sizeof(flags));
    put(to, 232, closure);
    put(to, 248, call[number]);
    put(to, 256, environment);
}

/* In f0 < f1 < f2 < f3, the innermost first. */
static void make(void)
{
    static const char *const names[RECORDS] = {"f0", "f1", "f2", "f3"};
    make_object(nil, NIL, nil, nil);
    make_symbol(srcref, srcref_name, "srcref");
    make_object(closure, CLOSURE, nil, nil);
    make_object(environment, ENVIRONMENT, nil, nil);
    for (int i = 0; i < RECORDS; i++) {
        make_object(call[i], CALL, make_symbol(symbol[i], name[i], names[i]), nil);
        make_record(i, FUNCTION | 8);
    }
    R_GlobalContext = (uintptr_t)record(0);
    R_NilValue = (uintptr_t)nil;
    R_SrcrefSymbol = (uintptr_t)srcref;
}

/* The names that a walk finds in frames that are so large, with a dot behind each frame, a question mark where it is broken. */
static const char *walked(size_t frame_bytes)
{
    static char text[512];
    struct r_walk walk;
    struct python_place place;
    bool broken;
    *text = '\0';
    r_begin(&walk);
    for (size_t at = 0; at < sizeof(stack); at += frame_bytes) {
        struct unwind_frame frame = {.stack = (uintptr_t)stack + at, .cfa = (uintptr_t)stack + at + frame_bytes};
        if (r_meet(&walk, &frame) != PYTHON_LOOP)
            continue;
        while (r_next(&walk, &place, &broken))
            strncat(text, loadmap_module(place.module_id)->function, 100);
        strcat(text, broken ? "?." : ".");
    }
    return text;
}

static int set_up(void **unused)
{
    const char *why_not = NULL;
    (void)unused;
    if (!loadmap_init())
        return -1;
    r_init();
    return r_found(&why_not) && !why_not ? 0 : -1;
}

UNIT_TEST(before_r_has_begun_there_is_nothing)
{
    assert_string_equal(walked(BETWEEN), "");
}

UNIT_TEST(each_frame_with_a_record_is_a_call)
{
    make();
    assert_string_equal(walked(BETWEEN), "f0.f1.f2.f3.");
    assert_string_equal(walked(BETWEEN / 8), "f0.f1.f2.f3.");
    assert_string_equal(walked(2 * BETWEEN), "f0f1.f2f3.");
}

/* A system call less: symbols are never freed. */
UNIT_TEST(a_symbol_that_is_known_is_not_read_again)
{
    make();
    assert_string_equal(walked(BETWEEN), "f0.f1.f2.f3.");
    symbol[1][0] = CLOSURE;
    assert_string_equal(walked(BETWEEN), "f0.f1.f2.f3.");
}

UNIT_TEST(loops_are_no_calls)
{
    make();
    make_record(1, LOOP);
    make_record(2, 0);
    assert_string_equal(walked(BETWEEN), "f0...f3.");
}

UNIT_TEST(frames_that_were_not_walked_are_passed_over)
{
    struct r_walk walk;
    struct python_place place;
    bool broken;
    struct unwind_frame frame = {.stack = (uintptr_t)stack + 2 * BETWEEN, .cfa = (uintptr_t)stack + 3 * BETWEEN};
    make();
    r_begin(&walk);
    assert_int_equal(r_meet(&walk, &frame), PYTHON_LOOP);
    assert_true(r_next(&walk, &place, &broken));
    assert_string_equal(loadmap_module(place.module_id)->function, "f2");
}

UNIT_TEST(what_is_called_has_the_last_name_or_none)
{
    make(); /* package::f0() */
    make_object(member[2], LIST, symbol[0], nil);
    make_object(member[1], LIST, symbol[2], member[2]);
    make_object(call[0], CALL, make_object(member[0], CALL, symbol[1], member[1]), nil);
    make_object(call[1], CALL, closure, nil);
    assert_string_equal(walked(BETWEEN), "f0.<anonymous>.f2.f3.");
    make_object(member[2], LIST, closure, nil);
    assert_string_equal(walked(BETWEEN), "<anonymous>.<anonymous>.f2.f3.");
}

UNIT_TEST(what_is_no_call_is_none)
{
    static const size_t words[] = {232, 248, 256};
    const void *const wrong[] = {NULL, (void *)8, (void *)UINTPTR_MAX, nil};
    for (size_t i = 0; i < 3; i++)
        for (size_t j = 0; j < 4; j++) {
            make();
            put(record(1), words[i], wrong[j]);
            assert_string_equal(walked(BETWEEN), "f0.?.f2.f3.");
        }
    for (size_t j = 0; j < 3; j++) {
        make();
        put(record(1), 0, wrong[j]);
        assert_string_equal(walked(BETWEEN), "f0.f1.");
    }
    make();
    R_GlobalContext = 8; /* lies further in than all frames */
    assert_string_equal(walked(BETWEEN), "");
}

UNIT_TEST(records_that_go_in_a_circle_end)
{
    make();
    put(record(2), 0, record(0));
    assert_string_equal(walked(BETWEEN), "f0.f1.f2.");
    put(record(2), 0, record(2));
    assert_string_equal(walked(BETWEEN), "f0.f1.f2.");
}

static unsigned char many[600][RECORD] __attribute__((aligned(16)));

/* Records one behind another, the last one a function's; and a walk over them. */
static void begin_many(struct r_walk *walk)
{
    size_t last = sizeof(many) / sizeof(*many) - 1;
    make();
    for (size_t i = 0; i <= last; i++) {
        memcpy(many[i], record(0), RECORD);
        memcpy(many[i] + 8, &(int){i < last ? LOOP : FUNCTION}, sizeof(int));
        put(many[i], 0, i < last ? many[i + 1] : NULL);
    }
    R_GlobalContext = (uintptr_t)many;
    r_begin(walk);
}

/* What a frame that reaches from one of them to another is. */
static const char *met(struct r_walk *walk, size_t from, size_t to)
{
    const struct unwind_frame frame = {.stack = (uintptr_t)many[from], .cfa = (uintptr_t)many[to]};
    struct python_place place;
    bool broken;
    if (r_meet(walk, &frame) == PYTHON_GLUE)
        return "glue";
    if (r_next(walk, &place, &broken))
        return loadmap_module(place.module_id)->function;
    return broken ? "broken" : "nothing";
}

UNIT_TEST(a_walk_passes_over_so_many_records_and_where_it_ended_stays_a_row)
{
    struct r_walk walk;
    begin_many(&walk);
    assert_string_equal(met(&walk, PYTHON_MAX_PASSED, 550), "nothing");
    assert_string_equal(met(&walk, 550, 600), "f0");
    begin_many(&walk);
    assert_string_equal(met(&walk, PYTHON_MAX_PASSED + 1, 550), "broken");
    assert_string_equal(met(&walk, 550, 600), "glue");
    begin_many(&walk); /* the frames' sum counts */
    assert_string_equal(met(&walk, 300, 340), "nothing");
    assert_string_equal(met(&walk, 340 + 213, 600), "broken");
}

UNIT_TEST(a_frame_has_so_many_records_that_are_no_calls)
{
    struct r_walk walk;
    begin_many(&walk);
    assert_string_equal(met(&walk, 0, 64), "nothing");
    assert_string_equal(met(&walk, 64, 129), "broken");
}

UNIT_TEST(damaged_objects_do_no_harm)
{
    unsigned char *const all[] = {record(0), record(2), closure, environment, symbol[1], name[2], call[0], call[3]};
    unsigned long whole = 0;
    for (unsigned seed = 1; seed <= 5000; seed++) {
        uint64_t random = seed * 0x9e3779b97f4a7c15ull;
        make();
        all[random >> 8 & 7][(random >> 16) % 56] = (unsigned char)(random >> 32);
        whole += strcmp(walked(BETWEEN), "f0.f1.f2.f3.") == 0;
    }
    assert_true(whole > 0);
}

UNIT_TEST(another_r_is_said_to_be_one)
{
    const char *why_not;
    make();
    make_symbol(srcref, srcref_name, "another");
    r_init();
    assert_string_equal(walked(BETWEEN), "");
    assert_true(r_found(&why_not));
    assert_string_equal(why_not, "its objects differ from those of R 4");
}

UNIT_MAIN(set_up, NULL)
