/* SPDX-License-Identifier: MIT */
/*
 * What leaves the machine while a connect is throttled: counted on every interface of a network of
 * its own, one per scene, that has a cable to nowhere as its default route. The first connects of a
 * scene go out there and time out: one that is not shown, and its retry, which goes at once. The
 * second that is shown is what is throttled under the shim. Loopback is not always local: see
 * shim/pace/sinkhole.c.
 * Usage: off_machine
 */
#include "probe.h"

#include <linux/if_ether.h>
#include <linux/if_packet.h>

#ifndef IPPROTO_MPTCP
#define IPPROTO_MPTCP 262
#endif

#define V4     "198.51.100.1"
#define V6     "2001:db8:ffff::1"
#define MAPPED "::ffff:" V4

#define CABLE                                                                                      \
	"exec 2>&1; set -e; ip link add v0 type veth peer name v1;"                                \
	"echo 0 > /proc/sys/net/ipv6/conf/v0/accept_dad;"                                          \
	"ip address add 10.9.0.1/24 dev v0; ip address add fd09::1/64 dev v0 nodad;"               \
	"ip link set v0 up; ip link set v1 up;"                                                    \
	"ip neigh add 10.9.0.2 lladdr 02:00:00:00:00:02 dev v0;"                                   \
	"ip neigh add fd09::2 lladdr 02:00:00:00:00:02 dev v0;"                                    \
	"ip route add default via 10.9.0.2; ip -6 route add default via fd09::2;"                  \
	"echo 1 > /proc/sys/net/ipv4/tcp_syn_retries;" /* three seconds */

/* Rules of policy routing in front of the local table: everything goes out. */
#define RULES(ip, gateway)                                                                         \
	ip " rule add pref 10 lookup local; " ip " rule del pref 0;" ip                            \
	   " route add table 77 default via " gateway " dev v0;" ip " rule add pref 5 "

static const struct scene {
	const char *name, *target, *bind, *device, *set_up;
	int level, option, value; /* of the socket */
	int protocol;
	bool dark; /* lo was never started */
} scenes[] = {
	{ .name = "v4", .target = V4 },
	{ .name = "v6", .target = V6 },
	{ .name = "mapped", .target = MAPPED },
	{ .name = "v6only",
	  .target = V6,
	  .level = IPPROTO_IPV6,
	  .option = IPV6_V6ONLY,
	  .value = 1 },
	{ .name = "v4 bound", .target = V4, .bind = "10.9.0.1" },
	{ .name = "v6 bound", .target = V6, .bind = "fd09::1" },
	{ .name = "mapped bound", .target = MAPPED, .bind = "::ffff:10.9.0.1" },
	{ .name = "v4 device", .target = V4, .device = "v0" },
	{ .name = "v6 device", .target = V6, .device = "v0" },
	{ .name = "mptcp", .target = V4, .protocol = IPPROTO_MPTCP },
	{ .name = "v6 off on lo",
	  .target = V6,
	  .set_up = "echo 1 > /proc/sys/net/ipv6/conf/lo/disable_ipv6" },
	{ .name = "v6 off on lo, bound",
	  .target = V6,
	  .bind = "fd09::1",
	  .set_up = "echo 1 > /proc/sys/net/ipv6/conf/lo/disable_ipv6" },
	{ .name = "v4 lo down", .target = V4, .set_up = "ip link set lo down" },
	{ .name = "v6 lo down", .target = V6, .set_up = "ip link set lo down" },
	{ .name = "v4 lo never up", .target = V4, .dark = true },
	{ .name = "v6 lo never up", .target = V6, .dark = true },
	{ .name = "v4 rules", .target = V4, .set_up = RULES("ip", "10.9.0.2") "lookup 77" },
	{ .name = "v6 rules", .target = V6, .set_up = RULES("ip -6", "fd09::2") "lookup 77" },
	{ .name = "v4 rules for a mark",
	  .target = V4,
	  .set_up = RULES("ip", "10.9.0.2") "fwmark 7 lookup 77",
	  .level = SOL_SOCKET,
	  .option = SO_MARK,
	  .value = 7 },
	{ .name = "v4 mark without rules",
	  .target = V4,
	  .level = SOL_SOCKET,
	  .option = SO_MARK,
	  .value = 7 },
	{ .name = "v4 of somebody else",
	  .target = V4,
	  .bind = "203.0.113.9",
	  .level = IPPROTO_IP,
	  .option = IP_TRANSPARENT,
	  .value = 1 },
	{ .name = "v4 of somebody else, answered",
	  .target = V4,
	  .bind = "203.0.113.9",
	  .set_up = "echo 1 > /proc/sys/net/ipv4/conf/all/route_localnet",
	  .level = IPPROTO_IP,
	  .option = IP_TRANSPARENT,
	  .value = 1 },
	{ .name = "v6 of somebody else",
	  .target = V6,
	  .bind = "2001:db8::9",
	  .level = IPPROTO_IPV6,
	  .option = IPV6_FREEBIND,
	  .value = 1 },
};

#define SCENES (int)(sizeof(scenes) / sizeof(*scenes))

static int tap = -1;
static uint16_t target_port; /* each scene a destination of its own */

static void start_tap(void)
{
	tap = socket(AF_PACKET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, htons(ETH_P_ALL));
	if (tap < 0)
		give_up("packet socket");
}

struct seen {
	int abroad, syns, answers, others;
};

/* Everything of TCP since the last time. Each packet on lo is seen twice, and counted going out. */
static struct seen look(void)
{
	struct seen seen = { 0 };
	unsigned char packet[2048];
	struct sockaddr_ll at;
	socklen_t size = sizeof(at);
	int lo = (int)if_nametoindex("lo");
	ssize_t n;

	for (; (n = recvfrom(tap, packet, sizeof(packet), 0, (struct sockaddr *)&at, &size)) > 0;
	     size = sizeof(at)) {
		bool six = packet[0] >> 4 == 6;
		const unsigned char *tcp = packet + (six ? 40 : (packet[0] & 15) * 4);

		if (at.sll_pkttype != PACKET_OUTGOING || n < (six ? 60 : 40) ||
		    packet[six ? 6 : 9] != IPPROTO_TCP)
			continue;
		if (at.sll_ifindex != lo)
			seen.abroad++;
		else if ((tcp[13] & 0x17) == 0x02)
			seen.syns++;
		else if (tcp[13] & 0x04)
			seen.answers++;
		else
			seen.others++;
	}
	return seen;
}

static socklen_t parse(const char *host, uint16_t port, struct sockaddr_storage *to)
{
	struct sockaddr_in *in = (struct sockaddr_in *)to;
	struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)to;

	memset(to, 0, sizeof(*to));
	to->ss_family = strchr(host, ':') ? AF_INET6 : AF_INET;
	if (to->ss_family == AF_INET) {
		in->sin_port = htons(port);
		inet_pton(AF_INET, host, &in->sin_addr);
		return sizeof(*in);
	}
	in6->sin6_port = htons(port);
	inet_pton(AF_INET6, host, &in6->sin6_addr);
	return sizeof(*in6);
}

static int new_socket(const struct scene *scene)
{
	struct sockaddr_storage address;
	socklen_t len = parse(scene->target, 0, &address);
	int fd = socket(address.ss_family, SOCK_STREAM | SOCK_NONBLOCK, scene->protocol);

	if (fd < 0 || (scene->option && setsockopt(fd, scene->level, scene->option, &scene->value,
	                                           sizeof(scene->value)) != 0))
		give_up("socket");
	if (scene->device && setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, scene->device,
	                                (socklen_t)strlen(scene->device)) != 0)
		give_up("device");
	len = scene->bind ? parse(scene->bind, 0, &address) : 0;
	if (len && bind(fd, (struct sockaddr *)&address, len) != 0)
		give_up("bind");
	return fd;
}

/* One attempt up to its end. ms: the program's own bound, 0: none. */
static int attempt_to(const struct scene *scene, int ms, bool *started)
{
	struct sockaddr_storage to;
	socklen_t len = parse(scene->target, target_port, &to), size = sizeof(int);
	int fd = new_socket(scene), err = 0;
	struct pollfd entry = { .fd = fd, .events = POLLOUT };

	if (ms)
		setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &ms, sizeof(ms));
	if (connect(fd, (struct sockaddr *)&to, len) != 0)
		err = errno;
	*started = err == EINPROGRESS;
	if (*started) {
		/* MPTCP takes no bound, so its first one has all its time. A second one that
		 * nothing bounds is to be told from others. */
		poll(&entry, 1, ms ? 9000 : 2500);
		getsockopt(fd, SOL_SOCKET, SO_ERROR, &err, &size);
	}
	close(fd);
	return err;
}

static void play(const struct scene *scene, int out)
{
	char command[2048];
	bool started;
	struct seen seen;
	struct scene plain = *scene;
	struct sockaddr_storage to;

	dup2(out, STDOUT_FILENO);
	target_port = (uint16_t)(1000 + (scene - scenes));
	if (!private_network() || (scene->dark && unshare(CLONE_NEWNET) != 0))
		_exit(PROBE_CANNOT);
	snprintf(command, sizeof(command), "%s %s", CABLE, scene->set_up ? scene->set_up : "");
	if (system(command) != 0)
		give_up(scene->name);
	start_tap();
	plain.protocol = 0; /* which takes a bound */
	attempt_to(&plain, 1000, &started);
	pause_ms(1200); /* the backoff of the driver's policy */
	look();
	printf("%s: first %s,", scene->name, error_name(attempt_to(scene, 1000, &started)));
	printf(" %s;", look().abroad ? "went out" : "stayed");
	storm_at(&to, parse(scene->target, target_port, &to));
	look();
	printf(" second %s", error_name(attempt_to(scene, 0, &started)));
	seen = look();
	printf(" %s, %s", started ? "later" : "at once", seen.abroad ? "went out" : "stayed");
	printf("; lo: %s, %s%s\n",
	       seen.syns > 3 ? "many"
	       : seen.syns   ? "SYN"
	                     : "none",
	       seen.answers ? "answer" : "none", seen.others ? ", AND OTHERS" : "");
	fflush(stdout);
	_exit(0);
}

int main(void)
{
	int pipes[SCENES][2], status;
	bool cannot = false;
	char text[4096];
	ssize_t n;

	for (int i = 0; i < SCENES; i++) {
		if (pipe2(pipes[i], O_CLOEXEC) != 0)
			give_up("pipe");
		if (fork() == 0)
			play(&scenes[i], pipes[i][1]);
		close(pipes[i][1]);
	}
	for (int i = 0; i < SCENES; i++)
		while ((n = read(pipes[i][0], text, sizeof(text))) > 0)
			fwrite(text, 1, (size_t)n, stdout);
	while (wait(&status) > 0)
		cannot = cannot || (WIFEXITED(status) && WEXITSTATUS(status) == PROBE_CANNOT);
	return cannot ? PROBE_CANNOT : 0;
}
