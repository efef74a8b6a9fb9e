#include "cct/profile_format.h"
#include "command/profile/profile.h"
#include "tests/unit/unit.h"

#include "command/views/text.h"

#define S     1e9
#define RANKS 1000

static struct profile_rank ranks[RANKS];
static struct profile job;
static char *text;

/* Rank i works for i s, and waits in MPI for the others' rest. */
static void view(size_t count, bool all)
{
    size_t bytes;
    struct view_style style = {.title = "Ranks", .columns = 200, .all = all};
    free(text);
    job.ranks = ranks;
    job.rank_count = count;
    job.header.merged = (uint32_t)count;
    FILE *out = open_memstream(&text, &bytes);
    view_text_ranks(out, &job, &style);
    fclose(out);
}

static int make_ranks(void **state)
{
    (void)state;
    memset(&job, 0, sizeof job);
    for (uint32_t i = 0; i < RANKS; i++)
        ranks[i] =
            (struct profile_rank){.rank = i, .threads = 1, .work = i * S, .mpi_wait = (RANKS - 1 - i) * S, .host = "n"};
    return 0;
}

static int forget_text(void **state)
{
    (void)state;
    free(text);
    text = NULL;
    return 0;
}

static size_t lines(void)
{
    size_t count = 0;
    for (const char *at = text; *at; at++)
        count += *at == '\n';
    return count;
}

static bool has_rank(unsigned rank)
{
    char begin[32];
    snprintf(begin, sizeof begin, "\n%8u  n ", rank);
    return strstr(text, begin);
}

#define WITH_RANKS(name) UNIT_TEST_WITH(name, make_ranks, forget_text)

WITH_RANKS(few_ranks_are_listed)
{
    view(40, false);
    assert_null(strstr(text, "median"));
    assert_null(strstr(text, "(job")); /* which nothing tells */
    for (unsigned i = 0; i < 40; i++)
        assert_true(has_rank(i));
}

WITH_RANKS(of_many_ranks_there_is_the_spread_and_who_stands_out)
{
    view(RANKS, false);
    assert_true(lines() < 50);
    assert_has(text, "1000 ranks");
    /* wall, work; 99.9 and 899.1 are between two ranks */
    assert_has(text, "   least                            0.00      0.00");
    assert_has(text, "    10 %                            0.00     99.90");
    assert_has(text, "  median                            0.00    499.50");
    assert_has(text, "    90 %                            0.00    899.10");
    assert_has(text, "    most                            0.00    999.00");
    assert_has(text, "    mean                            0.00    499.50");
    assert_has(text, "Most work");
    for (unsigned i = 0; i < 5; i++)
        assert_true(has_rank(999 - i) && has_rank(i)); /* the least work is the most waiting */
    assert_false(has_rank(994) || has_rank(5));
    assert_null(strstr(text, "Made others wait"));
    assert_null(strstr(text, "Missing"));
}

WITH_RANKS(where_ranks_are_alike_none_stands_out)
{
    for (unsigned i = 0; i < RANKS; i++) {
        ranks[i].work = (100 + i % 2) * S;
        ranks[i].mpi_wait = 0;
    }
    view(RANKS, false);
    assert_has(text, "  median");
    assert_null(strstr(text, "Most"));
    for (unsigned i = 0; i < RANKS; i++)
        assert_false(has_rank(i));
}

WITH_RANKS(all_of_many_are_listed_where_that_is_asked_for)
{
    view(RANKS, true);
    for (unsigned i = 0; i < RANKS; i++)
        assert_true(has_rank(i));
    assert_null(strstr(text, "median"));
}

WITH_RANKS(what_is_wrong_with_ranks_is_told_and_they_count_nowhere)
{
    for (unsigned i = 0; i < 30; i++) {
        ranks[970 + i].state = PROFILE_RANK_MISSING;
        strcpy(ranks[970 + i].why, "it left no measurement");
    }
    view(RANKS, false);
    assert_has(text, "    most                            0.00    969.00");
    assert_true(has_rank(970));
    assert_has(text, "it left no measurement");
    assert_has(text, "10 more");
    assert_false(has_rank(999));
}

/* Who made whom wait is known of the ranks of some nodes only. */
WITH_RANKS(who_made_others_wait_is_told_of_those_of_whom_it_is_known)
{
    job.header.ranks_seen = 2;
    for (unsigned i = 0; i < 2; i++) {
        ranks[500 + i].ranks_seen = 2;
        ranks[500 + i].made_wait = (i + 1) * 7 * S;
    }
    view(RANKS, false);
    assert_has(text, "Made others wait most\n     501  n ");
    assert_false(has_rank(500)); /* it is below their mean */
    assert_has(text, "  median");
    assert_has(text, "10.50\n"); /* of the two */
}

UNIT_MAIN(NULL, NULL)
