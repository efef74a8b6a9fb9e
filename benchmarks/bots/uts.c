/* uts, modelled on BOTS: counts the nodes of an unbalanced tree, with a task for each node. The tree is not
 * stored, but computed by a hash function. A node below the root has 5 children with probability 0.199, and
 * otherwise none. A subtree has 200 nodes on average, with a huge variance. The hash function is splitmix64
 * instead of the original's SHA-1, so the trees are not the published ones. */
#include "../kernel.h"

#define CHILDREN    5
#define PROBABILITY 0.199

static uint64_t uts_child_of(uint64_t node, uint64_t index)
{
    return kernel_hash(node ^ kernel_hash(index + 1));
}

static int uts_child_count(uint64_t node)
{
    return kernel_unit(kernel_hash(node)) < PROBABILITY ? CHILDREN : 0;
}

static long uts_count_sequential(uint64_t node)
{
    long sum = 1;
    for (int i = uts_child_count(node); i > 0; i--)
        sum += uts_count_sequential(uts_child_of(node, i));
    return sum;
}

/* Counts the nodes of a subtree. The first `depth_left` levels of nodes create tasks. If `depth_left` is
 * negative, all levels do. */
static long uts_count(uint64_t node, int depth_left)
{
    int children = uts_child_count(node);
    long found[CHILDREN + 1], sum = 1;
    if (depth_left == 0)
        return uts_count_sequential(node);
    for (int i = children; i > 0; i--) {
#pragma omp task shared(found) firstprivate(node, i, depth_left)
        found[i] = uts_count(uts_child_of(node, i), depth_left - 1);
    }
#pragma omp taskwait
    for (int i = children; i > 0; i--)
        sum += found[i];
    return sum;
}

/* Counts the nodes of the whole tree. The root is the only node with root_children children. */
static long uts_count_tree(uint64_t root, long root_children, int cutoff)
{
    long *found = kernel_alloc(root_children, sizeof(long)), sum = 1;
#pragma omp parallel
#pragma omp single
    for (long i = 0; i < root_children; i++) {
#pragma omp task firstprivate(i)
        found[i] = uts_count(uts_child_of(root, i), cutoff == 0 ? -1 : cutoff - 1);
    }
    for (long i = 0; i < root_children; i++)
        sum += found[i];
    free(found);
    return sum;
}

int main(int argc, char **argv)
{
    long root_children = 4000, seed = 7, cutoff = 0, expected = 1;
    const struct kernel_arg args[] = {
        {"ROOT", &root_children, 1, 1000000, "children of the root", NULL},
        {"--seed", &seed, 0, 1000000, "which tree", NULL},
        {"--cutoff", &cutoff, 0, 1000000, "depth from which no tasks are made, 0: none", NULL},
        {0}};
    kernel_parse_args(argc, argv, "uts", args);
    uint64_t root = kernel_hash((uint64_t)seed);

    double begin_s = kernel_clock_s();
    long result = uts_count_tree(root, root_children, (int)cutoff);
    double seconds = kernel_clock_s() - begin_s;

    for (long i = 0; i < root_children; i++)
        expected += uts_count_sequential(uts_child_of(root, i));
    if (result != expected)
        fprintf(stderr, "uts: %ld nodes, expected %ld\n", result, expected);
    char size[32];
    return kernel_report("uts", kernel_size_text(size, sizeof size, root_children, "cutoff", cutoff), seconds,
                         result == expected);
}
