// SPDX-License-Identifier: MIT
/*
 * A client that works at a rate, for hours, and says at its end what it saw.
 *
 * Usage: client STYLE RATE TIMEOUT HOST PORT...   the ports in turn; it waits TIMEOUT ms for a
 * reply
 *   loop      a connection for each exchange
 *   kept      one connection per port, opened again when it fails
 *   thread    a new thread for each exchange
 *   fork      a new process for each exchange, now and then one that execs
 *   churn     what moves descriptors: dup, fcntl, SCM_RIGHTS, stdio, close_range
 *   epoll     eight exchanges at once, non-blocking
 * SIGTERM ends it. Every ten seconds, and last, it prints what it saw:
 * {"ops": N, "ok": N, "crashed": N, "errors": {"connect ECONNREFUSED": N, ...}}
 */
#include "soak.h"
#include "report/report.h"

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <spawn.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#define PORTS   8
#define AT_ONCE 8
#define ERRORS  134

enum step { FINE, LOOKUP, CONNECT, SEND, RECV, END_OF_FILE, CORRUPT, STEPS };

static const char *const step_names[] = { "ok",   "lookup", "connect", "send",
	                                  "recv", "eof",    "corrupt" };

/* How an exchange ended. */
struct outcome {
	enum step step;
	int err;
};

static struct {
	long ops, crashed;
	long seen[STEPS][ERRORS];
} * counts;

static volatile sig_atomic_t stopped;
static const char *host;
static long timeout_ms;
static const char *ports[PORTS];
static int port_count;
static int kept[PORTS];

static void stop(int number)
{
	(void)number;
	stopped = 1;
}

static void note(struct outcome outcome)
{
	int err = outcome.err < 0 ? -outcome.err : outcome.err;

	ADD(counts->ops, 1);
	ADD(counts->seen[outcome.step][err < ERRORS ? err : 0], 1);
}

static void report(void)
{
	const char *comma = "";

	printf("{\"ops\": %ld, \"ok\": %ld, \"crashed\": %ld, \"errors\": {", counts->ops,
	       counts->seen[FINE][0], counts->crashed);
	for (int step = LOOKUP; step < STEPS; step++)
		for (int err = 0; err < ERRORS; err++)
			if (counts->seen[step][err] > 0) {
				printf("%s\"%s %s\": %ld", comma, step_names[step],
				       step == LOOKUP ? gai_strerror(-err)
				       : err != 0     ? strerrorname_np(err)
				                      : "-",
				       counts->seen[step][err]);
				comma = ", ";
			}
	puts("}}");
	fflush(stdout);
}

static struct outcome ended(enum step step)
{
	return (struct outcome) { step, step == END_OF_FILE || step == CORRUPT ? 0 : errno };
}

static void message(char *text, size_t size, long n)
{
	uint64_t state = (uint64_t)n * 0x9e3779b97f4a7c15 + 1;
	int length = 8 + (int)(draw(&state) % 64), at;

	at = snprintf(text, size, "%ld ", n);
	for (int i = 0; i < length; i++)
		text[at++] = (char)('a' + draw(&state) % 26);
	text[at++] = '\n';
	text[at] = '\0';
}

static int new_socket(int type)
{
	struct timeval timeout = { .tv_sec = timeout_ms / 1000,
		                   .tv_usec = timeout_ms % 1000 * 1000 };
	int fd = socket(AF_INET, SOCK_STREAM | type, 0);

	if (fd < 0)
		die("socket");
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout));
	return fd;
}

static struct outcome look_up(const char *port, struct sockaddr_in *to)
{
	struct addrinfo hints = { .ai_family = AF_INET, .ai_socktype = SOCK_STREAM }, *list;
	int code = getaddrinfo(host, port, &hints, &list);

	if (code != 0)
		return (struct outcome) { LOOKUP, code };
	memcpy(to, list->ai_addr, sizeof(*to));
	freeaddrinfo(list);
	return (struct outcome) { FINE, 0 };
}

static struct outcome talk(int fd, long n)
{
	char text[128], back[128];
	size_t length, got = 0;

	message(text, sizeof(text), n);
	length = strlen(text);
	if (send(fd, text, length, MSG_NOSIGNAL) != (ssize_t)length)
		return ended(SEND);
	while (got < length) {
		ssize_t more = recv(fd, back + got, length - got, 0);

		if (more < 0 && errno == EINTR)
			continue;
		if (more < 0)
			return ended(RECV);
		if (more == 0)
			return ended(END_OF_FILE);
		got += more;
	}
	if (memcmp(text, back, length) != 0)
		return ended(CORRUPT);
	return (struct outcome) { FINE, 0 };
}

static struct outcome open_to(const char *port, int *fd)
{
	struct sockaddr_in to;
	struct outcome outcome = look_up(port, &to);

	*fd = -1;
	if (outcome.step != FINE)
		return outcome;
	*fd = new_socket(SOCK_CLOEXEC);
	if (connect(*fd, (struct sockaddr *)&to, sizeof(to)) == 0)
		return outcome;
	outcome = ended(CONNECT);
	close(*fd);
	*fd = -1;
	return outcome;
}

static struct outcome once(const char *port, long n)
{
	int fd;
	struct outcome outcome = open_to(port, &fd);

	if (fd < 0)
		return outcome;
	outcome = talk(fd, n);
	close(fd);
	return outcome;
}

static void in_loop(long n)
{
	note(once(ports[n % port_count], n));
}

static void on_kept(long n)
{
	int *fd = &kept[n % port_count];
	struct outcome outcome = { FINE, 0 };

	if (*fd < 0)
		outcome = open_to(ports[n % port_count], fd);
	if (*fd >= 0) {
		outcome = talk(*fd, n);
		if (outcome.step != FINE || n % 50 < port_count) {
			close(*fd);
			*fd = -1;
		}
	}
	note(outcome);
}

static void *thread(void *arg)
{
	in_loop((long)(intptr_t)arg);
	return NULL;
}

static void in_thread(long n)
{
	pthread_attr_t attributes;
	pthread_t id;

	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, 64 * 1024);
	if (pthread_create(&id, &attributes, thread, (void *)(intptr_t)n) != 0)
		die("thread");
	pthread_join(id, NULL);
	pthread_attr_destroy(&attributes);
}

static void wait_for(pid_t child)
{
	int status;

	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	if (WIFSIGNALED(status))
		ADD(counts->crashed, 1);
}

static void in_child(long n)
{
	static char *const nothing[] = { "true", NULL };
	extern char **environ;
	pid_t child;

	if (n % 20 == 0 && posix_spawnp(&child, "true", NULL, NULL, nothing, environ) == 0)
		wait_for(child);
	if (n % 20 == 10 && (child = vfork()) == 0) {
		execvp("true", nothing);
		_exit(127);
	}
	if (n % 20 == 10)
		wait_for(child);
	child = fork();
	if (child < 0)
		die("fork");
	if (child == 0) {
		in_loop(n);
		_exit(0);
	}
	wait_for(child);
}

/* The socket by way of a unix socket, under a new number. */
static int passed_on(int fd)
{
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = { 0 };
	char byte = 'x';
	struct iovec part = { &byte, 1 };
	struct msghdr message = { .msg_iov = &part,
		                  .msg_iovlen = 1,
		                  .msg_control = &control,
		                  .msg_controllen = sizeof(control) };
	int pair[2], got;

	if (socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, pair) != 0)
		die("socketpair");
	control.header.cmsg_level = SOL_SOCKET;
	control.header.cmsg_type = SCM_RIGHTS;
	control.header.cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(&control.header), &fd, sizeof(int));
	if (sendmsg(pair[0], &message, 0) != 1 || recvmsg(pair[1], &message, 0) != 1)
		die("SCM_RIGHTS");
	memcpy(&got, CMSG_DATA(&control.header), sizeof(int));
	close(pair[0]);
	close(pair[1]);
	close(fd);
	return got;
}

/* By stdio, whose close no hook sees; then a file under the same number. */
static struct outcome talk_by_stdio(int fd, long n)
{
	char text[128], back[128] = "";
	FILE *stream = fdopen(fd, "r+");
	int file;

	message(text, sizeof(text), n);
	if (stream == NULL)
		die("fdopen");
	errno = 0;
	if (fputs(text, stream) < 0 || fflush(stream) != 0) {
		struct outcome outcome = ended(SEND);

		fclose(stream);
		return outcome;
	}
	if (fgets(back, sizeof(back), stream) == NULL || strchr(back, '\n') == NULL) {
		struct outcome outcome = ended(errno != 0 ? RECV : END_OF_FILE);

		fclose(stream);
		return outcome;
	}
	fclose(stream);
	file = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (write(file, back, strlen(back)) != (ssize_t)strlen(back))
		die("a file under a socket's number");
	close(file);
	return strcmp(text, back) == 0 ? (struct outcome) { FINE, 0 } : ended(CORRUPT);
}

static void in_churn(long n)
{
	int fd, other;
	struct outcome outcome = open_to(ports[n % port_count], &fd);

	if (fd < 0) {
		note(outcome);
		return;
	}
	switch (n / port_count % 6) {
	case 0:
		other = dup(fd);
		close(fd);
		fd = other;
		break;
	case 1:
		other = fcntl(fd, F_DUPFD_CLOEXEC, 60);
		close(fd);
		fd = other;
		break;
	case 2:
		dup2(fd, 100);
		close(fd);
		fd = dup3(100, 101, O_CLOEXEC);
		syscall(SYS_close_range, 100, 100, 0);
		break;
	case 3:
		fd = passed_on(fd);
		break;
	case 4:
		note(talk_by_stdio(fd, n));
		return;
	default:
		outcome = talk(fd, n);
		syscall(SYS_close, fd); /* unseen */
		note(outcome);
		return;
	}
	outcome = talk(fd, n);
	close(fd);
	note(outcome);
}

/* One of those at once. */
struct flight {
	int fd;
	bool connected;
	int64_t until;
	long n;
	size_t length, got;
	char text[128], back[128];
};

static struct flight flights[AT_ONCE];
static int events = -1;

static void land(struct flight *flight, struct outcome outcome)
{
	note(outcome);
	close(flight->fd);
	flight->fd = -1;
}

static void take_off(struct flight *flight, long n)
{
	struct epoll_event event = { .events = EPOLLOUT | EPOLLIN, .data.ptr = flight };
	struct sockaddr_in to;
	struct outcome outcome = look_up(ports[n % port_count], &to);

	if (outcome.step != FINE) {
		note(outcome);
		return;
	}
	flight->fd = new_socket(SOCK_NONBLOCK | SOCK_CLOEXEC);
	flight->connected = false;
	flight->n = n;
	flight->got = 0;
	flight->until = now_ns() + (timeout_ms + 2500) * INT64_C(1000000);
	message(flight->text, sizeof(flight->text), n);
	flight->length = strlen(flight->text);
	if (connect(flight->fd, (struct sockaddr *)&to, sizeof(to)) != 0 && errno != EINPROGRESS)
		land(flight, ended(CONNECT));
	else
		epoll_ctl(events, EPOLL_CTL_ADD, flight->fd, &event);
}

static void go_on(struct flight *flight)
{
	struct epoll_event event = { .events = EPOLLIN, .data.ptr = flight };
	socklen_t len = sizeof(errno);
	ssize_t n;

	if (!flight->connected) {
		int err = 0;

		getsockopt(flight->fd, SOL_SOCKET, SO_ERROR, &err, &len);
		errno = err;
		if (err != 0) {
			land(flight, ended(CONNECT));
			return;
		}
		flight->connected = true;
		if (send(flight->fd, flight->text, flight->length, MSG_NOSIGNAL) < 0) {
			land(flight, ended(SEND));
			return;
		}
		epoll_ctl(events, EPOLL_CTL_MOD, flight->fd, &event);
		return;
	}
	n = recv(flight->fd, flight->back + flight->got, flight->length - flight->got, 0);
	if (n < 0 && errno == EAGAIN)
		return;
	if (n <= 0) {
		land(flight, ended(n < 0 ? RECV : END_OF_FILE));
		return;
	}
	flight->got += n;
	if (flight->got == flight->length)
		land(flight, memcmp(flight->text, flight->back, flight->length) == 0
		                 ? (struct outcome) { FINE, 0 }
		                 : ended(CORRUPT));
}

/* Moves those under way until it is time for the next. */
static void fly_until(int64_t at)
{
	struct epoll_event ready[AT_ONCE];
	int64_t left;

	while (!stopped && (left = at - now_ns()) > 0) {
		int n = epoll_wait(events, ready, AT_ONCE, (int)(left / 1000000) + 1);

		for (int i = 0; i < n; i++)
			go_on(ready[i].data.ptr);
		for (int i = 0; i < AT_ONCE; i++)
			if (flights[i].fd >= 0 && now_ns() > flights[i].until)
				land(&flights[i], (struct outcome) { RECV, EAGAIN });
	}
}

static void in_epoll(long n)
{
	for (int i = 0; i < AT_ONCE; i++)
		if (flights[i].fd < 0) {
			take_off(&flights[i], n);
			return;
		}
}

static const struct {
	const char *name;
	void (*exchange)(long n);
} styles[] = { { "loop", in_loop },  { "kept", on_kept },   { "thread", in_thread },
	       { "fork", in_child }, { "churn", in_churn }, { "epoll", in_epoll } };

int main(int argc, char **argv)
{
	struct sigaction end = { .sa_handler = stop };
	void (*exchange)(long n) = NULL;
	int64_t step, due, said;

	for (size_t i = 0; argc > 5 && i < sizeof(styles) / sizeof(*styles); i++)
		if (strcmp(argv[1], styles[i].name) == 0)
			exchange = styles[i].exchange;
	if (exchange == NULL)
		return 2;
	step = (int64_t)(1e9 / atof(argv[2]));
	timeout_ms = atol(argv[3]);
	host = argv[4];
	for (int i = 5; i < argc && port_count < PORTS; i++)
		ports[port_count++] = argv[i];
	counts = shared(sizeof(*counts));
	memset(kept, -1, sizeof(kept));
	for (int i = 0; i < AT_ONCE; i++)
		flights[i].fd = -1;
	events = epoll_create1(EPOLL_CLOEXEC);
	sigaction(SIGTERM, &end, NULL);
	due = said = now_ns();
	for (long n = 0; !stopped; n++) {
		exchange(n);
		due = due + step > now_ns() ? due + step : now_ns();
		if (exchange == in_epoll)
			fly_until(due);
		else
			sleep_until(due);
		if (now_ns() - said > INT64_C(10000000000)) {
			said = now_ns();
			report();
		}
	}
	report();
	return 0;
}
