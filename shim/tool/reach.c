/* SPDX-License-Identifier: MIT */
/*
 * A preload that is not loaded says nothing: the program simply runs without. So everything that is
 * known to keep the shim out is looked for before the start (HAZARDS 55, 62, 73).
 */
#include "tool/reach.h"

#include "tool/library.h"
#include "tool/program.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

/* The stack is our own here, unlike in the shim. */
#pragma GCC diagnostic ignored "-Wframe-larger-than="

#define SCRIPTS_MAX 5 /* the kernel's limit of scripts run by scripts */

static __attribute__((format(printf, 3, 4))) void say(struct reach *verdict, int code,
                                                      const char *format, ...)
{
	va_list args;

	verdict->code = code;
	va_start(args, format);
	(void)vsnprintf(verdict->message, sizeof(verdict->message), format, args);
	va_end(args);
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

static int bits(const struct elf_facts *facts)
{
	return facts->class == ELFCLASS64 ? 64 : 32;
}

static void judge_elf(const char *path, const struct elf_facts *facts, struct reach *verdict)
{
	struct elf_facts library;

	verdict->asan = facts->asan;
	verdict->php = facts->php;
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
	else if (!library_find(facts, verdict->library, &library))
		return; /* whose fault that is is told at the end */
	else if (facts->class != library.class)
		say(verdict, EXIT_UNFIT,
		    "%s is a %d-bit program and %s is a %d-bit library; install the %d-bit build "
		    "of "
		    "it as well",
		    path, bits(facts), verdict->library, bits(&library), bits(facts));
	else if (!library_same_machine(facts, &library))
		say(verdict, EXIT_UNFIT,
		    "%s is made for another processor than %s; install the build for that "
		    "processor",
		    path, verdict->library);
	else if (!library_fits(&library, facts))
		say(verdict, EXIT_UNFIT,
		    "%s is made for another C library (its loader is %s) than %s, which cannot be "
		    "loaded there; install the build for %s as well",
		    path, facts->interp, verdict->library,
		    facts->libc == ELF_MUSL ? "musl" : "glibc");
}

/* Judges one file. interpreter: filled if it is a script that names one. */
static bool judge_file(const char *path, struct reach *verdict, char *interpreter,
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
		script = program_script(fd, interpreter, through_env, PATH_MAX);
		break;
	case ELF_BROKEN:
		break;
	}
	close(fd);
	return script;
}

void reach_command(const char *command, struct reach *verdict)
{
	char path[PATH_MAX], interpreter[PATH_MAX], through_env[PATH_MAX];
	struct elf_facts library;
	int error = program_find(command, path, sizeof(path));

	memset(verdict, 0, sizeof(*verdict));
	if (error) {
		say(verdict, error == EACCES ? EXIT_UNFIT : EXIT_NOT_FOUND, "%s: %s", command,
		    strerror(error));
		return;
	}
	for (int i = 0; i < SCRIPTS_MAX && judge_file(path, verdict, interpreter, through_env);
	     i++) {
		if (*through_env && program_is(interpreter)) {
			char ignored[PATH_MAX], none[PATH_MAX];

			(void)judge_file(interpreter, verdict, ignored, none);
			if (verdict->code || program_find(through_env, path, sizeof(path)) != 0)
				break;
			continue;
		}
		memcpy(path, interpreter, sizeof(path));
	}
	if (!verdict->code && !*verdict->library && !library_find(NULL, verdict->library, &library))
		say(verdict, EXIT_OWN,
		    LIBRARY_NAME " is neither beside this command nor installed; run `make` or "
		                 "`make install`");
}
