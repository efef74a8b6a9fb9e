/* The frames of an address. */
#ifndef BLAME_REPORT_SYMBOLS_FRAMES_H
#define BLAME_REPORT_SYMBOLS_FRAMES_H

#include "report/symbols/module.h"

/* The frames of a lookup; at least 1, in the pool; 0: out of memory. */
size_t symbols_frames_build(struct symbols_module *module, uint64_t vaddr, struct symbol_frame **frames);

#endif
