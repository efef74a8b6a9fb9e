/* The numbered phases whose instances are laid over one another (fold.h): which are open, when the last ones began and ended, and how long one
 * usually takes. Process-wide, in constant space; nobody waits for anybody.
 *
 * Guarantee F1: an instance counts as open before its begin is taken, and until what is said of its end is published: who sees none open, and
 * then reads what is published, has the end of every instance that any of its earlier samples was taken in. Guarantee F2: a place among the
 * ended ones has one writer at a time, and a stamp that says of which end it is; a reader that finds the same stamp before and after
 * has what one end wrote. Guarantee F3: each instance is counted once, as usual, as an outlier or as left out, also of the first ones, on which
 * the last of them decides for all. */
#ifndef BLAME_CCT_FOLD_PHASES_H
#define BLAME_CCT_FOLD_PHASES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/atomics.h"
#include "cct/profile_format.h"

#define FOLD_PHASES  8u   /* names that are folded; none of what comes later is */
#define FOLD_ENDED   256u /* ends that a phase remembers */
#define FOLD_FIRST   8u   /* instances that are waited for before one can be called long or short */
#define FOLD_CLASSES 1024u
#define FOLD_NONE    UINT32_MAX
#define FOLD_AWRY_NS 50000u /* the stack that a sample finds is that of so much after its moment: the signal takes time to come */

enum fold_verdict { FOLD_USUAL = 0, FOLD_OUTLIER = 1, FOLD_LEFT_OUT = 2, FOLD_UNDECIDED = 3 };

/* An instance. number: as its node's key; tree: of the thread that began and ended it. */
struct fold_instance {
    uint64_t begin_ns, end_ns;
    uint64_t number;
    uint32_t tree;
    uint32_t verdict;
};

struct fold_ended {
    uint64_t stamp; /* 1 + the number of the end that is written here; FOLD_BEING_WRITTEN */
    struct fold_instance instance;
};

struct fold_phase {
    uint32_t name; /* 0: of none yet */
    uint32_t open;
    uint64_t sampled_ns; /* the last moment that any thread keeps a sample of: an instance without one is not published */
    uint64_t quiet_ns;   /* none was open any more when that one ended */
    uint64_t published;  /* ends, so far */
    uint64_t low_ns, high_ns; /* usual durations, these included; high_ns 0: not decided yet */
    uint64_t first_low_ns, first_high_ns; /* what was decided about the first ones */
    uint64_t first_ns[FOLD_FIRST];        /* how long they took; 0: not there yet, or counted */
    uint32_t finished;                    /* of the first ones */
    uint32_t since;                       /* instances since the usual durations were looked at */
    struct profile_fold *record;          /* in the file */
    uint32_t durations[FOLD_CLASSES];     /* instances by the logarithm of their duration; old ones count less and less */
    struct fold_ended ended[FOLD_ENDED];
};

extern struct fold_phase fold_phases[FOLD_PHASES];
extern uint32_t fold_phase_count; /* of them in use */

/* The phase of that name, if it is in use already. [owner] */
static inline uint32_t fold_phase_known(uint32_t name)
{
    uint32_t phase = 0, count = load_acquire(&fold_phase_count);
    while (phase < count && fold_phases[phase].name != name)
        phase++;
    return phase < count ? phase : FOLD_NONE;
}

/* The same; it is in use from now on; FOLD_NONE without room. Serialised by the caller. [owner] */
uint32_t fold_phase_find(uint32_t name);

/* An instance begins; its begin is read after this. [owner] */
static inline void fold_phase_begin(uint32_t phase)
{
    fetch_add_acq_rel(&fold_phases[phase].open, 1); /* F1 */
}

/* It has ended. verdict: FOLD_LEFT_OUT if it is not whole; otherwise that is found here. [owner] */
void fold_phase_end(uint32_t phase, struct fold_instance *instance);

enum fold_read { FOLD_READ, FOLD_NOT_YET, FOLD_GONE };

/* End number `ticket` of the phase. [handler] */
enum fold_read fold_phase_read(const struct fold_phase *phase, uint64_t ticket, struct fold_instance *instance);

/* At the end of the measurement: what has been waited for does not come. [init] */
void fold_phases_finish(void);

/* The child of a fork: there are none. [init] */
void fold_phases_reset(void);

#endif
