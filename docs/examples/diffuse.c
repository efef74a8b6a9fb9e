/* A small simulation with three flaws that every OpenMP programmer has written once. blame names each of
 * them:
 *   - a triangular loop with schedule(static), whose threads get unequal work (lower_triangle),
 *   - serial work between two regions (renormalise),
 *   - a critical section that does more than it must (add_to_histogram).
 * Usage: diffuse [size [steps]] */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { BINS = 64, ROWS = 50 };

struct field {
    int size;
    double *now, *next;
    long histogram[BINS];
};

/* Row i takes i units of work, so a static schedule gives most of the work to the last thread. */
static double lower_triangle(const struct field *field)
{
    double sum = 0;
#pragma omp parallel for schedule(static) reduction(+ : sum)
    for (int i = 0; i < field->size; i++)
        for (int j = 0; j < i; j++)
            sum += sqrt(field->now[i * field->size + j]);
    return sum;
}

static void relax(struct field *field)
{
    int n = field->size;
#pragma omp parallel for schedule(static)
    for (int i = 1; i < n - 1; i++)
        for (int j = 1; j < n - 1; j++) {
            const double *at = &field->now[i * n + j];
            field->next[i * n + j] = 0.2 * (at[0] + at[-1] + at[1] + at[-n] + at[n]);
        }
    double *swap = field->now;
    field->now = field->next;
    field->next = swap;
}

/* Runs on one thread, because nobody has made this function parallel. */
static void renormalise(struct field *field, double sum)
{
    double scale = field->size * (double)field->size / (2 * sum + 1);
    for (int i = 0; i < field->size * field->size; i++)
        field->now[i] = fmin(1.0, field->now[i] * scale);
}

/* Holds the lock while it counts whole rows. */
static void add_to_histogram(struct field *field, int first, int last)
{
#pragma omp critical(histogram)
    for (int i = first * field->size; i < last * field->size; i++)
        field->histogram[(int)(fmin(fmax(field->now[i], 0), 0.999) * BINS)]++;
}

static void count(struct field *field)
{
#pragma omp parallel for schedule(dynamic)
    for (int first = 0; first < field->size; first += ROWS)
        add_to_histogram(field, first, first + ROWS < field->size ? first + ROWS : field->size);
}

int main(int argc, char **argv)
{
    struct field field = {.size = argc > 1 ? atoi(argv[1]) : 1200};
    int steps = argc > 2 ? atoi(argv[2]) : 200;
    if (field.size < 3 || field.size > 20000 || steps < 1)
        return fputs("usage: diffuse [size 3..20000 [steps]]\n", stderr), 2;
    size_t cells = (size_t)field.size * (size_t)field.size;
    field.now = malloc(cells * sizeof(double));
    field.next = malloc(cells * sizeof(double));
    if (!field.now || !field.next)
        return fputs("diffuse: out of memory\n", stderr), 1;
    for (size_t i = 0; i < cells; i++)
        field.now[i] = field.next[i] = (double)(i * 2654435761u % 1000) / 1000;
    double sum = 0;
    for (int step = 0; step < steps; step++) {
        relax(&field);
        sum = lower_triangle(&field);
        renormalise(&field, sum);
        count(&field);
    }
    printf("sum %.6g, bin 0: %ld\n", sum, field.histogram[0]);
    free(field.now);
    free(field.next);
    return 0;
}
