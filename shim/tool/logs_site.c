/* SPDX-License-Identifier: MIT */
/* The name of the function that a call site lies in, from the symbols of the file, through libelf.
 */
#include "tool/logs_site.h"

#include "tool/program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef WITHOUT_LIBELF

const char *log_site_name(const char *site, const char *directory)
{
	(void)site;
	(void)directory;
	return "";
}

#else

#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#pragma GCC diagnostic ignored "-Wframe-larger-than=" /* the stack is our own here */

#define FRAMES 16

static char function[160];

/* The log says which file: one is read only if it is a plain file that nobody else may have made
 * up. */
static int open_trusted(const char *path)
{
	int fd, shown = open(path, O_PATH | O_CLOEXEC);
	char again[64];
	struct stat status;

	if (shown < 0)
		return -1;
	if (fstat(shown, &status) != 0 || !S_ISREG(status.st_mode) ||
	    (status.st_uid != 0 && status.st_uid != geteuid()) || (status.st_mode & S_IWOTH)) {
		close(shown);
		return -1;
	}
	(void)snprintf(again, sizeof(again), "/proc/self/fd/%d", shown);
	fd = open(again, O_RDONLY | O_CLOEXEC);
	close(shown);
	return fd;
}

static bool find_symbol(Elf *elf, Elf_Scn *section, const GElf_Shdr *header, uint64_t address)
{
	Elf_Data *data = elf_getdata(section, NULL);
	size_t count = data && header->sh_entsize ? header->sh_size / header->sh_entsize : 0;

	for (size_t i = 0; i < count && i < INT_MAX; i++) {
		GElf_Sym symbol;
		const char *name;

		if (!gelf_getsym(data, (int)i, &symbol) ||
		    GELF_ST_TYPE(symbol.st_info) != STT_FUNC || address < symbol.st_value ||
		    address - symbol.st_value >= symbol.st_size)
			continue;
		name = elf_strptr(elf, header->sh_link, symbol.st_name);
		if (!name || *name == '\0')
			continue;
		(void)snprintf(function, sizeof(function), "%s", name);
		for (char *at = function; *at; at++)
			if (*at <= ' ' || *at > '~')
				*at = '?';
		return true;
	}
	return false;
}

static bool look_in(const char *path, uint64_t address)
{
	int fd = open_trusted(path);
	Elf_Scn *section = NULL;
	bool found = false;
	Elf *elf;

	if (fd < 0)
		return false;
	(void)elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	if (elf && elf_kind(elf) == ELF_K_ELF)
		while (!found && (section = elf_nextscn(elf, section))) {
			GElf_Shdr header;

			if (gelf_getshdr(section, &header) &&
			    (header.sh_type == SHT_SYMTAB || header.sh_type == SHT_DYNSYM))
				found = find_symbol(elf, section, &header, address);
		}
	if (elf)
		(void)elf_end(elf);
	close(fd);
	return found;
}

static bool look_for(const char *module, uint64_t address, const char *directory)
{
	static const char *const libraries[] = {
#if defined(__x86_64__)
		"/lib/x86_64-linux-gnu",
#elif defined(__aarch64__)
		"/lib/aarch64-linux-gnu",
#endif
		"/usr/lib64",
		"/usr/lib",
		"/usr/local/lib",
	};
	char path[PATH_MAX];

	if (directory) {
		(void)snprintf(path, sizeof(path), "%s/%s", directory, module);
		if (look_in(path, address))
			return true;
	}
	if (program_find(module, path, sizeof(path)) == 0 && look_in(path, address))
		return true;
	for (size_t i = 0; i < sizeof(libraries) / sizeof(*libraries); i++) {
		(void)snprintf(path, sizeof(path), "%s/%s", libraries[i], module);
		if (look_in(path, address))
			return true;
	}
	return false;
}

/* Says nothing of the program: what it was called by. */
static bool is_start(const char *name)
{
	static const char *const starts[] = {
		"_start",
		"__libc_start_main",
		"__libc_start_main_impl",
		"__libc_start_call_main",
		"clone",
		"__clone",
		"clone3",
		"__clone3",
		"start_thread",
	};

	for (size_t i = 0; i < sizeof(starts) / sizeof(*starts); i++)
		if (strcmp(name, starts[i]) == 0)
			return true;
	return false;
}

const char *log_site_name(const char *site, const char *directory)
{
	for (int i = 0; i < FRAMES && *site; i++) {
		size_t n = strcspn(site, ",");
		char module[128];
		const char *plus;

		(void)snprintf(module, sizeof(module), "%.*s", (int)(n < 127 ? n : 127), site);
		plus = strrchr(module, '+');
		if (plus && plus > module && !strchr(module, '/')) {
			char *end;
			uint64_t address = strtoull(plus + 1, &end, 16);

			module[plus - module] = '\0';
			if (end != plus + 1 && *end == '\0' && module[0] != '.' &&
			    look_for(module, address, directory))
				return is_start(function) ? "" : function;
		}
		site += n + (site[n] == ',');
	}
	return "";
}

#endif
