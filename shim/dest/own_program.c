/* SPDX-License-Identifier: MIT */
/* What this process runs: of an interpreter the script, found past its options. */
#include "dest/own_program.h"

#include "dest/own_unit.h"
#include "sys/hash.h"
#include "sys/real.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

/* What interprets a script is not the program. Its options come before that; those that are not
 * named here take no argument, or have it after a '='. */
struct interpreter {
	const char *name;
	const char *whole; /* letters: the rest of the word is theirs */
	const char *takes; /* letters: the rest of the word is theirs, or else the next word */
	const char *runs;  /* letters: what they take is the script */
	/* The same of options that are words, after the first '-', each between blanks. */
	const char *words_take, *words_run;
	bool words_only; /* -cp is one option */
};

#define SHELL "", "oO", "", " -rcfile -init-file ", "", false

static const struct interpreter interpreters[] = {
	{ "python", "", "WX", "cm", " -check-hash-based-pycs ", "", false },
	{ "perl", "0CDFMVdilmx", "I", "eE", "", "", false },
	{ "ruby", "0FKTWix", "CEIr", "e", " -encoding ", "", false },
	{ "php", "", "Scdtz", "BEFRfr", " -define -php-ini -server -docroot ", " -file -run ",
	  false },
	{ "node", "", "Cr", "e", " -require -import -loader -conditions -env-file ",
	  " -eval -print ", false },
	{ "nodejs", "", "Cr", "e", " -require -import -loader -conditions -env-file ",
	  " -eval -print ", false },
	{ "java", "", "", "",
	  " cp classpath -class-path p -module-path -upgrade-module-path -add-modules -add-reads"
	  " -add-exports -add-opens -limit-modules -patch-module ",
	  " jar m -module ", true },
	{ "lua", "", "el", "", "", "", false },
	{ "tclsh", "", "", "", " encoding ", "", true },
	/* Their -c takes nothing: what it runs is the first word that is no option. */
	{ "bash", SHELL },
	{ "dash", SHELL },
	{ "ash", SHELL },
	{ "ksh", SHELL },
	{ "zsh", SHELL },
	{ "sh", SHELL },
};

static const char *base_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* python3.11 and php-cgi too, and not shred. */
static const struct interpreter *interpreter_of(const char *base)
{
	for (size_t i = 0; i < sizeof(interpreters) / sizeof(*interpreters); i++) {
		size_t length = strlen(interpreters[i].name);

		if (strncmp(base, interpreters[i].name, length) == 0 &&
		    (base[length] == '\0' || strchr("0123456789.-", base[length])))
			return &interpreters[i];
	}
	return NULL;
}

static bool has_word(const char *words, const char *word)
{
	size_t length = strlen(word);

	for (const char *at = words; length > 0 && (at = strstr(at, word)); at++)
		if (at > words && at[-1] == ' ' && at[length] == ' ')
			return true;
	return false;
}

/* The next of them, which ends within n bytes in all; NULL. */
static const char *next_word(const char *word, const char *end)
{
	const char *next = word + strlen(word) + 1;

	return next < end && memchr(next, '\0', (size_t)(end - next)) ? next : NULL;
}

enum option { OPTION_ALONE, OPTION_TAKES, OPTION_RUNS };

/* What an option wants of the next word. script: what it runs, where that is in its own word. */
static enum option option_of(const struct interpreter *interpreter, const char *option,
                             const char **script)
{
	if (has_word(interpreter->words_run, option + 1))
		return OPTION_RUNS;
	if (has_word(interpreter->words_take, option + 1))
		return OPTION_TAKES;
	if (interpreter->words_only || option[1] == '-')
		return OPTION_ALONE;
	for (const char *letter = option + 1; *letter; letter++) {
		if (strchr(interpreter->runs, *letter)) {
			*script = letter[1] ? letter + 1 : NULL;
			return OPTION_RUNS;
		}
		if (strchr(interpreter->takes, *letter))
			return letter[1] ? OPTION_ALONE : OPTION_TAKES;
		if (strchr(interpreter->whole, *letter))
			return OPTION_ALONE;
	}
	return OPTION_ALONE;
}

static const char *script_of(const struct interpreter *interpreter, const char *word,
                             const char *end)
{
	const char *script = NULL;

	while ((word = next_word(word, end))) {
		enum option option;

		if ((*word != '-' && *word != '+') || word[1] == '\0')
			return word;
		if (strcmp(word, "--") == 0)
			return next_word(word, end);
		option = option_of(interpreter, word, &script);
		if (option == OPTION_RUNS)
			return script ? script : next_word(word, end);
		if (option == OPTION_TAKES && !(word = next_word(word, end)))
			return NULL;
	}
	return NULL;
}

const char *own_program_script(const char *file, const char *args, size_t n)
{
	const char *base = base_of(file), *end = args + n, *script = NULL;
	const struct interpreter *interpreter;

	if (!memchr(args, '\0', n))
		return NULL;
	if (strcmp(base, "busybox") == 0 || strcmp(base, "toybox") == 0) {
		script = strcmp(base_of(args), base) == 0 ? next_word(args, end) : args;
		if (!script)
			return NULL;
		args = script;
		base = base_of(args);
	}
	interpreter = interpreter_of(base);
	if (interpreter) {
		const char *runs = script_of(interpreter, args, end);

		return runs ? runs : script;
	}
	return script;
}

/* A class path is long, and so are the cgroups of a container; and the stack may be small. */
static char room[4096];

/* Bytes of a file of /proc, 0 where it cannot be had. */
static size_t read_file(const char *path, char *out, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return 0;
	n = real.read(fd, out, size - 1);
	real.close(fd);
	if (n < 0)
		n = 0;
	out[n] = '\0';
	return (size_t)n;
}

uint64_t own_program_hash(void)
{
	char path[256] = "";
	ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 1);
	uint64_t hash = HASH_START;
	const char *script;

	if (length <= 0)
		strncpy(path, program_invocation_name, sizeof(path) - 1);
	hash = hash_bytes(hash, path, strlen(path));
	script =
	    own_program_script(path, room, read_file("/proc/self/cmdline", room, sizeof(room)));
	if (script)
		hash = hash_bytes(hash, script, strlen(script));
	return hash ? hash : 1;
}

/* All arguments, however long: the last one may be what tells two apart. */
uint64_t own_command_hash(uint64_t program)
{
	char part[256];
	int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
	uint64_t hash = program;
	ssize_t n;

	if (fd < 0)
		return hash;
	while ((n = real.read(fd, part, sizeof(part))) > 0)
		hash = hash_bytes(hash, part, (size_t)n);
	real.close(fd);
	return hash;
}

uint64_t own_unit_hash(void)
{
	const char *unit;

	if (read_file("/proc/self/cgroup", room, sizeof(room)) == 0)
		return 0;
	unit = own_unit(room);
	return unit ? hash_bytes(HASH_START, unit, strlen(unit)) : 0;
}
