/* Python's code objects, as each minor version of CPython has them in memory, made here: good ones, others in their place, and damaged
 * ones up to the edge of memory. */
#include "tests/unit/unit.h"

#include "base/module_flags.h"
#include "tests/unit/cfi_edge.h"
#include "tests/unit/python_image.h"
#include "unwind/loadmap.h"
#include "unwind/python_code.h"

#define OBJECT_BYTES 512u

static char code_type, text_type, bytes_type;
static struct python_codes *codes;

/* An object and what it refers to. */
struct made_code {
    unsigned char code[OBJECT_BYTES] __attribute__((aligned(8)));
    unsigned char name[OBJECT_BYTES] __attribute__((aligned(8)));
    unsigned char file[OBJECT_BYTES] __attribute__((aligned(8)));
    unsigned char lines[OBJECT_BYTES] __attribute__((aligned(8)));
};

static void put_wide(unsigned char *object, const uint16_t *text, size_t count)
{
    put_word(object, python_layout.type, (uintptr_t)&text_type);
    put_word(object, python_layout.text_size, count);
    put_number(object, python_layout.text_state, (2 | 1 << 3 | 1 << 5) << python_layout.text_kind);
    memcpy(object + python_layout.text_ascii + python_layout.text_more, text, 2 * count);
}

static void make(struct made_code *made, const char *name, const char *file, uint32_t line, size_t lines)
{
    memset(made, 0, sizeof(*made));
    put_word(made->code, python_layout.type, (uintptr_t)&code_type);
    put_number(made->code, python_layout.code_line, line);
    put_word(made->code, python_layout.code_name, (uintptr_t)made->name);
    put_word(made->code, python_layout.code_file, (uintptr_t)made->file);
    put_word(made->code, python_layout.code_lines, (uintptr_t)made->lines);
    put_ascii(made->name, (uintptr_t)&text_type, name);
    put_ascii(made->file, (uintptr_t)&text_type, file);
    put_word(made->lines, python_layout.type, (uintptr_t)&bytes_type);
    put_word(made->lines, python_layout.bytes_size, put_lines(made->lines + python_layout.bytes_data, lines));
}

/* In a walk of its own. */
static bool find(const void *code, uint64_t unit, struct python_place *place)
{
    python_codes_begin(codes);
    return python_codes_find(codes, (uintptr_t)code, unit, place);
}

static void choose_python(const struct python_row *row)
{
    static unsigned char runtime[2048] __attribute__((aligned(8)));
    put_table(runtime, row);
    assert_null(python_layout_init(row->version, runtime));
    codes = python_codes_make();
    assert_non_null(codes);
}

static int set_up(void **state)
{
    const struct python_code_types types = {
        .code = (uintptr_t)&code_type, .text = (uintptr_t)&text_type, .bytes = (uintptr_t)&bytes_type};
    (void)state;
    python_code_init(&types);
    return loadmap_init() ? 0 : -1;
}

PYTHON_TEST(a_code_object_is_a_function_and_its_instructions_are_in_lines)
{
    static struct made_code made;
    struct python_place place;
    make(&made, "Model.fit", "/home/me/fit.py", 40, 5);
    for (unsigned i = 0; i < 10; i++) {
        assert_true(find(made.code, i, &place));
        assert_int_equal(place.line, 40 + i / 2);
    }
    const struct loadmap_module *module = loadmap_module(place.module_id);
    assert_string_equal(module->function, "Model.fit");
    assert_string_equal(module->path, "/home/me/fit.py");
    assert_int_equal(module->flags, PROFILE_MODULE_PYTHON);
    assert_int_equal(module->vaddr_low, 40);
    assert_true(find(made.code, 10, &place)); /* behind the last one */
    assert_int_equal(place.line, python_layout.lines == PYTHON_LINES_LNOTAB ? 44 : 40);
    assert_true(find(made.code, UINT64_MAX / 2, &place));
    assert_int_equal(place.line, 40); /* before the first one: the frame was made just now */
}

PYTHON_TEST(the_same_code_elsewhere_is_the_same_function)
{
    static struct made_code made[2];
    struct python_place place[2];
    for (int i = 0; i < 2; i++) {
        make(&made[i], "step", "/home/me/fit.py", 7, 3);
        assert_true(find(made[i].code, 0, &place[i]));
    }
    assert_int_equal(place[0].module_id, place[1].module_id);
}

PYTHON_TEST(another_code_object_at_an_address_is_another_function)
{
    static struct made_code made;
    struct python_place first, place;
    static const struct {
        const char *name, *file;
        uint32_t line;
        size_t lines;
    } others[] = {{"g", "/a.py", 1, 3}, {"fg", "/a.py", 1, 3}, {"", "/a.py", 1, 3}, {"f", "/a.pyc", 1, 3},
                  {"f", "/b.py", 1, 3}, {"f", "/a.py", 2, 3},  {"f", "/a.py", 1, 4}};
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        make(&made, "f", "/a.py", 1, 3);
        assert_true(find(made.code, 2, &first));
        assert_int_equal(first.line, 2);
        make(&made, others[i].name, others[i].file, others[i].line, others[i].lines);
        assert_true(find(made.code, 2, &place));
        assert_int_not_equal(place.module_id, first.module_id);
        assert_string_equal(loadmap_module(place.module_id)->function, others[i].name);
        assert_string_equal(loadmap_module(place.module_id)->path, others[i].file);
        assert_int_equal(place.line, others[i].line + 1);
    }
}

PYTHON_TEST(names_are_in_utf8)
{
    static const uint16_t name[] = {'g', 'r', 0xf6, 0xdf, 'e', 0x6587, 0xdcff};
    static struct made_code made;
    struct python_place place;
    make(&made, "", "/a.py", 1, 3);
    put_wide(made.name, name, sizeof(name) / sizeof(name[0]));
    assert_true(find(made.code, 0, &place));
    assert_string_equal(loadmap_module(place.module_id)->function, "gr\xc3\xb6\xc3\x9f"
                                                                   "e\xe6\x96\x87\xff");
}

PYTHON_TEST(a_name_that_is_too_long_is_cut)
{
    static struct made_code made;
    static unsigned char name[4096] __attribute__((aligned(8)));
    char text[3000];
    struct python_place place;
    memset(text, 'x', sizeof(text));
    text[sizeof(text) - 1] = '\0';
    make(&made, "", "/a.py", 1, 3);
    put_ascii(name, (uintptr_t)&text_type, text);
    put_word(made.code, python_layout.code_name, (uintptr_t)name);
    assert_true(find(made.code, 0, &place));
    assert_int_equal(strlen(loadmap_module(place.module_id)->function), 1024);
}

PYTHON_TEST(what_is_no_code_object_is_none)
{
    static struct made_code made;
    struct python_place place;
    make(&made, "f", "/a.py", 1, 3);
    assert_false(find(NULL, 0, &place));
    assert_false(find((void *)8, 0, &place));
    assert_false(find((void *)0xfffffffffffffff8, 0, &place));
    assert_false(find(made.code + 1, 0, &place));
    assert_false(find(made.name, 0, &place));
    const size_t words[] = {python_layout.type, python_layout.code_name, python_layout.code_file,
                            python_layout.code_lines};
    const uintptr_t wrong[] = {0, 8, UINTPTR_MAX, (uintptr_t)made.code, (uintptr_t)made.name + 1};
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        for (size_t j = 0; j < sizeof(wrong) / sizeof(wrong[0]); j++) {
            make(&made, "f", "/a.py", 1, 3);
            assert_true(find(made.code, 0, &place)); /* it is known when it breaks */
            put_word(made.code, words[i], wrong[j]);
            assert_false(find(made.code, 0, &place));
        }
}

PYTHON_TEST(damaged_objects_do_no_harm)
{
    static struct made_code made;
    struct python_place place;
    unsigned long found = 0;
    for (unsigned seed = 1; seed <= 5000; seed++) {
        uint64_t random = seed * 0x9e3779b97f4a7c15ull;
        unsigned char *objects[] = {made.code, made.name, made.file, made.lines};
        make(&made, "f", "/a.py", 1, 20);
        unsigned char *object = objects[random >> 8 & 3];
        object[(random >> 16) % 160] = (unsigned char)(random >> 32);
        found += find(made.code, random >> 40 & 63, &place);
    }
    assert_true(found > 0); /* what is damaged beside what is read */
}

UNIT_TEST(tables_of_lines_of_311_and_newer_are_read_as_they_are_written)
{
    /* short form, no columns (+200), long form (-3, end +1, columns), no location */
    static const unsigned char table[] = {0x80 | 2 << 3 | 0,
                                          0x11,
                                          0x80 | 13 << 3 | 2,
                                          0x50,
                                          0x06,
                                          0x80 | 14 << 3 | 7,
                                          0x07,
                                          0x01,
                                          0x05,
                                          0x45,
                                          0x02,
                                          0x80 | 15 << 3 | 0,
                                          0x80 | 10 << 3 | 0,
                                          1,
                                          2};
    static const uint32_t lines[] = {10, 210, 210, 210, 207, 207, 207, 207, 207, 207, 207, 207, 0, 207, 0, 0};
    python_layout.lines = PYTHON_LINES_LOCATIONS;
    for (uint32_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
        assert_int_equal(python_code_line(table, sizeof(table), 10, i), lines[i]);
}

UNIT_TEST(tables_of_lines_of_39_and_310_are_read_as_they_are_written)
{
    /* 4 bytes in line 10, 2 without a line, 2 and 256 in line 210 - 3 */
    static const unsigned char pairs[] = {4, 0, 2, 0x80, 0, 127, 0, 73, 2, 0xfd, 254, 0, 2, 0};
    static const uint32_t lines[] = {10, 10, 0, 207, 207};
    python_layout.lines = PYTHON_LINES_PAIRS;
    for (uint32_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
        assert_int_equal(python_code_line(pairs, sizeof(pairs), 10, i), lines[i]);
    assert_int_equal(python_code_line(pairs, sizeof(pairs), 10, 131), 207);
    assert_int_equal(python_code_line(pairs, sizeof(pairs), 10, 132), 0);
    /* 4 bytes in line 10, 300 in line 210, then line 207 */
    static const unsigned char lnotab[] = {4, 127, 0, 73, 255, 0, 45, 0xfd};
    python_layout.lines = PYTHON_LINES_LNOTAB;
    const struct {
        uint32_t unit, line;
    } cases[] = {{0, 10}, {1, 10}, {2, 210}, {151, 210}, {152, 207}, {9999, 207}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        assert_int_equal(python_code_line(lnotab, sizeof(lnotab), 10, cases[i].unit), cases[i].line);
    assert_int_equal(python_code_line(lnotab, 0, 10, 5), 10);
    assert_int_equal(python_code_line(lnotab, 1, 10, 5), 10);
}

UNIT_TEST(a_table_of_the_interpreter_that_is_not_plausible_is_not_believed)
{
    static unsigned char runtime[2048] __attribute__((aligned(8)));
    for (size_t i = 0; i < sizeof(python_rows) / sizeof(python_rows[0]); i++) {
        const struct python_row *row = &python_rows[i];
        put_table(runtime, row);
        assert_null(python_layout_init(row->version, runtime));
        if (!row->at_free_threaded)
            continue;
        put_word(runtime, 8ul * row->at.code_name, 1 << 21);
        assert_non_null(python_layout_init(row->version, runtime));
        put_word(runtime, 8ul * row->at.code_name, 400);
        assert_non_null(python_layout_init(row->version, runtime));
        put_table(runtime, row);
        put_word(runtime, 8ul * row->at_free_threaded, 1);
        assert_string_equal(python_layout_init(row->version, runtime),
                            "it is a free-threaded build, whose objects are others");
        put_table(runtime, row);
        runtime[0] = 'y';
        assert_non_null(python_layout_init(row->version, runtime));
    }
    assert_non_null(python_layout_init(0x0308, runtime));
    assert_non_null(python_layout_init(0x0310, runtime));
}

PYTHON_TEST(damaged_tables_are_read_to_their_end)
{
    unsigned char table[64];
    for (unsigned seed = 1; seed <= 20000; seed++) {
        uint64_t random = seed;
        for (size_t i = 0; i < sizeof(table); i++) {
            random = random * 6364136223846793005ull + 1442695040888963407ull;
            table[i] = (unsigned char)(random >> 56);
        }
        size_t bytes = seed % (sizeof(table) + 1);
        python_code_line(at_the_edge(table, bytes), bytes, 1, seed % 100);
    }
}

PYTHON_TEST(a_frame_is_read_where_it_is_and_no_further)
{
    size_t bytes = python_frame_bytes;
    unsigned char frame[PYTHON_FRAME_BYTES];
    for (size_t i = 0; i < bytes; i++)
        frame[i] = (unsigned char)i;
    const unsigned char *edge = at_the_edge(frame, bytes);
    python_codes_begin(codes);
    assert_memory_equal(python_codes_read(codes, (uintptr_t)edge, bytes), frame, bytes);
    assert_null(python_codes_read(codes, (uintptr_t)edge + 8, bytes));
    assert_null(python_codes_read(codes, (uintptr_t)edge + 1, bytes));
    assert_null(python_codes_read(codes, 0, bytes));
    memmove((unsigned char *)edge - 4096, edge, bytes); /* across two pages */
    assert_memory_equal(python_codes_read(codes, (uintptr_t)edge - 4096, bytes), frame, bytes);
}

UNIT_TEST(there_is_room_for_libraries_when_functions_have_taken_theirs)
{
    static struct made_code made;
    struct python_place place;
    char name[32];
    unsigned made_count = 0;
    choose_python(&python_rows[0]);
    for (unsigned i = 0; i < LOADMAP_MAX_FUNCTIONS + 10; i++) {
        snprintf(name, sizeof(name), "f%u", i);
        make(&made, name, "/many.py", 1, 3);
        made_count += find(made.code, 0, &place);
    }
    assert_true(made_count < LOADMAP_MAX_FUNCTIONS);
    assert_true(loadmap_module_count() < LOADMAP_MAX_MODULES);
    make(&made, "f0", "/many.py", 1, 3); /* known, and so still told */
    assert_true(find(made.code, 0, &place));
}

UNIT_MAIN(set_up, NULL)
