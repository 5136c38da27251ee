/* SPDX-License-Identifier: MIT */
/*
 * Two ways in: the mapped file itself by /proc/PID/map_files, which root and CAP_CHECKPOINT_RESTORE
 * may open, else process_vm_readv, where ptrace(2) would be allowed. The first makes no page that
 * is not there yet; the second looks at slots in use alone, for the same end.
 */
#include "tool/snapshot.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <unistd.h>

#pragma GCC diagnostic ignored "-Wframe-larger-than="

#define LOOKS 8 /* at a slot that changes all the time */

#define HEAD         offsetof(struct region, destinations)
#define LAYOUT_SHIFT 56 /* of the magic */
#define MAGIC_OF_ANY (REGION_MAGIC & ((INT64_C(1) << LAYOUT_SHIFT) - 1))
#define MOUNTS_LIMIT (1 << 20)

struct source {
	pid_t pid;
	uint64_t address;
	int fd; /* or -1: by address */
};

/* The device of all memfds: one mount inside the kernel. */
static dev_t memfd_device(void)
{
	static dev_t device;
	struct stat status;
	int fd;

	if (device)
		return device;
	fd = memfd_create("retrybudget-stat", MFD_CLOEXEC);
	if (fd >= 0 && fstat(fd, &status) == 0)
		device = status.st_dev;
	if (fd >= 0)
		close(fd);
	return device;
}

/* True if a device is a tmpfs by the mounts that a process sees. */
static bool is_tmpfs(pid_t pid, const struct mapping *mapping)
{
	static char text[MOUNTS_LIMIT];
	char wanted[32], *line, *rest = text;
	bool found = false;

	(void)snprintf(wanted, sizeof(wanted), "%u:%u", mapping->major, mapping->minor);
	if (process_read(pid, "mountinfo", text, sizeof(text)) <= 0)
		return false;
	while (!found && (line = strsep(&rest, "\n"))) {
		const char *type = strstr(line, " - ");
		char *word = line;

		for (int i = 0; i < 2 && word; i++)
			word = strchr(word + (i > 0), ' ');
		found = word && type && strncmp(word + 1, wanted, strlen(wanted)) == 0 &&
		        word[1 + strlen(wanted)] == ' ' && strncmp(type, " - tmpfs ", 9) == 0;
	}
	return found;
}

/*
 * Names are free: what is called like a region may lie on a file system whose server never answers
 * (FUSE), and a reader would hang. Only memory is looked at.
 */
static bool is_memory(pid_t pid, const struct mapping *mapping)
{
	if (makedev(mapping->major, mapping->minor) == memfd_device())
		return true;
	return mapping->kind == MAPPING_SHARED && is_tmpfs(pid, mapping);
}

static enum snapshot_state open_source(const struct process *process, const struct mapping *mapping,
                                       struct source *source)
{
	char path[96];
	struct stat status;

	if (!is_memory(process->pid, mapping))
		return SNAPSHOT_FALSE;
	*source = (struct source) { process->pid, mapping->from, -1 };
	(void)snprintf(path, sizeof(path), "/proc/%d/map_files/%" PRIx64 "-%" PRIx64,
	               (int)process->pid, mapping->from, mapping->to);
	source->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	/* By address only where nothing else may be: between the two looks an address can come to
	 * mean a file that never answers. */
	if (source->fd < 0)
		return errno == EPERM || errno == EACCES ? SNAPSHOT_GOOD : SNAPSHOT_GONE;
	/* Since the mappings were listed another file may have come to lie there. */
	if (fstat(source->fd, &status) != 0 || !S_ISREG(status.st_mode) ||
	    status.st_ino != mapping->inode ||
	    status.st_dev != makedev(mapping->major, mapping->minor)) {
		close(source->fd);
		return SNAPSHOT_GONE;
	}
	return SNAPSHOT_GOOD;
}

static enum snapshot_state read_at(const struct source *source, size_t offset, void *out, size_t n)
{
	struct iovec to = { out, n };
	struct iovec from = { (void *)(uintptr_t)(source->address + offset), n };
	ssize_t got;

	if (source->fd >= 0)
		got = pread(source->fd, out, n, (off_t)offset);
	else
		got = process_vm_readv(source->pid, &to, 1, &from, 1, 0);
	if (got == (ssize_t)n)
		return SNAPSHOT_GOOD;
	if (got >= 0)
		return SNAPSHOT_FALSE; /* cut short */
	return errno == EPERM || errno == EACCES ? SNAPSHOT_DENIED
	       : errno == ESRCH                  ? SNAPSHOT_GONE
	                                         : SNAPSHOT_FALSE;
}

static void clamp(cell64 *cells, size_t size)
{
	for (size_t i = 0; i < size / sizeof(*cells); i++)
		if (LOAD(cells[i]) < 0)
			STORE(cells[i], 0);
}

/* Counters only grow: one that went back was read while it was written, or the slot was emptied. */
static bool is_later(const struct destination *one, const struct destination *next)
{
	const cell64 *before = (const cell64 *)&one->tally, *after = (const cell64 *)&next->tally;

	if (LOAD(one->key) != LOAD(next->key) || LOAD(one->generation) != LOAD(next->generation) ||
	    LOAD(one->named) != LOAD(next->named) ||
	    memcmp(one->name, next->name, sizeof(one->name)) != 0)
		return false;
	for (size_t i = 0; i < sizeof(one->tally) / sizeof(*before); i++)
		if (LOAD(after[i]) < LOAD(before[i]))
			return false;
	return true;
}

/* False if the slot has no name, or never stands still. */
static bool read_slot(const struct source *source, struct destination *out, size_t offset,
                      enum snapshot_state *state)
{
	static struct destination before;

	*state = read_at(source, offset, out, sizeof(*out));
	for (int i = 0; i < LOOKS && *state == SNAPSHOT_GOOD; i++) {
		if (!(LOAD(out->key) & 1) || LOAD(out->named) != LOAD(out->key))
			return false;
		memcpy(&before, out, sizeof(before));
		*state = read_at(source, offset, out, sizeof(*out));
		if (*state == SNAPSHOT_GOOD && is_later(&before, out)) {
			out->name[sizeof(out->name) - 1] = '\0';
			clamp((cell64 *)&out->tally, sizeof(out->tally));
			return true;
		}
	}
	return false;
}

static enum snapshot_state check_head(const struct region *head, char *layout)
{
	int64_t magic = LOAD(head->magic);
	char digit = (char)(magic >> LAYOUT_SHIFT);

	if ((magic & ((INT64_C(1) << LAYOUT_SHIFT) - 1)) != MAGIC_OF_ANY)
		return SNAPSHOT_FALSE;
	*layout = digit;
	if (digit < '0' || digit > 'z')
		return SNAPSHOT_FALSE;
	if (digit != REGION_LAYOUT)
		return SNAPSHOT_LAYOUT;
	return LOAD(head->size) == (int64_t)sizeof(struct region) ? SNAPSHOT_GOOD : SNAPSHOT_FALSE;
}

static enum snapshot_state take(const struct source *source, struct snapshot *out)
{
	struct region *region = out->region;
	enum snapshot_state state;

	/* An older one may be smaller: first what all layouts begin with. */
	state = read_at(source, 0, region, offsetof(struct region, identity));
	if (state == SNAPSHOT_GOOD)
		state = check_head(region, &out->layout);
	if (state == SNAPSHOT_GOOD)
		state = read_at(source, 0, region, HEAD);
	if (state != SNAPSHOT_GOOD)
		return state;
	clamp((cell64 *)&region->tally, sizeof(region->tally));
	region->identity.version[REGION_VERSION - 1] = '\0';
	region->identity.program[REGION_PROGRAM - 1] = '\0';
	region->identity.config[REGION_PATH - 1] = '\0';
	for (int i = 0; i < REGION_DESTINATIONS; i++) {
		struct destination *slot = &region->destinations[i];
		size_t offset = HEAD + (size_t)i * sizeof(*slot);

		if (!(LOAD(region->used[i / 64]) >> i % 64 & 1))
			continue;
		if (read_slot(source, slot, offset, &state))
			out->slots[out->slot_count++] = (uint16_t)i;
		if (state != SNAPSHOT_GOOD)
			return state;
	}
	return SNAPSHOT_GOOD;
}

static enum snapshot_state take_mapping(const struct process *process,
                                        const struct mapping *mapping, struct snapshot *out)
{
	struct source source;
	enum snapshot_state state = open_source(process, mapping, &source);

	out->slot_count = 0;
	if (state != SNAPSHOT_GOOD)
		return state;
	state = take(&source, out);
	if (source.fd >= 0)
		close(source.fd);
	/* By address another process might have answered that was given the number. */
	return process_lives(process) ? state : SNAPSHOT_GONE;
}

void snapshot_take(const struct process *process, struct snapshot *out)
{
	static struct region *copy; /* of which only what is read is ever touched */

	if (!copy)
		copy = calloc(1, sizeof(*copy));
	*out = (struct snapshot) { .state = SNAPSHOT_NONE, .region = copy };
	if (!copy)
		return;
	for (int i = 0; i < process->region_count && out->state != SNAPSHOT_GOOD; i++) {
		enum snapshot_state state = take_mapping(process, &process->regions[i], out);

		if (i == 0 || state == SNAPSHOT_GOOD)
			out->state = state;
	}
	if (out->state == SNAPSHOT_NONE && !process_lives(process))
		out->state = SNAPSHOT_GONE;
}

const char *snapshot_word(const struct snapshot *snapshot)
{
	static const char *const words[] = {
		[SNAPSHOT_GOOD] = "good",     [SNAPSHOT_NONE] = "none",
		[SNAPSHOT_GONE] = "gone",     [SNAPSHOT_DENIED] = "denied",
		[SNAPSHOT_LAYOUT] = "layout", [SNAPSHOT_FALSE] = "false",
	};

	return words[snapshot->state];
}

const char *snapshot_sentence(const struct snapshot *snapshot)
{
	static char layout[96];

	switch (snapshot->state) {
	case SNAPSHOT_GOOD:
		return "can be read";
	case SNAPSHOT_NONE:
		return "the library is loaded, and is off or has a region without a name";
	case SNAPSHOT_GONE:
		return "ended while it was looked at";
	case SNAPSHOT_DENIED:
		return "may not be read: only root, its user, or CAP_SYS_PTRACE can";
	case SNAPSHOT_LAYOUT:
		(void)snprintf(layout, sizeof(layout),
		               "has a region of layout %c, this command reads layout %c: use that "
		               "version's own",
		               snapshot->layout, REGION_LAYOUT);
		return layout;
	case SNAPSHOT_FALSE:
	default:
		return "has memory of the region's name that is none";
	}
}
