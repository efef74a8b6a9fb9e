/* Who has the interpreter's lock, by structures as CPython 3.11 has them in memory, made here: sound ones, and others. */
#include "tests/unit/unit.h"

#include <pthread.h>

#include "unwind/loadmap.h"
#include "unwind/python.h"
#include "unwind/python_layout.h"

/* What an interpreter exports. */
const unsigned long Py_Version = PYTHON_VERSION_READ << 16;
unsigned char _PyRuntime[1024] __attribute__((aligned(8)));
unsigned char PyCode_Type[8], PyUnicode_Type[8], PyBytes_Type[8];
void _PyEval_EvalFrameDefault(void);

void _PyEval_EvalFrameDefault(void)
{
}

static unsigned char state[PYTHON_STATE_BYTES], level[PYTHON_LEVEL_BYTES], frame[PYTHON_FRAME_BYTES],
    code[PYTHON_CODE_INSTRUCTIONS + 16], name[64], file[64], lines[64];
static unsigned char *const all[] = {_PyRuntime, state, level, frame, code, name, file, lines};
static unsigned char *const lock = _PyRuntime + PYTHON_RUNTIME_LOCK;
static struct unwinder unwinder;

static void put(unsigned char *object, size_t at, uintptr_t word)
{
    memcpy(object + at, &word, sizeof(word));
}

static void put_number(unsigned char *object, size_t at, uint32_t number)
{
    memcpy(object + at, &number, sizeof(number));
}

static void put_text(unsigned char *object, const char *text)
{
    put(object, PYTHON_TYPE, (uintptr_t)PyUnicode_Type);
    put(object, PYTHON_SIZE, strlen(text));
    put(object, PYTHON_TEXT_STATE, 1 << 2 | 1 << 5 | 1 << 6 | 1 << 7);
    memcpy(object + PYTHON_TEXT_ASCII, text, strlen(text));
}

/* Another thread has the lock, in line 7 of f. */
static void make(void)
{
    memset(lock, 0, PYTHON_LOCK_BYTES);
    put(lock, PYTHON_LOCK_HOLDER, (uintptr_t)state);
    put_number(lock, PYTHON_LOCK_LOCKED, 1);
    put(state, PYTHON_STATE_SELF, (uintptr_t)pthread_self() + 64);
    put(state, PYTHON_STATE_LEVEL, (uintptr_t)level);
    put(level, PYTHON_LEVEL_FRAME, (uintptr_t)frame);
    put(frame, PYTHON_FRAME_CODE, (uintptr_t)code);
    put(frame, PYTHON_FRAME_INSTRUCTION, (uintptr_t)code + PYTHON_CODE_INSTRUCTIONS + 2);
    frame[PYTHON_FRAME_ENTRY] = 1;
    frame[PYTHON_FRAME_OWNER] = 0;
    put(code, PYTHON_TYPE, (uintptr_t)PyCode_Type);
    put_number(code, PYTHON_CODE_LINE, 6);
    put(code, PYTHON_CODE_NAME, (uintptr_t)name);
    put(code, PYTHON_CODE_FILE, (uintptr_t)file);
    put(code, PYTHON_CODE_LINES, (uintptr_t)lines);
    put_text(name, "f");
    put_text(file, "/f.py");
    put(lines, PYTHON_TYPE, (uintptr_t)PyBytes_Type);
    put(lines, PYTHON_SIZE, 3);
    memcpy(lines + PYTHON_BYTES_DATA, (unsigned char[]){0x80 | 11 << 3 | 3, 0, 1}, 3);
}

static bool holder(struct python_place *place)
{
    return python_holder(&unwinder, place);
}

static bool waits_at(const unsigned char *word)
{
    unwinder.registers[UNWIND_ARGUMENT] = (uintptr_t)word;
    return python_waits(&unwinder);
}

static const char *init_with(uint32_t locked)
{
    char version[16];
    const char *why_not = NULL;
    put_number(lock, PYTHON_LOCK_LOCKED, locked);
    return python_init(version, sizeof(version), &why_not) ? why_not : "none";
}

static int set_up(void **unused)
{
    (void)unused;
    unwinder.python = python_codes_make();
    if (!loadmap_init() || !unwinder.python || waits_at(NULL) || waits_at(lock + PYTHON_LOCK_CONDITION))
        return -1;
    return init_with(0) ? -1 : 0;
}

UNIT_TEST(what_is_no_lock_is_no_python_311)
{
    assert_string_equal(init_with(2), "the lock is not where Python 3.11 has it");
    assert_false(waits_at(lock + PYTHON_LOCK_CONDITION));
    for (uint32_t locked = 0; locked < 3; locked++)
        assert_null(init_with(locked - 1));
}

UNIT_TEST(who_sleeps_at_the_locks_condition_waits_for_it)
{
    assert_true(waits_at(lock + PYTHON_LOCK_CONDITION));
    assert_true(waits_at(lock + PYTHON_LOCK_CONDITION + PYTHON_LOCK_CONDITION_BYTES - 1));
    assert_false(waits_at(lock + PYTHON_LOCK_CONDITION - 1));
    assert_false(waits_at(lock + PYTHON_LOCK_CONDITION + PYTHON_LOCK_CONDITION_BYTES));
    assert_false(waits_at(NULL));
}

UNIT_TEST(the_holder_is_in_a_line)
{
    struct python_place place;
    make();
    assert_true(holder(&place));
    assert_string_equal(loadmap_module(place.module_id)->function, "f");
    assert_int_equal(place.line, 7);
}

UNIT_TEST(nobody_has_a_lock_that_is_free_or_not_made_yet)
{
    struct python_place place;
    for (uint32_t locked = 0; locked < 4; locked++) {
        make();
        put_number(lock, PYTHON_LOCK_LOCKED, locked == 3 ? UINT32_MAX : locked);
        assert_int_equal(holder(&place), locked == 1);
    }
}

UNIT_TEST(who_waits_has_it_not)
{
    struct python_place place;
    make();
    put(state, PYTHON_STATE_SELF, (uintptr_t)pthread_self());
    assert_false(holder(&place));
}

UNIT_TEST(what_is_no_thread_or_no_frame_is_none)
{
    struct python_place place;
    const struct {
        unsigned char *object;
        size_t at;
    } words[] = {{lock, PYTHON_LOCK_HOLDER},
                 {state, PYTHON_STATE_LEVEL},
                 {level, PYTHON_LEVEL_FRAME},
                 {frame, PYTHON_FRAME_CODE}};
    const uintptr_t wrong[] = {0, 8, UINTPTR_MAX, UINTPTR_MAX & ~7ul, (uintptr_t)name};
    for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
        for (size_t j = 0; j < sizeof(wrong) / sizeof(*wrong); j++) {
            make();
            put(words[i].object, words[i].at, wrong[j]);
            assert_false(holder(&place));
        }
    make();
    frame[PYTHON_FRAME_OWNER] = 3;
    assert_false(holder(&place));
}

UNIT_TEST(damaged_structures_do_no_harm)
{
    struct python_place place;
    unsigned long found = 0;
    for (unsigned seed = 1; seed <= 20000; seed++) {
        uint64_t random = seed * 0x9e3779b97f4a7c15ull;
        unsigned char *object = all[random >> 8 & 7];
        make();
        object += object == _PyRuntime ? PYTHON_RUNTIME_LOCK + (random >> 16) % PYTHON_LOCK_BYTES
                                       : (random >> 16) % PYTHON_LEVEL_BYTES;
        unsigned char was = *object;
        *object = (unsigned char)(random >> 32);
        found += holder(&place);
        *object = was;
    }
    assert_true(found > 0);
}

/* Whether a frame behind so many records is a call of the loop, and its frames cannot be read. */
static bool is_broken_behind(size_t records)
{
    static unsigned char many[600][PYTHON_LEVEL_BYTES] __attribute__((aligned(8)));
    struct python_walk walk = {.begun = true, .level = (uintptr_t)many[0], .outer = (uintptr_t)many[1], .top = 1};
    for (size_t i = 0; i < 600; i++) {
        put(many[i], PYTHON_LEVEL_FRAME, 1);
        put(many[i], PYTHON_LEVEL_PREVIOUS, i < 599 ? (uintptr_t)many[i + 1] : 0);
    }
    const struct unwind_frame frame = {.stack = (uintptr_t)many[records], .cfa = (uintptr_t)many[records + 1]};
    assert_int_equal(python_meet(&walk, &frame), PYTHON_LOOP);
    assert_int_equal(walk.level, walk.broken ? 0 : (uintptr_t)many[records]);
    return walk.broken;
}

UNIT_TEST(a_walk_passes_over_so_many_records_and_where_it_ended_stays_a_row)
{
    assert_false(is_broken_behind(PYTHON_MAX_PASSED));
    assert_true(is_broken_behind(PYTHON_MAX_PASSED + 1));
}

UNIT_MAIN(set_up, NULL)
