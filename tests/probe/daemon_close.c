/* SPDX-License-Identifier: MIT */
/*
 * A daemon closes every descriptor it may have and gets the same numbers back for files, pipes and
 * sockets. Whatever the shim remembers of the old numbers, and wherever it writes its records
 * (torsocks and libunwind put theirs into the program's data this way), no byte of it may land in
 * the new ones, and they must work. Usage: daemon_close loop|range|raw
 */
#include "probe.h"

#define HIGHEST  1023
#define REOPENED 63

struct slot {
	enum { FILE_SLOT, PIPE_SLOT, PAIR_SLOT, TCP_SLOT } kind;
	int in, out;
};

struct findings {
	int slots, strange_bytes, echoes, wrong_errors;
	bool connection_works;
};

static uint16_t good, bad;
static struct slot slots[64];
static int slot_count;

static void close_everything(const char *how)
{
	if (strcmp(how, "range") == 0) {
#ifdef CLOSE_RANGE_UNSHARE /* where libc has the function */
		close_range(0, HIGHEST, 0);
#else
		syscall(SYS_close_range, 0, HIGHEST, 0);
#endif
		return;
	}
	for (int fd = 0; fd <= HIGHEST; fd++) {
		if (strcmp(how, "raw") == 0)
			syscall(SYS_close, fd);
		else
			close(fd);
	}
}

static void tcp_pair(int *ends)
{
	int listener;
	uint16_t port = refusing_port(&listener);

	listen(listener, 1);
	ends[0] = connected(port);
	ends[1] = accept(listener, NULL, NULL);
	close(listener);
}

/* Takes the lowest free numbers until REOPENED is in use. */
static void reopen(void)
{
	for (int highest = -1, i = 0; highest < REOPENED; i++) {
		struct slot *slot = &slots[slot_count++];
		int ends[2] = { -1, -1 };

		slot->kind = i % 4;
		if (slot->kind == FILE_SLOT)
			ends[0] = ends[1] = memfd_create("probe", 0);
		else if (slot->kind == PIPE_SLOT && pipe(ends) != 0)
			_exit(3);
		else if (slot->kind == PAIR_SLOT && socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0)
			_exit(4);
		else if (slot->kind == TCP_SLOT)
			tcp_pair(ends);
		slot->in = ends[0];
		slot->out = ends[1];
		highest = ends[1];
		if (ends[0] < 0 || ends[1] < 0)
			_exit(5);
	}
}

/* Bytes that are in the slots although nobody of us wrote them. */
static int strange_bytes(void)
{
	int sum = 0;

	for (int i = 0; i < slot_count; i++) {
		struct slot *slot = &slots[i];
		struct stat status;
		int here = 0, there = 0;

		if (slot->kind == FILE_SLOT) {
			fstat(slot->in, &status);
			sum += (int)status.st_size + (int)lseek(slot->in, 0, SEEK_CUR);
			continue;
		}
		ioctl(slot->in, FIONREAD, &here);
		if (slot->kind != PIPE_SLOT)
			ioctl(slot->out, FIONREAD, &there);
		sum += here + there;
	}
	return sum;
}

/* Writes a word into every slot and reads it back where it must come out. */
static int echoes(void)
{
	int good_ones = 0;

	for (int i = 0; i < slot_count; i++) {
		struct slot *slot = &slots[i];
		char back[16] = "";

		if (write(slot->out, "word", 4) != 4)
			continue;
		if (slot->kind == FILE_SLOT)
			lseek(slot->in, 0, SEEK_SET);
		if (read(slot->in, back, slot->kind == FILE_SLOT ? sizeof(back) : 4) == 4 &&
		    strcmp(back, "word") == 0)
			good_ones++;
		if (slot->kind == FILE_SLOT &&
		    (ftruncate(slot->in, 0) != 0 || lseek(slot->in, 0, SEEK_SET) != 0))
			good_ones--;
	}
	return good_ones;
}

static int refusals(int n)
{
	int wrong = 0;

	for (int i = 0; i < n; i++)
		wrong += attempt(bad, NULL) != ECONNREFUSED;
	return wrong;
}

static void be_daemon(const char *how, struct findings *findings)
{
	int fd;

	for (int i = 0; i < 8; i++)
		if ((fd = connected(good)) < 0 || !echo(fd, "hello"))
			_exit(6);
	findings->wrong_errors += refusals(5);
	close_everything(how);
	findings->wrong_errors += refusals(2); /* with 0, 1 and 2 free to be taken */
	reopen();
	findings->slots = slot_count;
	findings->wrong_errors += refusals(10);
	findings->strange_bytes += strange_bytes();
	findings->echoes += echoes();
	findings->wrong_errors += refusals(10);
	findings->strange_bytes += strange_bytes();
	findings->echoes += echoes();
	fd = connected(good);
	findings->connection_works = fd >= 0 && echo(fd, "hello");
	_exit(0);
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "loop";
	struct findings *findings = shared_memory(sizeof(*findings));
	int held, status;
	pid_t child;

	good = start_server(SERVER_ECHO, NULL);
	bad = refusing_port(&held);
	child = fork();
	if (child == 0)
		be_daemon(how, findings);
	waitpid(child, &status, 0);
	printf("daemon: exit %d, signal %d\n", WEXITSTATUS(status), WTERMSIG(status));
	printf("words that came back: %s\n",
	       findings->slots > 20 && findings->echoes == 2 * findings->slots ? "all" : "not all");
	printf("bytes that nobody wrote: %d\n", findings->strange_bytes);
	printf("wrong errors: %d\n", findings->wrong_errors);
	printf("healthy connection: %s\n", findings->connection_works ? "works" : "broken");
	return 0;
}
