/* SPDX-License-Identifier: MIT */
/*
 * Limits that are set before the program starts, or while it runs: what the shim cannot have it
 * must do without, and it must not take what the program needs (HAZARDS 29, 64).
 *   space	RLIMIT_AS from far too little upward: each program that starts bare starts, given
 *		3 MiB more, and none dies of a signal
 *   full	RLIMIT_AS at what is in use: not one more page
 *   files	RLIMIT_FSIZE 0: SIGXFSZ for whoever lets a file grow
 *   few	RLIMIT_NOFILE 4, 5, 8
 *   data	RLIMIT_DATA at 4 MiB more than the bare program has
 *   locked	mlockall, also of what is still to come
 */
#include "trap.h"

static char port_text[16];

/* A new image of this program that talks. */
static pid_t start_limited(int what, rlim_t most, bool without_preload)
{
	struct rlimit limit = { most, most };
	pid_t child = fork();

	if (child == 0) {
		dup2(open("/dev/null", O_WRONLY), 2); /* the loader's complaints */
		if (without_preload)
			unsetenv("LD_PRELOAD");
		unsetenv("CONTRACT_STATE");
		if (setrlimit(what, &limit) == 0)
			execl("/proc/self/exe", "limits", "talk", port_text, (char *)NULL);
		_exit(3);
	}
	return child;
}

static bool starts(int what, rlim_t most, bool without_preload, int *killed)
{
	int status = 0;

	waitpid(start_limited(what, most, without_preload), &status, 0);
	*killed += WIFSIGNALED(status);
	return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

#define KIB 1024L
#define MIB (1024 * KIB)

static void space(void)
{
	long bare = 0, guarded = 0;
	int killed = 0, killed_bare = 0, lost = 0;

	for (long size = 1 * MIB; size < 24 * MIB; size += 256 * KIB) {
		if (bare == 0 && starts(RLIMIT_AS, size, true, &killed_bare))
			bare = size;
		if (starts(RLIMIT_AS, size, false, &killed)) {
			if (guarded == 0)
				guarded = size;
		} else if (bare != 0 && size >= bare + 3 * MIB) {
			lost++;
		}
	}
	printf("starts somewhere: %s, killed: %d, not started with enough: %d\n",
	       bare != 0 && guarded != 0 ? "yes" : "no", killed > killed_bare, lost);
}

static void report(const char *what, bool works)
{
	printf("%s: %s\n", what, works ? "works" : "broken");
}

static void full(uint16_t port, uint16_t bad)
{
	struct rlimit limit;
	unsigned long pages = 0;
	FILE *file = fopen("/proc/self/statm", "re");
	int wrong = 0;

	if (file == NULL || fscanf(file, "%lu", &pages) != 1)
		give_up("statm");
	fclose(file);
	getrlimit(RLIMIT_AS, &limit);
	limit.rlim_cur = pages * sysconf(_SC_PAGESIZE);
	if (setrlimit(RLIMIT_AS, &limit) != 0)
		give_up("setrlimit");
	for (int i = 0; i < 20; i++)
		wrong += attempt(bad, NULL) != ECONNREFUSED || strcmp(talk(port), "works") != 0;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_AS, &limit);
	printf("wrong: %d\n", wrong);
}

int main(int argc, char **argv)
{
	const char *way = argc > 1 ? argv[1] : "space";
	uint16_t port, bad;
	int held, killed = 0;

	if (strcmp(way, "talk") == 0)
		return strcmp(talk((uint16_t)atoi(argv[2])), "works") == 0 ? 0 : 4;
	port = start_answering();
	bad = refusing_port(&held);
	snprintf(port_text, sizeof(port_text), "%d", port);
	if (strcmp(way, "space") == 0) {
		space();
	} else if (strcmp(way, "full") == 0) {
		full(port, bad);
	} else if (strcmp(way, "files") == 0) {
		report("no files", starts(RLIMIT_FSIZE, 0, false, &killed));
		report("small files", starts(RLIMIT_FSIZE, 100000, false, &killed));
	} else if (strcmp(way, "few") == 0) {
		/* 0, 1, 2 and the loader's one. */
		for (int most = 4; most <= 8; most += most == 4 ? 1 : 3)
			report("few descriptors", starts(RLIMIT_NOFILE, most, false, &killed));
	} else if (strcmp(way, "data") == 0) {
		report("data", starts(RLIMIT_DATA, 12 * MIB, false, &killed));
	} else if (mlockall(MCL_CURRENT | MCL_FUTURE) != 0) {
		return PROBE_CANNOT;
	} else {
		report("locked",
		       strcmp(talk(port), "works") == 0 && attempt(bad, NULL) == ECONNREFUSED);
	}
	printf("killed: %d\n", killed);
	return 0;
}
