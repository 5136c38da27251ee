/* SPDX-License-Identifier: MIT */
/* What an executable file says about itself, read without trusting a byte of it. */
#ifndef RETRYBUDGET_TOOL_ELF_H
#define RETRYBUDGET_TOOL_ELF_H

#include <stdbool.h>
#include <stdint.h>

/* The C library that a program's loader or a library's dependencies belong to, by their names. */
enum elf_libc {
	ELF_NO_LIBC, /* none, or none that we know */
	ELF_GLIBC,
	ELF_MUSL,
};

struct elf_facts {
	uint8_t class; /* ELFCLASS32 or ELFCLASS64 */
	uint8_t order; /* ELFDATA2LSB or ELFDATA2MSB */
	uint16_t machine;
	enum elf_libc libc;
	bool asan;        /* needs the shared library of GCC's AddressSanitizer */
	bool go;          /* made by the Go linker: makes its own system calls */
	bool php;         /* has the engine of PHP in it */
	char interp[256]; /* the dynamic loader it asks for; "" = static */
};

enum elf_result {
	ELF_READ,
	ELF_NOT,    /* something else than ELF, or empty */
	ELF_BROKEN, /* begins like ELF and contradicts itself, or cannot be read */
};

/* Reads fd from its start, wherever its offset is. The work is bounded whatever the file says. */
enum elf_result elf_read(int fd, struct elf_facts *facts);

#endif
