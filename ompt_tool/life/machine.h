/* What the machine does besides: why threads may have no core. */
#ifndef BLAME_OMPT_TOOL_LIFE_MACHINE_H
#define BLAME_OMPT_TOOL_LIFE_MACHINE_H

/* Puts the kernel's counts of the whole machine, and of the process's cgroups, into the file under a key (docs/format.md);
 * what the kernel does not tell is left out. [init] */
void machine_note(const char *key);

/* Puts the name of the program that traces this process (strace, a debugger) into the file, if one does. [init] */
void machine_note_tracer(void);

/* Puts the processor's name, what the machine and its system are, and what the environment tells the OpenMP runtime into the file.
 * What the system does not say is left out. [init] */
void machine_describe(void);

#endif
