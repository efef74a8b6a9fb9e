#include "tests/simulator/batch.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define MAX_JOBS 64u

uint32_t batch_jobs = 2;
struct batch_totals batch_totals;

static struct job {
    pid_t child;
    uint64_t seed;
    struct run *run; /* shared with the child */
} jobs[MAX_JOBS];

static void start(struct job *job, const struct batch *batch, uint64_t number)
{
    struct sim_options options = batch->options;
    uint64_t seed = batch->first_seed + number;
    if (batch->stop_step) {
        seed = batch->first_seed;
        options.stop_at = 1 + number * batch->stop_step;
    }
    if (!job->run)
        job->run = mmap(NULL, sizeof(*job->run), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    memset(job->run, 0, offsetof(struct run, figures));
    job->seed = batch->stop_step ? options.stop_at : seed;
    job->child = fork();
    if (job->child == 0) {
        run_here(batch->scenario ? batch->scenario : scenario_random(seed), seed, &options, job->run);
        _exit(0);
    }
}

static void finish(struct job *job, int status, const struct batch *batch)
{
    job->child = 0;
    if (!job->run->done)
        snprintf(job->run->failure, sizeof(job->run->failure), "the process ended by signal %d, status %d",
                 WTERMSIG(status), WEXITSTATUS(status));
    batch_totals.runs++;
    batch_totals.events += job->run->events;
    batch_totals.samples += job->run->samples;
    batch->take(job->seed, job->run, batch->argument);
}

void batch_run(const struct batch *batch)
{
    uint32_t started = 0, finished = 0, most = batch_jobs < MAX_JOBS ? batch_jobs : MAX_JOBS;
    fflush(NULL); /* children have nothing to print twice */
    while (finished < batch->count) {
        for (uint32_t i = 0; i < most && started < batch->count; i++)
            if (!jobs[i].child)
                start(&jobs[i], batch, started++);
        int status;
        pid_t child = wait(&status);
        for (uint32_t i = 0; i < most; i++)
            if (child > 0 && jobs[i].child == child) {
                finish(&jobs[i], status, batch);
                finished++;
            }
        if (child < 0) {
            perror("simulate: no process");
            exit(1);
        }
    }
}

static void keep(uint64_t seed, const struct run *run, void *argument)
{
    (void)seed;
    *(const struct run **)argument = run;
}

const struct run *batch_once(const struct scenario *scenario, uint64_t seed, const struct sim_options *options)
{
    const struct run *run = NULL;
    struct batch batch = {.scenario = scenario, .options = *options, .first_seed = seed, .count = 1, .take = keep};
    batch.argument = &run;
    batch_run(&batch);
    return run;
}
