/* Code objects: of which function, and which line. A thread keeps what it has read; but another object may be at an
 * address by now, so in each walk that meets it all that tells code objects apart is read again, and must have the same
 * digest. */
#ifndef BLAME_UNWIND_PYTHON_CODE_H
#define BLAME_UNWIND_PYTHON_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A place in a Python function. */
struct python_place {
    uint32_t module_id; /* the function's (modules.h) */
    uint32_t line;
};

struct python_codes;

struct python_code_types {
    uintptr_t code, text, bytes; /* of code objects, strings, and bytes */
};

/* What objects of these kinds say of themselves. [init] */
void python_code_init(const struct python_code_types *types);

/* NULL when there is no memory. [handler] */
struct python_codes *python_codes_make(void);

/* A new walk. [handler] */
void python_codes_begin(struct python_codes *codes);

/* Where the instruction at this address of this code object is; false if it is none, or there is no room for another
 * function. [handler] */
bool python_codes_find(struct python_codes *codes, uintptr_t code, uintptr_t instruction, struct python_place *place);

/* So many bytes of the thread's Python frames, a page of which is read at once; NULL if they cannot be read. [handler] */
const unsigned char *python_codes_read(struct python_codes *codes, uintptr_t address, size_t bytes);

/* The line of the instruction at this offset (in units of two bytes) by a table of lines; 0: it has none, the table is
 * damaged or ends before. [handler] */
uint32_t python_code_line(const unsigned char *table, size_t bytes, uint32_t first_line, uint32_t unit);

#endif
