/* The ring of `ring.py` by hand, for comparison: no frame, no rules, no traces, nothing that
 * grows. States are one word, found breadth first in blocks; a block's successors are hashed and
 * their places in one flat table prefetched before any of them is inserted; what was met lately
 * is dropped before that; memory is asked for in huge pages.
 *
 * cc -O3 -march=native -DN=6 -DC=3 -DT=9 -DSTATES=9931520 ring.c */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>

#define BLOCK 32
#define RECENT (1u << 15)
#define BITS 2 /* of a counter: C is at most 3 */
#define PRESENT (1ull << 63)

typedef uint64_t word;
enum { PERMITS, FREED, FLYING, WAITING };

static word one(int counter, int link) { return 1ull << BITS * (counter * N + link); }
static int some(word s, int counter, int link) { return (s & 3 * one(counter, link)) != 0; }

static word hash(word s) {
    s *= 0x9E3779B97F4A7C15ull;
    s ^= s >> 32;
    return s * 0xD6E8FEB86659FD93ull;
}

static void *memory(size_t words) {
    void *found = mmap(0, 8 * words, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    madvise(found, 8 * words, MADV_HUGEPAGE);
    return found;
}

/* Every successor is written; the place for the next moves on only if the step is enabled. */
static inline unsigned successors(word s, word *out) {
    unsigned n = 0;
#pragma GCC unroll 32
    for (int i = 0; i < N; i++) {
        int next = (i + 1) % N;
        out[n] = s - one(WAITING, i) + one(FREED, i) - one(PERMITS, next) + one(FLYING, next);
        n += some(s, WAITING, i) & some(s, PERMITS, next);
        out[n] = s - one(FLYING, i) + one(WAITING, i);
        n += some(s, FLYING, i);
        out[n] = s - one(FREED, i) + one(PERMITS, i);
        n += some(s, FREED, i);
    }
    return n;
}

int main(void) {
    word places = 1;
    while (places < STATES / 3 * 5) places *= 2;
    word *table = memory(places), *order = memory(STATES + 1);
    static word recent[RECENT], made[BLOCK * 3 * N + 1], hashes[BLOCK * 3 * N + 1];
    word s = PRESENT;
    for (int i = 0, left = T; i < N; i++) {
        int here = left < C ? left : C;
        left -= here;
        s += here * one(WAITING, i) + (C - here) * one(PERMITS, i);
    }
    word found = 1, transitions = 0, level_end = 1, depth = 0;
    order[0] = s;
    table[(hash(s) >> 32) * places >> 32] = s;
    for (word at = 0; at < found;) {
        if (at == level_end) level_end = found, depth++;
        unsigned count = 0, kept = 0;
        for (int i = 0; i < BLOCK && at < level_end; i++)
            count += successors(order[at++], made + count);
        transitions += count;
        for (unsigned i = 0; i < count; i++) {
            word h = hash(made[i]), *lately = recent + h % RECENT;
            unsigned is_new = *lately != made[i];
            *lately = made[kept] = made[i];
            hashes[kept] = (h >> 32) * places >> 32;
            __builtin_prefetch(is_new ? table + hashes[kept] : lately);
            kept += is_new;
        }
        for (unsigned i = 0; i < kept; i++) {
            word place = hashes[i];
            while (table[place] && table[place] != made[i]) place = (place + 1) % places;
            if (!table[place]) table[place] = order[found++] = made[i];
        }
    }
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    printf("%lu %lu %lu %.6f\n", found, transitions, depth,
           used.ru_utime.tv_sec + used.ru_stime.tv_sec
               + 1e-6 * (used.ru_utime.tv_usec + used.ru_stime.tv_usec));
    return 0;
}
