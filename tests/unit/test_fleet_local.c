/* SPDX-License-Identifier: MIT */
/* What retrybudget fleet prints of the daemon of this host, or of whoever listens in its place. */
#include "tool/fleet_local.c"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <sys/wait.h>

TestSuite(fleet_local, .timeout = 30);

static pid_t child;

/* Answers one request; returns its port. */
static int answer_once(const char *body)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
		                       .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(address);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), peer;
	char request[256];

	cr_assert(fd >= 0 && bind(fd, (struct sockaddr *)&address, len) == 0 &&
	          listen(fd, 1) == 0 && getsockname(fd, (struct sockaddr *)&address, &len) == 0);
	child = fork();
	if (child == 0) {
		peer = accept(fd, NULL, NULL);
		if (recv(peer, request, sizeof(request), 0) > 0) {
			send(peer, "HTTP/1.1 200 OK\r\n\r\n", 19, MSG_NOSIGNAL);
			send(peer, body, strlen(body), MSG_NOSIGNAL);
		}
		_exit(0);
	}
	close(fd);
	return ntohs(address.sin_port);
}

static char *printed(const char *body)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	cr_assert_not_null(out);
	fleet_local_print(answer_once(body), out);
	fclose(out);
	waitpid(child, NULL, 0);
	return text;
}

Test(fleet_local, prints_the_lines_of_the_daemon)
{
	char *text = printed("host=a rounds=3\nserver=b state=up\n");

	cr_expect_str_eq(text, "  host=a rounds=3\n  server=b state=up\n");
	free(text);
}

/* Where the daemon does not run any user may listen there, and root looks. */
Test(fleet_local, prints_no_byte_that_a_terminal_obeys)
{
	char *text = printed("host=\033]0;x\a \x9b"
	                     "2J\tend\n");

	cr_expect_str_eq(text, "  host=?]0;x? ?2J?end\n");
	free(text);
}
