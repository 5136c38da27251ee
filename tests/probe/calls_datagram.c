/* SPDX-License-Identifier: MIT */
/* Data by datagram, with good and bad arguments, on a socket that the shim follows (udp = on). */
#include "calls.h"

#define ABOVE ((void *)-1)

static void received(int fd)
{
	char data[16];

	for (;;) {
		long n = syscall(SYS_recvfrom, fd, data, sizeof(data), MSG_DONTWAIT, NULL, NULL);

		if (n < 0)
			return;
		printf("datagram: %.*s\n", (int)n, data);
	}
}

int main(void)
{
	struct sockaddr_in here = loopback(0);
	socklen_t len = sizeof(here);
	int peer = socket(AF_INET, SOCK_DGRAM, 0), fd = socket(AF_INET, SOCK_DGRAM, 0);
	struct iovec word = { "word", 4 }, bad = { NOWHERE, 4 }, above = { ABOVE, 4 };
	static struct iovec parts[64] = { { "word", 4 } };
	struct msghdr nowhere = { .msg_iov = NOWHERE, .msg_iovlen = 1 },
		      no_parts = { .msg_iov = ABOVE, .msg_iovlen = 1 },
		      no_text = { .msg_iov = &above, .msg_iovlen = 1 }, none = { .msg_iovlen = 0 };
	struct mmsghdr batch[3] = { { .msg_hdr = { .msg_iov = &word, .msg_iovlen = 1 } },
		                    { .msg_hdr = { .msg_iov = &bad, .msg_iovlen = 1 } },
		                    { .msg_hdr = { .msg_iov = &word, .msg_iovlen = 1 } } };

	if (bind(peer, (struct sockaddr *)&here, len) != 0 ||
	    getsockname(peer, (struct sockaddr *)&here, &len) != 0 ||
	    connect(fd, (struct sockaddr *)&here, len) != 0)
		give_up("bind");
	SAY("send", "nowhere", send(fd, NOWHERE, 4, 0));
	SAY("send", "above", send(fd, ABOVE, 4, 0));
	SAY("writev", "parts above", writev(fd, ABOVE, 1));
	/* Who traces this looks beyond the first. */
	SAY("writev", "fewer than none", writev(fd, parts, -1));
	SAY("sendmsg", "parts nowhere", sendmsg(fd, &nowhere, 0));
	SAY("sendmsg", "parts above", sendmsg(fd, &no_parts, 0));
	SAY("sendmsg", "text above", sendmsg(fd, &no_text, 0));
	SAY("sendmsg", "no parts", sendmsg(fd, &none, 0));
	SAY("sendmmsg", "none, nowhere", sendmmsg(fd, NULL, 0, 0));
	SAY("sendmmsg", "none", sendmmsg(fd, batch, 0, 0));
	SAY("sendmmsg", "nowhere", sendmmsg(fd, NOWHERE, 1, 0));
	SAY("sendmmsg", "one of three", sendmmsg(fd, batch, 3, 0));
	SAY("sendmmsg", "a bad one", sendmmsg(fd, batch + 1, 1, 0));
	SAY("sendto", "to nowhere", sendto(fd, "word", 4, 0, NOWHERE, len));
	received(peer);
	return 0;
}
