/* SPDX-License-Identifier: MIT */
/*
 * In a set-uid program (AT_SECURE) whoever starts it must not be able to choose the shim's
 * configuration, nor use up what programs of its owner share. There the library only comes in by
 * /etc/ld.so.preload, so the probe gives itself an /etc of its own, with the driver's configuration
 * as /etc/retrybudget.ini, and starts a set-uid copy of itself as nobody with all three variables
 * set to something else.
 */
#include "probe.h"

#include <grp.h>
#include <limits.h>
#include <sys/auxv.h>
#include <sys/mount.h>

#define HERE "/mnt"

static void copy(const char *from, const char *to, mode_t mode)
{
	int in = open(from, O_RDONLY), out = open(to, O_WRONLY | O_CREAT | O_TRUNC, mode);
	char data[65536];
	ssize_t n;

	if (in < 0 || out < 0)
		exit(PROBE_CANNOT);
	while ((n = read(in, data, sizeof(data))) > 0)
		if (write(out, data, n) != n)
			give_up("copy");
	fchmod(out, mode);
	close(in);
	close(out);
}

/* LD_PRELOAD holds the library's path; from now on /etc/ld.so.preload does. */
static void move_preload(void)
{
	const char *library = getenv("LD_PRELOAD"), *config = getenv("RETRYBUDGET_CONFIG");
	FILE *file;

	if (library != NULL) {
		copy(library, HERE "/shim.so", 0755);
		file = fopen("/etc/ld.so.preload", "we");
		fprintf(file, HERE "/shim.so\n");
		fclose(file);
	}
	if (config != NULL)
		copy(config, "/etc/retrybudget.ini", 0644);
	unsetenv("LD_PRELOAD");
	setenv("RETRYBUDGET_CONFIG", "/nowhere/wrong.ini", 1);
	setenv("RETRYBUDGET", "off", 1);
	setenv("RETRYBUDGET_LOG", "stderr", 1);
	setenv("RETRYBUDGET_SET", "[destination default] hold = 0", 1);
	setenv("RETRYBUDGET_INJECT", "127.0.0.1=unreachable:99", 1);
}

static bool private_etc(void)
{
	if (geteuid() != 0 || unshare(CLONE_NEWNS) != 0 ||
	    mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0)
		return false;
	if (mount("probe", HERE, "tmpfs", 0, "mode=755") != 0)
		return false;
	copy("/etc/ld.so.cache", HERE "/ld.so.cache", 0644);
	if (mount("probe", "/etc", "tmpfs", 0, "mode=755") != 0)
		return false;
	copy(HERE "/ld.so.cache", "/etc/ld.so.cache", 0644);
	return true;
}

/* True if a budget of other programs is mapped. */
static bool shares(void)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	char line[512];
	bool found = false;

	if (maps == NULL)
		give_up("/proc/self/maps");
	while (!found && fgets(line, sizeof(line), maps) != NULL)
		found = strstr(line, "/SYSV7262") != NULL;
	fclose(maps);
	return found;
}

static void report(const char *name)
{
	int64_t ms;
	int held, err;
	uint16_t port = refusing_port(&held);

	printf("%s: AT_SECURE %lu, %s", name, getauxval(AT_SECURE),
	       error_name(attempt(port, NULL)));
	err = spin_until_held(-1, port, &ms);
	printf(", then %s, %s\n", error_name(err), length_of(ms, 1000));
	if (getauxval(AT_SECURE))
		printf("shares a budget: %s\n", shares() ? "yes" : "no");
	fflush(stdout);
}

static int start(const char *program, const char *name)
{
	int status;
	pid_t child = fork();

	if (child == 0) {
		if (setgroups(0, NULL) != 0 || setresgid(65534, 65534, 65534) != 0 ||
		    setresuid(65534, 65534, 65534) != 0)
			_exit(3);
		execl(program, program, name, (char *)NULL);
		_exit(4);
	}
	waitpid(child, &status, 0);
	return status;
}

int main(int argc, char **argv)
{
	if (argc > 1) {
		report(argv[1]);
		return 0;
	}
	if (!private_etc())
		return PROBE_CANNOT;
	copy("/proc/self/exe", HERE "/plain", 0755);
	copy("/proc/self/exe", HERE "/setuid", 04755);
	move_preload();
	return start(HERE "/plain", "plain") != 0 || start(HERE "/setuid", "set-uid") != 0;
}
