/* SPDX-License-Identifier: MIT */
/*
 * TCP Fast Open: a send that connects (MSG_FASTOPEN), and a connect that sends nothing, so that its
 * outcome comes from the first send (TCP_FASTOPEN_CONNECT). One client: served, refused thrice, and
 * served again on the socket that was refused last; then once more. unsent: with a connect between
 * that is given up before anything was sent, which says nothing of the server. storm: refused many
 * times without a pause, until one is refused in another way.
 * Usage: fastopen [option] [message] [nonblocking|dontwait] [cookie] [v6] [unsent] [storm]
 */
#include "probe.h"

static bool option, message, nonblocking, dontwait, cookie, v6, unsent, storm;
static struct sockaddr_storage to;
static socklen_t to_len;

static void read_arguments(int argc, char **argv)
{
	const struct {
		const char *name;
		bool *flag;
	} flags[] = {
		{ "option", &option },     { "message", &message }, { "nonblocking", &nonblocking },
		{ "dontwait", &dontwait }, { "cookie", &cookie },   { "v6", &v6 },
		{ "unsent", &unsent },     { "storm", &storm },
	};

	for (int i = 1; i < argc; i++)
		for (size_t k = 0; k < sizeof(flags) / sizeof(*flags); k++)
			if (strcmp(argv[i], flags[k].name) == 0)
				*flags[k].flag = true;
}

/* Bound, and listening later; the cookies of the server come from the same key all the time. */
static int bound_socket(void)
{
	struct sockaddr_in in = loopback(0);
	struct sockaddr_in6 in6 = { .sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT };
	int fd = socket(v6 ? AF_INET6 : AF_INET, SOCK_STREAM, 0), on = 1;

	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &on, sizeof(on));
	if (to_len == 0) {
		to_len = v6 ? sizeof(in6) : sizeof(in);
		memcpy(&to, v6 ? (void *)&in6 : (void *)&in, to_len);
	}
	if (bind(fd, (struct sockaddr *)&to, to_len) != 0)
		give_up("bind");
	getsockname(fd, (struct sockaddr *)&to, &to_len);
	return fd;
}

static void come_up(int server)
{
	int queue = 16;

	if (cookie)
		setsockopt(server, IPPROTO_TCP, TCP_FASTOPEN, &queue, sizeof(queue));
	if (listen(server, 16) != 0)
		give_up("listen");
}

static int new_client(void)
{
	int fd =
	    socket(v6 ? AF_INET6 : AF_INET, SOCK_STREAM | (nonblocking ? SOCK_NONBLOCK : 0), 0);
	int on = 1;

	if (option && setsockopt(fd, IPPROTO_TCP, TCP_FASTOPEN_CONNECT, &on, sizeof(on)) != 0)
		exit(PROBE_CANNOT);
	return fd;
}

/* The call that carries the request. */
static ssize_t ask(int fd)
{
	struct iovec part = { "hello", 5 };
	struct msghdr head = {
		.msg_name = &to, .msg_namelen = to_len, .msg_iov = &part, .msg_iovlen = 1
	};
	int flags = MSG_NOSIGNAL | (dontwait ? MSG_DONTWAIT : 0);

	if (option)
		return send(fd, "hello", 5, flags);
	if (message)
		return sendmsg(fd, &head, flags | MSG_FASTOPEN);
	return sendto(fd, "hello", 5, flags | MSG_FASTOPEN, (struct sockaddr *)&to, to_len);
}

static int wait_for(int fd)
{
	struct pollfd ready = { .fd = fd, .events = POLLOUT };
	socklen_t len = sizeof(int);
	int err = -1;

	if (poll(&ready, 1, 10000) != 1)
		return ETIME;
	getsockopt(fd, SOL_SOCKET, SO_ERROR, &err, &len);
	return err;
}

/* One try up to its error, or to the moment when the request is with the kernel. What the kernel
 * says on the way depends on cookies; whether and with what error it fails does not. */
static int try_once(int fd)
{
	int err = 0;
	ssize_t n;

	if (option && connect(fd, (struct sockaddr *)&to, to_len) != 0)
		err = errno;
	if (err == EINPROGRESS)
		err = wait_for(fd);
	if (err != 0)
		return err;
	n = ask(fd);
	err = n == 5 ? 0 : errno;
	if (err == EINPROGRESS) {
		err = wait_for(fd);
		if (err == 0 && send(fd, "hello", 5, MSG_NOSIGNAL) != 5)
			err = errno;
	} else if (err == 0 && (nonblocking || dontwait)) {
		err = wait_for(fd);
	}
	return err;
}

static void served(const char *when, int fd, int server)
{
	struct pollfd ready = { .fd = fd, .events = POLLIN };
	char data[16] = "";
	int err = try_once(fd), peer;

	if (err == ECONNABORTED) /* after an error was read the kernel may give this once */
		err = try_once(fd);
	printf("%s: %s", when, error_name(err));
	if (err == 0) {
		peer = accept(server, NULL, NULL);
		printf(", request: %zd", recv(peer, data, 5, MSG_WAITALL));
		printf(", reply: %zd", send(peer, data, 5, 0));
		poll(&ready, 1, 10000);
		printf(" %zd", recv(fd, data, 5, 0));
		close(peer);
	}
	printf("\n");
}

static bool syn_had_data(int fd)
{
	struct tcp_info info = { 0 };
	socklen_t len = sizeof(info);

	getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &len);
	return info.tcpi_options & TCPI_OPT_SYN_DATA;
}

static void network(void)
{
	int fd;

	if (!private_network())
		exit(PROBE_CANNOT);
	fd = open("/proc/sys/net/ipv4/tcp_fastopen", O_WRONLY | O_CLOEXEC);
	if (fd < 0 || write(fd, "3", 1) != 1)
		exit(PROBE_CANNOT);
	close(fd);
}

int main(int argc, char **argv)
{
	int server, holder, fd, on = 0, err = ECONNREFUSED;
	socklen_t len = sizeof(on);
	long opens;

	read_arguments(argc, argv);
	network();
	holder = bound_socket();
	server = bound_socket();
	come_up(server);
	for (int i = 0; i < 2; i++) { /* the first one brings the cookie */
		fd = new_client();
		served("served", fd, server);
		printf("request in the SYN: %s\n", syn_had_data(fd) ? "yes" : "no");
		close(fd);
	}
	pause_ms(1200); /* it is no longer one that has just answered */
	if (unsent) {
		fd = new_client();
		if (connect(fd, (struct sockaddr *)&to, to_len) != 0)
			give_up("connect");
		pause_ms(1200); /* a connect that was under way for so long would have timed out */
		close(fd);
	}
	close(server);
	opens = kernel_connects();
	for (int i = 0; i < 2; i++) {
		fd = new_client();
		printf("refused: %s\n", error_name(try_once(fd)));
		close(fd);
		pause_ms(20); /* the backoff of the driver's policy, where it is short */
	}
	fd = new_client();
	/* More than twice as many as a second takes to be parked, which a new one may begin. */
	for (int i = 0; storm && i < 60 && err == ECONNREFUSED; i++) {
		err = try_once(fd);
		if (err == ECONNREFUSED) {
			close(fd);
			fd = new_client();
		}
	}
	printf("refused: %s\n", error_name(err == ETIMEDOUT ? err : try_once(fd)));
	opens = storm ? 0 : kernel_connects() - opens;
	/* What was due must be over now, so that the next one goes. */
	pause_ms(1200);
	come_up(holder);
	served("the same socket", fd, holder);
	if (getsockopt(fd, IPPROTO_TCP, TCP_FASTOPEN_CONNECT, &on, &len) == 0 && option)
		printf("option: %d\n", on);
	close(fd);
	fd = new_client();
	served("another", fd, holder);
	close(fd);
	printf("connects while it was down: %ld\n", opens);
	return 0;
}
