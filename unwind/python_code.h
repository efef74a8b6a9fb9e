/* Code objects: their functions and lines. A thread keeps what it has read. Another object may have taken an
 * object's address, so each walk that meets an object reads its identifying data again, which must have the
 * same digest. */
#ifndef BLAME_UNWIND_PYTHON_CODE_H
#define BLAME_UNWIND_PYTHON_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A line of a Python function. */
struct python_place {
    uint32_t module_id; /* number of the function (modules.h) */
    uint32_t line;
};

struct python_codes;

struct python_code_types {
    uintptr_t code, text, bytes; /* types of code objects, strings and bytes */
};

/* Sets the types that such objects carry. [init] */
void python_code_init(const struct python_code_types *types);

/* Returns a new cache; NULL if there is no memory. [handler] */
struct python_codes *python_codes_make(void);

/* Begins a walk. [handler] */
void python_codes_begin(struct python_codes *codes);

/* Finds the function and line of an instruction in a code object. Returns false if it is no code object, or
 * if there is no room for another function. [handler] */
bool python_codes_find(struct python_codes *codes, uintptr_t code, uintptr_t instruction, struct python_place *place);

/* Reads bytes of the thread's Python frames, one page at a time. Returns NULL if they cannot be read.
 * [handler] */
const unsigned char *python_codes_read(struct python_codes *codes, uintptr_t address, size_t bytes);

/* Returns the line of the instruction at this offset (in units of two bytes), from a table of lines; 0 if it
 * has none, or if the table is damaged or too short. [handler] */
uint32_t python_code_line(const unsigned char *table, size_t bytes, uint32_t first_line, uint32_t unit);

#endif
