/* The rules in ompt_tool/sampling/sampler.c hold for this code, too. */
#include "cct/timeline/moment.h"

/* With one bit, two threads would always be in opposite halves of a period. An error of one thread's count
 * would then always come with the opposite error of the other's. */
#define LEAST_BITS 2u
#define MOST_BITS  12u

/* splitmix64 */
uint64_t moment_hash(uint64_t word)
{
    word += 0x9e3779b97f4a7c15ull;
    word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9ull;
    word = (word ^ (word >> 27)) * 0x94d049bb133111ebull;
    return word ^ (word >> 31);
}

uint64_t moment_salt(uint64_t seed, uint64_t start_ns)
{
    return moment_hash(seed) - start_ns;
}

uint32_t moment_bits(uint32_t thread)
{
    uint32_t bits = thread ? 32 - (uint32_t)__builtin_clz(thread) : 0;
    return bits && bits < LEAST_BITS ? LEAST_BITS : bits > MOST_BITS ? MOST_BITS : bits;
}

/* Returns the number of the period's part that contains the thread's moment: a * thread + b in the field of
 * 2^bits elements, where b is random, and a is random but not 0. So any two threads are in any two different
 * parts equally often. */
static uint64_t moment_part_of_thread(uint32_t thread, uint64_t drawn, uint32_t bits)
{
    static const uint16_t irreducible[MOST_BITS + 1] = {1,    3,     7,     0xb,   0x13,  0x25,  0x43,
                                                        0x83, 0x11b, 0x203, 0x409, 0x805, 0x1009};
    uint32_t last = (1u << bits) - 1, modulus = irreducible[bits];
    uint32_t a = 1 + (uint32_t)((drawn >> 32) * last >> 32), sum = (uint32_t)drawn & last;
    for (; thread; thread >>= 1) {
        sum ^= a & -(thread & 1);
        a <<= 1;
        a ^= modulus & -(a >> bits);
    }
    return sum;
}

uint64_t moment_place(uint64_t begin_ns, uint64_t salt, uint32_t thread, uint32_t bits)
{
    uint64_t drawn = moment_hash(begin_ns + salt), place = moment_hash(drawn + thread);
    return bits ? place >> bits | moment_part_of_thread(thread, drawn, bits) << (64 - bits) : place;
}
