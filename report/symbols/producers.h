/* Which compilers made a module, and by which options, as far as its debug information has them. */
#ifndef BLAME_REPORT_SYMBOLS_PRODUCERS_H
#define BLAME_REPORT_SYMBOLS_PRODUCERS_H

#include "report/symbols/symbols.h"

#define SYMBOLS_PRODUCERS 16 /* at most, of one module */

/* The different DW_AT_producer of a module's units; their number. Texts live until symbols_close(). None: no file of the build that was measured, or
 * no debug information. */
size_t symbols_producers(struct symbols *symbols, uint32_t module_id, const char *producer[SYMBOLS_PRODUCERS]);

#endif
