/* SPDX-License-Identifier: MIT */
/*
 * Two ways in: the mapped memory itself by /proc/PID/map_files, which root and
 * CAP_CHECKPOINT_RESTORE may open, else process_vm_readv and process_vm_writev, where ptrace(2)
 * would be allowed. The first makes no page that is not there yet; the second looks at slots in use
 * alone, for the same end.
 */
#include "tool/region_file.h"

#include "region/segment.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <unistd.h>

#pragma GCC diagnostic ignored "-Wframe-larger-than="

/* The device of all memfds. */
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

/*
 * Names are free: what is called like a region may lie on a file system whose server never answers
 * (FUSE), and a reader would hang. Only memory is looked at. Segments are of the same mount inside
 * the kernel.
 */
static bool is_memory(const struct mapping *mapping)
{
	return makedev(mapping->major, mapping->minor) == memfd_device();
}

enum snapshot_state region_file_open(const struct process *process, const struct mapping *mapping,
                                     bool for_writing, struct region_file *file)
{
	char path[96];
	struct stat status;

	/* Root must not write for a process what that could not write itself. */
	if (!is_memory(mapping) || (for_writing && !mapping->is_writable))
		return SNAPSHOT_FALSE;
	*file = (struct region_file) { .pid = process->pid, .address = mapping->from, .fd = -1 };
	(void)snprintf(path, sizeof(path), "/proc/%d/map_files/%" PRIx64 "-%" PRIx64,
	               (int)process->pid, mapping->from, mapping->to);
	file->fd =
	    open(path, (for_writing ? O_RDWR : O_RDONLY) | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	/* By address only where nothing else may be: between the two looks an address can come to
	 * mean a file that never answers. */
	if (file->fd < 0)
		return errno == EPERM || errno == EACCES ? SNAPSHOT_GOOD : SNAPSHOT_GONE;
	/* Since the mappings were listed another file may have come to lie there. */
	if (fstat(file->fd, &status) != 0 || !S_ISREG(status.st_mode) ||
	    status.st_ino != mapping->inode ||
	    status.st_dev != makedev(mapping->major, mapping->minor)) {
		close(file->fd);
		return SNAPSHOT_GONE;
	}
	return SNAPSHOT_GOOD;
}

static enum snapshot_state state_of(ssize_t got, size_t n)
{
	if (got == (ssize_t)n)
		return SNAPSHOT_GOOD;
	if (got >= 0)
		return SNAPSHOT_FALSE; /* cut short */
	return errno == EPERM || errno == EACCES ? SNAPSHOT_DENIED
	       : errno == ESRCH                  ? SNAPSHOT_GONE
	                                         : SNAPSHOT_FALSE;
}

/* A segment that is mapped gets a page wherever it is looked at, and the reader pays for it: of 127
 * segments in which their maker had touched one page each, 300 MB. Read as a file, what is not
 * there stays so. -1 without the right to: then by the mapping. */
static int open_segment(const void *at, size_t size, bool for_writing)
{
	uintptr_t from = (uintptr_t)at, page = (uintptr_t)sysconf(_SC_PAGESIZE);
	char path[96];

	(void)snprintf(path, sizeof(path), "/proc/self/map_files/%" PRIxPTR "-%" PRIxPTR, from,
	               from + (size + page - 1) / page * page);
	return open(path, (for_writing ? O_RDWR : O_RDONLY) | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
}

enum snapshot_state region_file_of_segment(int id, uid_t owner, bool for_writing,
                                           struct region_file *file)
{
	struct shmid_ds is;
	void *at = shmat(id, NULL, for_writing ? 0 : SHM_RDONLY);

	*file = (struct region_file) { .fd = -1 };
	if (at == (void *)-1)
		return errno == EACCES || errno == EPERM ? SNAPSHOT_DENIED : SNAPSHOT_GONE;
	file->at = at;
	if (shmctl(id, IPC_STAT, &is) != 0 ||
	    (owner != SEGMENT_ANYONE && is.shm_perm.cuid != owner)) {
		region_file_close(file);
		return SNAPSHOT_GONE;
	}
	if (!segment_has_pages(at, is.shm_segsz)) {
		region_file_close(file);
		return SNAPSHOT_FALSE;
	}
	file->size = is.shm_segsz;
	file->fd = open_segment(at, file->size, for_writing);
	return SNAPSHOT_GOOD;
}

enum snapshot_state region_file_read(const struct region_file *file, size_t offset, void *out,
                                     size_t n)
{
	struct iovec to = { out, n };
	struct iovec from = { (void *)(uintptr_t)(file->address + offset), n };
	ssize_t got;

	if (file->at && file->fd < 0) {
		if (offset > file->size || n > file->size - offset)
			return SNAPSHOT_FALSE;
		memcpy(out, (const char *)file->at + offset, n);
		return SNAPSHOT_GOOD;
	}
	if (file->fd >= 0)
		got = pread(file->fd, out, n, (off_t)offset);
	else
		got = process_vm_readv(file->pid, &to, 1, &from, 1, 0);
	return state_of(got, n);
}

enum snapshot_state region_file_write(const struct region_file *file, size_t offset,
                                      const void *bytes, size_t n)
{
	struct iovec from = { (void *)(uintptr_t)bytes, n };
	struct iovec to = { (void *)(uintptr_t)(file->address + offset), n };

	if (file->at && file->fd < 0) {
		if (offset > file->size || n > file->size - offset)
			return SNAPSHOT_FALSE;
		memcpy((char *)file->at + offset, bytes, n);
		return SNAPSHOT_GOOD;
	}
	if (file->fd >= 0)
		return state_of(pwrite(file->fd, bytes, n, (off_t)offset), n);
	return state_of(process_vm_writev(file->pid, &from, 1, &to, 1, 0), n);
}

void region_file_close(struct region_file *file)
{
	if (file->fd >= 0)
		close(file->fd);
	file->fd = -1;
	if (file->at)
		(void)shmdt(file->at);
	file->at = NULL;
}
