#include "command/tables/coverage.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "command/tables/conservation.h"

#define LEAST_PERCENT 95.0
#define NO_LIMIT      UINT64_MAX

/* Describes why there was no room (memory, the measurement file, places for threads), and what to do about it. */
static void coverage_room_cause(const struct profile *profile, struct coverage_loss *loss)
{
    const struct profile_header *header = &profile->header;
    const char *file = profile_text(profile, "file");
    char place[400];
    snprintf(place, sizeof place, "%s", file ? file : "the profile");
    loss->advice = "Write the measurement elsewhere: `blame run --out DIR`, BLAME_OUT.";
    if (header->room_error == EFBIG) {
        snprintf(loss->cause, sizeof loss->cause,
                 "the limit on the size of files, %llu bytes, is reached (RLIMIT_FSIZE, ulimit -f)",
                 (unsigned long long)header->room_limit);
        loss->advice = "Raise the limit on file sizes for the run, `ulimit -f`.";
    } else if (header->room_error == ENOMEM) {
        loss->advice = "Raise the limit on memory, `ulimit -v`, or leave more memory for the run.";
        if (header->room_limit != NO_LIMIT)
            snprintf(loss->cause, sizeof loss->cause,
                     "no memory is left; the limit is %llu bytes (RLIMIT_AS, ulimit -v)",
                     (unsigned long long)header->room_limit);
        else
            snprintf(loss->cause, sizeof loss->cause, "no memory is left");
    } else if (header->room_error == ENOSPC || header->room_error == EDQUOT) {
        snprintf(loss->cause, sizeof loss->cause, "%s for %s",
                 header->room_error == ENOSPC ? "no space is left on the device" : "the disk quota is used up", place);
    } else if (header->room_error == EOVERFLOW) {
        snprintf(loss->cause, sizeof loss->cause, "%s is full: it holds at most %llu MiB", place,
                 (unsigned long long)PROFILE_MAX_CHUNKS * PROFILE_CHUNK_BYTES >> 20);
        loss->advice = "Take fewer samples, `blame run --rate`, or keep fewer frames, `--depth`.";
    } else if (header->room_error) {
        snprintf(loss->cause, sizeof loss->cause, "%s: %s", place, strerror((int)header->room_error));
    } else if (header->threads_untracked) {
        snprintf(loss->cause, sizeof loss->cause, "more threads existed at a time than blame can measure");
        loss->advice = "Use fewer threads, OMP_NUM_THREADS.";
    }
}

static void coverage_timer_cause(const struct profile *profile, struct coverage_loss *loss)
{
    const struct profile_header *header = &profile->header;
    loss->advice = "These threads cannot be measured on this system.";
    if (header->timer_error == EAGAIN) {
        snprintf(loss->cause, sizeof loss->cause,
                 "the limit on pending signals, %llu for all of the user's processes, is reached "
                 "(RLIMIT_SIGPENDING, "
                 "ulimit -i)",
                 (unsigned long long)header->timer_limit);
        loss->advice = "Raise the limit on pending signals for the run, `ulimit -i`.";
    } else if (header->timer_error) {
        snprintf(loss->cause, sizeof loss->cause, "the system refuses to create timers: %s",
                 strerror((int)header->timer_error));
    }
}

static void coverage_signal_cause(const struct profile *profile, struct coverage_loss *loss)
{
    bool taken = profile->header.signals_taken > 0;
    if (profile->header.timer_error == PROFILE_TIMERS_DELETED) {
        snprintf(loss->cause, sizeof loss->cause, "the program has deleted the sampling timers (timer_delete)");
        loss->advice = "Look in the program for a timer_delete() call on a timer that the program did not create.";
        return;
    }
    snprintf(loss->cause, sizeof loss->cause, "the program %s the sampling signal", taken ? "has taken" : "blocks");
    loss->advice = "Choose another signal with BLAME_SIGNAL or `blame run --signal`.";
}

static void coverage_add_loss(const struct profile *profile, struct coverage *coverage, const char *what, double ns,
                              void (*cause)(const struct profile *profile, struct coverage_loss *loss))
{
    if (!(ns > 0))
        return;
    size_t at = coverage->count++;
    for (; at > 0 && coverage->loss[at - 1].seconds < ns * 1e-9; at--)
        coverage->loss[at] = coverage->loss[at - 1];
    coverage->loss[at] = (struct coverage_loss){.what = what, .seconds = ns * 1e-9};
    cause(profile, &coverage->loss[at]);
    coverage->lost_s += ns * 1e-9;
}

void coverage_of(const struct profile *profile, struct coverage *coverage)
{
    struct ledger ledger;
    ledger_sum(profile, &ledger);
    double untracked = (double)profile->header.untracked_ns;
    uint64_t without_room = ledger.dropped_by[PROFILE_DROP_NO_MEMORY];
    *coverage =
        (struct coverage){.whole_s = (ledger.lifetime + ledger.unsampled + ledger.unsignalled + untracked) * 1e-9};
    coverage_add_loss(profile, coverage, "threads for which there was no room", untracked, coverage_room_cause);
    coverage_add_loss(profile, coverage, "samples for which there was no room",
                      without_room ? ledger.dropped_ns * (double)without_room / (double)ledger.dropped : 0,
                      coverage_room_cause);
    coverage_add_loss(profile, coverage, "threads without a timer", ledger.unsampled, coverage_timer_cause);
    coverage_add_loss(profile, coverage, "threads that the sampling signal did not reach", ledger.unsignalled,
                      coverage_signal_cause);
}

double coverage_percent(const struct coverage *coverage)
{
    double measured_s = coverage->whole_s - coverage->lost_s;
    return !(coverage->whole_s > 0) ? 100 : measured_s > 0 ? 100 * measured_s / coverage->whole_s : 0;
}

bool coverage_is_poor(const struct coverage *coverage)
{
    return coverage_percent(coverage) < LEAST_PERCENT;
}
