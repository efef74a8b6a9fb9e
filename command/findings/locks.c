/* Finds locks that threads wait for: single locks, and functions that hold many locks. */
#include "command/findings/rules.h"
#include "command/rows/label.h"
#include "command/rows/own.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "command/text/memory.h"

/* The waiting that one finding covers, as a sum over pairs of a waiting place and a blamed context. */
struct waiting {
    double ns, handoff_ns, holder_ns;
    double no_core_ns; /* waiting for holders and next owners that had no core; not part of ns */
    double held_ns;    /* own time of the code that held the lock, also before and after */
    uint32_t row;      /* the row that is blamed most; in a handoff, the row that waited most */
    double idle_ns;    /* ns of idleness in the regions in which threads wait for the lock */
    double work_ns;    /* ns of work in these regions */
    double then_ns;    /* part of idle_ns for code that held a lock */
    double asleep_ns;  /* part of ns that is charged to sleeping holders; an estimate */
    double most_asleep_ns;
    uint32_t asleep; /* the row with the largest part of asleep_ns */
    size_t locks;
};

static bool is_handoff(const struct row *row)
{
    return row->kind == ROW_PSEUDO && strcmp(row->label->name, "<lock handoff>") == 0;
}

/* Waiting for threads without a core is mentioned if it is at least this share of the other waiting. */
#define NOTABLE_SHARE 0.05

/* Returns the row of the program's own code for the context that a pair blames. */
static uint32_t row_of_pair(const struct inquiry *inquiry, const struct wait_pair *pair)
{
    return inquiry->own[pair->row];
}

/* Splits a pair's waiting by the share of its time for which the blamed context slept. The sums do not tell
 * which of that time was spent with the lock. */
static void add_sleep_of_holder(struct waiting *to, const struct wait_pair *pair, const struct profile_sums *held)
{
    double own_ns = held->work + held->overhead + held->blocked;
    double asleep_ns = own_ns > 0 ? pair->ns * held->blocked / own_ns : 0;
    to->asleep_ns += asleep_ns;
    if (asleep_ns > to->most_asleep_ns) {
        to->most_asleep_ns = asleep_ns;
        to->asleep = pair->row;
    }
}

/* Returns the call below a row that slept most, ROW_NONE if none did. */
static uint32_t most_blocked_call(const struct rows *rows, uint32_t above)
{
    uint32_t most = ROW_NONE;
    for (uint32_t i = above + 1; i < rows->count && rows->row[i].depth > rows->row[above].depth; i++) {
        const struct profile_sums *sums = rows->row[i].exclusive;
        if (rows->row[i].kind != ROW_STATEMENT && sums->blocked > 0 &&
            (most == ROW_NONE || sums->blocked > rows->row[most].exclusive->blocked))
            most = i;
    }
    return most;
}

/* If the holder's samples have not counted the waiters, a lock of POSIX threads has its blame at its release, which has no
 * time of its own. Its holders had it for at least 1 / (threads - 1) of the waiting. The function around the release slept,
 * or waited for a core in the same call, for the part of this time in which it did not run. */
static void add_sleep_of_releaser(const struct inquiry *inquiry, struct waiting *to)
{
    const struct rows *rows = inquiry->rows;
    double others = inquiry->threads - 1;
    if (to->held_ns > 0 || to->row == ROW_NONE || others < 1)
        return;
    for (uint32_t row = to->row; row; row = rows->row[row].parent) {
        uint32_t asleep = most_blocked_call(rows, row);
        if (asleep == ROW_NONE)
            continue;
        const struct profile_sums *within = rows->row[row].inclusive,
                                  *call = rows->row[rows_outermost(rows, asleep)].inclusive;
        double ran_ns = within->work + within->overhead + within->no_core - call->no_core;
        to->asleep_ns = others * fmin(fmax(0, to->holder_ns / others - ran_ns), call->blocked + call->no_core);
        to->asleep = asleep;
        return;
    }
}

/* Adds a pair to the waiting of a finding. stamp: a number unique to the finding, with which the idleness of
 * each unit is added only once. */
static void add_lock_wait_pair(struct inquiry *inquiry, struct waiting *to, const struct wait_pair *pair,
                               uint32_t stamp)
{
    uint32_t row = row_of_pair(inquiry, pair);
    bool handoff = is_handoff(&inquiry->rows->row[pair->row]);
    const struct profile_sums *held = inquiry->rows->row[pair->row].exclusive;
    if (row_is_no_core(&inquiry->rows->row[pair->row])) {
        to->no_core_ns += pair->ns;
        return;
    }
    to->ns += pair->ns;
    to->held_ns += held->work + held->overhead + held->blocked;
    if (handoff)
        to->handoff_ns += pair->ns;
    else
        add_sleep_of_holder(to, pair, held);
    if (to->row == ROW_NONE || (!handoff && pair->ns > to->holder_ns)) {
        to->row = row;
        to->holder_ns = handoff ? 0 : pair->ns;
    }
    const struct unit *host = host_once(inquiry, inquiry->unit_of[row], stamp);
    to->idle_ns += host ? host->host_idle_ns : 0;
    to->work_ns += host ? host->host_work_ns : 0;
    to->then_ns += host ? inquiry->unit[inquiry->unit_of[row]].idle_ns[CAUSE_LOCK] : 0;
}

static const struct lock_entry *find_waited_lock(const struct inquiry *inquiry, const struct wait_place *place)
{
    for (size_t i = 0; i < inquiry->locks->count; i++) {
        const struct lock_entry *lock = &inquiry->locks->lock[i];
        if (lock->wait_id == place->wait_id && lock->kind == place->lock_kind)
            return lock;
    }
    return NULL;
}

/* Writes "; the longest wait took 0.003 s, and f  f.c:9 waited most in all". */
static void describe_lock(struct inquiry *inquiry, const struct lock_entry *lock, char *text, size_t bytes)
{
    *text = '\0';
    if (!lock || lock->waiter == ROW_NONE)
        return;
    char *waiter = row_own_label(inquiry->rows, lock->waiter, METRIC_LOCK_WAIT_HERE, NAME_COLUMNS, false);
    snprintf(text, bytes, "; the longest wait took %s s, and %s waited most in all",
             DECIMAL(lock->longest_ns * 1e-9, 4), waiter);
    free(waiter);
}

/* Writes ", and 0.10 s for owners without a core", if that is much. */
static void describe_missing_cores(const struct waiting *waiting, char *text, size_t bytes)
{
    *text = '\0';
    if (waiting->no_core_ns > NOTABLE_SHARE * waiting->ns)
        snprintf(text, bytes, ", and %s s for owners without a core", DECIMAL(waiting->no_core_ns * 1e-9, 2));
}

/* Writes "; threads then waited 0.10 s for the last ones that got it", if that is much. */
static void describe_last_owners(const struct waiting *waiting, char *text, size_t bytes)
{
    *text = '\0';
    if (waiting->then_ns > NOTABLE_SHARE * waiting->ns)
        snprintf(text, bytes, "; threads then waited %s s for the last ones that got it",
                 DECIMAL(waiting->then_ns * 1e-9, 2));
}

/* Writes ", held while blocked in read" if threads mostly waited for holders that slept. */
static bool describe_sleep(struct inquiry *inquiry, const struct waiting *waiting, char *text, size_t bytes)
{
    char call[NAME_BYTES];
    *text = '\0';
    if (!(waiting->asleep_ns > 0) || waiting->asleep_ns < MOSTLY * waiting->ns)
        return false;
    name_call(call, inquiry->rows, waiting->asleep);
    snprintf(text, bytes, ", held while blocked in %s", call);
    return true;
}

/* Returns whether the address is all that is known of the lock of a construct, or of a mutex. */
static bool is_nameless_construct(const struct lock_entry *lock)
{
    return lock->kind >= PROFILE_LOCK_CRITICAL && strncmp(lock->name, "0x", 2) == 0;
}

#define LOCK_BYTES (NAME_BYTES + 16) /* of a name with the kind of lock before it */

/* Writes "lock l", "critical(sum)", "mutex 0x1234" or "8 locks". */
static void name_locks(const struct waiting *waiting, const struct lock_entry *lock, char to[LOCK_BYTES])
{
    bool plain = lock && (lock->kind == PROFILE_LOCK_LOCK || lock->kind == PROFILE_LOCK_NEST_LOCK);
    char name[NAME_BYTES];
    if (!lock) {
        snprintf(to, LOCK_BYTES, "%zu locks", waiting->locks);
        return;
    }
    shorten_name(name, lock->name);
    if (is_nameless_construct(lock))
        snprintf(to, LOCK_BYTES, "%s %s", lock_kind_name[lock->kind], lock->name);
    else
        snprintf(to, LOCK_BYTES, "%s%s", plain ? "lock " : "", name);
}

/* Records a finding. lock: NULL if the finding covers many locks. */
static void put_lock_finding(struct inquiry *inquiry, const struct waiting *waiting, const struct lock_entry *lock)
{
    double seconds = waiting->ns * 1e-9;
    bool handoff = waiting->handoff_ns > HANDOFF_SHARE * waiting->ns;
    bool scarce = waited_without_core_s(inquiry->profile) > HANDOFF_SHARE * waiting->handoff_ns * 1e-9;
    char asleep[NAME_BYTES + 32], slept[FORMAT_NUMBER_BYTES + 64] = "";
    char name[LOCK_BYTES], more[FORMAT_NUMBER_BYTES + 4 * NAME_COLUMNS + 64], cores[FORMAT_NUMBER_BYTES + 64];
    char then[FORMAT_NUMBER_BYTES + 64];
    struct finding finding = {
        .rule = "lock-bound", .row = waiting->row, .metric = METRIC_LOCK_WAIT, .seconds = seconds, .sampled = true};
    double idle_s = 1e-9 * waiting->idle_ns;
    /* the holder may sleep, so cores do not limit what can be saved; a lock that is held for less time is less often
     * held by a thread without a core */
    struct relief relief = {.waited_s = seconds + 1e-9 * waiting->no_core_ns,
                            .idle_s = idle_s,
                            .asleep_s = idle_s,
                            .moved_s = 1e-9 * waiting->held_ns,
                            .idle_follows = true};
    add_lock_calls(inquiry, waiting->row, &relief);
    /* the data that a lock protects moves between caches with it, which may take as long as passing the lock on */
    double passed_s = relief.spent_s + 1e-9 * waiting->handoff_ns, held_s = 1e-9 * waiting->held_ns;
    relief.slowed_s = fmin(held_s, passed_s) + slowed_by(passed_s, fmax(0, 1e-9 * waiting->work_ns - held_s));
    name_locks(waiting, lock, name);
    describe_lock(inquiry, lock, more, sizeof more);
    describe_missing_cores(waiting, cores, sizeof cores);
    describe_last_owners(waiting, then, sizeof then);
    bool sleeps = describe_sleep(inquiry, waiting, asleep, sizeof asleep);
    if (sleeps) {
        inquiry->holds_told[waiting->asleep] = true;
        snprintf(slept, sizeof slept, ", and for about %s %% its holder slept",
                 DECIMAL(100 * waiting->asleep_ns / waiting->ns, 0));
    }
    finding.title = format_printable("%s s of waiting for %s%s%s", DECIMAL(seconds, 2), name, asleep, cores);
    finding.evidence = format_printable("for %s %% of %s, nobody held the lock%s%s%s",
                                        DECIMAL(100 * waiting->handoff_ns / waiting->ns, 0),
                                        *cores ? "the first part" : "that", slept, more, then);
    bool ordered = lock && lock->kind == PROFILE_LOCK_ORDERED;
    finding.advice = format_printable(
        "%s",
        ordered  ? "Do less in the ordered section: move work before or after it, or remove ordered if the order does "
                   "not matter."
        : sleeps ? "A thread sleeps while it holds the lock, and others wait for it. Make the call before the lock is "
                   "taken or after it is released, and hold the lock only for the data that threads share."
        : handoff && scarce
            ? "Waiting threads had no core when the lock was passed to them, so it is unknown whether the lock is "
              "taken too often or held too long. Use one lock for each part of the data, private copies, or a "
              "reduction; do less while holding the lock. Measure on a quiet machine."
        : handoff ? "The lock keeps passing from thread to thread. Take it less often (private copies, a "
                    "reduction, several updates at once), or use atomic for single updates."
                  : "Do less while holding the lock: move work out of the section, use one lock for each part of "
                    "the data, private copies, or a reduction.");
    put_bounded_finding(inquiry, &finding, &relief);
}

static bool is_lock_waiting_enough(const struct inquiry *inquiry, double seconds)
{
    return finding_is_enough(inquiry, seconds) && seconds >= LEAST_GAIN_S;
}

/* Finds functions that hold many locks, none of which has a finding of its own. */
static void find_lock_holders(struct inquiry *inquiry, const bool *claimed)
{
    const struct wait_table *waits = inquiry->waits;
    const struct rows *rows = inquiry->rows;
    struct tally holders = {0};
    for (size_t i = 0; i < waits->pair_count; i++) {
        const struct wait_pair *pair = &waits->pair[i];
        uint32_t row = row_of_pair(inquiry, pair);
        if (waits->place[pair->place].kind == WAIT_LOCK && !claimed[pair->place] &&
            !row_is_no_core(&rows->row[pair->row]))
            tally_add(&holders, rows->row[row].function, row, pair->ns);
    }
    for (size_t h = 0; h < holders.count; h++) {
        struct waiting waiting = {.row = ROW_NONE};
        uint32_t last = ROW_NONE;
        if (!is_lock_waiting_enough(inquiry, holders.item[h].ns * 1e-9))
            continue;
        uint32_t stamp = next_stamp(inquiry);
        for (size_t i = 0; i < waits->pair_count; i++) {
            const struct wait_pair *pair = &waits->pair[i];
            if (waits->place[pair->place].kind != WAIT_LOCK || claimed[pair->place] ||
                rows->row[row_of_pair(inquiry, pair)].function != holders.item[h].key)
                continue;
            add_lock_wait_pair(inquiry, &waiting, pair, stamp);
            waiting.locks += pair->place != last;
            last = pair->place;
        }
        put_lock_finding(inquiry, &waiting, NULL);
    }
    tally_free(&holders);
}

void find_locks(struct inquiry *inquiry)
{
    const struct wait_table *waits = inquiry->waits;
    bool *claimed = memory_array(waits->place_count, sizeof *claimed);
    for (size_t p = 0; p < waits->place_count; p++) {
        const struct wait_place *place = &waits->place[p];
        struct waiting waiting = {.row = ROW_NONE};
        if (place->kind != WAIT_LOCK || !is_lock_waiting_enough(inquiry, place->ns * 1e-9))
            continue;
        claimed[p] = true;
        uint32_t stamp = next_stamp(inquiry);
        for (uint32_t i = 0; i < place->pair_count; i++)
            add_lock_wait_pair(inquiry, &waiting, &waits->pair[place->first_pair + i], stamp);
        add_sleep_of_releaser(inquiry, &waiting);
        if (is_lock_waiting_enough(inquiry, waiting.ns * 1e-9))
            put_lock_finding(inquiry, &waiting, find_waited_lock(inquiry, place));
    }
    find_lock_holders(inquiry, claimed);
    free(claimed);
}
