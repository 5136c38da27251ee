// SPDX-License-Identifier: MIT
/*
 * Counts TCP connection attempts on lo by their SYN packets, and datagrams, so that attempts on a
 * closed port are counted too, and by the kernel's word rather than the client's. It is meant for a
 * private network namespace. Key of the journal: the port for attempts on this machine's loopback
 * addresses, 0 for a socket that the shim parked (port 0), -1 for any other address, and UDP + port
 * for a datagram (those to name servers are left out). A SYN that the kernel repeats counts once,
 * and each repeat by a key of its own, -3.
 *
 * Usage: syns    Orders on stdin: count KEY SINCE | times KEY SINCE | drops
 */
#include "control.h"

#include <arpa/inet.h>
#include <linux/filter.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <poll.h>
#include <sys/socket.h>

#define SYN        0x02
#define ACK        0x10
#define UDP        0x10000
#define DNS        53
#define NO_ATTEMPT (-2)
#define REPEAT     (-3)

static int tap;

/*
 * Every packet passes lo twice, out and in; of those on their way in, SYNs without ACK and
 * datagrams are let through.
 */
static struct sock_filter attempts_only[] = {
	BPF_STMT(BPF_LD | BPF_B | BPF_ABS, SKF_AD_OFF + SKF_AD_PKTTYPE),
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, PACKET_OUTGOING, 16, 0),
	BPF_STMT(BPF_LD | BPF_B | BPF_ABS, 0),
	BPF_STMT(BPF_ALU | BPF_RSH | BPF_K, 4),
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 4, 0, 5),
	BPF_STMT(BPF_LD | BPF_B | BPF_ABS, 9), /* IPv4: protocol, then flags */
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, IPPROTO_UDP, 10, 0),
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, IPPROTO_TCP, 0, 10),
	BPF_STMT(BPF_LDX | BPF_B | BPF_MSH, 0),
	BPF_JUMP(BPF_JMP | BPF_JA, 4, 0, 0),
	BPF_STMT(BPF_LD | BPF_B | BPF_ABS, 6), /* IPv6: next header, then flags */
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, IPPROTO_UDP, 5, 0),
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, IPPROTO_TCP, 0, 5),
	BPF_STMT(BPF_LDX | BPF_IMM, 40),
	BPF_STMT(BPF_LD | BPF_B | BPF_IND, 13),
	BPF_STMT(BPF_ALU | BPF_AND | BPF_K, SYN | ACK),
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYN, 0, 1),
	BPF_STMT(BPF_RET | BPF_K, 128),
	BPF_STMT(BPF_RET | BPF_K, 0),
};

/* A SYN that nobody answers is sent again with the same number from the same port. */
static int is_repeat(const unsigned char *tcp)
{
	static uint32_t numbers[1 << 16];
	uint32_t *last = &numbers[tcp[0] << 8 | tcp[1]];
	uint32_t number;

	memcpy(&number, tcp + 4, sizeof(number));
	if (*last == number)
		return 1;
	*last = number;
	return 0;
}

static int key_of(const unsigned char *packet)
{
	static const unsigned char loopback6[16] = { [15] = 1 };
	int v6 = packet[0] >> 4 == 6;
	const unsigned char *to = packet + (v6 ? 24 : 16);
	const unsigned char *tcp = packet + (v6 ? 40 : (packet[0] & 15) * 4);
	int loopback = v6 ? !memcmp(to, loopback6, 16) : to[0] == 127;
	int port = tcp[2] << 8 | tcp[3];

	if (packet[v6 ? 6 : 9] == IPPROTO_UDP)
		return port == DNS ? NO_ATTEMPT : UDP + port;
	if (is_repeat(tcp))
		return REPEAT;
	return loopback ? port : -1;
}

static void obey(const char *order)
{
	struct tpacket_stats stats = { 0 };
	socklen_t size = sizeof(stats);
	static unsigned drops;

	if (journal_order(order))
		return;
	getsockopt(tap, SOL_PACKET, PACKET_STATISTICS, &stats, &size);
	drops += stats.tp_drops;
	printf("%u\n", drops);
}

int main(void)
{
	struct sock_fprog program = { sizeof(attempts_only) / sizeof(*attempts_only),
		                      attempts_only };
	struct sockaddr_ll lo = { .sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_ALL) };
	int room = 32 << 20;

	lo.sll_ifindex = (int)if_nametoindex("lo");
	tap = socket(AF_PACKET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (tap < 0 || setsockopt(tap, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof(program)) ||
	    bind(tap, (struct sockaddr *)&lo, sizeof(lo))) {
		perror("syns: packet socket (it needs a network namespace of its own)");
		return 1;
	}
	if (setsockopt(tap, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof(room)))
		setsockopt(tap, SOL_SOCKET, SO_RCVBUF, &room, sizeof(room));
	puts("ready");
	(void)fflush(stdout);

	struct pollfd watch[] = { { 0, POLLIN, 0 }, { tap, POLLIN, 0 } };
	unsigned char packet[128];

	for (;;) {
		poll(watch, 2, -1);
		/* Packets first: an order is answered with all that came before it. */
		while (recv(tap, packet, sizeof(packet), 0) >= 28) {
			int key = key_of(packet);

			if (key != NO_ATTEMPT)
				journal_add(key);
		}
		if (watch[0].revents && !control_read(obey))
			return 0;
	}
}
