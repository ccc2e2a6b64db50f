/* Single system calls for the cases in the guest: prints "done" and exits 0, or the errno's name and exits 1. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/xattr.h>
#include <unistd.h>

static int told(long result) {
  puts(result < 0 ? strerrorname_np(errno) : "done");
  return result < 0;
}

/* Becomes an ordinary user. */
static int as_user(int id, char **argv) {
  if (setgroups(0, NULL) < 0 || setgid(id) < 0 || setuid(id) < 0) return told(-1);
  execvp(argv[0], argv);
  return told(-1);
}

/* Stays root and gives up every capability for good, as in a container without any. */
static int without_capabilities(char **argv) {
  struct __user_cap_header_struct head = {_LINUX_CAPABILITY_VERSION_3, 0};
  struct __user_cap_data_struct none[2] = {{0, 0, 0}, {0, 0, 0}};
  for (int number = 0; number < 64; number++) prctl(PR_CAPBSET_DROP, number, 0, 0, 0);
  if (syscall(SYS_capset, &head, none) < 0) return told(-1);
  execvp(argv[0], argv);
  return told(-1);
}

static socklen_t unix_address(struct sockaddr_un *address, const char *name) {
  memset(address, 0, sizeof *address);
  address->sun_family = AF_UNIX;
  strncpy(address->sun_path, name, sizeof address->sun_path - 1);
  /* "@name" stands for the abstract socket of that name. */
  if (name[0] == '@') address->sun_path[0] = 0;
  return offsetof(struct sockaddr_un, sun_path) + strlen(name);
}

static int meet(const char *name, int (*call)(int, const struct sockaddr *, socklen_t)) {
  struct sockaddr_un address;
  socklen_t length = unix_address(&address, name);
  int fd = socket(AF_UNIX, SOCK_STREAM, 0);
  return fd < 0 ? -1 : call(fd, (struct sockaddr *)&address, length);
}

static int listen_at(const char *name) {
  struct sockaddr_un address;
  socklen_t length = unix_address(&address, name);
  int fd = socket(AF_UNIX, SOCK_STREAM, 0);
  if (fd < 0 || bind(fd, (struct sockaddr *)&address, length) < 0 || listen(fd, 8) < 0) return told(-1);
  puts("listens");
  fflush(stdout);
  for (;;) pause();
}

static int tcp(int port) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  int fd = socket(AF_INET, SOCK_STREAM, 0);
  return fd < 0 ? -1 : connect(fd, (struct sockaddr *)&address, sizeof address);
}

static int tcp_pair(void) {
  struct sockaddr_in address = {.sin_family = AF_INET};
  socklen_t length = sizeof address;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  int server = socket(AF_INET, SOCK_STREAM, 0), client = socket(AF_INET, SOCK_STREAM, 0);
  if (server < 0 || client < 0 || bind(server, (struct sockaddr *)&address, length) < 0 || listen(server, 1) < 0)
    return -1;
  getsockname(server, (struct sockaddr *)&address, &length);
  return connect(client, (struct sockaddr *)&address, length);
}

/* Uses so many megabytes. */
static int eat(long megabytes) {
  volatile char *memory = malloc(megabytes << 20);
  if (memory == NULL) return -1;
  for (long at = 0; at < megabytes << 20; at += 4096) memory[at] = 1;
  return 0;
}

/* So many children at once; how many there could be is printed. */
static int forks(int wanted) {
  int made = 0;
  while (made < wanted) {
    pid_t pid = fork();
    if (pid == 0) for (;;) pause();
    if (pid < 0) break;
    made++;
  }
  printf("%d children\n", made);
  return made < wanted ? -1 : 0;
}

int main(int argc, char **argv) {
  const char *what = argc > 1 ? argv[1] : "";
  char *one = argc > 2 ? argv[2] : "", *two = argc > 3 ? argv[3] : "";
  int pair[2];
  if (!strcmp(what, "as")) return as_user(atoi(one), argv + 3);
  if (!strcmp(what, "bare")) return without_capabilities(argv + 2);
  if (!strcmp(what, "truncate")) return told(truncate(one, 0));
  if (!strcmp(what, "empty")) return told(open(one, O_RDONLY | O_TRUNC));
  if (!strcmp(what, "setxattr")) return told(setxattr(one, "user.x", "x", 1, 0));
  if (!strcmp(what, "connect")) return told(meet(one, connect));
  if (!strcmp(what, "listen")) return listen_at(one);
  if (!strcmp(what, "tcp")) return told(tcp(atoi(one)));
  if (!strcmp(what, "tcp_pair")) return told(tcp_pair());
  if (!strcmp(what, "socketpair")) return told(socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
  if (!strcmp(what, "kill")) return told(kill(atoi(one), 0));
  if (!strcmp(what, "tiocsti")) return told(ioctl(0, TIOCSTI, "x"));
  if (!strcmp(what, "keyctl")) return told(syscall(SYS_keyctl, 0, -3, 0));
  if (!strcmp(what, "io_uring")) return told(syscall(SYS_io_uring_setup, 8, one));
  if (!strcmp(what, "unshare")) return told(unshare(CLONE_NEWUSER));
  if (!strcmp(what, "link")) return told(link(one, two));
  if (!strcmp(what, "rename")) return told(rename(one, two));
  if (!strcmp(what, "eat")) return told(eat(atol(one)));
  if (!strcmp(what, "forks")) return told(forks(atoi(one)));
  if (!strcmp(what, "tmpfile")) return told(open(one, O_TMPFILE | O_WRONLY, 0600));
  fprintf(stderr, "calls: unknown call \"%s\"\n", what);
  return 2;
}
