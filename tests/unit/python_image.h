/* Structures of CPython 3.9 to 3.15 in memory, made here by the layouts that unwind/python_layouts.h has of each minor version. From 3.13 on the
 * interpreter's own table moves most fields by eight bytes, so whoever takes them from elsewhere finds nothing. */
#ifndef BLAME_TESTS_UNIT_PYTHON_IMAGE_H
#define BLAME_TESTS_UNIT_PYTHON_IMAGE_H

#include "tests/unit/unit.h"

#include "unwind/python_layout.h"
#include "unwind/python_layouts.h"

#define IMAGE_MOVED  8u
#define IMAGE_WORDS  128u
#define IMAGE_FIELDS (sizeof(struct python_layout) / sizeof(uint32_t))

/* A test that runs for each minor version. */
#define PYTHON_TEST(name)                                                                                              \
    static void with_##name(void);                                                                                     \
    UNIT_TEST(name)                                                                                                    \
    {                                                                                                                  \
        for (size_t image_row = 0; image_row < sizeof(python_rows) / sizeof(python_rows[0]); image_row++) {            \
            choose_python(&python_rows[image_row]);                                                                    \
            with_##name();                                                                                             \
        }                                                                                                              \
    }                                                                                                                  \
    static void with_##name(void)

static void choose_python(const struct python_row *row); /* the test's own */

static inline void put_word(unsigned char *object, size_t at, uintptr_t word)
{
    memcpy(object + at, &word, sizeof(word));
}

static inline void put_number(unsigned char *object, size_t at, uint32_t number)
{
    memcpy(object + at, &number, sizeof(number));
}

/* Writes _Py_DebugOffsets for versions that have it. */
static inline void put_table(unsigned char *runtime, const struct python_row *row)
{
    const uint32_t *is = (const uint32_t *)&row->is, *at = (const uint32_t *)&row->at;
    if (!row->at_free_threaded)
        return;
    for (size_t word = 0; word < IMAGE_WORDS; word++)
        put_word(runtime, 8 * word, 0);
    memcpy(runtime, "xdebugpy", 8);
    put_word(runtime, 8, (uintptr_t)row->version << 16);
    for (size_t i = 0; i < IMAGE_FIELDS; i++)
        if (at[i])
            put_word(runtime, 8 * at[i], is[i] + (&is[i] == &row->is.type ? 0 : IMAGE_MOVED));
}

static inline void put_ascii(unsigned char *object, uintptr_t type, const char *text)
{
    put_word(object, python_layout.type, type);
    put_word(object, python_layout.text_size, strlen(text));
    put_number(object, python_layout.text_state, (1 | 1 << 3 | 1 << 4 | 1 << 5) << python_layout.text_kind);
    memcpy(object + python_layout.text_ascii, text, strlen(text));
}

/* Two instructions in each line, from the first one on. Returns the number of bytes. */
static inline size_t put_lines(unsigned char *to, size_t count)
{
    size_t at = 0;
    for (size_t line = 0; line < count; line++)
        switch (python_layout.lines) {
        case PYTHON_LINES_LOCATIONS:
            to[at++] = (unsigned char)(0x80 | (line ? 11 : 10) << 3 | 1); /* one line further, two instructions */
            to[at++] = 4;                                                 /* columns */
            to[at++] = 9;
            break;
        case PYTHON_LINES_PAIRS:
            to[at++] = 4;
            to[at++] = line > 0;
            break;
        default:
            if (line > 0) {
                to[at++] = 4;
                to[at++] = 1;
            }
        }
    return at;
}

#endif
