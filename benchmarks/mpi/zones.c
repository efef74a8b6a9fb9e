/* A program with several zones, modelled on NPB's BT-MZ (NASA report NAS-03-010). A grid is cut into a mesh
 * of zones. Their widths and heights grow geometrically, so that the largest zone has RATIO times as many
 * values as the smallest. In each step, the zones exchange their edges, and then all threads of a rank
 * compute its zones, one after another. In every tenth step, the ranks add up the remaining energy. By
 * default, the zones are assigned in the order of the mesh, so some ranks have much more work than others.
 * With --balance 1, the zones are assigned from the largest to the smallest, each to the rank with the least
 * work so far.
 *
 * The equation is the heat equation with zeros on the border, solved explicitly. The initial values are a
 * product of sines, which each step multiplies by a known factor. All values are compared with this solution. */
#include <math.h>

#include "ranks.h"

#define FLOW    0.2 /* part of the difference between two neighbouring values that flows in one step */
#define WAVES_X 2
#define WAVES_Y 1
/* largest accepted error of a value; values are at most 1, and rounding adds up to 1e-16 to an error in each
 * step */
#define TOLERANCE  1e-10
#define SUM_EVERY  10
#define MOST_ZONES 32 /* maximum number of zones along an edge of the mesh */

enum side { LEFT, RIGHT, UP, DOWN, SIDES };

struct zone {
    int owner;
    long neighbour[SIDES]; /* -1: the border */
    long first_row, first_column, rows, columns, stride;
    /* values of the zone, surrounded by a border of one value; only the rank that owns the zone has them */
    double *now, *next;
    double *sent[SIDES], *received[SIDES];
};

struct mesh {
    struct zone zones[MOST_ZONES * MOST_ZONES];
    /* number of zones along an edge of the mesh, number of zones, and number of values along an edge of the
     * grid */
    long edge, count, size;
    int rank;
};

/* Returns the start of part `number`. Each part is wider than the part before it, and the last is `ratio`
 * times as wide as the first. */
static long mpi_zones_grown(long size, long parts, double ratio, long number)
{
    double growth = parts > 1 ? pow(ratio, 1.0 / (double)(parts - 1)) : 1.0, before = 0, all = 0, width = 1;
    for (long i = 0; i < parts; i++, width *= growth) {
        before += i < number ? width : 0;
        all += width;
    }
    return lround((double)size * before / all);
}

static void mpi_zones_cut(struct mesh *mesh, double ratio)
{
    const long edge = mesh->edge;
    mesh->count = edge * edge;
    for (long i = 0; i < mesh->count; i++) {
        struct zone *zone = &mesh->zones[i];
        long row = i / edge, column = i % edge;
        zone->first_row = mpi_zones_grown(mesh->size, edge, sqrt(ratio), row);
        zone->first_column = mpi_zones_grown(mesh->size, edge, sqrt(ratio), column);
        zone->rows = mpi_zones_grown(mesh->size, edge, sqrt(ratio), row + 1) - zone->first_row;
        zone->columns = mpi_zones_grown(mesh->size, edge, sqrt(ratio), column + 1) - zone->first_column;
        zone->stride = zone->columns + 2;
        zone->neighbour[LEFT] = column > 0 ? i - 1 : -1;
        zone->neighbour[RIGHT] = column < edge - 1 ? i + 1 : -1;
        zone->neighbour[UP] = row > 0 ? i - edge : -1;
        zone->neighbour[DOWN] = row < edge - 1 ? i + edge : -1;
    }
}

/* Assigns the zones to the ranks. Goes through the mesh backward, so that large zones come first. */
static void mpi_zones_deal(struct mesh *mesh, int ranks, bool balanced)
{
    long *values = kernel_alloc((size_t)ranks, sizeof(long));
    for (long i = mesh->count - 1; i >= 0; i--) {
        struct zone *zone = &mesh->zones[i];
        int least = 0;
        for (int rank = 1; rank < ranks; rank++)
            least = values[rank] < values[least] ? rank : least;
        while (!balanced &&
               (i < ranks_block(mesh->count, ranks, least) || i >= ranks_block(mesh->count, ranks, least + 1)))
            least = (least + 1) % ranks;
        zone->owner = least;
        values[least] += zone->rows * zone->columns;
    }
    free(values);
}

static long mpi_zones_edge_length(const struct zone *zone, enum side side)
{
    return side == LEFT || side == RIGHT ? zone->rows : zone->columns;
}

/* Returns the first value along an edge, and the distance between two values. If `outside` is set, the edge
 * is in the border around the zone. Otherwise, it consists of the outermost values of the zone itself. */
static double *mpi_zones_edge_of(const struct zone *zone, enum side side, bool outside, long *step)
{
    long row = side == DOWN ? zone->rows + outside : side == UP ? !outside : 1;
    long column = side == RIGHT ? zone->columns + outside : side == LEFT ? !outside : 1;
    *step = side == LEFT || side == RIGHT ? zone->stride : 1;
    return zone->now + row * zone->stride + column;
}

static void mpi_zones_copy_edge(const struct zone *zone, enum side side, double *buffer, bool in)
{
    long step, length = mpi_zones_edge_length(zone, side);
    double *at = mpi_zones_edge_of(zone, side, in, &step);
    for (long i = 0; i < length; i++)
        *(in ? &at[i * step] : &buffer[i]) = in ? buffer[i] : at[i * step];
}

static double mpi_zones_sine(long at, long size, int waves)
{
    return sin(acos(-1.0) * waves * (double)at / (double)(size + 1));
}

/* If `compare` is false, sets the values of a zone to the initial values times `factor`. If it is true,
 * returns the largest difference between these values and the zone's. */
static double mpi_zones_fill_or_compare(struct zone *zone, long size, double factor, bool compare)
{
    double largest = 0;
#pragma omp parallel for reduction(max : largest)
    for (long i = 1; i <= zone->rows; i++) {
        double height = factor * mpi_zones_sine(zone->first_row + i, size, WAVES_Y);
        for (long j = 1; j <= zone->columns; j++) {
            double *value = &zone->now[i * zone->stride + j];
            double expected = height * mpi_zones_sine(zone->first_column + j, size, WAVES_X);
            if (compare)
                largest = fmax(largest, fabs(*value - expected));
            else
                *value = expected;
        }
    }
    return largest;
}

static void mpi_zones_make_zone(struct zone *zone, long size)
{
    zone->now = kernel_alloc((size_t)((zone->rows + 2) * zone->stride), sizeof(double));
    zone->next = kernel_alloc((size_t)((zone->rows + 2) * zone->stride), sizeof(double));
    for (enum side side = 0; side < SIDES; side++) {
        zone->sent[side] = kernel_alloc((size_t)mpi_zones_edge_length(zone, side), sizeof(double));
        zone->received[side] = kernel_alloc((size_t)mpi_zones_edge_length(zone, side), sizeof(double));
    }
    mpi_zones_fill_or_compare(zone, size, 1.0, false);
}

static void mpi_zones_free_zone(struct zone *zone)
{
    free(zone->now);
    free(zone->next);
    for (enum side side = 0; side < SIDES; side++) {
        free(zone->sent[side]);
        free(zone->received[side]);
    }
}

static void mpi_zones_exchange(struct mesh *mesh)
{
    static MPI_Request requests[2 * SIDES * MOST_ZONES * MOST_ZONES];
    int count = 0;
    for (long i = 0; i < mesh->count; i++) {
        struct zone *zone = &mesh->zones[i];
        for (enum side side = 0; side < SIDES && zone->owner == mesh->rank; side++) {
            long other = zone->neighbour[side];
            if (other < 0)
                continue;
            int length = (int)mpi_zones_edge_length(zone, side), owner = mesh->zones[other].owner;
            mpi_zones_copy_edge(zone, side, zone->sent[side], false);
            MPI_Irecv(zone->received[side], length, MPI_DOUBLE, owner, (int)(i * SIDES + side), MPI_COMM_WORLD,
                      &requests[count++]);
            /* the left side of a zone is the right side of its neighbour, and so on */
            MPI_Isend(zone->sent[side], length, MPI_DOUBLE, owner, (int)(other * SIDES + (side ^ 1)), MPI_COMM_WORLD,
                      &requests[count++]);
        }
    }
    MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
    for (long i = 0; i < mesh->count; i++)
        for (enum side side = 0; side < SIDES && mesh->zones[i].owner == mesh->rank; side++)
            if (mesh->zones[i].neighbour[side] >= 0)
                mpi_zones_copy_edge(&mesh->zones[i], side, mesh->zones[i].received[side], true);
}

static void mpi_zones_step_zone(struct zone *zone)
{
    const long stride = zone->stride;
#pragma omp parallel for
    for (long i = 1; i <= zone->rows; i++) {
        const double *here = zone->now + i * stride;
        double *to = zone->next + i * stride;
        for (long j = 1; j <= zone->columns; j++)
            to[j] = here[j] + FLOW * (here[j - 1] + here[j + 1] + here[j - stride] + here[j + stride] - 4 * here[j]);
    }
    double *now = zone->now;
    zone->now = zone->next;
    zone->next = now;
}

static double mpi_zones_sum_of_squares(const struct zone *zone)
{
    double sum = 0;
#pragma omp parallel for reduction(+ : sum)
    for (long i = 1; i <= zone->rows; i++)
        for (long j = 1; j <= zone->columns; j++)
            sum += zone->now[i * zone->stride + j] * zone->now[i * zone->stride + j];
    return sum;
}

static double mpi_zones_energy(struct mesh *mesh)
{
    double own = 0, all = 0;
    for (long i = 0; i < mesh->count; i++)
        if (mesh->zones[i].owner == mesh->rank)
            own += mpi_zones_sum_of_squares(&mesh->zones[i]);
    MPI_Allreduce(&own, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return all;
}

static void mpi_zones_step(struct mesh *mesh, long number)
{
    mpi_zones_exchange(mesh);
    for (long i = 0; i < mesh->count; i++)
        if (mesh->zones[i].owner == mesh->rank)
            mpi_zones_step_zone(&mesh->zones[i]);
    if (number % SUM_EVERY == 0 && mpi_zones_energy(mesh) < 1e-30 * (double)(mesh->size * mesh->size))
        fprintf(stderr, "zones: nothing is left at step %ld\n", number);
}

static bool mpi_zones_is_verified(struct mesh *mesh, long steps)
{
    double x = mpi_zones_sine(WAVES_X, 2 * mesh->size + 1, 1), y = mpi_zones_sine(WAVES_Y, 2 * mesh->size + 1, 1),
           largest = 0;
    double factor = pow(1 - 4 * FLOW * (x * x + y * y), (double)steps);
    for (long i = 0; i < mesh->count; i++)
        if (mesh->zones[i].owner == mesh->rank)
            largest = fmax(largest, mpi_zones_fill_or_compare(&mesh->zones[i], mesh->size, factor, true));
    if (!(largest <= TOLERANCE))
        fprintf(stderr, "zones: values differ by %.3e\n", largest);
    return largest <= TOLERANCE;
}

int main(int argc, char **argv)
{
    static struct mesh mesh = {.edge = 4, .size = 512};
    long steps = 200, ratio = 20, balance = 0;
    const struct kernel_arg args[] = {
        {"SIZE", &mesh.size, 256, 30000, "values along an edge of the grid", NULL},
        {"--zones", &mesh.edge, 1, MOST_ZONES, "zones along an edge", NULL},
        {"--steps", &steps, 1, 1000000, "steps in time", NULL},
        {"--ratio", &ratio, 1, 100, "of the largest zone to the smallest", NULL},
        {"--balance", &balance, 0, 1, "1: ranks have as many values, not as many zones", NULL},
        {0}};
    struct ranks ranks = ranks_init(&argc, &argv);
    char text[32];
    kernel_parse_args(argc, argv, "zones", args);
    mesh.rank = ranks.rank;
    mpi_zones_cut(&mesh, (double)ratio);
    mpi_zones_deal(&mesh, ranks.count, balance);
    for (long i = 0; i < mesh.count; i++)
        if (mesh.zones[i].owner == mesh.rank)
            mpi_zones_make_zone(&mesh.zones[i], mesh.size);

    MPI_Barrier(MPI_COMM_WORLD);
    double begin_s = kernel_clock_s();
    for (long number = 1; number <= steps; number++)
        mpi_zones_step(&mesh, number);
    double seconds = kernel_clock_s() - begin_s;

    bool verified = mpi_zones_is_verified(&mesh, steps);
    for (long i = 0; i < mesh.count; i++)
        mpi_zones_free_zone(&mesh.zones[i]);
    return ranks_report(ranks, "zones", kernel_size_text(text, sizeof text, mesh.size, "balance", balance), seconds,
                        verified);
}
