/* SPDX-License-Identifier: MIT */
/*
 * Unix stream and seqpacket sockets as destinations: a path that is missing, refused, full, well,
 * of another type, dropping. Each line names the case, the destination, the attempts that must be
 * recorded (f a first try, r a retry), and the errors. Usage: unix_kinds DIRECTORY [paced]
 */
#include "probe.h"

static const char *directory;
static struct sockaddr_un to = { .sun_family = AF_UNIX };

static void name_path(const char *what, int type)
{
	const char *kind = type == SOCK_STREAM ? "stream" : "seqpacket";

	snprintf(to.sun_path, sizeof(to.sun_path), "%.60s/%s-%s", directory, what, kind);
	unlink(to.sun_path);
}

static void begin(const char *what, int type)
{
	name_path(what, type);
	printf("%s-%s unix:%s ", what, type == SOCK_STREAM ? "stream" : "seqpacket", to.sun_path);
}

static int bound(int type, int backlog)
{
	int fd = socket(AF_UNIX, type | SOCK_CLOEXEC, 0);

	if (fd < 0 || bind(fd, (struct sockaddr *)&to, sizeof(to)) != 0 ||
	    (backlog >= 0 && listen(fd, backlog) != 0))
		give_up("bind");
	return fd;
}

static int joined(int type)
{
	int fd = socket(AF_UNIX, type, 0);

	past_the_gate();
	if (connect(fd, (struct sockaddr *)&to, sizeof(to)) != 0)
		give_up("connect");
	return fd;
}

static const char *tried(int type)
{
	int fd = socket(AF_UNIX, type, 0);
	int err = connect(fd, (struct sockaddr *)&to, sizeof(to)) == 0 ? 0 : errno;

	close(fd);
	return error_name(err);
}

static void twice(const char *wanted, int type)
{
	const char *first = tried(type), *second = tried(type);

	printf("%s, %s %s\n", wanted, first, second);
}

static void fails(int type)
{
	int fd, other = type == SOCK_STREAM ? SOCK_SEQPACKET : SOCK_STREAM;

	begin("missing", type);
	twice("fr", type);
	begin("refused", type);
	fd = bound(type, -1);
	twice("fr", type);
	close(fd);
	begin("full", type);
	fd = bound(type, 0);
	/* Raw, and left open: what they fill the queue with must not be seen. */
	for (int i = 0; i < 8; i++) {
		int filler = (int)syscall(SYS_socket, AF_UNIX, type | SOCK_NONBLOCK, 0);

		syscall(SYS_connect, filler, &to, sizeof(to));
	}
	twice("fr", type | SOCK_NONBLOCK);
	close(fd);
	begin("another", type);
	fd = bound(other, 4);
	twice("ff", type); /* the caller's own mistake */
	close(fd);
}

static void serves(int type)
{
	int listener, fd, second;
	char back[8], well[sizeof(to.sun_path)];
	pid_t child;

	begin("well", type);
	listener = bound(type, 4);
	fflush(stdout);
	child = fork();
	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;) {
			int peer = accept(listener, NULL, NULL);
			ssize_t n = recv(peer, back, sizeof(back), 0);

			if (n > 0 && back[0] != 'd')
				send(peer, back, n, MSG_NOSIGNAL);
			close(peer);
		}
	}
	close(listener);
	for (int i = 0; i < 3; i++) {
		fd = joined(type);
		if (!echo(fd, "word"))
			give_up("echo");
		close(fd);
	}
	printf("fff, ok\n");
	/* Another name for the same server, to have its attempts apart. */
	strcpy(well, to.sun_path);
	begin("drops", type);
	if (link(well, to.sun_path) != 0)
		give_up("link");
	fd = joined(type);
	send(fd, "d", 1, 0);
	if (recv(fd, back, sizeof(back), 0) != 0)
		give_up("end");
	second = joined(type);
	printf("fr, ok\n");
	close(fd);
	close(second);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}

int main(int argc, char **argv)
{
	static const int types[] = { SOCK_STREAM, SOCK_SEQPACKET };

	if (argc < 2)
		give_up("usage");
	directory = argv[1];
	for (int i = 0; i < 2; i++) {
		fails(types[i]);
		serves(types[i]);
	}
	return 0;
}
