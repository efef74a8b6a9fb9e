/* What a walk knows of the machine: its registers, how a call leaves its return address, how a handler is left. One header a machine,
 * which define the same names; for unwind/ alone. */
#ifndef BLAME_UNWIND_MACHINE_H
#define BLAME_UNWIND_MACHINE_H

#if defined(__x86_64__)
#include "unwind/machine_x86_64.h"
#else
#include "unwind/machine_aarch64.h"
#endif

#endif
