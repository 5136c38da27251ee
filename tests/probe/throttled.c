/* SPDX-License-Identifier: MIT */
/*
 * What a program can do with a socket whose non-blocking connect fails: ask, not ask, connect
 * again, be told by every way there is. Each scene has a server of its own, which has failed two
 * connects before the scene begins, so that under the shim the connect of the scene is throttled:
 * redirected, or after many that were, parked; what the scene prints must be what the kernel makes
 * of a real failure. Usage: throttled refused|timeout [v6|mapped|bound|bound6|port]
 */
#include "throttled.h"

#include <sys/epoll.h>
#include <sys/sendfile.h>

static void scene_asked(void)
{
	int fd = begin();

	ask(fd);
	again(fd);
	ask(fd);
}

static void scene_not_asked(void)
{
	int fd = begin();

	printf(" events 0x%x;", over(fd));
	again(fd);
	ask(fd);
}

static void scene_too_early(void)
{
	int fd = begin();

	printf(" %s,", error_name(start(fd)));
	over(fd);
	printf(" %s;", error_name(start(fd)));
	again(fd);
	ask(fd);
}

/* The same address, then another; then none. */
static void scene_unspec(void)
{
	struct sockaddr none = { .sa_family = AF_UNSPEC };
	int fd = begin();

	printf(" unspec: %d;", connect(fd, &none, sizeof(none)));
	compare_options(fd);
	again(fd);
	over(fd);
	printf(" unspec: %d;", connect(fd, &none, sizeof(none)));
	again(fd);
	ask(fd);
}

static void scene_shutdown(void)
{
	int fd = begin();

	printf(" shutdown: %s;", error_name(shutdown(fd, SHUT_RDWR) == 0 ? 0 : errno));
	printf(" %s;", error_name(start(fd)));
	printf(" events 0x%x,", over(fd));
	printf(" error %s;", error_name(pending_error(fd)));
	compare_options(fd);
}

static void say(const char *call, ssize_t result)
{
	printf(" %s %s,", call, result >= 0 ? "ok" : error_name(errno));
}

/* Before it is over. */
static void scene_talk(void)
{
	struct sockaddr_storage name;
	socklen_t size = sizeof(name);
	struct iovec part = { .iov_base = "x", .iov_len = 1 };
	int fd = begin(), file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC), waiting = -1;
	char byte;

	say("getpeername", getpeername(fd, (struct sockaddr *)&name, &size));
	size = sizeof(name);
	say("getsockname", getsockname(fd, (struct sockaddr *)&name, &size));
	printf(" family %d, port %s,", name.ss_family, *port_of(&name) ? "given" : "none");
	say("recv", recv(fd, &byte, 1, 0));
	say("send", send(fd, "x", 1, MSG_NOSIGNAL));
	say("recv", recv(fd, &byte, 1, MSG_PEEK));
	say("writev", writev(fd, &part, 0));
	say("FIONREAD", ioctl(fd, FIONREAD, &waiting));
	printf(" %d,", waiting);
	if (!refused) /* else SIGPIPE */
		say("sendfile", sendfile(fd, file, NULL, 1));
	printf(" events 0x%x,", over(fd));
	say("read", read(fd, &byte, 1));
	say("read", read(fd, &byte, 1));
	printf(" error %s;", error_name(pending_error(fd)));
	again(fd);
	ask(fd);
}

static void scene_dup(void)
{
	int fd = stormy_socket(), early = dup(fd), late;

	printf(" %s;", error_name(start(fd)));
	late = dup(fd);
	printf(" through another: %s,", error_name(start(early)));
	printf(" events 0x%x,", over(late));
	printf(" error %s;", error_name(pending_error(late)));
	compare_options(early);
	close(fd);
	again(late);
	close(early);
	ask(late);
}

static void scene_fork(void)
{
	int fd = begin(), status;
	pid_t child = fork();

	if (child == 0) {
		close(fd);
		_exit(0);
	}
	waitpid(child, &status, 0);
	ask(fd);
	again(fd);
	ask(fd);
}

/* A child goes on with it. */
static void scene_inherited(void)
{
	int fd = begin(), status;
	pid_t child;

	fflush(stdout);
	child = fork();
	if (child == 0) {
		ask(fd);
		again(fd);
		ask(fd);
		fflush(stdout);
		_exit(0);
	}
	waitpid(child, &status, 0);
	compare_options(fd);
}

static void scene_number_reused(void)
{
	int fd = begin(), pair[2];

	close(fd);
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0)
		give_up("socketpair");
	printf(" %s number,", pair[0] == fd ? "same" : "another");
	printf(" %zd,", send(pair[0], "x", 1, 0));
	close(pair[0]);
	close(pair[1]);
	fd = begin();
	ask(fd);
}

/* Everything that epoll says from the start until some time after the end. */
static void scene_epoll(uint32_t how, bool late)
{
	int epoll = epoll_create1(EPOLL_CLOEXEC), fd = stormy_socket();
	struct epoll_event event = { .events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | how };
	int64_t end = now_ms() + (refused ? 1500 : 5500);

	if (!late)
		epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event);
	if (!late && !(how & EPOLLONESHOT))
		printf(" fresh: %d,", epoll_wait(epoll, &event, 1, 0));
	printf(" %s;", error_name(start(fd)));
	event.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | how;
	if (late)
		epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event);
	while (now_ms() < end)
		if (epoll_wait(epoll, &event, 1, (int)(end - now_ms())) == 1)
			printf(" event 0x%x;", event.events);
	ask(fd);
	again(fd);
	if (how & EPOLLONESHOT) {
		event.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | how;
		epoll_ctl(epoll, EPOLL_CTL_MOD, fd, &event);
	}
	if (epoll_wait(epoll, &event, 1, 10000) == 1)
		printf(" event 0x%x;", event.events);
	ask(fd);
}

static void scene_edge(void)
{
	scene_epoll(EPOLLET, false);
}

static void scene_edge_late(void)
{
	scene_epoll(EPOLLET, true);
}

static void scene_oneshot(void)
{
	scene_epoll(EPOLLONESHOT, true);
}

static void scene_select(void)
{
	struct timeval timeout = { .tv_sec = 15 };
	fd_set readable, writable, strange;
	int fd = begin(), n;

	FD_ZERO(&readable);
	FD_SET(fd, &readable);
	writable = strange = readable;
	n = select(fd + 1, &readable, &writable, &strange, &timeout);
	printf(" select %d: %d %d %d;", n, !!FD_ISSET(fd, &readable), !!FD_ISSET(fd, &writable),
	       !!FD_ISSET(fd, &strange));
	ask(fd);
}

static volatile sig_atomic_t signals, bands;

static void on_signal(int signal, siginfo_t *info, void *context)
{
	(void)signal, (void)context;
	signals++;
	bands |= (int)info->si_band;
}

static void scene_sigio(void)
{
	struct sigaction action = { .sa_sigaction = on_signal, .sa_flags = SA_SIGINFO };
	int fd = stormy_socket();

	sigaction(SIGRTMIN, &action, NULL);
	fcntl(fd, F_SETOWN, getpid());
	fcntl(fd, F_SETSIG, SIGRTMIN);
	fcntl(fd, F_SETFL, O_NONBLOCK | O_ASYNC);
	printf(" %s;", error_name(start(fd)));
	while (over(fd) == 0)
		;
	pause_ms(100);
	fcntl(fd, F_SETFL, O_NONBLOCK);
	printf(" %d signals, bands 0x%x;", (int)signals, (int)bands);
	ask(fd);
}

/* What the program sets meanwhile is its own. */
static void scene_options_meanwhile(void)
{
	int fd = begin(), ms = 54321, value = 0;
	socklen_t size = sizeof(value);

	setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &ms, sizeof(ms));
	over(fd);
	printf(" error %s;", error_name(pending_error(fd)));
	getsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &value, &size);
	printf(" timeout %d;", value);
	ms = 0;
	setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &ms, sizeof(ms));
	compare_options(fd);
}

/* The server comes back; the same socket gets through to it. */
static void scene_back(void)
{
	int fd = begin(), other, err;
	int64_t end = now_ms() + 15000;

	ask(fd);
	if (refused) {
		listen(held, 8);
	} else { /* the two that filled it */
		close(accept(held, NULL, NULL));
		listen(held, 8);
	}
	do {
		err = start(fd);
		if (err == EINPROGRESS) {
			over(fd);
			err = pending_error(fd);
		}
		pause_ms(err == 0 ? 0 : 100);
	} while (err != 0 && err != EISCONN && now_ms() < end);
	printf(" back: %s,", error_name(err == EISCONN ? 0 : err));
	fcntl(held, F_SETFL, O_NONBLOCK);
	fcntl(fd, F_SETFL, 0);
	send(fd, "hello", 5, MSG_NOSIGNAL);
	for (;;) {
		char data[8] = "";
		struct pollfd entry = { .fd = held, .events = POLLIN };

		if (poll(&entry, 1, 3000) != 1 || (other = accept(held, NULL, NULL)) < 0) {
			printf(" never accepted;");
			break;
		}
		fcntl(other, F_SETFL, 0);
		if (recv(other, data, 5, MSG_WAITALL) == 5 && send(other, data, 5, 0) == 5 &&
		    recv(fd, data, 5, MSG_WAITALL) == 5) {
			printf(" data there and back;");
			break;
		}
	}
	compare_options(fd);
}

static const struct {
	const char *name;
	void (*play)(void);
} scenes[] = {
	{ "asked", scene_asked },
	{ "not asked", scene_not_asked },
	{ "too early", scene_too_early },
	{ "unspec", scene_unspec },
	{ "shutdown", scene_shutdown },
	{ "talk", scene_talk },
	{ "dup", scene_dup },
	{ "fork", scene_fork },
	{ "inherited", scene_inherited },
	{ "number reused", scene_number_reused },
	{ "edge", scene_edge },
	{ "edge late", scene_edge_late },
	{ "oneshot", scene_oneshot },
	{ "select", scene_select },
	{ "sigio", scene_sigio },
	{ "options meanwhile", scene_options_meanwhile },
	{ "back", scene_back },
};

#define SCENES (int)(sizeof(scenes) / sizeof(*scenes))

static void play(int i, int out)
{
	dup2(out, STDOUT_FILENO);
	start_failing_server();
	fail(false); /* after this one the first repeat goes */
	fail(true);
	printf("%s:", scenes[i].name);
	scenes[i].play();
	printf("\n");
	fflush(stdout);
	_exit(0);
}

int main(int argc, char **argv)
{
	const char *only = getenv("SCENE"), *kind = argc > 2 ? argv[2] : "";
	int pipes[SCENES][2], retries;
	char text[4096];
	ssize_t n;

	refused = argc > 1 && strcmp(argv[1], "refused") == 0;
	mapped = strcmp(kind, "mapped") == 0;
	v6 = mapped || strcmp(kind, "v6") == 0 || strcmp(kind, "bound6") == 0;
	bound = strncmp(kind, "bound", 5) == 0;
	port = strcmp(kind, "port") == 0;
	if (!private_network() || (v6 && !there_is_ipv6()))
		return PROBE_CANNOT;
	retries = open("/proc/sys/net/ipv4/tcp_syn_retries", O_WRONLY | O_CLOEXEC);
	if (retries < 0 || write(retries, "1", 1) != 1)
		return PROBE_CANNOT;
	close(retries);
	for (int i = 0; i < SCENES; i++) {
		if (only && strcmp(only, scenes[i].name) != 0)
			continue;
		if (pipe2(pipes[i], O_CLOEXEC) != 0)
			give_up("pipe");
		if (fork() == 0)
			play(i, pipes[i][1]);
		close(pipes[i][1]);
	}
	for (int i = 0; i < SCENES; i++) {
		if (only && strcmp(only, scenes[i].name) != 0)
			continue;
		while ((n = read(pipes[i][0], text, sizeof(text))) > 0)
			fwrite(text, 1, (size_t)n, stdout);
	}
	return 0;
}
