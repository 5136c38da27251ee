/* SPDX-License-Identifier: MIT */
/*
 * `while (connect() < 0);` with no token left. Told so at once for ever, it would spin, so after a
 * few refusals it is held each time; and each refusal gives the destination's last real error.
 * Usage: paced tcp|unix|missing, or: paced back: another thread has found the server well
 * meanwhile, which ends the streak, and what keeps this one from it
 */
#include "probe.h"

static struct sockaddr_un path_address(bool missing)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd;

	snprintf(address.sun_path, sizeof(address.sun_path), "/tmp/probe-paced-%d.sock", getpid());
	unlink(address.sun_path);
	if (!missing) {
		/* Bound and not listening: ECONNREFUSED. */
		fd = socket(AF_UNIX, SOCK_STREAM, 0);
		if (bind(fd, (struct sockaddr *)&address, sizeof(address)) != 0)
			give_up("bind");
	}
	return address;
}

static void *is_served(void *port)
{
	int fd = connected(*(uint16_t *)port);

	if (fd < 0 || !echo(fd, "word"))
		give_up("the other thread");
	close(fd);
	return NULL;
}

static void on_back(void)
{
	int held, refused = 0;
	uint16_t port = refusing_port(&held);
	pthread_t other;
	int64_t end;

	attempt(port, NULL);
	listen(held, 16);
	start_server_on(held, SERVER_ECHO, NULL);
	pthread_create(&other, NULL, is_served, &port);
	pthread_join(other, NULL);
	for (end = now_ms() + 2000; now_ms() < end && attempt(port, NULL) != 0;)
		refused++;
	printf("refusals: %s\n", refused > 100 ? "a spin" : refused ? "paced" : "none");
}

int main(int argc, char **argv)
{
	const char *kind = argc > 1 ? argv[1] : "tcp";
	bool tcp = strcmp(kind, "tcp") == 0, missing = strcmp(kind, "missing") == 0;
	int expected = missing ? ENOENT : ECONNREFUSED;
	struct sockaddr_in in = { 0 };
	struct sockaddr_un un = { 0 };
	const struct sockaddr *to = (struct sockaddr *)(tcp ? (void *)&in : (void *)&un);
	socklen_t len = tcp ? sizeof(in) : sizeof(un);
	long calls = 0, wrong = 0, connects = 0;
	int64_t end;
	int held;

	if (strcmp(kind, "back") == 0) {
		on_back();
		return 0;
	}
	if (tcp) {
		if (!private_network())
			return PROBE_CANNOT;
		in = loopback(refusing_port(&held));
		connects = kernel_connects();
	} else {
		un = path_address(missing);
	}
	end = now_ms() + 2000;
	while (now_ms() < end) {
		int fd = socket(to->sa_family, SOCK_STREAM, 0);

		wrong += connect(fd, to, len) == 0 || errno != expected;
		calls++;
		close(fd);
	}
	if (tcp)
		connects = kernel_connects() - connects;
	else
		unlink(un.sun_path);
	printf("calls: %s\n", calls > 100 ? "a spin" : calls < 3 ? "stuck" : "paced");
	printf("other errors than %s: %ld\n", error_name(expected), wrong);
	if (tcp)
		printf("attempts that left the program: %s\n",
		       connects == 1 ? "the first try" : "more");
	return 0;
}
