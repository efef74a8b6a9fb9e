/* A program without OpenMP. A thread of it has the smallest stack that there may be; it prints what it was started with, the second line to
 * descriptor 7, and returns 5. Linked with large_tls.so it needs more room for thread-local storage than glibc has beside an audit library. */
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef LARGE
int touch(int value);
#else
static int touch(int value)
{
    return value;
}
#endif

static void *run(void *text)
{
    char own[1000];
    memset(own, 'x', sizeof(own));
    memcpy(text, own, 3);
    return NULL;
}

int main(int count, char **arguments)
{
    char text[4] = "";
    const char *tunables = getenv("GLIBC_TUNABLES");
    pthread_t thread;
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, PTHREAD_STACK_MIN);
    int error = pthread_create(&thread, &attributes, run, text);
    if (!error)
        pthread_join(thread, NULL);
    printf("error %d, %s, %d\n", error, text, touch(3) != 0);
    fflush(stdout);
    dprintf(7, "%d: '%s' '%s', %s\n", count, count > 1 ? arguments[1] : "", count > 2 ? arguments[2] : "",
            tunables ? tunables : "none");
    return 5;
}
