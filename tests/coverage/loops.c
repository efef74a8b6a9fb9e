/* Loops by schedule, reductions by method, ordered loops, teams on the host. */
#include "coverage.h"

#define LOOP_OF_TWO(name, clauses)                                                                                     \
    static bool name(void)                                                                                             \
    {                                                                                                                  \
        int sum = 0;                                                                                                   \
        PRAGMA(omp parallel num_threads(2) reduction(+ : sum))                                                         \
        {                                                                                                              \
            PRAGMA(omp for clauses)                                                                                    \
            for (int i = 0; i < 2; i++)                                                                                \
                sum += uneven(i);                                                                                      \
        }                                                                                                              \
        return sum == 3;                                                                                               \
    }
#define PRAGMA(text) _Pragma(#text)

LOOP_OF_TWO(for_static, schedule(static))
LOOP_OF_TWO(for_static_chunk, schedule(static, 1))
LOOP_OF_TWO(for_dynamic, schedule(dynamic, 1))
LOOP_OF_TWO(for_guided, schedule(guided, 1))
LOOP_OF_TWO(for_runtime, schedule(runtime))
LOOP_OF_TWO(for_auto, schedule(auto))
LOOP_OF_TWO(for_nowait, schedule(static) nowait)

static bool for_collapse(void)
{
    int sum = 0;
#pragma omp parallel for num_threads(2) collapse(2) schedule(static) reduction(+ : sum)
    for (int i = 0; i < 1; i++)
        for (int j = 0; j < 2; j++)
            sum += uneven(i + j);
    return sum == 3;
}

static bool loop(void)
{
    int seen[2] = {0, 0};
#pragma omp parallel num_threads(2)
    {
#pragma omp loop
        for (int i = 0; i < 2; i++)
            seen[i] = uneven(i);
    }
    return seen[0] == 1 && seen[1] == 2;
}

static bool reduction(void)
{
    double sum = 0, product = 1;
    int most = 0;
#pragma omp parallel num_threads(2) reduction(+ : sum) reduction(* : product) reduction(max : most)
    {
        int value = uneven(omp_get_thread_num());
        sum += value;
        product *= 2 * value;
        most = value > most ? value : most;
    }
    return sum == 3 && product == 8 && most == 2;
}

/* The release is the end of the ordered block, in the construct's own body: the blame is the region's. */
static bool ordered(void)
{
    static const char turn;
    int order = 0, right = 0;
#pragma omp parallel num_threads(2)
    {
#pragma omp for ordered schedule(static, 1)
        for (int i = 0; i < 8; i++) {
            double asked_s = clock_s();
#pragma omp ordered
            {
                double got_s = clock_s();
                spin_until(got_s + 0.0203);
                right += order++ == i;
                record_lock("ordered", &turn, asked_s, got_s, clock_s());
            }
        }
    }
    return right == 8;
}

/* Waiting for the iteration before: the runtime tells no tool of it, so it is overhead, and the thread is
 * busy. */
static bool doacross(void)
{
    int values[9] = {1};
#pragma omp parallel num_threads(2)
    {
#pragma omp for ordered(1) schedule(static, 1)
        for (int i = 1; i < 9; i++) {
            double asked_s = clock_s();
#pragma omp ordered depend(sink : i - 1)
            double got_s = clock_s();
            record_interval(INTERVAL_RUNTIME, "doacross", NULL, asked_s, got_s);
            work_for("doacross", 0.0151);
            values[i] = values[i - 1] + i;
#pragma omp ordered depend(source)
        }
    }
    return values[8] == 37;
}

static bool teams(void)
{
    int seen[2] = {0, 0}, size = 0;
#pragma omp teams num_teams(2) thread_limit(1) shared(seen, size)
    {
        int team = omp_get_team_num();
        seen[team] = uneven(team);
        if (team == 0)
            size = omp_get_num_teams();
    }
    return size == 2 ? seen[0] == 1 && seen[1] == 2 : seen[0] == 1;
}

static bool distribute(void)
{
    int seen[2] = {0, 0};
#pragma omp teams num_teams(2) thread_limit(1) shared(seen)
#pragma omp distribute
    for (int i = 0; i < 2; i++)
        seen[i] = uneven(i);
    return seen[0] == 1 && seen[1] == 2;
}

static bool teams_parallel_for(void)
{
    int seen[2] = {0, 0};
#pragma omp teams distribute parallel for num_teams(1) thread_limit(2) num_threads(2) shared(seen)
    for (int i = 0; i < 2; i++)
        seen[i] = uneven(i);
    return seen[0] == 1 && seen[1] == 2;
}

static const struct construct constructs[] = {
    {"for_static", for_static, 0},
    {"for_static_chunk", for_static_chunk, 0},
    {"for_dynamic", for_dynamic, 0},
    {"for_guided", for_guided, 0},
    {"for_runtime", for_runtime, 0},
    {"for_auto", for_auto, 0},
    {"for_nowait", for_nowait, 0},
    {"for_collapse", for_collapse, 0},
    {"loop", loop, 0},
    {"reduction", reduction, 0},
    {"ordered", ordered, 0},
    {"doacross", doacross, 0},
    {"teams", teams, 0},
    {"distribute", distribute, 0},
    {"teams_parallel_for", teams_parallel_for, 0},
};

COVERAGE_MAIN(constructs)
