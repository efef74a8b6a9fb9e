/* symbols.h without any binary: names made of the key, or what a test sets. */
#ifndef BLAME_TESTS_FAKE_SYMBOLS_H
#define BLAME_TESTS_FAKE_SYMBOLS_H

#include "command/symbols/symbols.h"

/* The function at an address: the file and the line in which it begins, and the line of the address. Again for the same address:
 * the function into which that one is inlined. Texts are borrowed. Holds until fake_symbols_clear(); the frame that is returned
 * may be changed until then. */
struct symbol_frame *fake_function(uint64_t key, const char *name, const char *file, int line, int at_line);
/* The extent of a function and what it calls; borrowed. Of other functions no calls are known. */
void fake_symbols_set_calls(uint64_t entry, uint64_t last, const struct symbol_call *calls, size_t count);
void fake_symbols_clear(void);

#endif
