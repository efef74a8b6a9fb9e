/* Phases, events and parameters: what the program reports about itself through include/blame.h. A thread
 * keeps a stack of its open probes. Each knows its context from its begin on: a sample's walk ends at the
 * innermost probe that its task has open (capture.c). A probe's exact times are in the file when it ends.
 *
 * A known path is kept twice: as a context of the trie, relative to the task's region and thus the same in
 * every execution of a region; and, when needed, as the node below the region's own context. */
#ifndef BLAME_OMPT_TOOL_PROBES_PROBES_H
#define BLAME_OMPT_TOOL_PROBES_PROBES_H

struct region;
struct thread;

/* Sets attach_child, which gives the calling thread of a forked child its record (fork.h). [init] */
void probes_init(struct thread *(*attach_child)(void));

/* The table for the program's calls (include/blame.h). */
extern const struct blame_calls probes_calls;

/* Ends the thread's open probes in the region at the end of its implicit task, or all of them for NULL, and
 * reports that the program forgot them. The thread is in the tool. [owner] */
void probes_end_region(struct thread *thread, const struct region *region);

/* Ends all open probes at the thread's own end, which is not a mistake. The thread is in the tool. [owner] */
void probes_end_all(struct thread *thread);

/* Ends all open probes at the measurement's end. The thread is quiet. [init] */
void probes_finish(struct thread *thread);

/* Begins a thread, or a new owner of its record, with no open probe. [owner] */
void probes_attach(struct thread *thread);

#endif
