/* A second file, with a function of a name that names_c.c has, too. The lines are what the tests ask for. */
static double sums[64];

__attribute__((used, noinline)) static void relax(void)
{
#pragma omp parallel for
    for (int i = 0; i < 64; i++)
        sums[i] += 1.0;
}
