/* What else the machine does: the reasons for threads without a core. */
#ifndef BLAME_OMPT_TOOL_LIFE_MACHINE_H
#define BLAME_OMPT_TOOL_LIFE_MACHINE_H

/* Puts the kernel's counts of the whole machine, and of the process's cgroups, into the file under a key
 * (docs/format.md). Counts that the kernel does not have are left out. [init] */
void machine_note(const char *key);

/* Puts the name of the program that traces this process (strace, a debugger) into the file, if there is one.
 * [init] */
void machine_note_tracer(void);

/* Puts the processor's name, the machine, its system, and the OpenMP variables of the environment into the
 * file. What the system does not say is left out. [init] */
void machine_describe(void);

#endif
