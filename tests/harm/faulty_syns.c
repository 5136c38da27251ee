// SPDX-License-Identifier: MIT
#include "faulty_syns.h"

#include "faulty.h"

#include <arpa/inet.h>
#include <linux/filter.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>

enum { SEEN = 1 << 16 };

// A SYN of the same port and sequence number is one that the kernel sent again, no new attempt.
static bool sent_again(uint16_t source, uint32_t sequence)
{
	static uint32_t seen[SEEN];
	const bool again = seen[source] == sequence;
	seen[source] = sequence;
	return again;
}

void count_syns(int tap)
{
	unsigned char packet[128];
	struct sockaddr_ll from;
	for (;;) {
		socklen_t size = sizeof from;
		const ssize_t length = recvfrom(tap, packet, sizeof packet, MSG_DONTWAIT,
		                                (struct sockaddr *)&from, &size);
		if (length < 40)
			return;
		const unsigned char *tcp = packet + (packet[0] & 15) * 4;
		if (from.sll_pkttype != PACKET_OUTGOING || (tcp[13] & 0x12) != 0x02)
			continue;
		uint16_t source, target;
		uint32_t sequence;
		memcpy(&source, tcp, 2);
		memcpy(&target, tcp + 2, 2);
		memcpy(&sequence, tcp + 4, 4);
		for (int i = 0; i < port_count; i++) {
			struct port *port = &ports[i];
			struct in_addr address;
			inet_pton(AF_INET, port->address, &address);
			if (port->number != ntohs(target) ||
			    (address.s_addr != INADDR_ANY && memcmp(&address, packet + 16, 4) != 0))
				continue;
			if (!sent_again(source, sequence)) {
				port->syns++;
				const int second = (int)now();
				port->by_second[second < SECONDS ? second : SECONDS - 1]++;
			}
			break;
		}
	}
}

int open_tap(void)
{
	// TCP, and the flags of the segment say SYN without ACK.
	struct sock_filter syns[] = {
		BPF_STMT(BPF_LD | BPF_B | BPF_ABS, 9),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, IPPROTO_TCP, 0, 4),
		BPF_STMT(BPF_LDX | BPF_B | BPF_MSH, 0),
		BPF_STMT(BPF_LD | BPF_B | BPF_IND, 13),
		BPF_STMT(BPF_ALU | BPF_AND | BPF_K, 0x12),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 2, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, 0),
		BPF_STMT(BPF_RET | BPF_K, 128),
	};
	struct sock_fprog program = { sizeof syns / sizeof *syns, syns };
	const int tap =
	    socket(AF_PACKET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, htons(ETH_P_ALL));
	if (tap < 0) {
		perror("faulty: no packet socket");
		exit(1);
	}
	setsockopt(tap, SOL_SOCKET, SO_RCVBUFFORCE, &(int) { 16 << 20 }, sizeof(int));
	setsockopt(tap, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program);
	return tap;
}
