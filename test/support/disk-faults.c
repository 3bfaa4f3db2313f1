/* A disk that is slow or full, for one program and one folder: preloaded in front of the C library, it lets no write to
   a file with FAULT_FOLDER in its path through while the file FAULT_FULL exists, and delays every sync by FAULT_SLOW_MS
   while the file FAULT_SLOW exists, adding a byte to it for each. A write to a file opened with O_DSYNC is a sync. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static int is_below(int fd) {
  const char *folder = getenv("FAULT_FOLDER");
  char link[64], path[4096];
  if (folder == NULL) return 0;
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, sizeof path - 1);
  if (length < 0) return 0;
  path[length] = 0;
  return strstr(path, folder) != NULL;
}

static int is_full(int fd) {
  const char *flag = getenv("FAULT_FULL");
  if (flag == NULL || access(flag, F_OK) != 0 || !is_below(fd)) return 0;
  errno = ENOSPC;
  return 1;
}

static void delay(int fd) {
  const char *ms = getenv("FAULT_SLOW_MS"), *flag = getenv("FAULT_SLOW");
  if (ms == NULL || flag == NULL || access(flag, F_OK) != 0 || !is_below(fd)) return;
  struct timespec pause = {atoi(ms) / 1000, (long)(atoi(ms) % 1000) * 1000000};
  nanosleep(&pause, NULL);
  int counter = open(flag, O_WRONLY | O_APPEND);
  if (counter < 0) return;
  (void)!REAL(write)(counter, ".", 1);
  close(counter);
}

static void delay_if_synced(int fd) {
  int flags = fcntl(fd, F_GETFL);
  if (flags != -1 && (flags & O_DSYNC) != 0) delay(fd);
}

int fsync(int fd) { delay(fd); return REAL(fsync)(fd); }
int fdatasync(int fd) { delay(fd); return REAL(fdatasync)(fd); }

ssize_t write(int fd, const void *data, size_t size) {
  return is_full(fd) ? -1 : REAL(write)(fd, data, size);
}
ssize_t writev(int fd, const struct iovec *parts, int count) {
  return is_full(fd) ? -1 : REAL(writev)(fd, parts, count);
}
ssize_t pwrite(int fd, const void *data, size_t size, off_t at) {
  delay_if_synced(fd);
  return is_full(fd) ? -1 : REAL(pwrite)(fd, data, size, at);
}
ssize_t pwrite64(int fd, const void *data, size_t size, off64_t at) {
  delay_if_synced(fd);
  return is_full(fd) ? -1 : REAL(pwrite64)(fd, data, size, at);
}
ssize_t pwritev(int fd, const struct iovec *parts, int count, off_t at) {
  return is_full(fd) ? -1 : REAL(pwritev)(fd, parts, count, at);
}
int posix_fallocate(int fd, off_t at, off_t size) {
  return is_full(fd) ? ENOSPC : REAL(posix_fallocate)(fd, at, size);
}
