/* Phases, events and parameters: what the program says of itself through include/blame.h. A thread keeps a
 * stack of those it has open. Each knows its context from when it began, so that a sample's walk ends at the
 * innermost one that its task has open (capture.c), and its exact times are in the file when it ends.
 *
 * What is known of a path is kept twice: as a context of the trie, relative to the task's region and so the
 * same in every execution of a region, and, when that is asked for, as the node below the region's own
 * context. */
#ifndef BLAME_OMPT_TOOL_PROBES_PROBES_H
#define BLAME_OMPT_TOOL_PROBES_PROBES_H

struct region;
struct thread;

/* attach_child: what gives the calling thread of a forked child its record (fork.h). [init] */
void probes_init(struct thread *(*attach_child)(void));

/* The table that the program's calls go through (include/blame.h). */
extern const struct blame_calls probes_calls;

/* Ends what the thread has open in the region at the end of its implicit task there, or all of it for NULL:
 * the program forgot to. The thread is in the tool. [owner] */
void probes_end_region(struct thread *thread, const struct region *region);

/* Ends all that the thread has open at its own end, which is no mistake. It is in the tool. [owner] */
void probes_end_all(struct thread *thread);

/* The same at the measurement's end. The thread is quiet. [init] */
void probes_finish(struct thread *thread);

/* A thread begins (again): nothing is open. [owner] */
void probes_attach(struct thread *thread);

#endif
