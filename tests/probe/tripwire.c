/* SPDX-License-Identifier: MIT */
/*
 * A library that ends the process when the shim allocates or prints after its constructor. Named
 * before the shim in LD_PRELOAD it is constructed after it, and is what the shim's calls find.
 * Built without -DTRIPWIRE_LIBRARY this is a program that allocates as the shim must not, to show
 * that the wire is live: it says so when a call from the main program trips it.
 */
#include "probe.h"

#ifndef TRIPWIRE_LIBRARY

#include <dlfcn.h>

/* Uses every slow path: refusals, waits, records, a reload's look at the file, a lookup. */
static void exercise(void)
{
	uint16_t good = start_server(SERVER_ECHO, NULL);
	struct addrinfo hints = { .ai_flags = AI_NUMERICHOST }, *found;
	int held, fd;
	uint16_t bad = refusing_port(&held);

	for (int i = 0; i < 12; i++)
		attempt(bad, NULL);
	fd = connected(good);
	printf("echo: %d\n", echo(fd, "word"));
	close(fd);
	if (getaddrinfo("127.0.0.1", "80", &hints, &found) == 0)
		freeaddrinfo(found);
	printf("attempts: done\n");
}

int main(int argc, char **argv)
{
	void (*watch)(const void *) = NULL;
	void *found = dlsym(RTLD_DEFAULT, "tripwire_watch");

	memcpy(&watch, &found, sizeof(watch));
	printf("wire: %s\n", watch != NULL ? "there" : "missing");
	fflush(stdout);
	if (argc > 1 && strcmp(argv[1], "trip") == 0 && watch != NULL) {
		void *volatile memory;

		watch((const void *)main);
		memory = malloc(1);
		free(memory);
		printf("not tripped\n");
		return 0;
	}
	exercise();
	return 0;
}

#else

#include <dlfcn.h>
#include <link.h>

void tripwire_watch(const void *inside);

static const void *volatile watched;
static uintptr_t low, high;

/* The executable segment that the address is in. */
static int find_segment(struct dl_phdr_info *info, size_t size, void *arg)
{
	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		uintptr_t start = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
		uintptr_t end = start + info->dlpi_phdr[i].p_memsz;

		if (info->dlpi_phdr[i].p_type == PT_LOAD && info->dlpi_phdr[i].p_flags & PF_X &&
		    (uintptr_t)arg >= start && (uintptr_t)arg < end) {
			low = start;
			high = end;
			return 1;
		}
	}
	return 0;
}

void tripwire_watch(const void *inside)
{
	dl_iterate_phdr(find_segment, (void *)inside);
	watched = inside;
}

static void check(const void *caller, const char *name)
{
	static const char before[] = "tripwire: ", after[] = " was called\n";

	if (watched == NULL || (uintptr_t)caller < low || (uintptr_t)caller >= high)
		return;
	syscall(SYS_write, 1, before, sizeof(before) - 1);
	syscall(SYS_write, 1, name, strlen(name));
	syscall(SYS_write, 1, after, sizeof(after) - 1);
	_exit(99);
}

/* Our constructor runs after the shim's: from now on it may not allocate. `connect` is the hook,
 * found as the next one after us, and lies in the shim. */
__attribute__((constructor)) static void arm(void)
{
	Dl_info info;
	void *hook = dlsym(RTLD_NEXT, "retrybudget_abi");

	if (hook != NULL && dladdr(hook, &info) != 0)
		tripwire_watch(dlsym(RTLD_NEXT, "connect"));
}

#define CHECK(name) check(__builtin_return_address(0), #name)

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *memory, size_t size);
void __libc_free(void *memory);

void *malloc(size_t size)
{
	CHECK(malloc);
	return __libc_malloc(size);
}

void *calloc(size_t n, size_t size)
{
	CHECK(calloc);
	return __libc_calloc(n, size);
}

void *realloc(void *memory, size_t size)
{
	CHECK(realloc);
	return __libc_realloc(memory, size);
}

void free(void *memory)
{
	CHECK(free);
	__libc_free(memory);
}

#endif
