/* Phases, events and parameters: what the program reports about itself through include/blame.h. A thread
 * keeps a stack of its open probes. A probe's context is known when it begins, and a sample's walk ends at
 * the innermost probe that its task has open (capture.c). A probe's exact times are in the file when it ends.
 *
 * A known path is stored twice: as a trie node, which is relative to the task's region and so the same in
 * every execution of the region, and, when needed, as a node below the region's own context. */
#ifndef BLAME_OMPT_TOOL_PROBES_PROBES_H
#define BLAME_OMPT_TOOL_PROBES_PROBES_H

struct region;
struct thread;

/* Sets the function that gives the calling thread of a forked child its record (fork.h). [init] */
void probes_init(struct thread *(*attach_child)(void));

/* The functions behind the calls in include/blame.h. */
extern const struct blame_calls probes_calls;

/* Ends the thread's open probes at the end of its implicit task: those in the region, or all of them if
 * region is NULL. Reports that the program did not end them. Call it between thread_enter_tool() and
 * thread_leave_tool(). [owner] */
void probes_end_region(struct thread *thread, const struct region *region);

/* Ends all open probes at the thread's end, which is no mistake of the program. Call it between
 * thread_enter_tool() and thread_leave_tool(). [owner] */
void probes_end_all(struct thread *thread);

/* Ends all open probes at the end of the measurement. The thread must have left the tool. [init] */
void probes_finish(struct thread *thread);

/* Empties the stack of open probes, for a new thread or a new owner of the record. [owner] */
void probes_attach(struct thread *thread);

#endif
