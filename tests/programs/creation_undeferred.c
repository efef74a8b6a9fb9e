/* Tasks that are executed where they are created: if(0), with dependences and without, mergeable, final and
 * what is created in it, and a deferred task created in one with if(0). Each once in the region's code and
 * once in a task. For if(0) libomp takes the caller's rbp for the address of a frame, whatever is in it: so
 * one is created with various values there. The contexts below are known by construction. */
#include "analytic.h"

#include <dlfcn.h>

#define STAY    __asm__ volatile("")
#define SECONDS 0.0203
#define CREATE(clauses, body)                                                                                          \
    _Pragma(clauses)                                                                                                   \
    {                                                                                                                  \
        body;                                                                                                          \
        STAY;                                                                                                          \
    }

enum { IF0, DEPEND, MERGEABLE, FINAL, CHILD, RBP, VARIANTS };

static const char *const names[2][VARIANTS] = {
    {"if0", "depend", "mergeable", "final", "child", "rbp"},
    {"task if0", "task depend", "task mergeable", "task final", "task child", "task rbp"},
};

static int region_line, task_line, line[VARIANTS], inner_line[VARIANTS];

NAMED static void leaf(const char *name)
{
    work_for(name, SECONDS);
    STAY;
}

NAMED static void if0(const char *name)
{
    line[IF0] = __LINE__ + 1;
    CREATE("omp task if(0) firstprivate(name)", leaf(name));
    STAY;
}

NAMED static void depend(const char *name)
{
    int x = 0;
#pragma omp task depend(out : x)
    {
        x = 1;
        STAY;
    }
    line[DEPEND] = __LINE__ + 1;
    CREATE("omp task if(0) depend(in : x) firstprivate(name)", leaf(name));
#pragma omp taskwait
    STAY;
}

NAMED static void mergeable(const char *name)
{
    line[MERGEABLE] = __LINE__ + 1;
    CREATE("omp task if(0) mergeable firstprivate(name)", leaf(name));
    STAY;
}

NAMED static void final(const char *name)
{
    line[FINAL] = __LINE__ + 1;
#pragma omp task final(1) firstprivate(name)
    {
        inner_line[FINAL] = __LINE__ + 1;
        CREATE("omp task firstprivate(name)", leaf(name));
        STAY;
    }
#pragma omp taskwait
    STAY;
}

NAMED static void child(const char *name)
{
    line[CHILD] = __LINE__ + 1;
#pragma omp task if (0) firstprivate(name)
    {
        inner_line[CHILD] = __LINE__ + 1;
        CREATE("omp task firstprivate(name)", leaf(name));
#pragma omp taskwait
        STAY;
    }
    STAY;
}

NAMED static void rbp(const char *name)
{
    line[RBP] = __LINE__ + 1;
    CREATE("omp task if(0) firstprivate(name)", leaf(name));
    STAY;
}

/* Stands before the runtime's function of this name, which clang's programs call: with the value in rbp,
 * unless it is 0. */
void *rbp_value, *begin_if0;
__asm__(".text\n.globl __kmpc_omp_task_begin_if0\n.type __kmpc_omp_task_begin_if0,@function\n"
        "__kmpc_omp_task_begin_if0:\n.cfi_startproc\n"
        "push %rbp\n.cfi_def_cfa_offset 16\n.cfi_offset %rbp,-16\n"
        "mov rbp_value(%rip),%rax\ntest %rax,%rax\njz 1f\nmov %rax,%rbp\n1: call *begin_if0(%rip)\n"
        "pop %rbp\n.cfi_def_cfa_offset 8\n.cfi_restore %rbp\nret\n"
        ".cfi_endproc\n.size __kmpc_omp_task_begin_if0,.-__kmpc_omp_task_begin_if0\n");

NAMED static void with_rbp(const char *name, void *value)
{
    rbp_value = value;
    rbp(name);
    rbp_value = NULL;
    STAY;
}

NAMED static void all(const char *const *name)
{
    char here[64], *volatile inside = here;
    if0(name[IF0]);
    depend(name[DEPEND]);
    mergeable(name[MERGEABLE]);
    final(name[FINAL]);
    child(name[CHILD]);
    with_rbp(name[RBP], (void *)16);
    with_rbp(name[RBP], (void *)~(size_t)4095);
    with_rbp(name[RBP], inside);
    STAY;
}

NAMED static void in_task(void)
{
    task_line = __LINE__ + 1;
    CREATE("omp task", all(names[1]));
#pragma omp taskwait
    STAY;
}

static void print_paths(int in_task, const char *above)
{
    static const char *const functions[VARIANTS] = {"if0", "depend", "mergeable", "final", "child", "rbp"};
    for (int i = 0; i < VARIANTS; i++) {
        const char *f = functions[i];
        printf("path %.6f %s > all > %s%s > %s [task creation_undeferred.c:%d]", recorded_work(names[in_task][i]),
               above, i == RBP ? "with_rbp > " : "", f, f, line[i]);
        if (inner_line[i])
            printf(" > %s [task creation_undeferred.c:%d]", f, inner_line[i]);
        printf(" > leaf\n");
    }
}

int main(void)
{
    char above[256];
    begin_if0 = dlsym(RTLD_NEXT, "__kmpc_omp_task_begin_if0");
    for (int repetition = 0; repetition < 3; repetition++) {
        region_line = __LINE__ + 1;
#pragma omp parallel num_threads(2)
        {
#pragma omp single
            {
                all(names[0]);
                in_task();
            }
            STAY;
        }
    }
    sweep(2);
    int length = snprintf(above, sizeof(above), "main > main [parallel creation_undeferred.c:%d]", region_line);
    print_paths(0, above);
    snprintf(above + length, sizeof(above) - (size_t)length, " > in_task > in_task [task creation_undeferred.c:%d]",
             task_line);
    print_paths(1, above);
    return 0;
}
