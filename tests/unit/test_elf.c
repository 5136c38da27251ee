/* SPDX-License-Identifier: MIT */
/* Reading executables, real and forged. The command's files are not part of the units' link, so
 * this one is included. */
#include "tool/elf.c"

#include "forged_elf.h"

#include <criterion/criterion.h>
#include <endian.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>

/* A file that exists only in memory. */
static int file_of(const void *bytes, size_t n)
{
	int fd = memfd_create("elf", MFD_CLOEXEC);

	cr_assert_eq(write(fd, bytes, n), (ssize_t)n);
	return fd;
}

static enum elf_result read_bytes(const void *bytes, size_t n, struct elf_facts *facts)
{
	int fd = file_of(bytes, n);
	enum elf_result result = elf_read(fd, facts);

	close(fd);
	return result;
}

static enum elf_result read_path(const char *path, struct elf_facts *facts)
{
	int fd = open(path, O_RDONLY);
	enum elf_result result;

	cr_assert(fd >= 0, "%s", path);
	result = elf_read(fd, facts);
	close(fd);
	return result;
}

static enum elf_result read_forged(const struct forged *file, struct elf_facts *facts)
{
	return read_bytes(file, sizeof(*file), facts);
}

Test(elf, real_programs)
{
	struct elf_facts facts;

	cr_assert_eq(read_path("/bin/true", &facts), ELF_READ);
	cr_assert(*facts.interp == '/');
	cr_assert(!facts.go);
	cr_assert_eq(read_path("/proc/self/exe", &facts), ELF_READ);
	cr_assert(*facts.interp == '/');
	cr_assert_eq(facts.class, sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32);
#ifdef __GLIBC__
	cr_assert_eq(facts.libc, ELF_GLIBC);
#else
	cr_assert_eq(facts.libc, ELF_MUSL);
#endif
	cr_assert_eq(read_path("/etc/passwd", &facts), ELF_NOT);
	cr_assert_eq(read_path("/dev/null", &facts), ELF_NOT);
	cr_assert_eq(read_path("/proc", &facts), ELF_BROKEN);
}

struct named {
	Elf64_Ehdr header;
	Elf64_Phdr segments[2];
	Elf64_Dyn dynamic[3];
	char names[3000];
};

/* The name lies across two readings of the table, at its end, or is the end of another. */
Test(elf, php_is_known_by_what_it_exports)
{
	static struct named file;
	const char *name = "zend_startup_module";
	struct elf_facts facts;

	file.header = forged().header;
	file.header.e_phoff = offsetof(struct named, segments);
	file.segments[0] = (Elf64_Phdr) { .p_type = PT_LOAD, .p_filesz = sizeof(file) };
	file.segments[1] =
	    (Elf64_Phdr) { .p_type = PT_DYNAMIC, .p_offset = offsetof(struct named, dynamic) };
	file.dynamic[0].d_tag = DT_STRTAB;
	file.dynamic[0].d_un.d_ptr = offsetof(struct named, names);
	file.dynamic[1].d_tag = DT_STRSZ;
	file.dynamic[1].d_un.d_val = sizeof(file.names);
	for (size_t at = 1; at < sizeof(file.names) - strlen(name); at++) {
		memset(file.names, 0, sizeof(file.names));
		strcpy(file.names + at, name);
		cr_assert_eq(read_bytes(&file, sizeof(file), &facts), ELF_READ);
		cr_assert(facts.php, "at %zu", at);
	}
	memcpy(file.names + 1, "a_zend_startup_module", sizeof("a_zend_startup_module"));
	memset(file.names + 100, 0, sizeof(file.names) - 100);
	cr_assert_eq(read_bytes(&file, sizeof(file), &facts), ELF_READ);
	cr_expect_not(facts.php, "another name ends like it");
	strcpy(file.names + 2000, name);
	file.dynamic[1].d_un.d_val = 2000;
	cr_assert_eq(read_bytes(&file, sizeof(file), &facts), ELF_READ);
	cr_expect_not(facts.php, "beyond the table");
	file.dynamic[1].d_un.d_val = UINT64_MAX;
	cr_assert_eq(read_bytes(&file, sizeof(file), &facts), ELF_READ);
	cr_expect(facts.php, "no table is as long as that, and the file ends before");
}

Test(elf, forged_fields)
{
	struct elf_facts facts;
	struct forged file = forged();

	cr_assert_eq(read_forged(&file, &facts), ELF_READ);
	cr_assert_str_eq(facts.interp, "/lib64/ld-linux-x86-64.so.2");
	cr_assert_eq(facts.machine, EM_X86_64);
	cr_assert(!facts.go);

	memcpy(file.note.name, "Go\0", 4);
	cr_assert_eq(read_forged(&file, &facts), ELF_READ);
	cr_assert(facts.go);

	file = forged();
	file.segments[0].p_type = PT_LOAD;
	cr_assert_eq(read_forged(&file, &facts), ELF_READ);
	cr_assert_str_eq(facts.interp, "");

	static const uint64_t hostile[] = { 0,          1,         0x7fffffff,
		                            0xffffffff, INT64_MAX, (uint64_t)INT64_MAX + 1,
		                            UINT64_MAX };

	for (size_t i = 0; i < sizeof(hostile) / sizeof(*hostile); i++) {
		file = forged();
		file.segments[0].p_offset = hostile[i] | 1 << 20;
		cr_assert_eq(read_forged(&file, &facts), ELF_BROKEN);
		file = forged();
		file.segments[0].p_filesz = hostile[i];
		cr_assert_eq(read_forged(&file, &facts), ELF_BROKEN);
		file = forged();
		file.header.e_phoff = hostile[i] | 1 << 20;
		cr_assert_eq(read_forged(&file, &facts), ELF_BROKEN);
		/* A broken note or section table hides nothing but Go. */
		file = forged();
		file.segments[1].p_offset = hostile[i];
		file.segments[1].p_filesz = ~hostile[i];
		cr_assert_eq(read_forged(&file, &facts), ELF_READ);
		file = forged();
		file.note.header.n_namesz = file.note.header.n_descsz = (uint32_t)hostile[i];
		cr_assert_eq(read_forged(&file, &facts), ELF_READ);
		file = forged();
		file.header.e_shoff = hostile[i];
		file.header.e_shentsize = sizeof(Elf64_Shdr);
		file.header.e_shnum = file.header.e_shstrndx = UINT16_MAX;
		cr_assert_eq(read_forged(&file, &facts), ELF_READ);
	}
	file = forged();
	file.header.e_phnum = UINT16_MAX;
	cr_assert_eq(read_forged(&file, &facts), ELF_BROKEN);
	file = forged();
	memset(file.interp, 'x', sizeof(file.interp)); /* no NUL */
	cr_assert_eq(read_forged(&file, &facts), ELF_BROKEN);
	for (size_t n = 0; n < sizeof(file); n++) {
		file = forged();
		cr_assert_neq(read_bytes(&file, n, &facts) == ELF_READ && n < sizeof(file.header),
		              1);
	}
}

/* Whatever the bytes, the reader returns. */
Test(elf, random_damage, .timeout = 30)
{
	struct elf_facts facts;

	srandom(3);
	for (int i = 0; i < 5000; i++) {
		struct forged file = forged();

		for (int k = 0; k < 6; k++)
			((unsigned char *)&file)[4 + random() % (sizeof(file) - 4)] =
			    (unsigned char)random();
		(void)read_forged(&file, &facts);
		cr_assert(memchr(facts.interp, 0, sizeof(facts.interp)) != NULL);
	}
}

Test(elf, other_class_and_order)
{
	struct {
		Elf32_Ehdr header;
		Elf32_Phdr segment;
		char interp[16];
	} small = { .interp = "/lib/ld.so.1" };
	struct elf_facts facts;

	memcpy(small.header.e_ident, ELFMAG "\1\2\1", 7); /* 32 bits, big endian */
	small.header.e_machine = htobe16(EM_MIPS);
	small.header.e_phoff = htobe32(sizeof(small.header));
	small.header.e_phentsize = htobe16(sizeof(small.segment));
	small.header.e_phnum = htobe16(1);
	small.segment.p_type = htobe32(PT_INTERP);
	small.segment.p_offset = htobe32(offsetof(__typeof__(small), interp));
	small.segment.p_filesz = htobe32(13);
	cr_assert_eq(read_bytes(&small, sizeof(small), &facts), ELF_READ);
	cr_assert_eq(facts.class, ELFCLASS32);
	cr_assert_eq(facts.machine, EM_MIPS);
	cr_assert_str_eq(facts.interp, "/lib/ld.so.1");
	small.header.e_ident[EI_CLASS] = 7;
	cr_assert_eq(read_bytes(&small, sizeof(small), &facts), ELF_BROKEN);
}
