/* Whether a thread had a core at the moment that its sample is of. A thread that is ready to run and has none gets its signal
 * when it has one again, at the code that was not run; one that sleeps gets it in the call that it sleeps in. The derivation
 * is in docs/accounting.md, "Without a core, and blocked". */
#ifndef BLAME_OMPT_TOOL_SESSION_CORE_H
#define BLAME_OMPT_TOOL_SESSION_CORE_H

#include <ucontext.h>

#include "ompt_tool/session/core_state.h"

/* The calling thread's samples are going to be asked for. [owner] */
void core_begin(struct core *core, const struct state_line *line, const struct moments *moments, struct profile_thread *ledger);
void core_end(struct core *core); /* [any] */

/* Fills in what is of the present sample. [handler] */
void core_ask(struct core *core, struct profile_thread *ledger, const struct delivery *delivery,
              const ucontext_t *context);

/* When the sample is recorded whose handler began then: what it took is not the program's. [handler] */
void core_leave(struct core *core, uint64_t now_ns);

#endif
