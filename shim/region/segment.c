/* SPDX-License-Identifier: MIT */
/*
 * What a number means can change until the segment is mapped, and no more then: the kernel keeps
 * the number of a segment that somebody has mapped. So it is mapped first and looked at after.
 */
#include "region/segment.h"

#include "sys/arithmetic.h"
#include "sys/random.h"
#include "sys/thread.h"

#include <errno.h>
#include <sys/auxv.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <unistd.h>

#define KEYS_TRIED 16
#define SWEPT_MOST 32768 /* IPCMNI, as many as a kernel has */
#define LEFT_ALONE 3600  /* s */
#define MANY_ALONE 64    /* regions of one user */
#define MANY_LEAST 60    /* s, of so many */

static void *map(int id)
{
	void *at = shmat(id, NULL, 0);

	return at == (void *)-1 ? NULL : at;
}

void segment_hide(void *at, size_t size)
{
	int saved = errno;

	(void)madvise(at, size, MADV_DONTDUMP);
	errno = saved;
}

/* The group is told after, since a segment is made with the caller's. */
static bool give_to_group(int id, const struct segment_rights *rights)
{
	struct shmid_ds is;

	if (!(rights->mode & 0070))
		return true;
	if (shmctl(id, IPC_STAT, &is) != 0)
		return false;
	is.shm_perm.gid = rights->group;
	is.shm_perm.mode = (unsigned short)rights->mode;
	return shmctl(id, IPC_SET, &is) == 0;
}

int segment_make(int kind, size_t size, const struct segment_rights *rights, void **at)
{
	int id = -1;

	for (int i = 0; id < 0 && i < KEYS_TRIED; i++) {
		key_t key = (key_t)((uint32_t)kind << 16 | (random_next(thread_random()) & 0xffff));

		id = shmget(key, size, IPC_CREAT | IPC_EXCL | 0600);
		if (id < 0 && errno != EEXIST)
			return -1;
	}
	if (id < 0) {
		errno = ENOSPC;
		return -1;
	}
	*at = map(id);
	if (!*at || !give_to_group(id, rights)) {
		int saved = errno;

		segment_drop(id, *at, true);
		errno = saved;
		return -1;
	}
	segment_hide(*at, size);
	return id;
}

static bool is_as_said(int id, size_t size, const struct segment_rights *rights)
{
	struct shmid_ds is;

	return shmctl(id, IPC_STAT, &is) == 0 && is.shm_segsz == size &&
	       (rights->owner == SEGMENT_ANYONE ||
	        (is.shm_perm.cuid == rights->owner && is.shm_perm.uid == rights->owner)) &&
	       (is.shm_perm.mode & 0777) == rights->mode &&
	       (!(rights->mode & 0070) || is.shm_perm.gid == rights->group);
}

/* Huge pages come from a pool as they are touched, or do not come: SIGBUS. SHM_HUGETLB shows in
 * nothing that IPC_STAT tells. But of them a single page of the usual size cannot be let go, which
 * of others does nothing to what stands in it. (A process that has locked all its memory cannot do
 * so either before Linux 5.18, and does without.) */
bool segment_has_pages(void *at, size_t size)
{
	const int dontneed_locked = 24; /* MADV_DONTNEED_LOCKED of newer headers */
	size_t page = getauxval(AT_PAGESZ);
	void *second = (char *)at + page;

	return size > page && /* or it would be the memory of somebody else */
	       (madvise(second, page, MADV_DONTNEED) == 0 ||
	        madvise(second, page, dontneed_locked) == 0);
}

enum segment_state segment_map(int id, size_t size, const struct segment_rights *rights, void **at)
{
	enum segment_state state;
	int saved;

	*at = map(id);
	if (!*at)
		return errno == EINVAL || errno == EIDRM ? SEGMENT_GONE : SEGMENT_DENIED;
	state = !is_as_said(id, size, rights)  ? SEGMENT_FOREIGN
	        : segment_has_pages(*at, size) ? SEGMENT_GOOD
	                                       : SEGMENT_DENIED;
	if (state == SEGMENT_GOOD) {
		segment_hide(*at, size);
		return SEGMENT_GOOD;
	}
	saved = errno;
	segment_drop(id, *at, false);
	errno = saved;
	*at = NULL;
	return state;
}

int64_t segment_mark(int id)
{
	struct shmid_ds is;

	if (shmctl(id, IPC_STAT, &is) != 0)
		return 0;
	return (int64_t)((uint64_t)is.shm_ctime << 32 | (uint32_t)is.shm_perm.__key);
}

void segment_drop(int id, void *at, bool remove)
{
	if (at)
		(void)shmdt(at);
	if (remove)
		(void)shmctl(id, IPC_RMID, NULL);
}

static bool is_ours(const struct shmid_ds *is, uid_t user)
{
	uint32_t kind = (uint32_t)is->shm_perm.__key >> 16;

	return (kind == SEGMENT_REGION || kind == SEGMENT_CHUNK) && is->shm_perm.cuid == user;
}

/* For how long nobody has had it mapped, in s; 0: somebody has. */
static int64_t alone_for(const struct shmid_ds *is, int64_t now)
{
	return is->shm_nattch > 0
	           ? 0
	           : now - greater(is->shm_ctime, greater(is->shm_atime, is->shm_dtime));
}

/* Removes those that were left alone for longer than this. Returns how many regions are alone. */
static int sweep(int64_t now, int64_t longest)
{
	struct shm_info about;
	struct shmid_ds is;
	uid_t user = geteuid();
	int last = shmctl(0, SHM_INFO, (struct shmid_ds *)(void *)&about), alone = 0;

	for (int i = 0; i <= last && i < SWEPT_MOST; i++) {
		int id = shmctl(i, SHM_STAT, &is);
		bool is_region = id >= 0 && (uint32_t)is.shm_perm.__key >> 16 == SEGMENT_REGION;

		if (id < 0 || !is_ours(&is, user))
			continue;
		if (alone_for(&is, now) > (is_region ? longest : LEFT_ALONE))
			(void)shmctl(id, IPC_RMID, NULL);
		else
			alone += is_region && is.shm_nattch == 0;
	}
	return alone;
}

void segment_sweep(int64_t now)
{
	if (sweep(now, LEFT_ALONE) > MANY_ALONE)
		(void)sweep(now, MANY_LEAST);
}
