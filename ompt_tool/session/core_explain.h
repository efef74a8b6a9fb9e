/* What a thread did that has left its core since its last sample, or got this one late: by what the kernel counts, and by the call that it
 * is in or comes out of (docs/accounting.md, "Without a core, and blocked"). */
#ifndef BLAME_OMPT_TOOL_SESSION_CORE_EXPLAIN_H
#define BLAME_OMPT_TOOL_SESSION_CORE_EXPLAIN_H

#include <ucontext.h>

#include "ompt_tool/session/core_state.h"

/* From its first moment on, for so long at most, until it got its core: had it, waited for it all of the time or since the signal had woken
 * it, or slept. Of one sample the counts are filled in; which moments are otherwise is filled in here. [handler] */
enum core_state core_explain(struct core *core, const struct delivery *delivery, uint64_t away_ns, const ucontext_t *context);

#endif
