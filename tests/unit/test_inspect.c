/* SPDX-License-Identifier: MIT */
/* Which programs the shim reaches: the verdicts of `retrybudget run` and `inspect`. */
#define elf_read inspect_elf_read /* test_elf.c has the other copy */
#include "tool/elf.c"
#include "tool/inspect.c"
#include "tool/library.c"
#include "tool/program.c"
#include "tool/reach.c"

void inspect_settings(pid_t pid) /* needs regions */
{
	(void)pid;
}

struct running inspect_running(const char *command)
{
	(void)command;
	return (struct running) { 0 };
}

int inspect_all(void)
{
	return 0;
}

#include "forged_elf.h"

#include <criterion/criterion.h>
#include <sys/mman.h>

static char directory[64];
static struct reach verdict;

static void enter_directory(void)
{
	strcpy(directory, "/tmp/retrybudget-test-XXXXXX");
	cr_assert_not_null(mkdtemp(directory));
	cr_assert_eq(chdir(directory), 0);
}

static void leave_directory(void)
{
	char command[96];

	snprintf(command, sizeof(command), "rm -rf %s", directory);
	cr_assert_eq(system(command), 0);
}

static void put_file(const char *name, const void *bytes, size_t n, mode_t mode)
{
	int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	cr_assert(fd >= 0);
	cr_assert_eq(write(fd, bytes, n), (ssize_t)n);
	cr_assert_eq(fchmod(fd, mode), 0);
	close(fd);
}

static void put_script(const char *name, const char *text)
{
	put_file(name, text, strlen(text), 0755);
}

/* Whether the message holds a text; "" expects nothing to be wrong with the program itself (there
 * may be no library beside the units). */
static void expect(const char *command, int code, const char *text)
{
	reach_command(command, &verdict);
	if (!code && verdict.code == EXIT_OWN)
		return;
	cr_assert_eq(verdict.code, code, "%s: %d %s", command, verdict.code, verdict.message);
	cr_assert(strstr(verdict.message, text) != NULL, "%s: %s", command, verdict.message);
}

Test(inspect, commands_as_execvp_finds_them)
{
	enter_directory();
	expect("/bin/true", 0, "");
	expect("true", 0, "");
	expect("no-such-command", EXIT_NOT_FOUND, "No such file");
	expect("/no/such/command", EXIT_NOT_FOUND, "No such file");
	expect("", EXIT_NOT_FOUND, "");
	expect("/etc/passwd", EXIT_UNFIT, "Permission denied");
	expect("/tmp", EXIT_UNFIT, "Permission denied");
	put_script("here", "#!/bin/sh\n");
	setenv("PATH", "/nonexistent::/bin", 1);
	expect("here", 0, "");
	setenv("PATH", "/nonexistent", 1);
	expect("here", EXIT_NOT_FOUND, "");
	setenv("PATH", "/usr/bin:/bin", 1);
	leave_directory();
}

Test(inspect, programs_out_of_reach)
{
	struct forged file = forged();

	enter_directory();
	memcpy(file.note.name, "Go\0", 4);
	put_file("go", &file, sizeof(file), 0755);
	expect("./go", EXIT_UNFIT, "Go program");

	file = forged();
	file.segments[0].p_type = PT_LOAD;
	put_file("static", &file, sizeof(file), 0755);
	expect("./static", EXIT_UNFIT, "statically linked");

	file = forged();
	strcpy(file.interp, "/system/bin/linker64");
	file.segments[0].p_filesz = strlen(file.interp) + 1;
	put_file("bionic", &file, sizeof(file), 0755);
	expect("./bionic", EXIT_UNFIT, "another C library (its loader is /system/bin/linker64)");

	file = forged();
	put_file("suid", &file, sizeof(file), 04755);
	expect("./suid", EXIT_UNFIT, "set-uid");
	put_file("sgid", &file, sizeof(file), 02755);
	expect("./sgid", EXIT_UNFIT, "set-gid");
	leave_directory();
}

Test(inspect, another_class_or_processor)
{
	struct elf_facts program = { .class = ELFCLASS32,
		                     .order = ELFDATA2LSB,
		                     .machine = EM_386,
		                     .libc = ELF_GLIBC,
		                     .interp = "/lib/ld-linux.so.2" };
	struct elf_facts library;

	memset(&verdict, 0, sizeof(verdict));
	if (!library_find(NULL, verdict.library, &library))
		cr_skip_test("no library beside the units");
	judge_elf("program", &program, &verdict);
	if (verdict.code) /* there may be a 32-bit build as well */
		cr_assert(strstr(verdict.message, "32-bit program"), "%s", verdict.message);
	program.class = library.class;
	program.order = library.order;
	program.machine = EM_NONE;
	judge_elf("program", &program, &verdict);
	cr_assert(strstr(verdict.message, "another processor"), "%s", verdict.message);
	cr_assert_eq(verdict.code, EXIT_UNFIT);
}

Test(inspect, scripts_lead_to_their_interpreter)
{
	struct forged file = forged();

	enter_directory();
	file.segments[0].p_type = PT_LOAD;
	put_file("static", &file, sizeof(file), 0755);
	put_script("direct", "#!./static\n");
	expect("./direct", EXIT_UNFIT, "./static is statically linked");
	put_script("spaced", "#! \t./static  -x  \r\n");
	expect("./spaced", EXIT_UNFIT, "./static is statically linked");
	put_script("by-env", "#!/usr/bin/env ./static\n");
	expect("./by-env", EXIT_UNFIT, "./static is statically linked");
	put_script("by-env-split", "#!/usr/bin/env -S A=b ./static --flag\n");
	expect("./by-env-split", EXIT_UNFIT, "./static is statically linked");
	put_script("twice", "#!./direct\n");
	expect("./twice", EXIT_UNFIT, "./static is statically linked");
	put_script("loop", "#!./loop\n");
	expect("./loop", 0, "");
	put_script("missing", "#!/no/such/interpreter\n");
	expect("./missing", 0, ""); /* exec will say it */
	put_script("empty", "#!");
	expect("./empty", 0, "");
	put_script("blank", "#!   \n");
	expect("./blank", 0, "");
	put_script("lone-env", "#!/usr/bin/env\n");
	expect("./lone-env", 0, "");
	put_script("plain", "echo\n");
	expect("./plain", 0, "");
	put_file("s-script", "#!/bin/sh\n", 10, 06755);
	expect("./s-script", 0, "");
	leave_directory();
}

Test(inspect, preload_lists)
{
	cr_assert(!library_in_preload("", "/l/libretrybudget.so"));
	cr_assert(library_in_preload("/l/libretrybudget.so", "/l/libretrybudget.so"));
	cr_assert(library_in_preload("/a.so:/l/libretrybudget.so /b.so", "/l/libretrybudget.so"));
	cr_assert(!library_in_preload("/l/libretrybudget.so.old", "/l/libretrybudget.so"));
	cr_assert(!library_in_preload("/no/libretrybudget.so", "/l/libretrybudget.so"),
	          "it is not there");
	cr_assert(library_in_preload("/usr/$LIB/libretrybudget.so", "/l/libretrybudget.so"));
	cr_assert(library_in_preload(":: libretrybudget.so", "/l/libretrybudget.so"));
}

/* Runs the command and returns its exit code; what it printed is in said. */
static char said[2 * sizeof(struct reach)];

static int ask(int argc, const char *argument)
{
	char *argv[] = { (char *)"inspect", (char *)argument, NULL };
	int kept = dup(STDOUT_FILENO), fd = open("said", O_RDWR | O_CREAT | O_TRUNC, 0600), result;
	ssize_t n;

	cr_assert(kept >= 0 && fd >= 0);
	fflush(stdout);
	dup2(fd, STDOUT_FILENO);
	result = cmd_inspect(argc, argv);
	fflush(stdout);
	dup2(kept, STDOUT_FILENO);
	close(kept);
	n = pread(fd, said, sizeof(said) - 1, 0);
	cr_assert(n >= 0);
	said[n] = '\0';
	close(fd);
	return result;
}

Test(inspect, help)
{
	enter_directory();
	cr_assert_eq(ask(2, "--help"), 0);
	cr_assert(strstr(said, "usage: retrybudget inspect CMD"), "%s", said);
	cr_assert_eq(ask(2, "-h"), 0);
	cr_assert(strstr(said, "inspect PID"), "%s", said);
	cr_assert_eq(ask(2, "-x"), EXIT_OWN);
	cr_assert_str_eq(said, "");
	cr_assert_eq(ask(1, NULL), EXIT_OWN);
	leave_directory();
}

/* Maps a file of one page by that name, as the loader maps code. */
static void map_file(const char *name, int protection)
{
	static const char page[4096];
	int fd;

	put_file(name, page, sizeof(page), 0755);
	fd = open(name, O_RDONLY);
	cr_assert(fd >= 0);
	cr_assert(mmap(NULL, sizeof(page), protection, MAP_PRIVATE, fd, 0) != MAP_FAILED, "%s",
	          strerror(errno));
	close(fd);
}

static void expect_process(const char *pid, bool loaded)
{
	char expected[64];

	snprintf(expected, sizeof(expected), "the shim is %s in process %s\n",
	         loaded ? "loaded" : "not loaded", pid);
	cr_assert_eq(ask(2, pid), loaded ? 0 : 1, "%s", said);
	cr_assert(strstr(said, expected), "%s", said);
}

Test(inspect, running_processes)
{
	char pid[16];

	enter_directory();
	snprintf(pid, sizeof(pid), "%d", (int)getpid());
	expect_process(pid, false);
	map_file("libretrybudget.so.old", PROT_READ | PROT_EXEC);
	expect_process(pid, false);
	map_file("libretrybudget.so", PROT_READ);
	expect_process(pid, false); /* somebody only reads it */
	map_file("libretrybudget.so", PROT_READ | PROT_EXEC);
	expect_process(pid, true);
	cr_assert_eq(unlink("libretrybudget.so"), 0);
	expect_process(pid, true);
	cr_assert_eq(ask(2, "4294967295"), 1, "no such process");
	cr_assert(strstr(said, "no: 4294967295: No such file"), "%s", said);
	/* A command comes first, whatever its name. */
	put_script(pid, "#!/bin/sh\n");
	setenv("PATH", ".", 1);
	(void)ask(2, pid);
	cr_assert(!strstr(said, "process"), "%s", said);
	setenv("PATH", "/usr/bin:/bin", 1);
	leave_directory();
}
