/* SPDX-License-Identifier: MIT */
/* Descriptors that another process passes: which of them the program serves. */
#include "track_fixture.h"

#include "conn/sockets.h"
#include "dest/demand.h"
#include "conn/passed.h"

TestSuite(passed, .init = start_shim);

/* A message by which these came. */
static void come(const int *numbers, size_t count)
{
	_Alignas(struct cmsghdr) char room[CMSG_SPACE(8 * sizeof(int))] = { 0 };
	struct msghdr message = { .msg_control = room,
		                  .msg_controllen = CMSG_SPACE(count * sizeof(int)) };
	struct cmsghdr *head = CMSG_FIRSTHDR(&message);

	*head = (struct cmsghdr) { .cmsg_len = CMSG_LEN(count * sizeof(int)),
		                   .cmsg_level = SOL_SOCKET,
		                   .cmsg_type = SCM_RIGHTS };
	memcpy(CMSG_DATA(head), numbers, count * sizeof(int));
	errno = ENOENT;
	passed_look(&message);
	cr_assert_eq(errno, ENOENT);
}

Test(passed, connections_are_served_and_nothing_else)
{
	struct server server = serve(16);
	int pair[2], file = open("/dev/null", O_RDONLY), client = socket(AF_INET, SOCK_STREAM, 0);
	int connection;

	cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
	cr_assert_eq(
	    connect(client, (const struct sockaddr *)&server.address, sizeof(server.address)), 0);
	connection = accept(server.fd, NULL, NULL);
	cr_assert_geq(connection, 0);
	come((int[]) { file, connection }, 2);
	cr_expect_not(demand_serves(), "all is well");
	demand_note_refusal(monotonic());
	come((int[]) { file, pair[0], server.fd, -1, INT32_MAX }, 5);
	cr_expect_not(demand_serves());
	cr_expect_not(socket_watched(file) & WATCH_SERVER);
	cr_expect_not(socket_watched(pair[0]) & WATCH_SERVER);
	cr_expect_not(socket_watched(server.fd) & WATCH_SERVER);
	come((int[]) { file, connection }, 2);
	cr_expect(socket_watched(connection) & WATCH_SERVER);
	cr_expect(demand_serves());
}
