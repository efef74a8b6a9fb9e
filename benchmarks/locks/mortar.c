/* Takes many short locks, for which threads rarely wait. It is modelled on the way in which NPB's UA adds the
 * values of elements to mortar points: each point has a lock, which is held for one addition. Except at the
 * edges, the points of an element are in the part of the thread itself. With --shared P, P of 100 additions
 * go to one point, which all threads share. The result is compared with that of a sequential run. */
#include "../kernel.h"

enum { POINTS_OF_ELEMENT = 8, ROUNDS = 4 };

struct point {
    omp_lock_t lock;
    uint64_t sum;
};

static uint64_t mortar_value_of(uint64_t element, int round)
{
    uint64_t value = element;
    for (int i = 0; i < ROUNDS; i++)
        value = kernel_hash(value + (uint64_t)round);
    return value;
}

/* Returns the point to which a value of the element is added. Point 0 is shared by all threads. */
static size_t mortar_point_of(uint64_t value, uint64_t element, size_t points, long shared)
{
    if ((value >> 32) % 100 < (uint64_t)shared)
        return 0;
    return 1 + (element + value % 64) % (points - 1);
}

static void mortar_add(struct point *point, uint64_t value)
{
    omp_set_lock(&point->lock);
    point->sum += value;
    omp_unset_lock(&point->lock);
}

static double mortar_transfer(struct point *points, size_t count, long elements, long steps, long shared)
{
    double begin_s = kernel_clock_s();
#pragma omp parallel
    for (long step = 0; step < steps; step++) {
#pragma omp for schedule(static)
        for (long element = 0; element < elements; element++)
            for (int i = 0; i < POINTS_OF_ELEMENT; i++) {
                uint64_t value = mortar_value_of((uint64_t)element, i);
                mortar_add(&points[mortar_point_of(value, (uint64_t)element, count, shared)], value);
            }
    }
    return kernel_clock_s() - begin_s;
}

static bool mortar_is_verified(const struct point *points, size_t count, long elements, long steps, long shared)
{
    uint64_t *expected = kernel_alloc(count, sizeof(*expected));
    bool equal = true;
    for (long element = 0; element < elements; element++)
        for (int i = 0; i < POINTS_OF_ELEMENT; i++) {
            uint64_t value = mortar_value_of((uint64_t)element, i);
            expected[mortar_point_of(value, (uint64_t)element, count, shared)] += (uint64_t)steps * value;
        }
    for (size_t i = 0; i < count; i++)
        equal = equal && points[i].sum == expected[i];
    free(expected);
    return equal;
}

int main(int argc, char **argv)
{
    long elements = 20000, steps = 200, shared = 0;
    const struct kernel_arg args[] = {
        {"ELEMENTS", &elements, 64, 10000000, "elements, and points", NULL},
        {"--steps", &steps, 1, 1000000, "additions of all values", NULL},
        {"--shared", &shared, 0, 100, "per cent of the additions that go to one point", NULL},
        {0}};
    kernel_parse_args(argc, argv, "mortar", args);
    size_t count = (size_t)elements + 1;
    struct point *points = kernel_alloc(count, sizeof(*points));
    for (size_t i = 0; i < count; i++)
        omp_init_lock(&points[i].lock);
    double seconds = mortar_transfer(points, count, elements, steps, shared);
    bool verified = mortar_is_verified(points, count, elements, steps, shared);
    for (size_t i = 0; i < count; i++)
        omp_destroy_lock(&points[i].lock);
    free(points);
    char size[32];
    return kernel_report("mortar", kernel_size_text(size, sizeof size, elements, "shared", shared), seconds, verified);
}
