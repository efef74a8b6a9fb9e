/* IS, modelled on the NAS Parallel Benchmarks: ranks integer keys ten times, that is, finds the position of
 * each key in sorted order. It first sorts the keys into buckets, and then counts the keys in each bucket. It
 * needs much memory bandwidth and no atomics. */
#include "../kernel.h"
#include "npb_random.h"

#define SEED       UINT64_C(314159265)
#define ITERATIONS 10
#define TEST_KEYS  5
#define BUCKETS    1024

/* A key whose rank is known: in iteration i, the key at `index` has the rank `rank` + `slope` * (i + offset). */
struct test_key {
    int index, rank, slope, offset;
};

struct problem {
    int keys_log2, key_max_log2;
    struct test_key test[TEST_KEYS];
};

static const struct problem problems[] = {
    {16, 11, {{48427, 0, 1, 0}, {17148, 18, 1, 0}, {23627, 346, 1, 0}, {62548, 64917, -1, 0}, {4431, 65463, -1, 0}}},
    {20,
     16,
     {{357773, 1249, 1, -2},
      {934767, 11698, 1, -2},
      {875723, 1039987, -1, 0},
      {898999, 1043896, -1, 0},
      {404505, 1048018, -1, 0}}},
    {23,
     19,
     {{2112377, 104, 1, -1},
      {662041, 17523, 1, -1},
      {5336171, 123928, 1, -1},
      {3642833, 8288932, -1, -1},
      {4250760, 8388264, -1, -1}}},
};

struct ranking {
    /* number of keys, limit of their values, and `shift`: the bucket of a key is key >> shift */
    int key_count, key_limit, shift;
    int *keys;
    int *partitioned; /* keys, sorted by bucket */
    int *upto;        /* for each value k, the number of keys that are not larger */
    /* for each thread and bucket, the position of the thread's next key; the index is thread * BUCKETS +
     * bucket */
    int *offset;
    int bucket_begin[BUCKETS + 1];
};

static void is_generate_keys(struct ranking *r)
{
    const double scale = r->key_limit / 4;
#pragma omp parallel
    {
        int threads = omp_get_num_threads(), thread = omp_get_thread_num();
        int begin = (int)((int64_t)r->key_count * thread / threads);
        int end = (int)((int64_t)r->key_count * (thread + 1) / threads);
        uint64_t state = npb_random_skip(SEED, 4 * (uint64_t)begin);
        for (int i = begin; i < end; i++) {
            double sum = npb_random_next(&state);
            for (int k = 0; k < 3; k++)
                sum += npb_random_next(&state);
            r->keys[i] = (int)(scale * sum);
        }
    }
}

/* Converts the numbers of keys that the threads have counted to the positions at which they write. */
static void is_place_buckets(struct ranking *r, int threads)
{
    int position = 0;
    for (int bucket = 0; bucket < BUCKETS; bucket++) {
        r->bucket_begin[bucket] = position;
        for (int thread = 0; thread < threads; thread++) {
            int *entry = &r->offset[(size_t)thread * BUCKETS + bucket], count = *entry;
            *entry = position;
            position += count;
        }
    }
    r->bucket_begin[BUCKETS] = position;
}

static void is_count_bucket(struct ranking *r, int bucket)
{
    int first = bucket << r->shift, limit = (bucket + 1) << r->shift;
    memset(r->upto + first, 0, (size_t)(limit - first) * sizeof(int));
    for (int i = r->bucket_begin[bucket]; i < r->bucket_begin[bucket + 1]; i++)
        r->upto[r->partitioned[i]]++;
    int sum = r->bucket_begin[bucket];
    for (int key = first; key < limit; key++)
        r->upto[key] = sum += r->upto[key];
}

static void is_rank_keys(struct ranking *r)
{
#pragma omp parallel
    {
        int *offset = r->offset + (size_t)omp_get_thread_num() * BUCKETS;
        memset(offset, 0, BUCKETS * sizeof(int));
        /* Both loops have a static schedule and the same number of iterations, so each thread visits the keys
         * that it has counted. */
#pragma omp for schedule(static)
        for (int i = 0; i < r->key_count; i++)
            offset[r->keys[i] >> r->shift]++;
#pragma omp single
        is_place_buckets(r, omp_get_num_threads());
#pragma omp for schedule(static)
        for (int i = 0; i < r->key_count; i++)
            r->partitioned[offset[r->keys[i] >> r->shift]++] = r->keys[i];
#pragma omp for schedule(dynamic)
        for (int bucket = 0; bucket < BUCKETS; bucket++)
            is_count_bucket(r, bucket);
    }
}

/* Changes two keys and then ranks all keys. Returns how many test keys have the right rank. */
static int is_iterate(const struct problem *problem, struct ranking *r, int iteration)
{
    int value[TEST_KEYS], passed = 0;
    r->keys[iteration] = iteration;
    r->keys[iteration + ITERATIONS] = r->key_limit - iteration;
    for (int i = 0; i < TEST_KEYS; i++)
        value[i] = r->keys[problem->test[i].index];
    is_rank_keys(r);
    for (int i = 0; i < TEST_KEYS; i++) {
        const struct test_key *test = &problem->test[i];
        int rank = value[i] > 0 ? r->upto[value[i] - 1] : 0;
        passed += rank == test->rank + test->slope * (iteration + test->offset);
    }
    return passed;
}

/* Moves every key to the position that its rank gives. Returns whether the keys are sorted then. */
static bool is_sorted_by_rank(struct ranking *r)
{
    if (r->upto[r->key_limit - 1] != r->key_count)
        return false;
    int *sorted = r->partitioned;
    memset(sorted, 0xff, (size_t)r->key_count * sizeof(int));
    for (int i = 0; i < r->key_count; i++)
        sorted[--r->upto[r->keys[i]]] = r->keys[i];
    int wrong = sorted[0] < 0;
    for (int i = 1; i < r->key_count; i++)
        wrong += sorted[i - 1] > sorted[i] || sorted[i] < 0;
    return wrong == 0;
}

static bool is_verified(struct ranking *r, int passed)
{
    if (passed != ITERATIONS * TEST_KEYS)
        fprintf(stderr, "is: %d of %d test ranks right\n", passed, ITERATIONS * TEST_KEYS);
    return passed == ITERATIONS * TEST_KEYS && is_sorted_by_rank(r);
}

int main(int argc, char **argv)
{
    struct kernel_class class = kernel_parse_class(argc, argv, "is");
    const struct problem *problem = &problems[class.index];
    struct ranking r = {.key_count = 1 << problem->keys_log2, .key_limit = 1 << problem->key_max_log2};
    r.shift = problem->key_max_log2 - 10;
    r.keys = kernel_alloc(r.key_count, sizeof(int));
    r.partitioned = kernel_alloc(r.key_count, sizeof(int));
    r.upto = kernel_alloc(r.key_limit, sizeof(int));
    r.offset = kernel_alloc((size_t)omp_get_max_threads() * BUCKETS, sizeof(int));
    double seconds = 0.0;
    bool verified = true;

    for (long repeat = 0; repeat < class.repeat; repeat++) {
        int passed = 0;
        is_generate_keys(&r);
        /* as the benchmark prescribes, one iteration that is not timed touches all data */
        is_iterate(problem, &r, 1);
        double begin_s = kernel_clock_s();
        for (int iteration = 1; iteration <= ITERATIONS; iteration++)
            passed += is_iterate(problem, &r, iteration);
        seconds += kernel_clock_s() - begin_s;
        verified = verified && is_verified(&r, passed);
    }

    free(r.keys);
    free(r.partitioned);
    free(r.upto);
    free(r.offset);
    return kernel_report("is", class.text, seconds, verified);
}
