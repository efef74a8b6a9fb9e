#include "base/run_options.h"

#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

bool run_option_throttle(const char *text, void *to)
{
    struct run_throttle *throttle = to;
    char *at, *end;
    if (strcmp(text, "0") == 0) {
        *throttle = (struct run_throttle){UINT64_MAX, 0};
        return true;
    }
    unsigned long long calls = strtoull(text, &at, 10);
    if (*text < '0' || *text > '9' || *at != '@' || at[1] < '0' || at[1] > '9')
        return false;
    unsigned long long ns = strtoull(at + 1, &end, 10);
    if (*end || ns == 0 || calls == 0 || ns == ULLONG_MAX || calls == ULLONG_MAX)
        return false;
    *throttle = (struct run_throttle){calls, ns};
    return true;
}

bool run_option_job(const char *text, void *to)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
    size_t length = strlen(text);
    if (length == 0 || length > 63 || !strchr(letters, text[0]))
        return false;
    for (size_t i = 0; i < length; i++)
        if (!strchr(letters, text[i]) && !strchr("._+-", text[i]))
            return false;
    *(const char **)to = text;
    return true;
}

/* 50, rt16, RTMIN+16, RTMAX-14: a real-time signal, or one of those that programs seldom use. */
bool run_option_signal(const char *text, void *to)
{
    static const struct {
        const char *name;
        int base, sign;
    } forms[] = {
        {"SIGRTMIN+", 0, 1}, {"SIGRTMAX-", 1, -1}, {"RTMIN+", 0, 1}, {"RTMAX-", 1, -1}, {"rt", 0, 1}};
    static const int others[] = {SIGUSR1, SIGUSR2,  SIGSTKFLT, SIGURG, SIGVTALRM,
                                 SIGPROF, SIGWINCH, SIGIO,     SIGPWR};
    int base = 0, sign = 1;
    for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++)
        if (strncasecmp(text, forms[i].name, strlen(forms[i].name)) == 0) {
            text += strlen(forms[i].name);
            base = forms[i].base ? SIGRTMAX : SIGRTMIN;
            sign = forms[i].sign;
            break;
        }
    char *end;
    long value = strtol(text, &end, 10);
    if (*end || *text < '0' || *text > '9' || value > SIGRTMAX)
        return false;
    int number = base + sign * (int)value;
    bool accepted = number >= SIGRTMIN && number <= SIGRTMAX;
    for (size_t i = 0; !base && i < sizeof(others) / sizeof(others[0]); i++)
        accepted |= number == others[i];
    if (accepted)
        *(int *)to = number;
    return accepted;
}
