/* Functions by the unwind tables. */
#ifndef BLAME_REPORT_SYMBOLS_UNWIND_H
#define BLAME_REPORT_SYMBOLS_UNWIND_H

#include "report/symbols/module.h"

/* Entry of the function around vaddr by the unwind tables; false: not known. */
bool symbols_unwind_start(struct symbols_module *module, uint64_t vaddr, uint64_t *start);

#endif
