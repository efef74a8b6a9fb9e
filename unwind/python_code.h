/* Python's code objects: gives the function and the line of an instruction. Each thread has a cache of code
 * objects. Python may have allocated another object at a known address. So when a walk first meets an object,
 * it reads the identifying bytes again and compares their hash. */
#ifndef BLAME_UNWIND_PYTHON_CODE_H
#define BLAME_UNWIND_PYTHON_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A line of an interpreted function. */
struct python_place {
    uint32_t module_id; /* number of the function's module (unwind/modules.h) */
    uint32_t line;
    bool shim; /* a frame that the interpreter made for itself, not a function of the script */
};

#define PYTHON_NO_UNIT UINT32_MAX /* the frame has not executed an instruction yet */

struct python_codes;

struct python_code_types {
    uintptr_t code, text, bytes; /* addresses of Python's type objects for code, str and bytes */
};

/* Sets the addresses of the type objects. [init] */
void python_code_init(const struct python_code_types *types);

/* Returns a new cache; NULL if there is no memory. [handler] */
struct python_codes *python_codes_make(void);

/* Starts a walk. Objects that earlier walks have checked must then be checked again. [handler] */
void python_codes_begin(struct python_codes *codes);

/* Finds the function and line of an instruction in the code object at address `code`. `unit` is the instruction's offset
 * in units of two bytes; the first line is taken if it is PYTHON_NO_UNIT or greater. Returns false if there is no code
 * object at that address, or if there is no room for another function. [handler] */
bool python_codes_find(struct python_codes *codes, uintptr_t code, uint64_t unit, struct python_place *place);

/* Returns `bytes` bytes at `address`, which belong to the thread's Python frames and are read one page at a
 * time. Returns NULL if they cannot be read. [handler] */
const unsigned char *python_codes_read(struct python_codes *codes, uintptr_t address, size_t bytes);

/* Looks up the line of an instruction in a line table of the form python_layout.lines. `unit` is the instruction's
 * offset in units of two bytes. Returns 0 if the instruction has no line, or if the table is damaged or too short. [handler] */
uint32_t python_code_line(const unsigned char *table, size_t bytes, uint32_t first_line, uint32_t unit);

#endif
