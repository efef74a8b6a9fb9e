/* symbols.h without any binary: names made of the key, or what a test sets. */
#ifndef BLAME_TESTS_FAKE_SYMBOLS_H
#define BLAME_TESTS_FAKE_SYMBOLS_H

#include "report/symbols/symbols.h"

/* Frames of a key, innermost first; borrowed. Holds for every struct symbols opened later. */
void fake_symbols_set(uint64_t key, const struct symbol_frame *frames, size_t count);
/* The extent of a function and what it calls; borrowed. Of other functions no calls are known. */
void fake_symbols_set_calls(uint64_t entry, uint64_t last, const struct symbol_call *calls, size_t count);
void fake_symbols_clear(void);

#endif
