/* Gives a process, and all it starts, another time of day; preloaded. What runs by the monotonic clock is left alone.

   The environment's CLUSTER_CLOCK names a file of eight bytes: how many seconds the clock is ahead, as a signed number.
   It is mapped, so a step is there at once. Waits until a time of day are told the true one. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

/* A time that is later than this many seconds is a time of day; the monotonic clock counts from the start. */
#define OF_DAY 1000000000

static const volatile int64_t none = 0;
static const volatile int64_t *ahead = &none;

__attribute__((constructor)) static void open_clock(void) {
  const char *path = getenv("CLUSTER_CLOCK");
  int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
  if (file < 0) return;
  void *mapped = mmap(NULL, sizeof *ahead, PROT_READ, MAP_SHARED, file, 0);
  if (mapped != MAP_FAILED) ahead = mapped;
  close(file);
}

static int true_time(clockid_t clock, struct timespec *at) {
  static int (*of_libc)(clockid_t, struct timespec *);
  if (!of_libc) of_libc = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
  return of_libc(clock, at);
}

int clock_gettime(clockid_t clock, struct timespec *at) {
  int failed = true_time(clock, at);
  if (!failed && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) at->tv_sec += *ahead;
  return failed;
}

int gettimeofday(struct timeval *restrict at, void *restrict zone) {
  (void)zone;
  struct timespec now;
  if (clock_gettime(CLOCK_REALTIME, &now)) return -1;
  at->tv_sec = now.tv_sec;
  at->tv_usec = now.tv_nsec / 1000;
  return 0;
}

time_t time(time_t *at) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (at) *at = now.tv_sec;
  return now.tv_sec;
}

int timespec_get(struct timespec *at, int base) {
  if (base != TIME_UTC || clock_gettime(CLOCK_REALTIME, at)) return 0;
  return base;
}

static clockid_t clock_of(const struct timespec *until, struct timespec *true_until) {
  *true_until = *until;
  if (until->tv_sec < OF_DAY) return CLOCK_MONOTONIC;
  true_until->tv_sec -= *ahead;
  return CLOCK_REALTIME;
}

int pthread_cond_timedwait(pthread_cond_t *restrict cond, pthread_mutex_t *restrict mutex,
                           const struct timespec *restrict until) {
  struct timespec at;
  clockid_t clock = clock_of(until, &at);
  return pthread_cond_clockwait(cond, mutex, clock, &at);
}

int sem_timedwait(sem_t *restrict semaphore, const struct timespec *restrict until) {
  struct timespec at;
  clockid_t clock = clock_of(until, &at);
  return sem_clockwait(semaphore, clock, &at);
}

int pthread_mutex_timedlock(pthread_mutex_t *restrict mutex, const struct timespec *restrict until) {
  struct timespec at;
  clockid_t clock = clock_of(until, &at);
  return pthread_mutex_clocklock(mutex, clock, &at);
}

static int of_threads(int failed) { return !failed ? thrd_success : failed == ETIMEDOUT ? thrd_timedout : thrd_error; }

/* Those of C11, by which librdkafka waits, do not come by the ones above; inside they are the same things. */
int cnd_timedwait(cnd_t *restrict cond, mtx_t *restrict mutex, const struct timespec *restrict until) {
  return of_threads(pthread_cond_timedwait((pthread_cond_t *)cond, (pthread_mutex_t *)mutex, until));
}

int mtx_timedlock(mtx_t *restrict mutex, const struct timespec *restrict until) {
  return of_threads(pthread_mutex_timedlock((pthread_mutex_t *)mutex, until));
}
