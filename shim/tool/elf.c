/* SPDX-License-Identifier: MIT */
/*
 * ELF headers of either class and byte order. Every offset and count is the file's word only: reads
 * go through pread at 64-bit offsets, and tables are cut at a fixed number of entries.
 */
#include "tool/elf.h"

#include "sys/text.h"

#include <elf.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#define SEGMENTS_MAX 1024 /* the kernel refuses more than 64 KiB of them */
#define SECTIONS_MAX 512
#define NOTES_MAX    64
#define DYNAMIC_MAX  512
#define NAMES_MAX    (UINT64_C(4) << 20) /* bytes; PHP's are 200 KB */
#define GO_NAME      "Go"                /* of its notes, with the NUL */

struct file {
	int fd;
	bool wide, big;
};

static bool read_at(const struct file *file, uint64_t at, void *out, size_t n)
{
	off_t offset = (off_t)at; /* of 32 bits in a 32-bit command */

	return offset >= 0 && (uint64_t)offset == at &&
	       pread(file->fd, out, n, offset) == (ssize_t)n;
}

static uint64_t number(const struct file *file, const uint8_t *bytes, size_t n)
{
	uint64_t value = 0;

	for (size_t i = 0; i < n; i++)
		value |= (uint64_t)bytes[i] << 8 * (file->big ? n - 1 - i : i);
	return value;
}

/* The same field of the 32- and the 64-bit form of a header. */
#define FIELD(file, bytes, kind, name)                                                             \
	((file)->wide ? number(file, (bytes) + offsetof(Elf64_##kind, name),                       \
	                       sizeof(((Elf64_##kind *)0)->name))                                  \
	              : number(file, (bytes) + offsetof(Elf32_##kind, name),                       \
	                       sizeof(((Elf32_##kind *)0)->name)))

static bool read_interp(const struct file *file, uint64_t at, uint64_t size, char *out, size_t max)
{
	if (size < 2 || size > max || !read_at(file, at, out, (size_t)size))
		return false;
	return out[size - 1] == '\0' && out[0] != '\0';
}

/* The Go linker signs with a note of its own (cmd/link, .note.go.buildid). */
static bool has_go_note(const struct file *file, uint64_t at, uint64_t size)
{
	uint64_t end = at + size;

	if (end < at)
		return false;
	for (int i = 0; i < NOTES_MAX && at < end && end - at >= sizeof(Elf64_Nhdr); i++) {
		uint8_t header[sizeof(Elf64_Nhdr)]; /* the same in both classes */
		char name[4];
		uint64_t name_size, text_size;

		if (!read_at(file, at, header, sizeof(header)))
			return false;
		name_size = number(file, header, 4);
		text_size = number(file, header + 4, 4);
		at += sizeof(header);
		if (name_size == sizeof(name) && read_at(file, at, name, sizeof(name)) &&
		    memcmp(name, GO_NAME "\0", sizeof(name)) == 0)
			return true;
		at += ((name_size + 3) & ~UINT64_C(3)) + ((text_size + 3) & ~UINT64_C(3));
	}
	return false;
}

static enum elf_libc libc_of_loader(const char *interp)
{
	const char *slash = strrchr(interp, '/'), *name = slash ? slash + 1 : interp;

	if (begins(name, "ld-musl"))
		return ELF_MUSL;
	return begins(name, "ld-linux") || begins(name, "ld64.so") || begins(name, "ld.so")
	           ? ELF_GLIBC
	           : ELF_NO_LIBC;
}

/* The same from what a library needs. */
static enum elf_libc libc_of_need(const char *name)
{
	if (strcmp(name, "libc.so.6") == 0)
		return ELF_GLIBC;
	return strcmp(name, "libc.so") == 0 || begins(name, "libc.musl-") ? ELF_MUSL : ELF_NO_LIBC;
}

/* Where in the file lies what is loaded at an address; UINT64_MAX: nowhere. */
static uint64_t offset_of(const struct file *file, const uint8_t *header, uint64_t address)
{
	uint64_t at = FIELD(file, header, Ehdr, e_phoff);
	uint64_t step = FIELD(file, header, Ehdr, e_phentsize);
	uint64_t count = FIELD(file, header, Ehdr, e_phnum);
	uint8_t segment[sizeof(Elf64_Phdr)];

	for (uint64_t i = 0; i < count && i < SEGMENTS_MAX; i++, at += step) {
		uint64_t from;

		if (!read_at(file, at, segment, (size_t)step))
			break;
		from = FIELD(file, segment, Phdr, p_vaddr);
		if (FIELD(file, segment, Phdr, p_type) == PT_LOAD && address >= from &&
		    address - from < FIELD(file, segment, Phdr, p_filesz))
			return FIELD(file, segment, Phdr, p_offset) + (address - from);
	}
	return UINT64_MAX;
}

/* The entry of a dynamic section at a number; false at its end. */
static bool read_dynamic(const struct file *file, uint64_t at, uint64_t i, uint64_t *tag,
                         uint64_t *value)
{
	uint8_t entry[sizeof(Elf64_Dyn)];
	size_t step = file->wide ? sizeof(Elf64_Dyn) : sizeof(Elf32_Dyn);

	if (i >= DYNAMIC_MAX || !read_at(file, at + i * step, entry, step))
		return false;
	*tag = FIELD(file, entry, Dyn, d_tag);
	*value = FIELD(file, entry, Dyn, d_un);
	return *tag != DT_NULL;
}

/* Whether a table of names has PHP's start, which each of its programs exports to its extensions.
 */
static bool has_php(const struct file *file, uint64_t at, uint64_t size)
{
	static const char wanted[] = "\0zend_startup_module";
	char names[768];

	for (uint64_t from = 0; from < size && from < NAMES_MAX;
	     from += sizeof(names) - sizeof(wanted)) {
		size_t n = size - from < sizeof(names) ? (size_t)(size - from) : sizeof(names);

		if (!read_at(file, at + from, names, n))
			return false;
		if (memmem(names, n, wanted, sizeof(wanted)))
			return true;
	}
	return false;
}

static void read_needs(const struct file *file, const uint8_t *header, uint64_t at,
                       struct elf_facts *facts)
{
	uint64_t tag, value, names = UINT64_MAX, size = 0;

	for (uint64_t i = 0; read_dynamic(file, at, i, &tag, &value); i++) {
		if (tag == DT_STRTAB)
			names = offset_of(file, header, value);
		if (tag == DT_STRSZ)
			size = value;
	}
	facts->php = has_php(file, names, size);
	for (uint64_t i = 0; read_dynamic(file, at, i, &tag, &value); i++) {
		char name[sizeof("libasan.so.")] = "";

		if (tag != DT_NEEDED || names + value < names ||
		    !read_at(file, names + value, name, sizeof(name) - 1))
			continue;
		if (!facts->libc)
			facts->libc = libc_of_need(name);
		if (begins(name, "libasan.so."))
			facts->asan = true;
	}
}

static bool read_segments(const struct file *file, const uint8_t *header, struct elf_facts *facts)
{
	uint64_t at = FIELD(file, header, Ehdr, e_phoff);
	uint64_t step = FIELD(file, header, Ehdr, e_phentsize);
	uint64_t count = FIELD(file, header, Ehdr, e_phnum);

	if (count == 0 || step != (file->wide ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr)))
		return false;
	for (uint64_t i = 0; i < count && i < SEGMENTS_MAX; i++, at += step) {
		uint8_t segment[sizeof(Elf64_Phdr)];
		uint64_t type, offset, size;

		if (!read_at(file, at, segment, (size_t)step))
			return false;
		type = FIELD(file, segment, Phdr, p_type);
		offset = FIELD(file, segment, Phdr, p_offset);
		size = FIELD(file, segment, Phdr, p_filesz);
		if (type == PT_INTERP &&
		    !read_interp(file, offset, size, facts->interp, sizeof(facts->interp)))
			return false;
		if (type == PT_INTERP)
			facts->libc = libc_of_loader(facts->interp);
		if (type == PT_DYNAMIC)
			read_needs(file, header, offset, facts);
		if (type == PT_NOTE && has_go_note(file, offset, size))
			facts->go = true;
	}
	return true;
}

/* A build without a build id (-ldflags=-buildid=) has no note, but its tables have their names.
 * A stripped or damaged section table is no fault: the kernel never reads it. */
static bool has_go_section(const struct file *file, const uint8_t *header)
{
	uint64_t at = FIELD(file, header, Ehdr, e_shoff);
	uint64_t step = FIELD(file, header, Ehdr, e_shentsize);
	uint64_t count = FIELD(file, header, Ehdr, e_shnum);
	uint64_t names_at = FIELD(file, header, Ehdr, e_shstrndx);
	uint8_t section[sizeof(Elf64_Shdr)];

	if (at == 0 || step != (file->wide ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr)) ||
	    !read_at(file, at + names_at * step, section, (size_t)step))
		return false;
	names_at = FIELD(file, section, Shdr, sh_offset);
	for (uint64_t i = 0; i < count && i < SECTIONS_MAX; i++) {
		static const char wanted[] = ".go.buildinfo";
		char name[sizeof(wanted)];

		if (!read_at(file, at + i * step, section, (size_t)step))
			return false;
		if (read_at(file, names_at + FIELD(file, section, Shdr, sh_name), name,
		            sizeof(name)) &&
		    memcmp(name, wanted, sizeof(name)) == 0)
			return true;
	}
	return false;
}

enum elf_result elf_read(int fd, struct elf_facts *facts)
{
	struct file file = { .fd = fd };
	uint8_t header[sizeof(Elf64_Ehdr)] = { 0 };
	ssize_t n = pread(fd, header, sizeof(header), 0);

	memset(facts, 0, sizeof(*facts));
	if (n < 0)
		return ELF_BROKEN;
	if (n < SELFMAG || memcmp(header, ELFMAG, SELFMAG) != 0)
		return ELF_NOT;
	facts->class = header[EI_CLASS];
	facts->order = header[EI_DATA];
	if ((facts->class != ELFCLASS32 && facts->class != ELFCLASS64) ||
	    (facts->order != ELFDATA2LSB && facts->order != ELFDATA2MSB))
		return ELF_BROKEN;
	file.wide = facts->class == ELFCLASS64;
	file.big = facts->order == ELFDATA2MSB;
	if (n < (ssize_t)(file.wide ? sizeof(Elf64_Ehdr) : sizeof(Elf32_Ehdr)))
		return ELF_BROKEN;
	facts->machine = (uint16_t)FIELD(&file, header, Ehdr, e_machine);
	if (!read_segments(&file, header, facts))
		return ELF_BROKEN;
	facts->go = facts->go || has_go_section(&file, header);
	return ELF_READ;
}
