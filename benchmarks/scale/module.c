/* One of many loaded modules: a frame on the way to whatever is called. */
void scale_module_call(void (*next)(void *), void *argument)
{
    next(argument);
    __asm__ volatile("" ::: "memory"); /* no tail call */
}
