/* Phases, events and parameters: what the program says about itself through include/blame.h. (The tool calls
 * all three probes.) A thread keeps a stack of its open probes. A probe's context is known when the probe
 * begins, and a sample's walk ends at the innermost open probe of its task (capture.c). When a probe ends,
 * its exact times are in the file.
 *
 * A known path is stored as a trie node, which is relative to the task's region and therefore the same in
 * every execution of the region. When needed, it is also stored as a node below the region's own context. */
#ifndef BLAME_OMPT_TOOL_PROBES_PROBES_H
#define BLAME_OMPT_TOOL_PROBES_PROBES_H

struct region;
struct thread;

/* Sets the function that gives the calling thread of a forked child its record (fork.h). [init] */
void probes_init(struct thread *(*attach_child)(void));

/* The functions that the calls in include/blame.h reach. */
extern const struct blame_calls probes_calls;

/* Called at the end of the thread's implicit task: ends the probes that are open in the region, or all open
 * probes if `region` is NULL, and reports that the program did not end them. Must be called between
 * thread_enter_tool() and thread_leave_tool(). [owner] */
void probes_end_region(struct thread *thread, const struct region *region);

/* Ends all open probes when the thread ends, which is not a mistake of the program. Must be called between
 * thread_enter_tool() and thread_leave_tool(). [owner] */
void probes_end_all(struct thread *thread);

/* Ends all open probes at the end of the measurement. The thread must have left the tool. [init] */
void probes_finish(struct thread *thread);

/* Empties the stack of open probes, for a new thread, or when the record gets a new owner. [owner] */
void probes_attach(struct thread *thread);

#endif
