/* Which functions a thread runs, and who has the interpreter's lock, by structures as each minor version of CPython has them in memory, made
 * here: sound ones, and others. */
#include "tests/unit/unit.h"

#include <pthread.h>

#include "tests/unit/python_image.h"
#include "unwind/loadmap.h"
#include "unwind/python.h"
#include "unwind/python_state.h"

#define OBJECT_BYTES 512u

/* What an interpreter exports. */
unsigned long Py_Version;
unsigned char _PyRuntime[4096] __attribute__((aligned(8)));
unsigned char PyCode_Type[8], PyUnicode_Type[8], PyBytes_Type[8], PyFrame_Type[8];
void _PyEval_EvalFrameDefault(void);

void _PyEval_EvalFrameDefault(void)
{
}

static unsigned char interpreter[16384] __attribute__((aligned(8))),
    made_lock[OBJECT_BYTES] __attribute__((aligned(8)));
static unsigned char mine[OBJECT_BYTES] __attribute__((aligned(8))), state[OBJECT_BYTES] __attribute__((aligned(8)));
static unsigned char record[64] __attribute__((aligned(8))), frame[OBJECT_BYTES] __attribute__((aligned(8)));
static unsigned char code[OBJECT_BYTES] __attribute__((aligned(8))), name[OBJECT_BYTES] __attribute__((aligned(8)));
static unsigned char file[OBJECT_BYTES] __attribute__((aligned(8))), lines[OBJECT_BYTES] __attribute__((aligned(8)));
static unsigned char *lock;
static struct unwinder unwinder;
static pthread_key_t key;

static void put_state(unsigned char *to, uintptr_t self)
{
    put_word(to, python_layout.state_self, self);
    if (python_layout.state_interpreter)
        put_word(to, python_layout.state_interpreter, (uintptr_t)interpreter);
}

static void put_frame(unsigned char *to, const unsigned char *of_code, unsigned unit, const void *previous)
{
    uintptr_t first = (uintptr_t)of_code + python_layout.code_instructions;
    put_word(to, python_layout.frame_code, (uintptr_t)of_code);
    put_word(to, python_layout.frame_previous, (uintptr_t)previous);
    if (python_layout.code_instructions)
        put_word(to, python_layout.frame_instruction, first + 2ul * unit);
    else
        put_number(to, python_layout.frame_instruction, python_layout.lines == PYTHON_LINES_LNOTAB ? 2 * unit : unit);
    if (python_layout.frame_owner)
        to[python_layout.frame_owner] = 0;
    if (python_layout.levels < PYTHON_LEVELS_RECORD)
        put_word(to, python_layout.type, (uintptr_t)PyFrame_Type);
}

static void put_code(unsigned char *to, unsigned char *its_name, const char *text, uint32_t line)
{
    put_word(to, python_layout.type, (uintptr_t)PyCode_Type);
    put_number(to, python_layout.code_line, line);
    put_word(to, python_layout.code_name, (uintptr_t)its_name);
    put_word(to, python_layout.code_file, (uintptr_t)file);
    put_word(to, python_layout.code_lines, (uintptr_t)lines);
    put_ascii(its_name, (uintptr_t)PyUnicode_Type, text);
}

/* Another thread has the lock, in line 7 of f. */
static void make(void)
{
    memset(lock, 0, python_layout.lock_condition);
    put_word(lock, python_layout.lock_holder, (uintptr_t)state);
    put_number(lock, python_layout.lock_locked, 1);
    put_state(state, (uintptr_t)pthread_self() + 64);
    if (python_layout.state_frame)
        put_word(state, python_layout.state_frame, (uintptr_t)frame);
    else
        put_word(state, python_layout.state_record, (uintptr_t)record);
    put_word(record, python_layout.record_frame, (uintptr_t)frame);
    put_frame(frame, code, 2, record); /* the caller is not looked at */
    if (python_layout.frame_entry)
        frame[python_layout.frame_entry] = 1;
    put_code(code, name, "f", 6);
    put_ascii(file, (uintptr_t)PyUnicode_Type, "/f.py");
    put_word(lines, python_layout.type, (uintptr_t)PyBytes_Type);
    put_word(lines, python_layout.bytes_size, put_lines(lines + python_layout.bytes_data, 5));
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

static const char *init_python(void)
{
    char version[16];
    const char *why_not = NULL;
    return python_init(version, sizeof(version), &why_not) ? why_not : "none";
}

static void choose_python(const struct python_row *row)
{
    Py_Version = (unsigned long)row->version << 16;
    memset(_PyRuntime, 0, sizeof(_PyRuntime));
    put_table(_PyRuntime, row);
    assert_null(init_python());
    unwinder = (struct unwinder){.python = python_codes_make()};
    assert_non_null(unwinder.python);
    if (python_layout.runtime_key) {
        put_number(_PyRuntime, python_layout.runtime_key, 1);
        put_number(_PyRuntime, python_layout.runtime_key + 4, key);
    } else { /* the other thread's state, and this one's */
        put_word(_PyRuntime, python_layout.runtime_interpreters, (uintptr_t)interpreter);
        put_word(interpreter, python_layout.interpreter_next, 0);
        put_word(interpreter, python_layout.interpreter_threads, (uintptr_t)state);
        put_word(state, python_layout.state_next, (uintptr_t)mine);
        put_word(state, python_layout.state_previous, 0);
        put_word(mine, python_layout.state_next, 0);
        put_word(mine, python_layout.state_previous, (uintptr_t)state);
    }
    put_state(mine, (uintptr_t)pthread_self());
    put_word(mine, python_layout.state_frame ? python_layout.state_frame : python_layout.state_record,
             (uintptr_t)record);
    lock = made_lock;
    if (python_layout.runtime_lock)
        lock = _PyRuntime + python_layout.runtime_lock;
    else
        put_word(interpreter, python_layout.interpreter_lock, (uintptr_t)lock);
    make();
}

static int set_up(void **unused)
{
    (void)unused;
    return loadmap_init() && pthread_key_create(&key, NULL) == 0 && pthread_setspecific(key, mine) == 0 ? 0 : -1;
}

PYTHON_TEST(what_is_no_lock_is_not_this_python)
{
    if (!python_layout.runtime_lock)
        return;
    put_number(lock, python_layout.lock_locked, 2);
    assert_string_equal(init_python(), "the lock is not where Python of this version has it");
    assert_false(waits_at(lock + python_layout.lock_condition));
    for (uint32_t locked = 0; locked < 3; locked++) {
        put_number(lock, python_layout.lock_locked, locked - 1);
        assert_null(init_python());
    }
}

PYTHON_TEST(who_sleeps_at_the_locks_condition_waits_for_it)
{
    const unsigned char *condition = lock + python_layout.lock_condition;
    assert_true(waits_at(condition));
    assert_true(waits_at(condition + PYTHON_LOCK_CONDITION_BYTES - 1));
    assert_false(waits_at(condition - 1));
    assert_false(waits_at(condition + PYTHON_LOCK_CONDITION_BYTES));
    assert_false(waits_at(NULL));
}

PYTHON_TEST(the_holder_is_in_a_line)
{
    struct python_place place;
    assert_true(holder(&place));
    assert_string_equal(loadmap_module(place.module_id)->function, "f");
    assert_int_equal(place.line, 7);
}

PYTHON_TEST(nobody_has_a_lock_that_is_free_or_not_made_yet)
{
    struct python_place place;
    for (uint32_t locked = 0; locked < 4; locked++) {
        make();
        put_number(lock, python_layout.lock_locked, locked == 3 ? UINT32_MAX : locked);
        assert_int_equal(holder(&place), locked == 1);
    }
}

PYTHON_TEST(who_waits_has_it_not)
{
    struct python_place place;
    put_word(lock, python_layout.lock_holder, (uintptr_t)mine);
    assert_false(holder(&place));
}

PYTHON_TEST(what_is_no_thread_or_no_frame_is_none)
{
    struct python_place place;
    bool by_record = !python_layout.state_frame;
    const struct {
        unsigned char *object;
        size_t at;
    } words[] = {{lock, python_layout.lock_holder},
                 {state, by_record ? python_layout.state_record : python_layout.state_frame},
                 {by_record ? record : state, by_record ? python_layout.record_frame : python_layout.state_frame},
                 {frame, python_layout.frame_code}};
    const uintptr_t wrong[] = {0, 8, UINTPTR_MAX, UINTPTR_MAX & ~7ul, (uintptr_t)name};
    for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
        for (size_t j = 0; j < sizeof(wrong) / sizeof(*wrong); j++) {
            make();
            put_word(words[i].object, words[i].at, wrong[j]);
            assert_false(holder(&place));
        }
    make();
    if (python_layout.frame_owner)
        frame[python_layout.frame_owner] = 9;
    else
        put_word(frame, python_layout.type, (uintptr_t)PyCode_Type);
    assert_false(holder(&place));
}

PYTHON_TEST(damaged_structures_do_no_harm)
{
    unsigned char *const all[] = {lock, state, record, frame, code, name, file, lines};
    struct python_place place;
    unsigned long found = 0;
    for (unsigned seed = 1; seed <= 4000; seed++) {
        uint64_t random = seed * 0x9e3779b97f4a7c15ull;
        unsigned char *object = all[random >> 8 & 7];
        make();
        object += (random >> 16) % (object == lock ? python_layout.lock_condition : object == record ? 24 : 200);
        unsigned char was = *object;
        *object = (unsigned char)(random >> 32);
        found += holder(&place);
        *object = was;
    }
    assert_true(found > 0);
    choose_python(&python_rows[0]); /* so that no damage is left */
}

/* The stack: two calls of the loop, with another function of the interpreter between them. The inner call runs `inner` and, if
 * the version's calls run more than one function, `middle`; the outer call runs `outer`. */
static unsigned char stack[4096] __attribute__((aligned(8)));
static unsigned char codes[3][OBJECT_BYTES] __attribute__((aligned(8))),
    names[3][OBJECT_BYTES] __attribute__((aligned(8)));
static unsigned char frames[3][OBJECT_BYTES] __attribute__((aligned(8)));

static void put_entry(unsigned char *to, const void *previous)
{
    put_word(to, python_layout.frame_code, 0);
    put_word(to, python_layout.frame_previous, (uintptr_t)previous);
    to[python_layout.frame_owner] = (unsigned char)python_layout.owner_entry;
}

static void put_record(unsigned char *to, const void *of_frame, const void *previous)
{
    if (python_layout.levels == PYTHON_LEVELS_RECORD)
        put_word(to, python_layout.record_frame, (uintptr_t)of_frame);
    put_word(to, python_layout.record_previous, (uintptr_t)previous);
}

static void make_stack(void)
{
    static const char *const functions[] = {"inner", "middle", "outer"};
    unsigned char *in = stack + 512, *out = stack + 2048,
                  *last = stack + 3584; /* in the frames of the two calls, and further out */
    bool one_each = python_layout.levels < PYTHON_LEVELS_RECORD, entries = python_layout.levels == PYTHON_LEVELS_ENTRY;
    for (unsigned i = 0; i < 3; i++) {
        put_code(codes[i], names[i], functions[i], 10 * (i + 1));
        put_frame(frames[i], codes[i], 2 * i, NULL);
        if (python_layout.frame_entry)
            frames[i][python_layout.frame_entry] = i > 0;
    }
    put_word(frames[0], python_layout.frame_previous, (uintptr_t)frames[one_each ? 2 : 1]);
    if (entries) {
        put_word(frames[1], python_layout.frame_previous, (uintptr_t)in);
        put_word(frames[2], python_layout.frame_previous, (uintptr_t)out);
        put_entry(in, frames[2]);
        put_entry(out, NULL);
        put_word(record, python_layout.record_frame, (uintptr_t)frames[0]);
    } else if (python_layout.state_record) {
        put_record(in, frames[0], out);
        put_record(out, frames[2], last);
        put_record(last, NULL, NULL);
    }
    if (python_layout.state_frame)
        put_word(mine, python_layout.state_frame, (uintptr_t)frames[0]);
    if (python_layout.state_record)
        put_word(mine, python_layout.state_record, (uintptr_t)(entries ? record : in));
}

static struct unwind_frame stack_frame(uintptr_t from, uintptr_t to, bool loop)
{
    uintptr_t ip = (uintptr_t)(loop ? _PyEval_EvalFrameDefault : make_stack);
    return (struct unwind_frame){.ip = ip, .stack = (uintptr_t)stack + from, .cfa = (uintptr_t)stack + to};
}

/* Takes the functions that the next frame of the stack runs, in the form "inner:10 middle:21". */
static const char *functions_of(struct python_walk *walk, struct unwind_frame at)
{
    static char text[256];
    struct python_place place;
    size_t used = 0;
    enum python_kind kind = python_meet(walk, &unwinder, &at);
    snprintf(text, sizeof(text), "%s", kind == PYTHON_NONE ? "none" : kind == PYTHON_GLUE ? "glue" : "");
    while (kind == PYTHON_LOOP && python_next(walk, &unwinder, &place))
        used += (size_t)snprintf(text + used, sizeof(text) - used, "%s:%u ", loadmap_module(place.module_id)->function,
                                 place.line);
    if (walk->broken)
        snprintf(text + used, sizeof(text) - used, "broken");
    return text;
}

PYTHON_TEST(each_call_of_the_loop_runs_its_functions)
{
    struct python_walk walk;
    bool one_each = python_layout.levels < PYTHON_LEVELS_RECORD;
    make_stack();
    python_begin(&walk, &unwinder, false);
    assert_string_equal(functions_of(&walk, stack_frame(0, 256, false)), "none");
    assert_string_equal(functions_of(&walk, stack_frame(256, 1024, true)),
                        one_each ? "inner:10 " : "inner:10 middle:21 ");
    assert_string_equal(functions_of(&walk, stack_frame(1024, 1536, false)), "none");
    assert_string_equal(functions_of(&walk, stack_frame(1536, 3072, true)), "outer:32 ");
    assert_string_equal(functions_of(&walk, stack_frame(3072, 3328, false)), "none");
}

PYTHON_TEST(frames_of_the_interpreter_itself_are_no_functions)
{
    struct python_walk walk;
    if (python_layout.levels != PYTHON_LEVELS_ENTRY)
        return;
    make_stack();
    put_number(codes[1], python_layout.code_line, 0); /* an object as the interpreter makes for frames of no function */
    put_word(codes[1], python_layout.code_file, (uintptr_t)names[1]);
    python_begin(&walk, &unwinder, false);
    assert_string_equal(functions_of(&walk, stack_frame(256, 1024, true)), "inner:10 ");
    assert_string_equal(functions_of(&walk, stack_frame(1536, 3072, true)), "outer:32 ");
}

PYTHON_TEST(a_frame_that_cannot_be_read_leaves_the_loop_a_row)
{
    struct python_walk walk;
    make_stack();
    put_word(frames[0], python_layout.frame_code, (uintptr_t)name);
    python_begin(&walk, &unwinder, false);
    assert_string_equal(functions_of(&walk, stack_frame(256, 1024, true)), "broken");
    assert_string_equal(functions_of(&walk, stack_frame(1536, 3072, true)), "outer:32 ");
}

PYTHON_TEST(a_list_without_end_is_left)
{
    struct python_walk walk;
    if (python_layout.levels != PYTHON_LEVELS_ENTRY)
        return;
    make_stack();
    put_word(frames[1], python_layout.frame_previous, (uintptr_t)frames[0]);
    python_begin(&walk, &unwinder, false);
    assert_string_equal(functions_of(&walk, stack_frame(256, 1024, true)), "broken");
}

PYTHON_TEST(a_state_that_the_thread_has_no_more_is_not_read)
{
    struct python_walk walk;
    if (!python_layout.state_next)
        return;
    make_stack();
    python_begin(&walk, &unwinder, false);
    assert_int_equal(unwinder.python_state, (uintptr_t)mine);
    put_word(state, python_layout.state_next, 0);
    python_begin(&walk, &unwinder, false);
    assert_int_equal(unwinder.python_state, 0);
    assert_string_equal(functions_of(&walk, stack_frame(256, 1024, true)), "none");
}

/* No known version has all of them. */
UNIT_TEST(each_word_of_a_state_may_be_in_a_layout)
{
    uintptr_t words[] = {16, 1, 2, 3, 4, 5};
    struct python_layout kept = python_layout;
    struct python_state of;
    python_layout = (struct python_layout){
        .state_next = 8, .state_self = 16, .state_frame = 24, .state_record = 32, .state_interpreter = 40};
    assert_true(python_read_state((uintptr_t)words, &of));
    python_layout = kept;
    assert_true(of.previous == 16 && of.next == 1 && of.self == 2 && of.frame == 3 && of.record == 4);
    assert_int_equal(of.interpreter, 5);
}

/* Whether a frame behind so many records is a call of the loop, and its frames cannot be read. */
static bool is_broken_behind(size_t records)
{
    static unsigned char many[600][24] __attribute__((aligned(8)));
    struct python_walk walk = {.begun = true, .level = (uintptr_t)many[0], .outer = (uintptr_t)many[1], .top = 1};
    for (size_t i = 0; i < 600; i++) {
        put_word(many[i], python_layout.record_frame, 1);
        put_word(many[i], python_layout.record_previous, i < 599 ? (uintptr_t)many[i + 1] : 0);
    }
    const struct unwind_frame at = {.stack = (uintptr_t)many[records], .cfa = (uintptr_t)many[records + 1]};
    assert_int_equal(python_meet(&walk, &unwinder, &at), PYTHON_LOOP);
    assert_int_equal(walk.level, walk.broken ? 0 : (uintptr_t)many[records]);
    return walk.broken;
}

PYTHON_TEST(a_walk_passes_over_so_many_records_and_where_it_ended_stays_a_row)
{
    if (python_layout.levels != PYTHON_LEVELS_RECORD)
        return;
    assert_false(is_broken_behind(PYTHON_MAX_PASSED));
    assert_true(is_broken_behind(PYTHON_MAX_PASSED + 1));
}

UNIT_MAIN(set_up, NULL)
