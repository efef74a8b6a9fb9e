/* The parts of `blame tune`. */
#ifndef BLAME_CLI_TUNE_H
#define BLAME_CLI_TUNE_H

#include "base/option.h"
#include "report/profile/profile.h"
#include "report/rows/metric.h"
#include "tune/space.h"
#include "tune/try.h"

struct tune_request {
    char *const *program; /* its name and arguments, NULL behind them */
    const char *database, *application, *space, *build, *check, *specialise, *output;
    struct option_list input;
    double minutes, limit_s; /* 0: no limit */
    int runs, pairs, seed;
    bool dry_run, csv;
};

#define TUNE_CAUSES 5 /* work, idleness, overhead, lock wait, no core */
extern const enum metric tune_cause[TUNE_CAUSES];

/* What profiles of one setting say, summed. */
struct tune_causes {
    double seconds[TUNE_CAUSES];
    size_t profiles;
};

/* One run of the program, as it was. */
struct tune_run {
    struct search_setting setting;
    struct try_result result;
    long long trial; /* 0: it is none */
    bool confirms;   /* it is of the pairs */
};

struct tuning {
    const struct tune_request *request;
    struct space space;
    struct search *search;
    struct search_dimension dimension[SEARCH_DIMENSIONS];
    size_t order[SEARCH_DIMENSIONS], order_count;
    size_t guess[SEARCH_DIMENSIONS]; /* values that searches of before say are best */
    bool guessed;
    char *why[SEARCH_DIMENSIONS]; /* a dimension is tried first, or not at all; NULL: there is no reason for either */
    char blame[4096], folder[4096], id[17];
    struct tune_run *run;
    size_t runs, room;
    size_t unmeasured, untold; /* runs without a profile; profiles that the database did not take */
    char *database_says;       /* why it did not; NULL: it did */
    char *failure;             /* how the first run of the default went wrong; NULL: it did not */
    struct tune_causes causes[2]; /* of the pairs: the default, the best */
    double begin_s;
};

/* Runs everything. false: the default does not run, and failure says how. */
bool tune_all(struct tuning *tuning);
void tune_free(struct tuning *tuning);
double tune_now_s(void);

/* Sets the guess, if the database knows of one: by what is known of the program and of this input, once the default has a profile. */
void tune_guess(struct tuning *tuning, const struct profile *profile, const struct tune_causes *causes);

void tune_text(FILE *out, const struct tuning *tuning);
void tune_csv(FILE *out, const struct tuning *tuning);
/* What would be tried, without a run. */
void tune_plan_text(FILE *out, const struct tuning *tuning);

#endif
