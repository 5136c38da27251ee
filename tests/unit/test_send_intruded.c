/* SPDX-License-Identifier: MIT */
/* Sending while the program closes descriptors, cancels threads and handles signals. */
#include "record_fixture.h"
#include "report/report.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/time.h>

/* --- a program that closes everything in the middle of a record --- */

static ssize_t (*true_sendmsg)(int, const struct msghdr *, int);
static int (*true_getsockopt)(int, int, int, void *, socklen_t *);
static int victim = -1, host_socket = -1, peer = -1, checks;

/* A connected pair over loopback TCP: the kernel ignores the address of a send on one. */
static void tcp_pair(int *a, int *b)
{
	struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };
	socklen_t len = sizeof(at);
	int listening = socket(AF_INET, SOCK_STREAM, 0);

	cr_assert_eq(bind(listening, (struct sockaddr *)&at, sizeof(at)), 0);
	listen(listening, 1);
	getsockname(listening, (struct sockaddr *)&at, &len);
	*a = socket(AF_INET, SOCK_STREAM, 0);
	cr_assert_eq(connect(*a, (struct sockaddr *)&at, sizeof(at)), 0);
	*b = accept(listening, NULL, NULL);
	close(listening);
}

/* "Another thread" gives the number to the program's connection just before the record is sent. */
static ssize_t stolen_before_send(int fd, const struct msghdr *message, int flags)
{
	victim = fd;
	dup2(host_socket, fd);
	return true_sendmsg(fd, message, flags);
}

/* The same after it was sent. */
static ssize_t stolen_after_send(int fd, const struct msghdr *message, int flags)
{
	ssize_t sent = true_sendmsg(fd, message, flags);

	victim = fd;
	dup2(host_socket, fd);
	return sent;
}

/* And before the first check of all. */
static int stolen_before_check(int fd, int level, int name, void *value, socklen_t *len)
{
	if (checks++ == 1) {
		victim = fd;
		dup2(host_socket, fd);
	}
	return true_getsockopt(fd, level, name, value, len);
}

static void check_stolen(bool lost)
{
	struct record record = { .event = EVENT_ATTEMPT };
	struct pollfd at;
	char byte;

	true_sendmsg = sendmsg;
	true_getsockopt = getsockopt;
	listen_at(LOG_TARGET_SYSLOG);
	tcp_pair(&host_socket, &peer);
	report(&record, 1);
	cr_assert(victim > 2);
	cr_assert(fcntl(victim, F_GETFD) >= 0, "the host's descriptor was closed");
	at = (struct pollfd) { .fd = peer, .events = POLLIN };
	cr_assert_eq(poll(&at, 1, 50), 0, "the host's peer got something");
	cr_assert_eq(send(victim, "x", 1, 0), 1);
	cr_assert_eq(recv(peer, &byte, 1, 0), 1);
	cr_assert_eq(byte, 'x');
	cr_assert_eq(region.lost_records, lost);
	stop_listening();
}

Test(send_intruded, stolen_number_before_send, .timeout = 20)
{
	real.sendmsg = stolen_before_send;
	check_stolen(true);
}

Test(send_intruded, stolen_number_after_send, .timeout = 20)
{
	real.sendmsg = stolen_after_send;
	check_stolen(false);
}

Test(send_intruded, stolen_number_before_check, .timeout = 20)
{
	real.getsockopt = stolen_before_check;
	check_stolen(true);
}

/* --- carried away in the middle --- */

static void *cancelled(void *arg)
{
	struct record record = { .event = EVENT_ATTEMPT };
	int before = open_descriptors(), state;

	pthread_cancel(pthread_self()); /* pending until a cancellation point */
	for (int i = 0; i < 10; i++)
		report(&record, 1);
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	*(int *)arg = state == PTHREAD_CANCEL_ENABLE && open_descriptors() == before ? 1 : 2;
	return NULL;
}

Test(send_intruded, cancellation_waits)
{
	pthread_t thread;
	int result = 0;

	listen_at(LOG_TARGET_SYSLOG);
	pthread_create(&thread, NULL, cancelled, &result);
	pthread_join(thread, NULL);
	cr_assert_eq(result, 1);
	stop_listening();
}

static atomic_int reports_in_handler;

static void report_in_handler(int signal)
{
	struct record record = { .event = EVENT_SCOPE, .text = "from a handler" };

	(void)signal;
	report(&record, 1);
	atomic_fetch_add(&reports_in_handler, 1);
}

Test(send_intruded, within_a_signal_handler, .timeout = 30)
{
	struct itimerval often = { { 0, 150 }, { 0, 150 } }, never = { 0 };
	struct record record = { .event = EVENT_ATTEMPT, .text = "from the program" };
	static struct pairs pairs;
	char got[2048];
	int received = 0, sent = 0;

	/* As the constructor does: the loader, which finds the real calls, is no place for
	 * handlers. */
	cr_assert(real_resolve());
	listen_at(LOG_TARGET_SYSLOG);
	signal(SIGALRM, report_in_handler);
	setitimer(ITIMER_REAL, &often, NULL);
	for (int i = 0; i < 20000 && atomic_load(&reports_in_handler) < 300; i++) {
		report(&record, 1);
		sent++;
		while (next_datagram(got, sizeof(got)) > 0) {
			cr_assert(parse(strstr(got, ": ") + 2, &pairs), "%s", got);
			received++;
		}
	}
	setitimer(ITIMER_REAL, &never, NULL);
	while (next_datagram(got, sizeof(got)) > 0)
		received++;
	cr_assert(atomic_load(&reports_in_handler) > 0);
	cr_assert_eq(received + region.lost_records, sent + atomic_load(&reports_in_handler));
	stop_listening();
}
