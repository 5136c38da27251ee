/* SPDX-License-Identifier: MIT */
/* The answer to one connection: what its client reads, and what its server's thread is spared. */
#include "sys/real.h"
#include "admission/reject.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>

static int client, server; /* the two ends of one connection */

static void connect_pair(void)
{
	struct sockaddr_in address = { .sin_family = AF_INET };
	socklen_t len = sizeof(address);
	int listener = socket(AF_INET, SOCK_STREAM, 0);

	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	cr_assert_eq(bind(listener, (struct sockaddr *)&address, len), 0);
	cr_assert_eq(listen(listener, 1), 0);
	cr_assert_eq(getsockname(listener, (struct sockaddr *)&address, &len), 0);
	client = socket(AF_INET, SOCK_STREAM, 0);
	cr_assert_eq(connect(client, (struct sockaddr *)&address, len), 0);
	server = accept(listener, NULL, NULL);
	cr_assert_geq(server, 0);
	close(listener);
}

static struct admission_rule rule_of(enum reply reply)
{
	return (struct admission_rule) { .reply = reply, .retry_after = 3 * NS_PER_S };
}

/* Sends a request of so many bytes, rejects it, and returns what the client reads: bytes, 0 at
 * the end of the stream, or -errno. */
static ssize_t answer(enum reply reply, size_t request, char *out, size_t size)
{
	struct admission_rule rule = rule_of(reply);
	static char bytes[65536];
	ssize_t n;

	connect_pair();
	if (request > 0)
		cr_assert_eq(send(client, bytes, request, 0), (ssize_t)request);
	errno = 4711;
	reject(server, &rule, -1);
	cr_expect_eq(errno, 4711);
	cr_expect_eq(fcntl(server, F_GETFD), -1, "closed");
	n = recv(client, out, size - 1, MSG_WAITALL);
	if (n < 0)
		n = -errno;
	out[n > 0 ? n : 0] = '\0';
	return n;
}

/* Linux lets the client read what came before a reset; others do not. */
static bool was_reset(void)
{
	int err = 0;
	socklen_t len = sizeof(err);

	getsockopt(client, SOL_SOCKET, SO_ERROR, &err, &len);
	return err != 0;
}

Test(reject, what_the_client_reads)
{
	char out[512];

	for (size_t request = 0; request <= 8192; request = request ? request * 8 : 16) {
		cr_expect_eq(answer(REPLY_RESET, request, out, sizeof(out)), -ECONNRESET);
		cr_expect_eq(answer(REPLY_CLOSE, request, out, sizeof(out)), 0, "%zu", request);
		cr_expect(!was_reset(), "%zu", request);
		cr_expect_gt(answer(REPLY_HTTP, request, out, sizeof(out)), 0);
		cr_expect_str_eq(out, "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 3\r\n"
		                      "Content-Length: 0\r\nConnection: close\r\n\r\n");
		cr_expect(!was_reset(), "%zu", request);
	}
}

/* The rest of a long request comes when nobody is there any more: the answer was first. */
Test(reject, a_request_that_goes_on)
{
	char out[512];

	cr_expect_gt(answer(REPLY_HTTP, 60000, out, sizeof(out)), 0);
	cr_expect(strstr(out, "HTTP/1.1 503 ") == out);
}

/* A listening socket with SO_LINGER hands it on, and close would wait for a silent peer. */
Test(reject, without_lingering, .timeout = 10)
{
	struct linger linger = { .l_onoff = 1, .l_linger = 60 };
	struct admission_rule rule = rule_of(REPLY_HTTP);

	connect_pair();
	setsockopt(server, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger));
	/* The peer takes nothing more, so what is left unsent would have to be waited for. */
	int n = 1 << 12;
	char bytes[4096] = "";
	setsockopt(client, SOL_SOCKET, SO_RCVBUF, &n, sizeof(n));
	while (send(server, bytes, sizeof(bytes), MSG_DONTWAIT) > 0)
		;
	reject(server, &rule, -1);
	cr_expect_eq(fcntl(server, F_GETFD), -1);
}

static void *send_late(void *unused)
{
	usleep(5000);
	(void)!send(client, "GET / HTTP/1.0\r\n\r\n", 18, MSG_NOSIGNAL);
	return unused;
}

/* A program that waits anyway gives the request time to arrive, so that no reset follows the reply.
 */
Test(reject, waits_with_the_host_for_the_request)
{
	struct sockaddr_in address = { .sin_family = AF_INET };
	struct admission_rule rule = rule_of(REPLY_HTTP);
	int listener = socket(AF_INET, SOCK_STREAM, 0), other, resets = 0;
	socklen_t len = sizeof(address);
	char out[512];

	cr_assert_eq(bind(listener, (struct sockaddr *)&address, len), 0);
	cr_assert_eq(listen(listener, 1), 0);
	cr_assert_eq(getsockname(listener, (struct sockaddr *)&address, &len), 0);
	for (int i = 0; i < 20; i++) {
		pthread_t thread;

		connect_pair();
		pthread_create(&thread, NULL, send_late, NULL);
		reject(server, &rule, listener);
		pthread_join(thread, NULL);
		while (recv(client, out, sizeof(out), 0) > 0)
			;
		resets += was_reset();
		close(client);
	}
	cr_expect_lt(resets, 15, "this machine may be slow now and then");

	/* But not when somebody else comes. */
	other = socket(AF_INET, SOCK_STREAM, 0);
	len = sizeof(address);
	cr_assert_eq(connect(other, (struct sockaddr *)&address, len), 0);
	connect_pair();
	reject(server, &rule, listener);
	cr_expect_gt(recv(client, out, sizeof(out), 0), 0);
	close(other);
	close(listener);
}

static volatile sig_atomic_t handled;

static void on_signal(int signal)
{
	(void)signal;
	handled++;
}

/* Another program's library below ours, that is interrupted in the middle. */
static int interrupted_shutdown(int fd, int how)
{
	raise(SIGUSR1);
	cr_expect_eq(handled, 0, "no handler runs while the descriptor is open");
	return shutdown(fd, how);
}

static bool interrupted_with(void (*handler)(int), int flags, bool blocked)
{
	struct sigaction action = { .sa_handler = handler, .sa_flags = flags };
	struct admission_rule rule = rule_of(REPLY_CLOSE);
	struct shelter shelter;
	sigset_t set, before;
	bool result;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigprocmask(blocked ? SIG_BLOCK : SIG_UNBLOCK, &set, &before);
	sigaction(SIGUSR1, &action, NULL);
	connect_pair();
	handled = 0;
	real.shutdown = interrupted_shutdown;
	shelter_enter(&shelter);
	reject(server, &rule, -1);
	result = reject_interrupted(&shelter);
	shelter_leave(&shelter);
	real.shutdown = shutdown;
	cr_expect_eq(handled, handler == on_signal && !blocked);
	action.sa_handler = SIG_IGN; /* drops what is still pending */
	sigaction(SIGUSR1, &action, NULL);
	sigprocmask(SIG_SETMASK, &before, NULL);
	return result;
}

Test(reject, tells_of_a_signal_that_ends_accept)
{
	cr_expect(interrupted_with(on_signal, 0, false));
	cr_expect(!interrupted_with(on_signal, SA_RESTART, false));
	cr_expect(!interrupted_with(on_signal, 0, true), "blocked by the host");
	cr_expect(!interrupted_with(SIG_IGN, 0, false));
}
