/* What a walk must know about the machine: registers, the place of return addresses, and how to leave a
 * signal handler. The header of each machine defines the same names. Only unwind/ includes it. */
#ifndef BLAME_UNWIND_MACHINE_H
#define BLAME_UNWIND_MACHINE_H

#if defined(__x86_64__)
#include "unwind/machine_x86_64.h"
#else
#include "unwind/machine_aarch64.h"
#endif

#endif
