// Scopes: ended in the opposite order, and by exceptions. With COPY, DISCARD: what must not compile.
#include <cstdio>
#include <stdexcept>

#include "blame.h"

#define EXPORTED extern "C" __attribute__((noinline, visibility("default")))

EXPORTED void inner(bool fails)
{
    blame::parameter size("size", 512);
    blame::event pack("pack");
    if (fails)
        throw std::runtime_error("failed");
}

EXPORTED void outer()
{
    blame::phase solve("solve");
    for (int i = 0; i < 2; i++) {
        blame::iteration step("step", i);
        inner(i == 1);
    }
}

int main()
{
    blame::iteration next("next");
#ifdef COPY
    blame::iteration copy(next);
#endif
#ifdef DISCARD
    blame::phase("gone");
#endif
    try {
        outer();
    } catch (const std::exception &error) {
        std::puts(error.what());
    }
    return 0;
}
