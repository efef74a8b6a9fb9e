/* Describes the machine and its load in the measurement file. The load shows why threads had no core. */
#ifndef BLAME_OMPT_TOOL_LIFE_MACHINE_H
#define BLAME_OMPT_TOOL_LIFE_MACHINE_H

/* Puts the kernel's counts of the whole machine, and of the process's cgroups, into the file under this key
 * (docs/format.md). Counts that the kernel does not have are left out. [init] */
void machine_note(const char *key);

/* Puts the name of the program that traces this process (strace, a debugger) into the file, if there is one.
 * [init] */
void machine_note_tracer(void);

/* Puts the processor's name, the machine, its system and the environment's OpenMP variables into the file.
 * What cannot be found out is left out. [init] */
void machine_describe(void);

#endif
