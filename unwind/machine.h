/* What a walk must know about the machine: its registers, where return addresses are stored, and how to get
 * from a signal handler to the interrupted code. The header of each machine defines the same names. Only
 * unwind/ includes this file. */
#ifndef BLAME_UNWIND_MACHINE_H
#define BLAME_UNWIND_MACHINE_H

#if defined(__x86_64__)
#include "unwind/machine_x86_64.h"
#else
#include "unwind/machine_aarch64.h"
#endif

#endif
