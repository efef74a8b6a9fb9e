/* nqueens, modelled on BOTS: counts all ways to place n queens on a board. Each safe position of one of the
 * first queens is a task. */
#include "../kernel.h"

#define N_MAX 16

/* number of solutions for n = 1 .. 16 (OEIS A000170) */
static const long solutions[N_MAX + 1] = {1,   1,   0,    0,     2,     10,     4,       40,      92,
                                          352, 724, 2680, 14200, 73712, 365596, 2279184, 14772512};

struct board {
    signed char column[N_MAX]; /* for each row, the column of its queen */
};

static bool nqueens_is_safe(const struct board *board, int row, int column)
{
    for (int other = 0; other < row; other++) {
        int distance = board->column[other] - column;
        if (distance == 0 || distance == row - other || distance == other - row)
            return false;
    }
    return true;
}

static long nqueens_place_sequential(struct board *board, int n, int row)
{
    long found = 0;
    if (row == n)
        return 1;
    for (int column = 0; column < n; column++) {
        if (nqueens_is_safe(board, row, column)) {
            board->column[row] = (signed char)column;
            found += nqueens_place_sequential(board, n, row + 1);
        }
    }
    return found;
}

/* Counts the solutions for a board with queens in the rows before `row`. Rows from `cutoff` on create no
 * tasks. Rows from `deferred` on create undeferred tasks. */
static long nqueens_place(struct board board, int n, int row, int cutoff, int deferred)
{
    long found[N_MAX] = {0}, sum = 0;
    if (row == n)
        return 1;
    if (row >= cutoff)
        return nqueens_place_sequential(&board, n, row);
    for (int column = 0; column < n; column++) {
        if (!nqueens_is_safe(&board, row, column))
            continue;
        board.column[row] = (signed char)column;
#pragma omp task shared(found) firstprivate(board, n, row, column, cutoff, deferred) if (row < deferred)
        found[column] = nqueens_place(board, n, row + 1, cutoff, deferred);
    }
#pragma omp taskwait
    for (int column = 0; column < n; column++)
        sum += found[column];
    return sum;
}

int main(int argc, char **argv)
{
    long n = 11, cutoff = 0, deferred = 0, result = 0;
    const struct kernel_arg args[] = {
        {"N", &n, 1, N_MAX, "queens", NULL},
        {"--cutoff", &cutoff, 0, N_MAX, "row from which no tasks are made, 0: none", NULL},
        {"--if", &deferred, 0, N_MAX, "row from which tasks have an if clause that is false, 0: none", NULL},
        {0}};
    kernel_parse_args(argc, argv, "nqueens", args);
    struct board board = {{0}};

    double begin_s = kernel_clock_s();
#pragma omp parallel
#pragma omp single
    result = nqueens_place(board, (int)n, 0, cutoff == 0 ? N_MAX : (int)cutoff, deferred == 0 ? N_MAX : (int)deferred);
    double seconds = kernel_clock_s() - begin_s;

    char size[32];
    const char *option = deferred != 0 ? "if" : "cutoff";
    return kernel_report("nqueens", kernel_size_text(size, sizeof size, n, option, deferred != 0 ? deferred : cutoff),
                         seconds, result == solutions[n]);
}
