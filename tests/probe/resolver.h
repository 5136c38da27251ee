/* SPDX-License-Identifier: MIT */
/* A network, /etc and name server of the probe's own. */
#ifndef RETRYBUDGET_TESTS_PROBE_RESOLVER_H
#define RETRYBUDGET_TESTS_PROBE_RESOLVER_H

#include "../clients/zone.h"
#include "probe.h"

#include <sys/mount.h>

/* Puts text in the place of a file of /etc, for us alone. */
static inline bool replace(const char *path, const char *text)
{
	char name[] = "/tmp/probe-lookup-XXXXXX";
	int fd = mkstemp(name);
	bool good = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text) &&
	            fchmod(fd, 0644) == 0 && mount(name, path, NULL, MS_BIND, NULL) == 0;

	close(fd);
	unlink(name);
	return good;
}

/* False where the machine does not allow it. Call before any thread is started. options: more lines
 * of resolv.conf. */
static inline bool private_resolver(const char *options)
{
	char text[256];

	snprintf(text, sizeof(text), "nameserver 127.0.0.1\noptions timeout:1 attempts:1\n%s",
	         options);
	return geteuid() == 0 && unshare(CLONE_NEWNS) == 0 &&
	       mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 && private_network() &&
	       replace("/etc/resolv.conf", text) &&
	       replace("/etc/nsswitch.conf", "hosts: files dns\nservices: files\n") &&
	       replace("/etc/hosts", "127.0.0.1 localhost here\n127.0.0.9 there\n");
}

/* A child process that answers as clients/zone.h says and counts the questions; it dies with the
 * probe. */
static inline volatile int *start_name_server(void)
{
	volatile int *asked = shared_memory(sizeof(*asked));
	struct sockaddr_in here = loopback(53), from;
	unsigned char packet[1024];
	pid_t parent = getpid();
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), type;

	if (fd < 0 || bind(fd, (struct sockaddr *)&here, sizeof(here)) != 0)
		give_up("name server");
	if (fork() != 0) {
		close(fd);
		return asked;
	}
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (getppid() == parent) {
		socklen_t len = sizeof(from);
		ssize_t got =
		    recvfrom(fd, packet, sizeof(packet), 0, (struct sockaddr *)&from, &len);
		size_t n = got < 0 ? 0 : zone_answer(packet, got, sizeof(packet), ZONE_OK, &type);

		__atomic_add_fetch(asked, got > 0, __ATOMIC_SEQ_CST);
		if (n > 0)
			sendto(fd, packet, n, 0, (struct sockaddr *)&from, len);
	}
	_exit(0);
}

#endif
