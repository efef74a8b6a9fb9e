#include "tune/search.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compare/statistics.h"
#include "report/text/memory.h"

#define CALIBRATION 2    /* runs of the default at the begin: how much times scatter */
#define RIVALS      (SEARCH_VALUES + 1)
#define FIRST_NOISE 0.02 /* of a time's logarithm, as long as little is known of it */
#define FIRST_FREEDOM 2  /* for how many differences that counts */
#define WORSE       2.5  /* standard errors by which one is behind the best of its race, and left */
#define BETTER      1.5  /* standard errors by which the last of a race is before the one that it is held against, and taken */
#define MUCH_BETTER 5    /* the same after one round */
#define LAST_ROUND  4    /* of a race: then one of 1 standard error is taken */
#define TRIM_ROUNDS 3    /* in which what is left out shows that it matters */
#define MAX_PASSES  3    /* through all dimensions: the best of one depends on the others */
#define MANY        6    /* values of an ordered dimension of which not all are tried at first */

/* One of a race: rival 0 is the best so far, which the others are held against. */
struct rival {
    struct search_setting setting;
    double sum, squares; /* of differences of logarithms to rival 0, a round each */
    size_t rounds;
    double last; /* logarithm of the round's time; NAN: it failed */
};

enum part { PART_CALIBRATION, PART_GUESS, PART_RACES, PART_TRIM, PART_PAIRS, PART_OVER };

struct search {
    struct search_plan plan;
    enum part part;
    uint64_t random;
    struct search_setting best, fails; /* fails: was the best, until it failed; the default: there is none */
    size_t runs;

    struct rival rival[RIVALS];
    size_t rivals, order[RIVALS], at, round; /* order[at] runs next */

    size_t pass, place, step; /* of the races: plan.order[place]; step: between values of an ordered dimension, 0: not begun */
    size_t changed;           /* dimensions tried since a value was taken */
    struct search_tried tried[SEARCH_DIMENSIONS];
    bool ran[SEARCH_DIMENSIONS][SEARCH_VALUES];

    double noise_squares; /* of differences around their means */
    size_t noise_freedom;
    double calibration[CALIBRATION];
    double pair_sum, pair_squares, default_sum;
    size_t pairs, failed_pairs;
    bool default_failed;
};

static uint64_t next_random(struct search *search)
{
    uint64_t x = search->random += 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

/* Standard deviation of one difference. */
static double noise(const struct search *search)
{
    double first = FIRST_NOISE * FIRST_NOISE * FIRST_FREEDOM;
    return sqrt((search->noise_squares + first) / (double)(search->noise_freedom + FIRST_FREEDOM));
}

static double mean_of(const struct rival *rival)
{
    return rival->sum / (double)rival->rounds;
}

static void shuffle(struct search *search)
{
    for (size_t i = 0; i < search->rivals; i++)
        search->order[i] = i;
    for (size_t i = search->rivals; i > 1; i--) {
        size_t other = next_random(search) % i, kept = search->order[i - 1];
        search->order[i - 1] = search->order[other];
        search->order[other] = kept;
    }
    search->at = 0;
}

static bool is_default(const struct search *search, const struct search_setting *setting)
{
    for (size_t i = 0; i < search->plan.count; i++)
        if (setting->value[i])
            return false;
    return true;
}

static void start_race(struct search *search)
{
    search->rival[0] = (struct rival){.setting = search->best};
    search->rivals = 1;
    search->round = 0;
}

static void enter(struct search *search, const struct search_setting *setting)
{
    if (search->rivals < RIVALS)
        search->rival[search->rivals++] = (struct rival){.setting = *setting};
}

static void start_pairs(struct search *search)
{
    search->part = is_default(search, &search->best) ? PART_OVER : PART_PAIRS;
    search->rivals = 2;
    search->rival[0] = (struct rival){0};
    search->rival[1] = (struct rival){.setting = search->best};
    shuffle(search);
}

/* The best without what it has of one dimension after the other: what does not matter is left out of it. */
static void start_trim(struct search *search)
{
    size_t chosen = 0;
    for (size_t i = 0; i < search->plan.count; i++)
        chosen += search->best.value[i] != 0;
    for (; chosen > 1 && search->place < search->plan.order_count; search->place++) {
        struct search_setting setting = search->best;
        size_t *value = &setting.value[search->plan.order[search->place]];
        if (!*value)
            continue;
        *value = 0;
        search->part = PART_TRIM;
        start_race(search);
        enter(search, &setting);
        shuffle(search);
        return;
    }
    start_pairs(search);
}

/* Values of an ordered dimension that lie a step away from the best one; at first all that lie whole steps away. */
static bool is_candidate(const struct search *search, size_t dimension, size_t value, bool first)
{
    size_t now = search->best.value[dimension], away = value > now ? value - now : now - value;
    if (!away || !search->plan.dimension[dimension].ordered)
        return away != 0;
    return first ? away % search->step == 0 : away == search->step;
}

static size_t first_step(const struct search_dimension *dimension)
{
    return dimension->ordered && dimension->values > MANY ? (dimension->values + 3) / 4 : 1;
}

/* The next race of the dimension at `place`; false: it has none. */
static bool next_race(struct search *search)
{
    size_t dimension = search->plan.order[search->place];
    const struct search_dimension *of = &search->plan.dimension[dimension];
    bool first = search->step == 0 && search->pass == 0;
    if (search->step == 1)
        return false;
    search->step = search->step ? search->step / 2 : search->pass ? 1 : first_step(of);
    start_race(search);
    for (size_t value = 0; value < of->values; value++)
        if (is_candidate(search, dimension, value, first)) {
            struct search_setting setting = search->best;
            setting.value[dimension] = value;
            enter(search, &setting);
        }
    return search->rivals > 1;
}

/* On to a dimension with a race; over when nothing has changed since each was tried. */
static void start_next_race(struct search *search)
{
    while (!next_race(search)) {
        search->step = 0;
        search->changed++;
        if (++search->place == search->plan.order_count) {
            search->place = 0;
            search->pass++;
        }
        if (search->pass == MAX_PASSES || search->changed >= search->plan.order_count) {
            search->place = 0;
            start_trim(search);
            return;
        }
    }
    shuffle(search);
}

static void note_tried(struct search *search, const struct rival *rival, bool taken)
{
    if (search->part != PART_RACES)
        return;
    size_t dimension = search->plan.order[search->place];
    struct search_tried *tried = &search->tried[dimension];
    double change = expm1(mean_of(rival));
    if (taken || !tried->taken) {
        if (taken || tried->best == 0 || change < tried->change) {
            tried->best = rival->setting.value[dimension];
            tried->change = change;
        }
        tried->taken |= taken;
    }
}

static void end_race(struct search *search, const struct rival *winner)
{
    if (winner) {
        search->best = winner->setting;
        search->changed = 0;
        note_tried(search, winner, true);
    }
    search->part = PART_RACES;
    start_next_race(search);
}

static int by_mean(const void *one, const void *other)
{
    double a = mean_of(one), b = mean_of(other);
    return (a > b) - (a < b);
}

/* Takes the round's times in; rivals that failed are left. */
static void count_round(struct search *search)
{
    size_t left = 1;
    for (size_t i = 1; i < search->rivals; i++) {
        struct rival rival = search->rival[i];
        double difference = rival.last - search->rival[0].last;
        if (isnan(difference))
            continue;
        if (rival.rounds) {
            double from_mean = difference - mean_of(&rival), part = (double)rival.rounds / (double)(rival.rounds + 1);
            search->noise_squares += from_mean * from_mean * part;
            search->noise_freedom++;
        }
        rival.sum += difference;
        rival.squares += difference * difference;
        rival.rounds++;
        search->rival[left++] = rival;
    }
    search->rivals = left;
    search->round++;
}

/* Halves those that are left, and leaves out who is behind the best beyond chance. */
static void thin_out(struct search *search)
{
    size_t count = search->rivals - 1;
    qsort(search->rival + 1, count, sizeof *search->rival, by_mean);
    note_tried(search, &search->rival[1], false);
    double error = noise(search) / sqrt((double)search->round), best = mean_of(&search->rival[1]);
    size_t left = (count + 1) / 2;
    while (left > 1 && mean_of(&search->rival[left]) - best > WORSE * error)
        left--;
    search->rivals = 1 + left;
}

static void end_trim_round(struct search *search)
{
    bool failed = isnan(search->rival[1].last);
    count_round(search);
    if (!failed && search->round < TRIM_ROUNDS) {
        shuffle(search);
        return;
    }
    if (!failed && mean_of(&search->rival[1]) < search->plan.least)
        search->best = search->rival[1].setting;
    search->place++;
    start_trim(search);
}

static void end_round(struct search *search)
{
    if (isnan(search->rival[0].last)) { /* the best fails, or sometimes does: nothing can be held against it */
        search->default_failed |= is_default(search, &search->best);
        search->fails = search->best;
        search->best = (struct search_setting){0};
        if (search->default_failed || search->part == PART_TRIM) {
            search->part = PART_OVER;
            return;
        }
        search->part = PART_RACES;
        start_next_race(search);
        return;
    }
    if (search->part == PART_TRIM) {
        end_trim_round(search);
        return;
    }
    count_round(search);
    if (search->rivals == 1) {
        end_race(search, NULL);
        return;
    }
    thin_out(search);
    const struct rival *first = &search->rival[1];
    double mean = mean_of(first), error = noise(search) / sqrt((double)search->round);
    bool last = search->round >= LAST_ROUND;
    if (mean > WORSE * error || (search->round > 1 && mean > -search->plan.least) || (last && mean > -error))
        end_race(search, NULL);
    else if (search->rivals == 2 && (last || mean < -(search->round > 1 ? BETTER : MUCH_BETTER) * error))
        end_race(search, first);
    else
        shuffle(search);
}

static void end_pair(struct search *search)
{
    double difference = search->rival[1].last - search->rival[0].last;
    if (isnan(difference)) {
        search->failed_pairs++;
        search->default_failed |= isnan(search->rival[0].last);
    } else {
        search->pair_sum += difference;
        search->pair_squares += difference * difference;
        search->default_sum += search->rival[0].last;
        search->pairs++;
    }
    if (search->pairs + search->failed_pairs >= search->plan.pairs)
        search->part = PART_OVER;
    else
        shuffle(search);
}

static void end_calibration(struct search *search)
{
    double sum = 0, squares = 0;
    for (size_t i = 0; i < CALIBRATION; i++)
        sum += search->calibration[i] / CALIBRATION;
    for (size_t i = 0; i < CALIBRATION; i++)
        squares += (search->calibration[i] - sum) * (search->calibration[i] - sum);
    search->noise_squares += 2 * squares; /* a difference has the noise of two times */
    search->noise_freedom += CALIBRATION - 1;
    search->part = PART_RACES;
    if (search->plan.guess) {
        struct search_setting guess = {{0}};
        memcpy(guess.value, search->plan.guess, search->plan.count * sizeof *guess.value);
        start_race(search);
        enter(search, &guess);
        search->part = is_default(search, &guess) ? PART_RACES : PART_GUESS;
    }
    if (search->part == PART_GUESS)
        shuffle(search);
    else if (search->plan.order_count)
        start_next_race(search);
    else
        search->part = PART_OVER;
}

struct search *search_begin(const struct search_plan *plan)
{
    struct search *search = memory_array(1, sizeof *search);
    search->plan = *plan;
    search->random = plan->seed;
    search->rivals = 1;
    shuffle(search);
    return search;
}

void search_end(struct search *search)
{
    free(search);
}

/* So many runs until the next decision, and those of the pairs, if there are any. */
static bool is_affordable(const struct search *search)
{
    size_t left = search->part == PART_PAIRS ? 2 : search->rivals, pairs = search->part == PART_PAIRS ? 0 : 2 * search->plan.pairs;
    return search->at > 0 || search->runs + left + pairs <= search->plan.runs;
}

bool search_next(struct search *search, struct search_setting *setting)
{
    if (!is_affordable(search))
        search_hurry(search);
    if (search->part == PART_OVER || (search->part == PART_PAIRS && !is_affordable(search)))
        return false;
    *setting = search->rival[search->order[search->at]].setting;
    return true;
}

void search_tell(struct search *search, double seconds)
{
    struct rival *rival = &search->rival[search->order[search->at++]];
    rival->last = seconds > 0 ? log(seconds) : NAN;
    search->runs++;
    if (search->part == PART_CALIBRATION) {
        search->calibration[search->runs - 1] = rival->last;
        search->at = 0;
        search->default_failed |= isnan(rival->last);
        if (search->default_failed)
            search->part = PART_OVER;
        else if (search->runs == CALIBRATION)
            end_calibration(search);
        return;
    }
    if (search->part == PART_RACES) {
        size_t dimension = search->plan.order[search->place], value = rival->setting.value[dimension];
        search->tried[dimension].values += rival != search->rival && !search->ran[dimension][value];
        search->ran[dimension][value] = true;
    }
    if (search->at < search->rivals)
        return;
    if (search->part == PART_PAIRS)
        end_pair(search);
    else
        end_round(search);
}

void search_hurry(struct search *search)
{
    if (search->part == PART_CALIBRATION)
        search->part = PART_OVER;
    else if (search->part == PART_RACES || search->part == PART_GUESS || search->part == PART_TRIM)
        start_pairs(search);
}

bool search_confirms(const struct search *search)
{
    return search->part == PART_PAIRS;
}

void search_judge(const struct search *search, struct search_result *result)
{
    double count = (double)search->pairs, mean = count ? search->pair_sum / count : 0;
    *result = (struct search_result){.verdict = SEARCH_AS_IT_IS, .best = search->best, .pairs = search->pairs, .runs = search->runs};
    if (search->pairs > 1) {
        double variance = fmax(search->pair_squares - count * mean * mean, 0) / (count - 1);
        double half = statistics_student(search->pairs - 1) * sqrt(variance / count);
        result->gain = -expm1(mean);
        result->low = -expm1(mean + half);
        result->high = -expm1(mean - half);
        result->default_s = exp(search->default_sum / count);
    }
    if (is_default(search, &search->best))
        result->best = search->fails;
    if (search->default_failed)
        result->verdict = SEARCH_FAILED;
    else if (is_default(search, &result->best))
        return;
    else if (search->failed_pairs || is_default(search, &search->best))
        result->verdict = SEARCH_FAILS;
    else if (search->pairs < search->plan.pairs)
        result->verdict = SEARCH_UNCONFIRMED;
    else
        result->verdict = result->low > 0 ? SEARCH_GAIN : SEARCH_NOT_SHOWN;
}

struct search_tried search_tried_of(const struct search *search, size_t dimension)
{
    return search->tried[dimension];
}
