/* `mpirun -n M blame-merge DIR` does the work of `blame merge DIR` in the processes of an MPI job. First,
 * each process merges files that are consecutive in the list. Then, pairs of processes join their results
 * until rank 0 has the whole job. The files are joined in the same tree as in command/cli/job_files.h, so the
 * result is the same bit for bit. Only rank 0 lists the files, writes the job's file and prints messages. */
#include <mpi.h>

#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "command/cli/cli.h"
#include "command/cli/job_files.h"
#include "command/text/memory.h"

#define PIECE_BYTES ((size_t)64 << 20) /* maximum number of bytes in a message; MPI counts them in an int */
/* sent in place of a file's size if the merge failed and a message was printed */
#define FAILED UINT64_MAX

static int rank, ranks;

/* The data of rank 0's job tree that the other ranks need. */
struct plan {
    uint64_t count; /* number of files; 0: there is nothing to do */
    uint64_t text_bytes;
    uint32_t has_identity, known, clock;
};

static void mpi_merge_broadcast(void *bytes, size_t count)
{
    for (size_t done = 0; done < count; done += PIECE_BYTES)
        MPI_Bcast((char *)bytes + done, (int)(count - done < PIECE_BYTES ? count - done : PIECE_BYTES), MPI_BYTE, 0,
                  MPI_COMM_WORLD);
}

static void mpi_merge_send_plan(const struct job_tree *tree)
{
    char *text;
    const struct job_reference *like = &tree->like;
    struct plan plan = {
        .count = tree->count, .has_identity = like->identity != NULL, .known = like->known, .clock = like->clock};
    FILE *out = memory_stream(&text);
    const char *const like_text[] = {like->identity, like->sample, like->counters};
    for (size_t i = 0; i < 3; i++)
        fprintf(out, "%s%c", like_text[i] ? like_text[i] : "", '\0');
    for (size_t i = 0; i < tree->count; i++)
        fprintf(out, "%s%c", tree->paths[i], '\0');
    plan.text_bytes = (uint64_t)ftell(out);
    memory_stream_close(out);
    mpi_merge_broadcast(&plan, sizeof plan);
    mpi_merge_broadcast(text, plan.text_bytes);
    free(text);
}

/* Receives rank 0's job tree. Returns false if there is nothing to do. The caller frees *text, to which the
 * tree points. */
static bool mpi_merge_receive_plan(struct job_tree *tree, char **text)
{
    struct plan plan;
    mpi_merge_broadcast(&plan, sizeof plan);
    if (!plan.count)
        return false;
    char *at = *text = memory_array(plan.text_bytes, 1), *like_text[3];
    mpi_merge_broadcast(*text, plan.text_bytes);
    const char **paths = memory_array(plan.count, sizeof *paths);
    for (size_t i = 0; i < 3 + plan.count; i++) {
        if (i < 3)
            like_text[i] = at;
        else
            paths[i - 3] = at;
        at += strlen(at) + 1;
    }
    *tree = (struct job_tree){.command = "merge",
                              .paths = paths,
                              .count = plan.count,
                              .jobs = 1,
                              .like = {.identity = plan.has_identity ? like_text[0] : NULL,
                                       .known = plan.known,
                                       .sample = plan.known ? like_text[1] : NULL,
                                       .counters = plan.known ? like_text[2] : NULL,
                                       .clock = plan.clock}};
    return true;
}

static void mpi_merge_send_file(int file, int to)
{
    struct stat status;
    uint64_t bytes = file >= 0 && fstat(file, &status) == 0 ? (uint64_t)status.st_size : FAILED;
    void *content = bytes == FAILED ? MAP_FAILED : mmap(NULL, bytes, PROT_READ, MAP_SHARED, file, 0);
    if (content == MAP_FAILED)
        bytes = FAILED;
    MPI_Send(&bytes, 1, MPI_UINT64_T, to, 0, MPI_COMM_WORLD);
    for (size_t done = 0; bytes != FAILED && done < bytes; done += PIECE_BYTES)
        MPI_Send((char *)content + done, (int)(bytes - done < PIECE_BYTES ? bytes - done : PIECE_BYTES), MPI_BYTE, to,
                 0, MPI_COMM_WORLD);
    if (content != MAP_FAILED)
        munmap(content, bytes);
    if (file >= 0)
        close(file);
}

/* Returns a descriptor of the received file; -1 if the merge failed in the sender, which has printed a
 * message. */
static int mpi_merge_receive_file(int from)
{
    uint64_t bytes;
    MPI_Recv(&bytes, 1, MPI_UINT64_T, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (bytes == FAILED)
        return -1;
    int file = job_tree_file("merge");
    void *content = file >= 0 && ftruncate(file, (off_t)bytes) == 0
                        ? mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0)
                        : MAP_FAILED;
    if (content == MAP_FAILED) { /* end the job, because the sender waits for this process */
        fprintf(stderr, "blame merge: rank %d has not enough memory for a part of the job\n", rank);
        MPI_Abort(MPI_COMM_WORLD, CLI_BAD_INPUT);
    }
    for (size_t done = 0; done < bytes; done += PIECE_BYTES)
        MPI_Recv((char *)content + done, (int)(bytes - done < PIECE_BYTES ? bytes - done : PIECE_BYTES), MPI_BYTE, from,
                 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    munmap(content, bytes);
    return file;
}

/* Merges the files of this process, and joins the results of other processes. In rank 0, returns the file of
 * the whole job. Returns -1 in the other ranks, and after a failure, for which a message was printed. The
 * number of parts per process is a power of two, so that they are one subtree. */
static int mpi_merge_stretch(const struct job_tree *tree)
{
    size_t parts = job_tree_parts(tree), stretch = 1;
    while (stretch * (size_t)ranks < parts)
        stretch *= 2;
    size_t first = (size_t)rank * stretch;
    if (first >= parts)
        return -1;
    int file = job_tree_merge(tree, first, parts - first < stretch ? parts - first : stretch);
    for (int step = 1; step < ranks; step *= 2) {
        if (rank % (2 * step)) {
            mpi_merge_send_file(file, rank - step);
            return -1;
        }
        if (rank + step >= ranks || (size_t)(rank + step) * stretch >= parts)
            continue;
        int other = mpi_merge_receive_file(rank + step);
        if (file >= 0 && other >= 0) {
            file = job_tree_join(tree, file, other);
        } else {
            close(file >= 0 ? file : other);
            file = -1;
        }
    }
    return file;
}

static struct profile *mpi_merge_job_tree(struct job_tree *tree, char **why)
{
    job_reference_find(&tree->like, tree->paths, tree->count);
    tree->jobs = 1;
    mpi_merge_send_plan(tree);
    int file = mpi_merge_stretch(tree);
    MPI_Finalize(); /* the other processes need not wait until the file is written */
    if (file < 0)
        return NULL;
    struct profile *part = job_tree_read(tree, file, -1);
    close(file);
    return part ? job_complete(part, why) : NULL;
}

static void mpi_merge_as_other_rank(void)
{
    struct job_tree tree;
    char *text;
    if (!mpi_merge_receive_plan(&tree, &text))
        return;
    mpi_merge_stretch(&tree);
    free((void *)tree.paths);
    free(text);
}

static int mpi_merge_as_rank_0(int argc, char **argv)
{
    int finished;
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "-j") == 0 || strncmp(argv[i], "--jobs", 6) == 0) {
            fprintf(stderr,
                    "blame merge: %s: this option does not work here; mpirun decides the number of "
                    "processes\n",
                    argv[i]);
            return CLI_BAD_USAGE;
        }
    job_read_tree = mpi_merge_job_tree;
    int status = cli_merge(argc, argv);
    MPI_Finalized(&finished);
    if (!finished) {
        mpi_merge_broadcast(&(struct plan){0}, sizeof(struct plan));
        MPI_Finalize();
    }
    return status;
}

int main(int argc, char **argv)
{
    /* reaching a limit on file size then causes an error message instead of ending the process */
    signal(SIGXFSZ, SIG_IGN);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (rank == 0)
        return mpi_merge_as_rank_0(argc, argv);
    mpi_merge_as_other_rank();
    MPI_Finalize();
    return CLI_DONE;
}
