/* sort, modelled on BOTS (Cilk's cilksort): a parallel merge sort with parallel merges. Pieces smaller than
 * the cut-off are sorted by quicksort. */
#include "../kernel.h"

#define INSERTION_LIMIT 20

typedef uint32_t element;

/* number of elements up to which no tasks are created; not changed while tasks run */
static long cutoff = 2048;

static void sort_by_insertion(element *data, long count)
{
    for (long i = 1; i < count; i++) {
        element value = data[i];
        long hole = i;
        for (; hole > 0 && data[hole - 1] > value; hole--)
            data[hole] = data[hole - 1];
        data[hole] = value;
    }
}

static element sort_median(element a, element b, element c)
{
    element low = a < b ? a : b, high = a < b ? b : a;
    return c < low ? low : c > high ? high : c;
}

static void sort_sequential(element *data, long count)
{
    while (count > INSERTION_LIMIT) {
        element pivot = sort_median(data[0], data[count / 2], data[count - 1]);
        long left = 0, right = count - 1;
        while (left <= right) {
            while (data[left] < pivot)
                left++;
            while (data[right] > pivot)
                right--;
            if (left <= right) {
                element other = data[left];
                data[left++] = data[right];
                data[right--] = other;
            }
        }
        sort_sequential(data, right + 1);
        data += left;
        count -= left;
    }
    sort_by_insertion(data, count);
}

static void sort_merge_sequential(const element *a, long a_count, const element *b, long b_count, element *to)
{
    while (a_count > 0 && b_count > 0) {
        if (*a <= *b) {
            *to++ = *a++;
            a_count--;
        } else {
            *to++ = *b++;
            b_count--;
        }
    }
    memcpy(to, a_count > 0 ? a : b, (size_t)(a_count + b_count) * sizeof(element));
}

/* Returns how many elements of `data` are less than `value`. `data` is sorted. */
static long sort_count_less(const element *data, long count, element value)
{
    long low = 0;
    while (count > 0) {
        long half = count / 2;
        if (data[low + half] < value) {
            low += half + 1;
            count -= half + 1;
        } else {
            count = half;
        }
    }
    return low;
}

/* Merges two sorted runs. The longer run is split in the middle, and the other one at the position of the
 * value in the middle. The two resulting merges are independent of each other. */
static void sort_merge(const element *a, long a_count, const element *b, long b_count, element *to)
{
    if (a_count < b_count) {
        sort_merge(b, b_count, a, a_count, to);
        return;
    }
    if (a_count + b_count <= cutoff) {
        sort_merge_sequential(a, a_count, b, b_count, to);
        return;
    }
    long a_split = a_count / 2, b_split = sort_count_less(b, b_count, a[a_split]);
#pragma omp task
    sort_merge(a, a_split, b, b_split, to);
#pragma omp task
    sort_merge(a + a_split, a_count - a_split, b + b_split, b_count - b_split, to + a_split + b_split);
#pragma omp taskwait
}

static void sort_parallel(element *data, element *scratch, long count)
{
    if (count <= cutoff) {
        sort_sequential(data, count);
        return;
    }
    long quarter = count / 4, half = 2 * quarter, last = count - 3 * quarter;
    for (int part = 0; part < 4; part++) {
        long begin = part * quarter, length = part == 3 ? last : quarter;
#pragma omp task firstprivate(begin, length)
        sort_parallel(data + begin, scratch + begin, length);
    }
#pragma omp taskwait
#pragma omp task
    sort_merge(data, quarter, data + quarter, quarter, scratch);
#pragma omp task
    sort_merge(data + half, quarter, data + half + quarter, last, scratch + half);
#pragma omp taskwait
    sort_merge(scratch, half, scratch + half, count - half, data);
}

/* Fills `data` with the numbers 0 .. count - 1 in random order. */
static void sort_shuffle(element *data, long count)
{
    uint64_t state = 1;
    for (long i = 0; i < count; i++) {
        state = kernel_hash(state);
        long other = (long)(kernel_unit(state) * (double)(i + 1));
        data[i] = data[other];
        data[other] = (element)i;
    }
}

int main(int argc, char **argv)
{
    long count = 8 << 20;
    const struct kernel_arg args[] = {
        {"N", &count, 1, 1L << 30, "elements", NULL},
        {"--cutoff", &cutoff, 4, 1L << 30, "elements up to which no tasks are made", NULL},
        {0}};
    kernel_parse_args(argc, argv, "sort", args);
    element *data = kernel_alloc(count, sizeof(element)), *scratch = kernel_alloc(count, sizeof(element));
    sort_shuffle(data, count);

    double begin_s = kernel_clock_s();
#pragma omp parallel
#pragma omp single
    sort_parallel(data, scratch, count);
    double seconds = kernel_clock_s() - begin_s;

    bool verified = true;
    for (long i = 0; i < count; i++)
        verified = verified && data[i] == (element)i;
    free(data);
    free(scratch);
    char size[48];
    return kernel_report("sort", kernel_size_text(size, sizeof size, count, "cutoff", cutoff), seconds, verified);
}
