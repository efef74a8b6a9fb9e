/* Samples' signals that the kernel drops. */
#ifndef BLAME_OMPT_TOOL_RESTART_RESTART_DROPPED_H
#define BLAME_OMPT_TOOL_RESTART_RESTART_DROPPED_H

struct restart_state;

/* At the end of a delivery. Newer kernels (Linux 6.18) drop the signal of a timer that was set anew behind its expiry, but only where they
 * would deliver it; a wait that finds it pending ends (EINTR), and no handler puts it back. So, before the stub waits, it is taken here; with
 * it goes a sample that is due already, whose time is that of the next one. [handler] */
void restart_take_dropped(struct restart_state *state);

#endif
