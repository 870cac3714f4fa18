# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""A system clock that can be set for one process, where nobody may set that of the machine.

A small library, loaded before all others, adds an offset to what the process reads of the system
clock, and takes it from what it waits for. The steady clock is as it is.
"""

from __future__ import annotations

import struct
import subprocess
from pathlib import Path

_SOURCE = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>

static volatile const int64_t *offset;

__attribute__((constructor)) static void begin(void) {
    const char *path = getenv("SYSTEM_CLOCK_OFFSET");
    int file = path ? open(path, O_RDONLY) : -1;
    if (file < 0) return;
    void *map = mmap(NULL, 8, PROT_READ, MAP_SHARED, file, 0);
    if (map != MAP_FAILED) offset = map;
}

static int64_t now_off(void) { return offset ? *offset : 0; }

static void *original(const char *name) {
    void *found = dlvsym(RTLD_NEXT, name, "GLIBC_2.3.2");  /* the older conditions differ */
    return found ? found : dlsym(RTLD_NEXT, name);
}

static struct timespec moved(const struct timespec *t) {
    struct timespec out = *t;
    if (out.tv_sec > 1000000000) out.tv_sec -= now_off();  /* else of the steady clock */
    return out;
}

int clock_gettime(clockid_t id, struct timespec *t) {
    static int (*real)(clockid_t, struct timespec *);
    if (!real) real = dlsym(RTLD_NEXT, "clock_gettime");
    int result = real(id, t);
    if (!result && (id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE)) t->tv_sec += now_off();
    return result;
}

int gettimeofday(struct timeval *restrict t, void *restrict zone) {
    struct timespec now;
    (void)zone;
    clock_gettime(CLOCK_REALTIME, &now);
    t->tv_sec = now.tv_sec;
    t->tv_usec = now.tv_nsec / 1000;
    return 0;
}

time_t time(time_t *out) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (out) *out = now.tv_sec;
    return now.tv_sec;
}

int pthread_cond_timedwait(pthread_cond_t *restrict c, pthread_mutex_t *restrict m,
                           const struct timespec *restrict t) {
    static int (*real)(pthread_cond_t *, pthread_mutex_t *, const struct timespec *);
    if (!real) real = original("pthread_cond_timedwait");
    struct timespec until = moved(t);
    return real(c, m, &until);
}

int sem_timedwait(sem_t *restrict s, const struct timespec *restrict t) {
    static int (*real)(sem_t *, const struct timespec *);
    if (!real) real = dlsym(RTLD_NEXT, "sem_timedwait");
    struct timespec until = moved(t);
    return real(s, &until);
}
"""


class SystemClock:
    """The system clock of a process that is started with `variables` in its environment.

    Args:
        folder: for the library; needs a C compiler (raises CalledProcessError).
    """

    def __init__(self, folder: Path) -> None:
        source, library = folder / "system_clock.c", folder / "system_clock.so"
        self._offset = folder / "offset"
        source.write_text(_SOURCE)
        subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-o", str(library), str(source), "-ldl"],
                       check=True, capture_output=True)
        self.offset = 0
        self.step(0)
        self.variables = {"LD_PRELOAD": str(library), "SYSTEM_CLOCK_OFFSET": str(self._offset)}

    def step(self, seconds: int) -> None:
        """Set the clock ahead by so many seconds; negative: back."""
        self.offset += seconds
        with self._offset.open("r+b" if self._offset.exists() else "wb") as file:
            file.write(struct.pack("q", self.offset))
