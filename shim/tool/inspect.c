/* SPDX-License-Identifier: MIT */
/*
 * A preload that is not loaded says nothing: the program simply runs without. So everything that is
 * known to keep the shim out is looked for before the start (TRAPS A7.7, A8.3, A11.1).
 */
#include "tool/inspect.h"
#include "tool/tool.h"
#include "tool/elf.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

/* The stack is our own here, unlike in the shim. */
#pragma GCC diagnostic ignored "-Wframe-larger-than="

#define LIBRARY     "libretrybudget.so"
#define SCRIPTS_MAX 5   /* the kernel's limit of scripts run by scripts */
#define SCRIPT_LINE 256 /* of a #! line, as the kernel reads it */

static __attribute__((format(printf, 3, 4))) void say(struct verdict *verdict, int code,
                                                      const char *format, ...)
{
	va_list args;

	verdict->code = code;
	va_start(args, format);
	(void)vsnprintf(verdict->message, sizeof(verdict->message), format, args);
	va_end(args);
}

static bool is_program(const char *path)
{
	struct stat is;

	return stat(path, &is) == 0 && S_ISREG(is.st_mode) && access(path, X_OK) == 0;
}

/* Finds a command as execvp does. Returns 0, or ENOENT or EACCES as it would. */
static int find_command(const char *command, char *out, size_t size)
{
	const char *path = getenv("PATH");
	int error = ENOENT;

	if (strchr(command, '/')) {
		if ((size_t)snprintf(out, size, "%s", command) >= size)
			return ENOENT;
		if (is_program(out))
			return 0;
		return access(out, F_OK) == 0 ? EACCES : ENOENT;
	}
	for (path = path ? path : "/bin:/usr/bin"; *command; path++) {
		size_t n = strcspn(path, ":");
		int length = n ? snprintf(out, size, "%.*s/%s", (int)n, path, command)
		               : snprintf(out, size, "./%s", command); /* an empty entry */

		if (length >= 0 && (size_t)length < size) {
			if (is_program(out))
				return 0;
			if (access(out, F_OK) == 0)
				error = EACCES;
		}
		path += n;
		if (*path == '\0')
			break;
	}
	return error;
}

/* Copies the first word of *text and steps over it. */
static bool next_word(char **text, char *out, size_t size)
{
	size_t n;

	*text += strspn(*text, " \t");
	n = strcspn(*text, " \t");
	if (n == 0 || n >= size)
		return false;
	memcpy(out, *text, n);
	out[n] = '\0';
	*text += n;
	return true;
}

/* "#!/usr/bin/env [-S] [NAME=value] python3": what env will start. */
static bool env_target(char *rest, char *out, size_t size)
{
	while (next_word(&rest, out, size))
		if (*out != '-' && !strchr(out, '='))
			return true;
	return false;
}

/*
 * Reads a #! line. interpreter: what the kernel will start; through_env: the command that env will
 * look for, or "". False if the file is no script.
 */
static bool read_script(int fd, char *interpreter, char *through_env, size_t size)
{
	char line[SCRIPT_LINE + 1];
	ssize_t n = pread(fd, line, SCRIPT_LINE, 0);
	char *rest = line + 2;
	const char *base;

	if (n < 3 || line[0] != '#' || line[1] != '!')
		return false;
	line[n] = '\0';
	line[strcspn(line, "\r\n")] = '\0';
	*through_env = '\0';
	if (!next_word(&rest, interpreter, size))
		return false;
	base = strrchr(interpreter, '/');
	if (strcmp(base ? base + 1 : interpreter, "env") == 0 &&
	    !env_target(rest, through_env, size))
		*through_env = '\0';
	return true;
}

static const char *privilege(const char *path, const struct stat *is)
{
	if (is->st_mode & S_ISUID)
		return "set-uid";
	if ((is->st_mode & (S_ISGID | S_IXGRP)) == (S_ISGID | S_IXGRP))
		return "set-gid";
	if (getxattr(path, "security.capability", NULL, 0) > 0)
		return "privileged by file capabilities";
	return NULL;
}

static bool same_machine(const struct elf_facts *a, const struct elf_facts *b)
{
	return a->class == b->class && a->order == b->order && a->machine == b->machine;
}

/* Whether a library can be loaded into a program. */
static bool fits(const struct elf_facts *library, const struct elf_facts *program)
{
	return same_machine(library, program) && library->libc == program->libc;
}

static int bits(const struct elf_facts *facts)
{
	return facts->class == ELFCLASS64 ? 64 : 32;
}

/* Where libraries may be, relative to the directory of this command: installed, or where they were
 * built. */
static const char *const beside[] = {
	"",
	"/..",
	"/../lib",
	"/../lib64",
	"/../lib32",
#if defined(__x86_64__) || defined(__i386__)
	"/../lib/x86_64-linux-gnu",
	"/../lib/i386-linux-gnu",
	"/../lib/x86_64-linux-musl",
	"/i386",
#elif defined(__aarch64__)
	"/../lib/aarch64-linux-gnu",
	"/../lib/aarch64-linux-musl",
#endif
	"/musl",
};

static bool library_facts(const char *path, struct elf_facts *facts)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	bool read = fd >= 0 && elf_read(fd, facts) == ELF_READ;

	if (fd >= 0)
		close(fd);
	return read;
}

/* What is said of a library that does not fit depends on how near it comes. */
static bool better(const struct elf_facts *wanted, const struct elf_facts *found,
                   const struct elf_facts *these)
{
	if (fits(these, wanted))
		return true;
	return same_machine(wanted, these) && !same_machine(wanted, found);
}

/* Takes the first library that fits the program, else the first there is. wanted: NULL = any. */
static bool find_library(const struct elf_facts *wanted, char *out, struct elf_facts *facts)
{
	char own[PATH_MAX], path[PATH_MAX + 64], absolute[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", own, sizeof(own) - 1);
	size_t count = sizeof(beside) / sizeof(*beside);
	bool found = false;

	own[n > 0 ? n : 0] = '\0';
	if (strrchr(own, '/'))
		*strrchr(own, '/') = '\0';
	for (size_t i = 0; i <= count; i++) {
		struct elf_facts these;

		if (i < count)
			(void)snprintf(path, sizeof(path), "%s%s/" LIBRARY, own, beside[i]);
#ifdef LIBDIR
		else
			(void)snprintf(path, sizeof(path), "%s/" LIBRARY, LIBDIR);
#else
		else
			break;
#endif
		if (!realpath(path, absolute) || !library_facts(absolute, &these))
			continue;
		if (!found || (wanted && better(wanted, facts, &these))) {
			memcpy(out, absolute, sizeof(absolute));
			*facts = these;
		}
		found = true;
		if (!wanted || fits(&these, wanted))
			return true;
	}
	return found;
}

static void judge_elf(const char *path, const struct elf_facts *facts, struct verdict *verdict)
{
	struct elf_facts library;

	if (facts->go)
		say(verdict, EXIT_UNFIT,
		    "%s is a Go program, which calls the kernel without libc, so a preload cannot "
		    "see "
		    "its connections; limit its retries in its own settings",
		    path);
	else if (*facts->interp == '\0')
		say(verdict, EXIT_UNFIT,
		    "%s is statically linked, so nothing can be preloaded into it; "
		    "use a dynamically linked build of it",
		    path);
	else if (!facts->libc)
		say(verdict, EXIT_UNFIT,
		    "%s is made for another C library (its loader is %s) than the ones that this "
		    "library can be built for, glibc and musl",
		    path, facts->interp);
	else if (!find_library(facts, verdict->library, &library))
		return; /* whose fault that is is told at the end */
	else if (facts->class != library.class)
		say(verdict, EXIT_UNFIT,
		    "%s is a %d-bit program and %s is a %d-bit library; install the %d-bit build "
		    "of "
		    "it as well",
		    path, bits(facts), verdict->library, bits(&library), bits(facts));
	else if (!same_machine(facts, &library))
		say(verdict, EXIT_UNFIT,
		    "%s is made for another processor than %s; install the build for that "
		    "processor",
		    path, verdict->library);
	else if (!fits(&library, facts))
		say(verdict, EXIT_UNFIT,
		    "%s is made for another C library (its loader is %s) than %s, which cannot be "
		    "loaded there; install the build for %s as well",
		    path, facts->interp, verdict->library,
		    facts->libc == ELF_MUSL ? "musl" : "glibc");
}

/* Judges one file. interpreter: filled if it is a script that names one. */
static bool judge_file(const char *path, struct verdict *verdict, char *interpreter,
                       char *through_env)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct elf_facts facts;
	struct stat is;
	const char *how;
	bool script = false;

	if (fd < 0) /* one may be allowed to run a program but not to read it */
		return false;
	switch (elf_read(fd, &facts)) {
	case ELF_READ:
		how = fstat(fd, &is) == 0 ? privilege(path, &is) : NULL;
		if (how)
			say(verdict, EXIT_UNFIT,
			    "%s is %s, and the loader takes no preloads into such programs; start "
			    "a "
			    "copy of it without that privilege",
			    path, how);
		else
			judge_elf(path, &facts, verdict);
		break;
	case ELF_NOT: /* the s-bits of a script mean nothing (execve(2)) */
		script = read_script(fd, interpreter, through_env, PATH_MAX);
		break;
	case ELF_BROKEN:
		break;
	}
	close(fd);
	return script;
}

void inspect_command(const char *command, struct verdict *verdict)
{
	char path[PATH_MAX], interpreter[PATH_MAX], through_env[PATH_MAX];
	struct elf_facts library;
	int error = find_command(command, path, sizeof(path));

	memset(verdict, 0, sizeof(*verdict));
	if (error) {
		say(verdict, error == EACCES ? EXIT_UNFIT : EXIT_NOT_FOUND, "%s: %s", command,
		    strerror(error));
		return;
	}
	for (int i = 0; i < SCRIPTS_MAX && judge_file(path, verdict, interpreter, through_env);
	     i++) {
		if (*through_env && is_program(interpreter)) {
			char ignored[PATH_MAX], none[PATH_MAX];

			(void)judge_file(interpreter, verdict, ignored, none);
			if (verdict->code || find_command(through_env, path, sizeof(path)) != 0)
				break;
			continue;
		}
		memcpy(path, interpreter, sizeof(path));
	}
	if (!verdict->code && !*verdict->library && !find_library(NULL, verdict->library, &library))
		say(verdict, EXIT_OWN,
		    LIBRARY " is neither beside this command nor installed; run `make` or "
		            "`make install`");
}

bool preload_has(const char *list, const char *library)
{
	while (*list) {
		size_t n = strcspn(list, ": "); /* both separate (ld.so(8)) */
		char entry[PATH_MAX];
		const char *base;

		if (n > 0 && n < sizeof(entry)) {
			memcpy(entry, list, n);
			entry[n] = '\0';
			base = strrchr(entry, '/');
			if (strcmp(entry, library) == 0)
				return true;
			/* Another copy, or one that only the loader can find ($LIB, bare names). */
			if (strcmp(base ? base + 1 : entry, LIBRARY) == 0 &&
			    (!base || strchr(entry, '$') || access(entry, R_OK) == 0))
				return true;
		}
		list += n;
		list += strspn(list, ": ");
	}
	return false;
}

static const char usage[] =
    "usage: retrybudget inspect CMD\n"
    "       retrybudget inspect PID\n"
    "\n"
    "Tells whether the library will reach a program, and why if it will not. CMD is\n"
    "looked for as `retrybudget run` would. A number that is no command is a running\n"
    "process: its program is inspected, and whether the library is loaded in it.\n"
    "\n"
    "Exit status of CMD: 0 if the library will reach it, 1 if not. Of PID: 0 if the\n"
    "library is loaded, 1 if not. 125 for a wrong usage, or if it cannot be told.\n";

/* One line of /proc/PID/maps: is it the code of our library? Data alone may be a tool reading it.
 */
static bool maps_library(char *line)
{
	static const char gone[] = " (deleted)"; /* replaced by a newer one since */
	char *path = strchr(line, '/'), *name;
	char *mode = strchr(line, ' ');
	size_t n = strcspn(line, "\n");

	line[n] = '\0';
	if (n > sizeof(gone) && strcmp(line + n - (sizeof(gone) - 1), gone) == 0)
		line[n - (sizeof(gone) - 1)] = '\0';
	if (!path || !mode || strnlen(mode, 4) < 4 || mode[3] != 'x')
		return false;
	name = strrchr(path, '/') + 1;
	return strcmp(name, LIBRARY) == 0;
}

/* 1 if the library is loaded in a process, 0 if not, -1 with errno if that cannot be told. */
static int is_loaded(const char *pid)
{
	char file[64], *line = NULL;
	size_t size = 0;
	int loaded = 0, error;
	FILE *maps;

	(void)snprintf(file, sizeof(file), "/proc/%s/maps", pid);
	maps = fopen(file, "re");
	if (!maps)
		return -1;
	while (!loaded && getline(&line, &size, maps) > 0)
		loaded = maps_library(line);
	error = errno;
	if (ferror(maps))
		loaded = -1;
	free(line);
	(void)fclose(maps);
	errno = error;
	return loaded;
}

static bool is_process(const char *argument)
{
	char path[PATH_MAX];

	if (*argument == '\0' || strspn(argument, "0123456789") != strlen(argument) ||
	    strlen(argument) > 10 || find_command(argument, path, sizeof(path)) != ENOENT)
		return false;
	(void)snprintf(path, sizeof(path), "/proc/%s", argument);
	return access(path, F_OK) == 0;
}

static void print_verdict(const struct verdict *verdict, const char *program)
{
	if (verdict->code)
		printf("no: %s\n", verdict->message);
	else
		printf("yes: %s will be loaded into %s\n", verdict->library, program);
}

static int inspect_process(const char *pid, struct verdict *verdict)
{
	char exe[64], program[PATH_MAX];
	ssize_t n;
	int loaded;

	(void)snprintf(exe, sizeof(exe), "/proc/%s/exe", pid);
	n = readlink(exe, program, sizeof(program) - 1);
	loaded = n < 0 ? -1 : is_loaded(pid);
	if (loaded < 0) {
		fprintf(stderr, "retrybudget: inspect: cannot look into process %s: %s\n", pid,
		        errno == ENOENT ? "it has no program" : strerror(errno));
		return EXIT_OWN;
	}
	program[n] = '\0';
	printf("process %s runs %s\n", pid, program);
	/* By the link, which leads to the program even if its name now means another file. */
	inspect_command(exe, verdict);
	print_verdict(verdict, program);
	printf("the shim is %s in process %s\n", loaded ? "loaded" : "not loaded", pid);
	return loaded ? 0 : 1;
}

int cmd_inspect(int argc, char **argv)
{
	static struct verdict verdict; /* some kilobytes */
	int result;

	if (argc > 1 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)) {
		fputs(usage, stdout);
		return fflush(stdout) ? 1 : 0;
	}
	if (argc != 2 || argv[1][0] == '-') {
		fputs(usage, stderr);
		return EXIT_OWN;
	}
	if (is_process(argv[1])) {
		result = inspect_process(argv[1], &verdict);
	} else {
		inspect_command(argv[1], &verdict);
		print_verdict(&verdict, argv[1]);
		result = verdict.code ? 1 : 0;
	}
	return fflush(stdout) ? EXIT_OWN : result;
}
