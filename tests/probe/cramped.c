/* SPDX-License-Identifier: MIT */
/*
 * Refusals, a hold and a healthy exchange where there is little room: hardly a descriptor to be
 * had, no standard streams, small stacks, a signal handler, an empty root directory, no privileges.
 * Usage: cramped limit|closed|thread|handler|chroot|drop [twice]	twice: two tries and no hold
 */
#include "probe.h"

#include <grp.h>
#include <limits.h>

static uint16_t good, bad;
static bool twice;

static struct {
	int first, last, closed;
	int64_t took;
	bool echoed;
} saw;

/* No helper of probe.h with large buffers or stdio: this runs on small stacks and in handlers. */
static void work(void)
{
	struct sockaddr_in to = loopback(good);
	char back[8] = "";
	int fd;

	saw.first = attempt(bad, NULL);
	saw.last = twice ? attempt(bad, &saw.took) : spin_until_held(-1, bad, &saw.took);
	fd = socket(AF_INET, SOCK_STREAM, 0);
	saw.echoed = connect(fd, (struct sockaddr *)&to, sizeof(to)) == 0 &&
	             send(fd, "hello", 5, MSG_NOSIGNAL) == 5 &&
	             recv(fd, back, 5, MSG_WAITALL) == 5 && memcmp(back, "hello", 5) == 0;
	saw.closed = close(fd);
}

static void *thread(void *arg)
{
	work();
	return arg;
}

static void handler(int signal)
{
	(void)signal;
	work();
}

/* A stack of that size with unreadable memory below it, so that an overflow is seen. */
static void *guarded_stack(size_t size)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *memory = mmap(NULL, size + page, PROT_READ | PROT_WRITE,
	                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);

	if (memory == MAP_FAILED || mprotect(memory, page, PROT_NONE) != 0)
		give_up("stack");
	return memory + page;
}

static void in_thread(void)
{
	pthread_attr_t attributes;
	pthread_t id;

	pthread_attr_init(&attributes);
	if (pthread_attr_setstack(&attributes, guarded_stack(16384), 16384) != 0 ||
	    pthread_create(&id, &attributes, thread, NULL) != 0)
		give_up("thread");
	pthread_join(id, NULL);
}

static void in_handler(void)
{
	stack_t stack = { .ss_sp = guarded_stack(8192), .ss_size = 8192 };
	struct sigaction action = { .sa_handler = handler, .sa_flags = SA_ONSTACK };

	if (sigaltstack(&stack, NULL) != 0)
		give_up("sigaltstack");
	sigaction(SIGUSR1, &action, NULL);
	raise(SIGUSR1);
}

/* All numbers but one are taken: nobody else can open anything while our socket lives. */
static void with_limit(void)
{
	struct rlimit limit = { 8, 8 };
	int fd, last = -1;

	if (setrlimit(RLIMIT_NOFILE, &limit) != 0)
		give_up("setrlimit");
	while ((fd = dup(0)) >= 0)
		last = fd;
	close(last);
	work();
}

static void in_empty_root(void)
{
	char name[] = "/tmp/probe-root-XXXXXX";

	if (mkdtemp(name) == NULL || chdir(name) != 0 || rmdir(name) != 0 || chroot(".") != 0)
		exit(PROBE_CANNOT);
	work();
}

/* Before the server starts: one with more privileges than its parent is not told of its end, and
 * the driver would wait for it. */
static void drop_privileges(void)
{
	if (geteuid() == 0 && (setgroups(0, NULL) != 0 || setresgid(65534, 65534, 65534) != 0 ||
	                       setresuid(65534, 65534, 65534) != 0))
		exit(PROBE_CANNOT);
}

/* Starts this program again with 0, 1 and 2 closed; 900 is where the report will go. */
static void start_without_streams(char **argv)
{
	if (dup2(1, 900) != 900)
		give_up("dup2");
	for (int fd = 0; fd < 3; fd++)
		close(fd);
	execl("/proc/self/exe", argv[0], "streamless", twice ? "twice" : NULL, (char *)NULL);
	_exit(2);
}

int main(int argc, char **argv)
{
	const char *kind = argc > 1 ? argv[1] : "thread";
	bool streamless = strcmp(kind, "streamless") == 0;
	int held;

	twice = argc > 2;
	if (strcmp(kind, "drop") == 0)
		drop_privileges();
	if (strcmp(kind, "closed") == 0)
		start_without_streams(argv);
	good = start_server(SERVER_ECHO, NULL);
	bad = refusing_port(&held);
	if (strcmp(kind, "limit") == 0)
		with_limit();
	else if (strcmp(kind, "handler") == 0)
		in_handler();
	else if (strcmp(kind, "chroot") == 0)
		in_empty_root();
	else if (strcmp(kind, "thread") == 0)
		in_thread();
	else
		work();
	if (streamless)
		dup2(900, 1);
	printf("first: %s\n", error_name(saw.first));
	printf("last: %s, %s\n", error_name(saw.last), length_of(saw.took, 1000));
	printf("healthy: %s, closed: %d\n", saw.echoed ? "works" : "broken", saw.closed);
	return 0;
}
