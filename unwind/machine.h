/* What a walk needs to know of the machine: its registers, where a call leaves its return address, and how to
 * leave a handler. Each machine has one header; all define the same names. Only unwind/ includes it. */
#ifndef BLAME_UNWIND_MACHINE_H
#define BLAME_UNWIND_MACHINE_H

#if defined(__x86_64__)
#include "unwind/machine_x86_64.h"
#else
#include "unwind/machine_aarch64.h"
#endif

#endif
