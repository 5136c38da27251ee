/* SPDX-License-Identifier: MIT */
/* A small ELF file made by hand, to be spoilt in one way each. */
#ifndef RETRYBUDGET_TESTS_FORGED_ELF_H
#define RETRYBUDGET_TESTS_FORGED_ELF_H

#include <elf.h>
#include <stddef.h>
#include <string.h>

/* 64 bits: headers, an interpreter and a note. */
struct forged {
	Elf64_Ehdr header;
	Elf64_Phdr segments[2];
	char interp[32];
	struct {
		Elf64_Nhdr header;
		char name[4], text[4];
	} note;
};

static struct forged forged(void)
{
	struct forged file = { .interp = "/lib64/ld-linux-x86-64.so.2",
		               .note = { { 4, 4, 3 }, "GNU", "abc" } };

	memcpy(file.header.e_ident, ELFMAG "\2\1\1", 7);
	file.header.e_machine = EM_X86_64;
	file.header.e_phoff = offsetof(struct forged, segments);
	file.header.e_phentsize = sizeof(Elf64_Phdr);
	file.header.e_phnum = 2;
	file.segments[0] = (Elf64_Phdr) { .p_type = PT_INTERP,
		                          .p_offset = offsetof(struct forged, interp),
		                          .p_filesz = strlen(file.interp) + 1 };
	file.segments[1] = (Elf64_Phdr) { .p_type = PT_NOTE,
		                          .p_offset = offsetof(struct forged, note),
		                          .p_filesz = sizeof(file.note) };
	return file;
}

#endif
