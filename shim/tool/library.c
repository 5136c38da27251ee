/* SPDX-License-Identifier: MIT */
/* Where the library is that fits a program. */
#include "tool/library.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The stack is our own here, unlike in the shim. */
#pragma GCC diagnostic ignored "-Wframe-larger-than="

bool library_same_machine(const struct elf_facts *a, const struct elf_facts *b)
{
	return a->class == b->class && a->order == b->order && a->machine == b->machine;
}

bool library_fits(const struct elf_facts *library, const struct elf_facts *program)
{
	return library_same_machine(library, program) && library->libc == program->libc;
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
	if (library_fits(these, wanted))
		return true;
	return library_same_machine(wanted, these) && !library_same_machine(wanted, found);
}

bool library_find(const struct elf_facts *wanted, char *out, struct elf_facts *facts)
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
			(void)snprintf(path, sizeof(path), "%s%s/" LIBRARY_NAME, own, beside[i]);
#ifdef LIBDIR
		else
			(void)snprintf(path, sizeof(path), "%s/" LIBRARY_NAME, LIBDIR);
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
		if (!wanted || library_fits(&these, wanted))
			return true;
	}
	return found;
}

bool library_in_preload(const char *list, const char *library)
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
			if (strcmp(base ? base + 1 : entry, LIBRARY_NAME) == 0 &&
			    (!base || strchr(entry, '$') || access(entry, R_OK) == 0))
				return true;
		}
		list += n;
		list += strspn(list, ": ");
	}
	return false;
}
