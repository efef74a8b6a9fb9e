/* How long a thread had no core before and behind its waits: who waits for it waits for the core that it lacks (docs/accounting.md,
 * "Without a core, and blocked"). */
#ifndef BLAME_OMPT_TOOL_SESSION_CORE_WAITS_H
#define BLAME_OMPT_TOOL_SESSION_CORE_WAITS_H

#include "ompt_tool/session/core_state.h"

/* Behind core_ask(): what the thread lost before its last wait, and since then; the line tells it others. [handler] */
void core_follow(struct core *core, struct state_line *line, const struct delivery *delivery);

/* How long a busy thread has lacked a core since its last wait, at one of the present sample's moments. [handler] */
int64_t core_lost_ns(const struct core *core, uint64_t time_ns);

/* What a thread loses while no other is in use is over when the others come. [handler] */
void core_note_others(struct core *core, struct state_line *line, struct census census);

/* The wait goes on, as one that began later (account_idle_resume). [handler] */
void core_resume(struct core *core, struct state_line *line);

#endif
