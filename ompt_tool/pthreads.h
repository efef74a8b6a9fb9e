/* Blames the holders of POSIX threads' locks, and measures POSIX threads of programs without OpenMP. Both are reported by
 * libblame-pthreads.so (base/pthreads_layer.h). */
#ifndef BLAME_OMPT_TOOL_PTHREADS_H
#define BLAME_OMPT_TOOL_PTHREADS_H

#include <stdint.h>

#include "base/pthreads_layer.h"

/* Loads libblame-pthreads.so if `blame run` has asked for it. Must be called before the load map is read. [init] */
void pthreads_load(void);

/* Registers the tool with libblame-pthreads.so, if the process has loaded it. [init] */
void pthreads_init(void);

/* Returns an address in the code of libblame-pthreads.so; 0 if it is not loaded. [init] */
uintptr_t pthreads_layer(void);

/* The functions that libblame-pthreads.so calls. */
extern const struct pthreads_tool pthreads_tool;

#endif
