/* SPDX-License-Identifier: MIT */
/*
 * A total outage seen from the server's side. Starts looping clients against closed ports and
 * counts the SYNs that arrive at each; may open the ports in the end and time the clients' return.
 * Usage:
 *
 *   storm LIBRARY LOOPER CLIENTS PORT PORTS PAUSE_MS SPLIT_S SECONDS RECOVERY_S
 *
 * Client i tries port PORT + i % PORTS. Prints one line of name=value pairs:
 *   first_mean first_max	SYNs per port in the first SPLIT_S after its first one
 *   later_mean later_max	SYNs per port and second from then to SECONDS
 *   rate			SYNs per second in all
 *   cpu			percent of one processor used per client
 *   back back_s		clients answered within RECOVERY_S of the return, and the last one's
 * s
 *
 * Needs CAP_NET_RAW. The kernel's filter lets through only SYNs without ACK.
 */
#include "bench.h"

#include <linux/filter.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>

#define MOST 1024 /* clients, and ports */

struct tally {
	int64_t first_at;
	long first, later;
};

static struct tally tallies[MOST];
static pid_t pids[MOST];
static long ports, base;
static int listeners[MOST];

static int open_sniffer(void)
{
	static struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_B | BPF_ABS, 9), /* protocol */
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, IPPROTO_TCP, 0, 5),
		BPF_STMT(BPF_LDX | BPF_B | BPF_MSH, 0), /* length of the IP header */
		BPF_STMT(BPF_LD | BPF_B | BPF_IND, 13), /* TCP flags */
		BPF_STMT(BPF_ALU | BPF_AND | BPF_K, 0x12),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0x02, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, 128),
		BPF_STMT(BPF_RET | BPF_K, 0),
	};
	struct sock_fprog filter = { sizeof(code) / sizeof(*code), code };
	struct sockaddr_ll lo = { .sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_IP) };
	int room = 16 << 20, fd;

	fd = (int)MUST(socket(AF_PACKET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
	MUST(setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &filter, sizeof(filter)));
	if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof(room)))
		MUST(setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &room, sizeof(room)));
	lo.sll_ifindex = (int)if_nametoindex("lo");
	MUST(bind(fd, (struct sockaddr *)&lo, sizeof(lo)));
	return fd;
}

/* Counts what has arrived. split: ns after a port's first SYN. */
static void count_syns(int sniffer, int64_t split)
{
	unsigned char packet[128];
	ssize_t got;

	while ((got = recv(sniffer, packet, sizeof(packet), 0)) >= 0) {
		size_t header = (packet[0] & 15) * 4u;
		int64_t now = now_ns();
		struct tally *tally;
		long port;

		if ((size_t)got < header + 4)
			continue;
		port = packet[header + 2] << 8 | packet[header + 3];
		if (port < base || port >= base + ports)
			continue;
		tally = &tallies[port - base];
		if (!tally->first_at)
			tally->first_at = now;
		if (now - tally->first_at < split)
			tally->first++;
		else
			tally->later++;
	}
}

/* SYNs that found the queue full: beyond some 20,000 waiting ones. The counts are then too low. */
static unsigned lost_syns(int sniffer)
{
	struct tpacket_stats stats;
	socklen_t len = sizeof(stats);

	MUST(getsockopt(sniffer, SOL_PACKET, PACKET_STATISTICS, &stats, &len));
	return stats.tp_drops;
}

static pid_t start_client(char *looper, long port, char *pause, char **environment)
{
	char text[16];
	char *argv[] = { looper, text, pause, NULL };
	pid_t pid = (pid_t)MUST(fork());

	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	snprintf(text, sizeof(text), "%ld", port);
	execve(looper, argv, environment);
	_exit(127);
}

/* Answers one request per connection on every port, for ever. */
static void *serve(void *unused)
{
	struct pollfd wanted[MOST];
	struct timeval timeout = { .tv_sec = 1 };
	char request;

	for (long i = 0; i < ports; i++)
		wanted[i] = (struct pollfd) { .fd = listeners[i], .events = POLLIN };
	for (;;) {
		poll(wanted, (nfds_t)ports, -1);
		for (long i = 0; i < ports; i++) {
			int fd = wanted[i].revents ? accept(listeners[i], NULL, NULL) : -1;

			if (fd < 0)
				continue;
			setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout));
			if (recv(fd, &request, 1, 0) == 1)
				send(fd, "!", 1, MSG_NOSIGNAL);
			close(fd);
		}
	}
	return unused;
}

/* Opens the ports and reaps the clients that come back. Returns how many did. */
static long recover(long clients, int64_t timeout, double *last_s)
{
	int64_t start = now_ns();
	struct sockaddr_in bound;
	pthread_t server;
	long back = 0;
	int status;

	for (long i = 0; i < ports; i++)
		listeners[i] = raw_listener((uint16_t)(base + i), &bound);
	if (pthread_create(&server, NULL, serve, NULL))
		die("pthread_create");
	while (back < clients && now_ns() - start < timeout) {
		for (long i = 0; i < clients; i++)
			if (pids[i] && waitpid(pids[i], &status, WNOHANG) == pids[i]) {
				pids[i] = 0;
				back += status == 0;
				*last_s = (double)(now_ns() - start) / 1e9;
			}
		usleep(2000);
	}
	return back;
}

/* During an outage no client may end by itself: then the numbers would mean nothing. */
static void check_all_loop(long clients)
{
	int status;

	for (long i = 0; i < clients; i++)
		if (waitpid(pids[i], &status, WNOHANG)) {
			fprintf(stderr, "storm: a client ended with %#x\n", status);
			exit(1);
		}
}

static void print_counts(double split, double seconds)
{
	long first = 0, later = 0, first_max = 0, later_max = 0;
	double later_s = seconds > split ? seconds - split : 1;

	for (long i = 0; i < ports; i++) {
		const struct tally *tally = &tallies[i];

		first += tally->first;
		later += tally->later;
		first_max = tally->first > first_max ? tally->first : first_max;
		later_max = tally->later > later_max ? tally->later : later_max;
	}
	printf("first_mean=%.2f first_max=%ld later_mean=%.3f later_max=%.3f rate=%.2f ",
	       (double)first / (double)ports, first_max, (double)later / (double)ports / later_s,
	       (double)later_max / later_s, (double)(first + later) / seconds);
}

int main(int argc, char **argv)
{
	long clients, split, seconds, recovery, back = 0;
	double last_s = 0, cpu;
	char **environment;
	struct rusage used;
	int64_t start;
	int sniffer;

	if (argc != 10) {
		fputs("usage: storm LIBRARY LOOPER CLIENTS PORT PORTS PAUSE_MS SPLIT_S SECONDS "
		      "RECOVERY_S\n",
		      stderr);
		return 2;
	}
	clients = number(argv[3], 1);
	base = number(argv[4], 1);
	ports = number(argv[5], 1);
	split = number(argv[7], 1);
	seconds = number(argv[8], 1);
	recovery = number(argv[9], 0);
	if (clients > MOST || ports > clients)
		return 2;
	environment = environment_with(argv[1]);
	sniffer = open_sniffer();
	for (long i = 0; i < clients; i++)
		pids[i] = start_client(argv[2], base + i % ports, argv[6], environment);
	for (start = now_ns(); now_ns() - start < seconds * 1000000000;) {
		struct pollfd wanted = { .fd = sniffer, .events = POLLIN };

		poll(&wanted, 1, 20);
		count_syns(sniffer, split * 1000000000);
	}
	check_all_loop(clients);
	print_counts((double)split, (double)seconds);
	printf("lost=%u ", lost_syns(sniffer));
	if (recovery)
		back = recover(clients, recovery * 1000000000, &last_s);
	for (long i = 0; i < clients; i++)
		if (pids[i]) {
			kill(pids[i], SIGKILL);
			waitpid(pids[i], NULL, 0);
		}
	MUST(getrusage(RUSAGE_CHILDREN, &used));
	cpu = (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
	      (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
	printf("cpu=%.3f back=%ld back_s=%.2f\n",
	       100 * cpu / ((double)(now_ns() - start) / 1e9) / (double)clients, back, last_s);
	return 0;
}
