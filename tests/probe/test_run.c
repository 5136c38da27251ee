/* SPDX-License-Identifier: MIT */
/*
 * The machinery that starts probes and collects what they say: two pipes, a log socket, a time
 * limit. The probe runs in a process group of its own, so that its children end with it.
 */
#include "run.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

static char directory[PATH_MAX];

static int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

const char *way_name(enum how how)
{
	return (const char *[]) { "bare", "off", "observe", "enforce" }[how];
}

const char *build_directory(void)
{
	const char *given = getenv("RETRYBUDGET_BUILD");

	return given != NULL && *given != '\0' ? given : "build";
}

const char *built(const char *name)
{
	static char paths[4][PATH_MAX];
	static int next;
	char relative[PATH_MAX];
	char *path = paths[next++ % 4];

	snprintf(relative, sizeof(relative), "%s/%s", build_directory(), name);
	cr_assert(realpath(relative, path) != NULL, "%s: %s", relative, strerror(errno));
	return path;
}

static int remove_entry(const char *path, const struct stat *status, int kind, struct FTW *where)
{
	(void)status, (void)kind, (void)where;
	return remove(path);
}

void discard_scratch(void)
{
	if (directory[0] != '\0')
		nftw(directory, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}

const char *scratch(void)
{
	const char *base = getenv("TMPDIR");

	if (directory[0] == '\0') {
		snprintf(directory, sizeof(directory), "%s/probes-XXXXXX", base ? base : "/tmp");
		cr_assert(mkdtemp(directory) != NULL, "%s: %s", directory, strerror(errno));
		chmod(directory, 0755); /* a probe that drops its privileges looks in here */
	}
	return directory;
}

const char *output_of(const char *command)
{
	static char output[1 << 18];
	FILE *pipe = popen(command, "re");
	size_t n;

	cr_assert(pipe != NULL);
	n = fread(output, 1, sizeof(output) - 1, pipe);
	output[n] = '\0';
	cr_assert(pclose(pipe) == 0, "%s: failed: %s", command, output);
	return output;
}

static void write_configuration(const struct probe *probe, enum how how, const char *path,
                                const char *socket_path)
{
	FILE *file = fopen(path, "we");

	cr_assert(file != NULL);
	fprintf(file, "[retrybudget]\nmode = %s\nreload = 0\n%s\n\n[log]\n", way_name(how),
	        probe->general ? probe->general : "");
	if (probe->log != NULL)
		fprintf(file, "socket = %s\n%s\n", socket_path, probe->log);
	else
		fprintf(file, "target = syslog\nsocket = %s\nattempts = on\n", socket_path);
	fprintf(file, "\n[destination default]\n%s\n", probe->policy ? probe->policy : "");
	cr_assert(fclose(file) == 0);
}

/*
 * A datagram socket whose queue takes thousands: of the usual ten a burst of records is more than a
 * driver that is held up for a moment has read, and what is lost would be missed in a count. The
 * length is the network's when the socket is made; so in one of its own, which only this thread
 * enters: a path leads to the socket from every network. Where that is not allowed, the usual ten.
 */
static int deep_socket(void)
{
	const int kind = SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK;
	int home = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC), length, fd;

	if (home < 0 || unshare(CLONE_NEWNET) != 0) {
		close(home);
		return socket(AF_UNIX, kind, 0);
	}
	length = open("/proc/sys/net/unix/max_dgram_qlen", O_WRONLY | O_CLOEXEC);
	(void)!write(length, "4096", 4);
	close(length);
	fd = socket(AF_UNIX, kind, 0);
	cr_assert(setns(home, CLONE_NEWNET) == 0, "back to the network: %s", strerror(errno));
	close(home);
	return fd;
}

static int log_socket(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = deep_socket();

	cr_assert(strlen(path) < sizeof(address.sun_path));
	strcpy(address.sun_path, path);
	unlink(path);
	cr_assert(bind(fd, (struct sockaddr *)&address, sizeof(address)) == 0, "%s: %s", path,
	          strerror(errno));
	chmod(path, 0666);
	return fd;
}

/* Never returns. Only what execve needs happens here, since the runner has threads. */
static void become_probe(char *const *arguments, char *const *environment, int out, int err)
{
	int null = open("/dev/null", O_RDONLY);

	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	dup2(null, 0);
	dup2(out, 1);
	dup2(err, 2);
	for (int fd = 3; fd < 1024; fd++)
		close(fd);
	execvpe(arguments[0], arguments, environment);
	_exit(127);
}

/* The runner's environment without what would change the outcome, and with the shim's. */
static char **probe_environment(const struct probe *probe, enum how how, const char *configuration)
{
	static char *environment[512];
	static char preload[2 * PATH_MAX], config[2 * PATH_MAX];
	const char *const unwanted[] = { "LD_PRELOAD=", "RETRYBUDGET", "LD_BIND_NOW=" };
	int n = 0;

	for (char **entry = environ; *entry != NULL && n < 500; entry++) {
		bool wanted = true;

		for (size_t i = 0; i < sizeof(unwanted) / sizeof(*unwanted); i++)
			wanted = wanted && strncmp(*entry, unwanted[i], strlen(unwanted[i])) != 0;
		if (wanted)
			environment[n++] = *entry;
	}
	if (how != BARE) {
		size_t used = snprintf(preload, sizeof(preload), "LD_PRELOAD=");
		const char *list = probe->preload != NULL ? probe->preload : "%s";
		const char *mark = strstr(list, "%s");

		if (mark != NULL)
			snprintf(preload + used, sizeof(preload) - used, "%.*s%s%s",
			         (int)(mark - list), list, built("libretrybudget.so"), mark + 2);
		else
			snprintf(preload + used, sizeof(preload) - used, "%s", list);
		snprintf(config, sizeof(config), "RETRYBUDGET_CONFIG=%s", configuration);
		environment[n++] = preload;
		environment[n++] = config;
	} else if (probe->preload != NULL && strstr(probe->preload, "%s") != NULL) {
		/* Bare keeps the other libraries: all but the shim. */
		const char *rest = strstr(probe->preload, "%s");

		snprintf(preload, sizeof(preload), "LD_PRELOAD=%.*s%s",
		         (int)(rest - probe->preload), probe->preload, rest + 2);
		environment[n++] = preload;
	}
	environment[n] = NULL;
	return environment;
}

static pid_t start(const struct probe *probe, enum how how, const char *configuration, int out,
                   int err)
{
	char program[PATH_MAX];
	char *arguments[16];
	char **environment = probe_environment(probe, how, configuration);
	int n = 0;
	pid_t child;

	snprintf(program, sizeof(program), "probe/%s", probe->program);
	snprintf(program, sizeof(program), "%s", built(program));
	for (int i = 0; i < 4 && probe->wrapper[i] != NULL; i++)
		arguments[n++] = (char *)probe->wrapper[i];
	arguments[n++] = program;
	for (int i = 0; i < 6 && probe->arguments[i] != NULL; i++)
		arguments[n++] = (char *)probe->arguments[i];
	arguments[n] = NULL;
	child = fork();
	cr_assert(child >= 0);
	if (child == 0)
		become_probe(arguments, environment, out, err);
	setpgid(child, child);
	return child;
}

/* Takes what is there. Returns false at the end of the stream. */
static bool drain(int fd, char *text, size_t size)
{
	size_t used = strlen(text);
	char spill[4096];
	bool full = used + 1 >= size;
	ssize_t n = read(fd, full ? spill : text + used, full ? sizeof(spill) : size - 1 - used);

	if (n > 0 && !full)
		text[used + n] = '\0';
	return n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR));
}

static void drain_records(int fd, struct result *result)
{
	size_t used = strlen(result->records), left = sizeof(result->records) - used;
	ssize_t n;

	while ((n = recv(fd, result->records + used, left > 2 ? left - 2 : 0, 0)) > 0) {
		used += n;
		result->records[used++] = '\n';
		result->records[used] = '\0';
		result->record_count++;
		left = sizeof(result->records) - used;
	}
}

/* Collects until both streams end or the time is up. */
static void collect(struct result *result, int out, int err, int log, int64_t deadline)
{
	struct pollfd entries[3] = { { out, POLLIN, 0 }, { err, POLLIN, 0 }, { log, POLLIN, 0 } };

	while (entries[0].fd >= 0 || entries[1].fd >= 0) {
		int64_t left = deadline - now_ms();

		if (left <= 0)
			return;
		poll(entries, 3, (int)left);
		if (entries[2].revents)
			drain_records(log, result);
		if (entries[0].revents && !drain(out, result->out, sizeof(result->out)))
			entries[0].fd = -1;
		if (entries[1].revents && !drain(err, result->err, sizeof(result->err)))
			entries[1].fd = -1;
	}
}

static void reap(pid_t child, struct result *result, int64_t deadline)
{
	int status;
	pid_t ended;

	while ((ended = waitpid(child, &status, WNOHANG)) == 0 && now_ms() < deadline)
		usleep(2000);
	kill(-child, SIGKILL); /* whatever the probe left running, and itself if it is late */
	if (ended == 0)
		waitpid(child, &status, 0);
	result->exited = WIFEXITED(status);
	result->code = WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status);
}

void run_probe(const struct probe *probe, enum how how, struct result *result)
{
	char configuration[PATH_MAX + 32], socket_path[PATH_MAX + 32];
	int out[2], err[2], log;
	int64_t start_ms, deadline;
	pid_t child;

	memset(result, 0, sizeof(*result));
	snprintf(configuration, sizeof(configuration), "%s/probe.ini", scratch());
	snprintf(socket_path, sizeof(socket_path), "%s/log", scratch());
	if (probe->configuration != NULL)
		snprintf(configuration, sizeof(configuration), "%s", probe->configuration);
	else
		write_configuration(probe, how, configuration, socket_path);
	log = log_socket(socket_path);
	cr_assert(pipe2(out, O_CLOEXEC) == 0 && pipe2(err, O_CLOEXEC) == 0);
	start_ms = now_ms();
	deadline = start_ms + (probe->seconds ? probe->seconds : 30) * 1000;
	child = start(probe, how, configuration, out[1], err[1]);
	close(out[1]);
	close(err[1]);
	collect(result, out[0], err[0], log, deadline);
	reap(child, result, deadline);
	drain_records(log, result);
	result->ms = now_ms() - start_ms;
	close(out[0]);
	close(err[0]);
	close(log);
}
