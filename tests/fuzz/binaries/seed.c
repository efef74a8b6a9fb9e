/* The binaries beside this file were made of it, for fuzzers: `make fuzz-binaries` makes them anew. Small, with some of what names and lines are
 * found by: regions, a task, inlined and static functions, a tail call, a call by the linkage table, data. */
extern void other(int *), last(int *);
int table[4] = {1};

struct point {
    int x, y;
};

static inline __attribute__((always_inline)) int within(const struct point *point)
{
    other(table);
    return point->x + point->y;
}

static __attribute__((noinline)) int deeper(struct point *point, int n)
{
    int sum = n ? deeper(point, n - 1) : 0;
    return sum + within(point);
}

void work(int n)
{
    struct point point = {n, 2};
#pragma omp parallel
    {
#pragma omp task
        other(&point.x);
#pragma omp critical(name)
        table[1] += deeper(&point, 3);
    }
    last(table);
}
