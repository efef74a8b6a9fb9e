/* Describes the machine and its load in the measurement file. The load explains why threads had no core. */
#ifndef BLAME_OMPT_TOOL_LIFE_MACHINE_H
#define BLAME_OMPT_TOOL_LIFE_MACHINE_H

/* Stores the kernel's counts for the whole machine, and for the process's cgroups, in the file under this key
 * (docs/format.md). Counts that the kernel does not have are omitted. [init] */
void machine_note(const char *key);

/* If another program traces this process (strace, a debugger), stores that program's name in the file. [init] */
void machine_note_tracer(void);

/* Stores the processor's name, the machine, its system and the OpenMP variables of the environment in the
 * file. What cannot be found out is omitted. [init] */
void machine_describe(void);

#endif
