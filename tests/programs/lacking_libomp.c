/* What lacking.c is linked with; it runs with the libomp that is there. */
void __kmpc_fork_call(void *place, int count, void *body, ...);
void __kmpc_coming(void);
void __kmpc_coming_too(void);
void kmp_may_come(void);

void __kmpc_fork_call(void *place, int count, void *body, ...)
{
    (void)place, (void)count, (void)body;
}

void __kmpc_coming(void)
{
}

void __kmpc_coming_too(void)
{
}

void kmp_may_come(void)
{
}
