/* SPDX-License-Identifier: MIT */
/* The library as the loader sees it: what it exports, needs, and asks of the kernel. */
#include "run.h"

#include <criterion/criterion.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

TestSuite(symbols, .fini = discard_scratch);

/* The newest glibc symbol version that may be needed, whatever glibc we are built on
 * (shim/sys/versions.h). */
#define NEWEST_GLIBC 17

static const char *tool(const char *command)
{
	char line[2 * PATH_MAX];

	snprintf(line, sizeof(line), command, built("libretrybudget.so"));
	return output_of(line);
}

/* Runs a command with two words in it: something of the test's, and a file of the hooks' names. */
static const char *output_of_list(const char *format, const char *word)
{
	char line[3 * PATH_MAX], names[PATH_MAX];

	snprintf(names, sizeof(names), "%s/names", scratch());
	snprintf(line, sizeof(line), "scripts/hooks names shim/sys/hooks.def > %s", names);
	output_of(line);
	snprintf(line, sizeof(line), format, word, names);
	return output_of(line);
}

/* The hooks of sys/hooks.def and the marker, nothing else. */
Test(symbols, exported_are_the_hooks)
{
	char exported[65536];
	const char *wanted;

	snprintf(
	    exported, sizeof(exported), "%s",
	    tool("nm -D --defined-only %s | awk '{print $3}' | sed 's/@.*//' | LC_ALL=C sort"));
	wanted = output_of(
	    "(scripts/hooks names shim/sys/hooks.def; echo retrybudget_abi) | LC_ALL=C sort");
	cr_expect_str_eq(exported, wanted);
}

/* What runs at start-up comes first in its code, down to what of libc is linked into it, within the
 * 64 KiB that one touched page brings: a program without a network has no more of it in memory. */
Test(symbols, code_of_start_up_comes_into_memory_at_one_touch)
{
	const char *beyond;

	if (!*tool("readelf -h %s | sed -n '/X86-64/p'"))
		cr_skip_test("the code of other machines is laid out otherwise");
	beyond = tool("nm -n %s | awk '$3 ~ /^(config_start|real_resolve|pthread_atfork)$/ "
	              "{print substr($1, 1, length($1) - 4)}' | uniq | sed 1d");
	cr_expect_str_eq(beyond, "", "reaches into another 64 KiB: %s", beyond);
}

static void path_of_libc(char path[PATH_MAX])
{
	snprintf(path, PATH_MAX, "%s",
	         tool("ldd %s | sed -n 's/.*libc\\.so.* => \\([^ ]*\\).*/\\1/p'"));
	path[strcspn(path, "\n")] = '\0';
}

/* A libc has some calls under several public names: a program may use any of them. */
Test(symbols, no_other_name_of_a_hook_is_left_out)
{
	char libc[PATH_MAX];
	const char *left;

	path_of_libc(libc);
	left = output_of_list(
	    "nm -D --defined-only %s | awk '$2 ~ /[TWi]/ && $3 ~ /@@/ && $3 !~ /PRIVATE/ "
	    "{sub(/@@.*/, \"\", $3); print $1, $3}' | awk 'NR == FNR {hook[$1] = 1; next} "
	    "$2 in hook {at[$1] = 1} {name[FNR] = $2; where[FNR] = $1} END {for (i in name) "
	    "if (where[i] in at && !(name[i] in hook)) print name[i]}' %s -",
	    libc);
	cr_expect_str_eq(left, "", "not hooked: %s", left);
}

/* And some a second time, for programs with a 64-bit time_t, where that is not libc's own. */
Test(symbols, no_name_with_64_bit_times_is_left_out)
{
	char libc[PATH_MAX];
	const char *left;

	path_of_libc(libc);
	left = output_of_list(
	    "nm -D --defined-only %s | sed -n 's/.* \\(__.*64\\)@@GLIBC_2.*/\\1/p' | "
	    "awk 'NR == FNR {hook[$1] = 1; next} {plain = substr($1, 3); "
	    "sub(/(_time)?64$/, \"\", plain)} plain in hook && !($1 in hook)' %s -",
	    libc);
	cr_expect_str_eq(left, "", "not hooked: %s", left);
}

/* Our own files make every hooked call through the table, or they would come to our own hook. */
Test(symbols, our_own_files_call_no_hook)
{
	const char *called = output_of_list("cd %s/obj/shim && nm -u ad*/*.o [b-gi-s]*/*.o "
	                                    "hook/*.o | awk 'NF == 2 {print $2}' | sort -u | "
	                                    "awk 'NR == FNR {hook[$1] = 1; next} $1 in hook' %s -",
	                                    build_directory());

	cr_expect_str_eq(called, "", "called: %s", called);
}

Test(symbols, needed_is_libc_alone)
{
	const char *needed = tool("readelf -dW %s | sed -n 's/.*(NEEDED).*\\[\\(.*\\)\\]/\\1/p' | "
	                          "grep -v '^ld-linux' | sort");

	cr_expect_str_eq(needed, "libc.so.6\n");
}

Test(symbols, no_text_relocation_and_bound_at_once)
{
	char dynamic[65536];

	snprintf(dynamic, sizeof(dynamic), "%s", tool("readelf -dW %s"));
	cr_expect(strstr(dynamic, "TEXTREL") == NULL, "%s", dynamic);
	cr_expect(strstr(dynamic, "BIND_NOW") != NULL || strstr(dynamic, "Flags: NOW") != NULL,
	          "%s", dynamic);
	cr_expect(strstr(dynamic, "RPATH") == NULL && strstr(dynamic, "RUNPATH") == NULL, "%s",
	          dynamic);
	cr_expect(strstr(dynamic, "(FINI") == NULL || strstr(dynamic, "FINI_ARRAYSZ") == NULL ||
	              strstr(tool("nm %s"), "__do_global_dtors_aux") != NULL,
	          "a destructor of our own: %s", dynamic);
}

Test(symbols, stack_is_not_executable)
{
	const char *flags = tool("readelf -lW %s | awk '$1 == \"GNU_STACK\" {print $7}'");

	cr_expect_str_eq(flags, "RW\n");
}

/* Calls that allocate, print, log, end the process, take a global lock, or start something. */
static const char *const forbidden[] = {
	"__tls_get_addr", "malloc",
	"calloc",         "realloc",
	"free",           "reallocarray",
	"strdup",         "syslog",
	"vsyslog",        "openlog",
	"exit",           "_exit",
	"_Exit",          "abort",
	"atexit",         "printf",
	"fprintf",        "sprintf",
	"snprintf",       "vfprintf",
	"vsnprintf",      "dprintf",
	"puts",           "fputs",
	"fwrite",         "fopen",
	"fopen64",        "fgets",
	"perror",         "stdout",
	"stderr",         "strerror",
	"setlocale",      "strtod",
	"localtime",      "localtime_r",
	"strftime",       "rand",
	"srand",          "random",
	"srandom",        "signal",
	"setitimer",      "alarm",
	"pthread_create", "pthread_mutex_lock",
	"setenv",         "putenv",
	"unsetenv",       "fork",
	"vfork",          "nanosleep",
	"usleep",         "sleep",
	"__assert_fail",
};

/* inih's one object file refers to these; with its default, a buffer on the stack, it calls none
 * (the tripwire test shows it). */
static const char *const of_inih[] = { "malloc", "realloc", "free", "fgets", "fopen64" };

static bool is_inihs(const char *name)
{
	for (size_t i = 0; i < sizeof(of_inih) / sizeof(*of_inih); i++)
		if (strcmp(of_inih[i], name) == 0)
			return true;
	return false;
}

static void expect_none_of(const char *undefined, const char *where, bool with_inih)
{
	for (size_t i = 0; i < sizeof(forbidden) / sizeof(*forbidden); i++) {
		char line[128];

		snprintf(line, sizeof(line), "\n%s\n", forbidden[i]);
		cr_expect(strstr(undefined, line) == NULL || (with_inih && is_inihs(forbidden[i])),
		          "%s needs %s", where, forbidden[i]);
		snprintf(line, sizeof(line), "\n__%s_chk\n", forbidden[i]);
		cr_expect(strstr(undefined, line) == NULL, "%s needs __%s_chk", where,
		          forbidden[i]);
	}
}

Test(symbols, undefined_are_harmless)
{
	char undefined[65536] = "\n";

	snprintf(undefined + 1, sizeof(undefined) - 1, "%s",
	         tool("nm -D --undefined-only %s | awk '{print $NF}' | sed 's/@.*//' | sort -u"));
	expect_none_of(undefined, "the library", true);
}

/* Our own files, one by one, have no such excuse. */
Test(symbols, undefined_in_our_own_files_are_harmless)
{
	static const char *const rooms[] = { "hook",   "admission", "pace",   "conn",   "dest",
		                             "report", "region",    "config", "budget", "sys" };
	char undefined[65536] = "\n", command[2 * PATH_MAX];

	for (size_t i = 0; i < sizeof(rooms) / sizeof(*rooms); i++) {
		snprintf(command, sizeof(command),
		         "nm -u %s/obj/shim/%s/*.o | awk 'NF == 2 {print $2}' | sort -u",
		         build_directory(), rooms[i]);
		snprintf(undefined + 1, sizeof(undefined) - 1, "%s", output_of(command));
		cr_expect(undefined[1] != '\0' || strcmp(rooms[i], "budget") == 0, "%s: no symbols",
		          rooms[i]);
		expect_none_of(undefined, rooms[i], false);
	}
}

Test(symbols, glibc_is_old_enough)
{
	const char *versions = tool("objdump -T %s | grep -o 'GLIBC_[0-9.]*' | sort -uV");
	int newest = 0;

	for (const char *at = versions; (at = strstr(at, "GLIBC_2.")) != NULL; at += 8)
		if (atoi(at + 8) > newest)
			newest = atoi(at + 8);
	printf("newest glibc symbol version needed: 2.%d\n", newest);
	cr_expect(newest > 0 && newest <= NEWEST_GLIBC, "needs GLIBC_2.%d", newest);
}

Test(symbols, thread_local_memory_is_small_and_static)
{
	const char *size = tool("readelf -lW %s | awk '$1 == \"TLS\" {print $6}'");
	char flags[65536];

	/* Of the 512 bytes that glibc keeps for all libraries that a running program loads, where
	 * ours may come by dlopen too; 64 of them are what a thread remembers of its tries, 24
	 * what it had done by its last refusal, 8 where its errno is, and 8 what else it failed at.
	 */
	cr_expect(strtol(size, NULL, 16) <= 192, "thread-local memory: %s", size);
	snprintf(flags, sizeof(flags), "%s", tool("readelf -dW %s"));
	cr_expect(*size == '\0' || strstr(flags, "STATIC_TLS") != NULL, "%s", flags);
}

/* A list with one more row, of a call that no libc has: whether the table counts as whole, and
 * whether a message of dlsym's is left for the program. */
static const char *resolved_with(const char *row)
{
	char command[6 * PATH_MAX];

	snprintf(
	    command, sizeof(command),
	    "cd shim && d=%s && mkdir -p $d/sys && "
	    "{ sed '/^#undef HOOK/,$d' sys/hooks.def; echo '%s'; "
	    "sed -n '/^#undef HOOK/,$p' sys/hooks.def; } > $d/sys/hooks.def && "
	    "printf '#include \"sys/real.h\"\\nint main(void) { bool all = real_resolve(); "
	    "printf(\"%%%%d %%%%d\\\\n\", all, dlerror() == 0); return 0; }\\n' > $d/whole.c && "
	    "${CC:-cc} -std=c11 -D_GNU_SOURCE -I$d -I. -o $d/whole $d/whole.c sys/real.c && "
	    "$d/whole",
	    scratch(), row);
	return output_of(command);
}

#define NO_SUCH_CALL(kind) kind "(int, no_such_call, (int fd), (fd), RAW_NONE(-1), \"nothing\")"

Test(symbols, an_optional_call_may_be_missing)
{
	cr_expect_str_eq(resolved_with(""), "1 1\n");
	cr_expect_str_eq(resolved_with(NO_SUCH_CALL("OPTIONAL")), "1 1\n");
	cr_expect_str_eq(resolved_with(NO_SUCH_CALL("VARIADIC")), "1 1\n");
	cr_expect_str_eq(resolved_with(NO_SUCH_CALL("HOOK")), "0 1\n");
}

/* Rows that stand under a condition are in the list where it holds, and nowhere else. */
Test(symbols, conditions_in_the_list_hold)
{
	char command[2 * PATH_MAX];

	snprintf(command, sizeof(command),
	         "d=%s && mkdir -p $d/sys && cp shim/sys/*.h $d/sys && "
	         "{ echo '#if 1'; echo '%s'; echo '#else'; echo '%s'; echo '#endif'; echo '#undef "
	         "HOOK'; } "
	         "> $d/sys/hooks.def && scripts/hooks man $d/sys/hooks.def | tail -n +3",
	         scratch(),
	         "HOOK(int, one, (int fd,\n int n), (fd, n), RAW(x, fd), \"first, \"\n\"second\")",
	         NO_SUCH_CALL("HOOK"));
	cr_expect_str_eq(output_of(command), "\\fBone\\fR\tT{\nfirst, second\nT}\n.TE\n");
}
