/* SPDX-License-Identifier: MIT */
/* What keeps a process busy: anybody who may be waiting for it. */
#include "track_fixture.h"

#include "pace/idle.h"

#include <sys/un.h>
#include <sys/wait.h>

/* The test runner has sockets of its own. */
static void alone(void)
{
	start_shim();
	for (int fd = 0; fd < 256; fd++)
		if (fd < 1 || fd > 2)
			close(fd);
	(void)open("/dev/null", O_RDONLY);
}

/* True if `prepare` leaves a process idle that has nothing else. */
static bool is_idle_after(void (*prepare)(void))
{
	pid_t child = fork();
	int status;

	if (child == 0) {
		int fd;

		alone();
		fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
		prepare();
		_exit(idle_but_for(fd));
	}
	cr_assert(waitpid(child, &status, 0) == child && WIFEXITED(status));
	cr_assert_lt(WEXITSTATUS(status), 2);
	return WEXITSTATUS(status) == 1;
}

static void unix_pair(const char *path, bool serves)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int listener = socket(AF_UNIX, SOCK_STREAM, 0), own = socket(AF_UNIX, SOCK_STREAM, 0);

	strcpy(at.sun_path, path);
	unlink(path);
	if (bind(listener, (struct sockaddr *)&at, sizeof(at)) != 0 || listen(listener, 8) != 0 ||
	    connect(own, (struct sockaddr *)&at, sizeof(at)) != 0)
		_exit(3);
	if (serves && accept(listener, NULL, NULL) < 0)
		_exit(3);
	close(listener);
	if (serves)
		close(own);
	unlink(path);
}

static void has_nothing(void)
{
}

/* An event loop as it starts: it wakes itself, logs, and asks a name server. */
static void has_what_is_its_own(void)
{
	struct sockaddr_in to = { .sin_family = AF_INET,
		                  .sin_port = htons(53),
		                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int ends[2], fd = socket(AF_INET, SOCK_DGRAM, 0);

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0 || pipe(ends) != 0 ||
	    connect(fd, (struct sockaddr *)&to, sizeof(to)) != 0 ||
	    socket(AF_INET6, SOCK_STREAM, 0) < 0)
		_exit(3);
}

static void listens(void)
{
	serve(8);
}

static void serves(void)
{
	struct server server = serve(8);
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	if (connect(fd, (struct sockaddr *)&server.address, sizeof(server.address)) != 0 ||
	    accept(server.fd, NULL, NULL) < 0)
		_exit(3);
	close(server.fd);
	close(fd);
}

static void is_started_for_a_connection(void)
{
	serves();
	for (int fd = 3; fd < 256; fd++)
		if (dup2(fd, 0) == 0)
			close(fd);
}

static void serves_a_unix_socket(void)
{
	unix_pair("/tmp/retrybudget-idle-served", true);
}

static void uses_a_unix_socket(void)
{
	unix_pair("/tmp/retrybudget-idle-used", false);
}

static void has_one_under_way(void)
{
	struct server server = serve(8);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
	struct attempt try;

	if (!attempt_begin_connect(&try, fd, (struct sockaddr *)&server.address,
	                           sizeof(server.address)))
		_exit(3);
	attempt_start(&try); /* and its answer does not come */
	close(server.fd);
}

Test(idle, is_who_has_nobody_to_wait_for_it)
{
	cr_expect(is_idle_after(has_nothing));
	cr_expect(is_idle_after(has_what_is_its_own));
}

Test(idle, is_nobody_who_may_be_waited_for)
{
	cr_expect_not(is_idle_after(listens));
	cr_expect_not(is_idle_after(serves));
	cr_expect_not(is_idle_after(is_started_for_a_connection), "as inetd does");
	cr_expect_not(is_idle_after(serves_a_unix_socket));
	cr_expect_not(is_idle_after(uses_a_unix_socket));
	cr_expect_not(is_idle_after(has_one_under_way));
}

Test(idle, leaves_errno_alone)
{
	start_shim();
	errno = 77;
	(void)idle_but_for(0);
	cr_expect_eq(errno, 77);
}
