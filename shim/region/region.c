/* SPDX-License-Identifier: MIT */
/*
 * Making and finding the region. Whatever fails here costs only the sharing, never the program:
 * there is always a region of the process's own to fall back to.
 *
 * CLOCK_MONOTONIC, in which the region's times are, starts anew at boot; so does shared memory.
 */
#include "region/region.h"

#include "config/config.h"
#include "region/chunks.h"
#include "region/segment.h"
#include "region/shared.h"
#include "sys/memory_limit.h"
#include "sys/process.h"
#include "sys/real.h"
#include "sys/status.h"
#include "sys/text.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SHARED_MEMORY "/dev/shm"

/* The same numbers whatever the word size: no padding but to the next line of a cache. */
#define NEXT_LINE(at) (((at) + REGION_LINE - 1) / REGION_LINE * REGION_LINE)
_Static_assert(_Alignof(struct region) == REGION_LINE && sizeof(struct bucket) == 16, "one layout");
_Static_assert(offsetof(struct region, magic) == 0 && offsetof(struct region, size) == 8 &&
                   offsetof(struct region, nonce) == 16 &&
                   offsetof(struct region, identity) == 24 &&
                   sizeof(struct region_identity) ==
                       6 * sizeof(cell64) + REGION_VERSION + REGION_PROGRAM + REGION_PATH,
               "one layout");
_Static_assert(offsetof(struct region, steering) == 24 + sizeof(struct region_identity) &&
                   offsetof(struct region, changes) ==
                       NEXT_LINE(offsetof(struct region, steering) + 8 * sizeof(cell64)) &&
                   offsetof(struct region, process) ==
                       offsetof(struct region, changes) + REGION_LINE &&
                   offsetof(struct region, tally) ==
                       offsetof(struct region, process) + REGION_LINE &&
                   offsetof(struct region, levels) ==
                       NEXT_LINE(offsetof(struct region, tally) + sizeof(struct tally)) &&
                   sizeof(struct admission) == 7 * sizeof(cell64),
               "one layout");
_Static_assert(offsetof(struct chunk, keys) == 8 * sizeof(cell64) &&
                   offsetof(struct chunk, destinations) == (8 + REGION_CHUNK) * sizeof(cell64) &&
                   sizeof(struct chunk) == offsetof(struct chunk, destinations) +
                                               REGION_CHUNK * sizeof(struct destination) &&
                   offsetof(struct region, first) % REGION_LINE == 0 &&
                   offsetof(struct region, admissions) ==
                       offsetof(struct region, first) + sizeof(struct chunk) &&
                   offsetof(struct region, served) ==
                       NEXT_LINE(offsetof(struct region, admissions) +
                                 REGION_ADMISSIONS * sizeof(struct admission)) &&
                   offsetof(struct region, tallies) ==
                       offsetof(struct region, served) + REGION_LINE &&
                   sizeof(struct tally_place) == NEXT_LINE(sizeof(struct tally)) &&
                   offsetof(struct region, parents) ==
                       offsetof(struct region, tallies) +
                           (REGION_TALLIES - 1) * sizeof(struct tally_place) &&
                   sizeof(struct region) == offsetof(struct region, parents) + REGION_PARENTS * 8 &&
                   1 << (REGION_LEVELS - 1) == REGION_CHUNKS,
               "one layout");
_Static_assert(sizeof(struct tally) ==
                       (7 + FAILURE_COUNT + 2 + 2 + 4 + 3 + REGION_RULES + STATUS_PLACES) * 8 +
                           3 * sizeof(struct times) &&
                   sizeof(struct times) == (1 + REGION_TIMES) * 8 &&
                   offsetof(struct destination, budget) % REGION_LINE == 0 &&
                   offsetof(struct budget, crowd) == REGION_LINE - sizeof(cell64) &&
                   offsetof(struct destination, used_at) ==
                       NEXT_LINE(offsetof(struct destination, budget) + sizeof(struct budget) +
                                 (1 + REGION_DECISIONS * REGION_DECISION_WORDS) * 8) &&
                   offsetof(struct destination, tally) ==
                       NEXT_LINE(offsetof(struct destination, used_at) + 15 * 8) &&
                   offsetof(struct tally, rules) == REGION_LINE &&
                   offsetof(struct destination, policy) == offsetof(struct destination, tally) +
                                                               sizeof(struct tally) + 8 +
                                                               REGION_SITES * REGION_SITE &&
                   offsetof(struct destination, name) ==
                       offsetof(struct destination, policy) + REGION_LABEL &&
                   sizeof(struct destination) % REGION_LINE == 0 &&
                   sizeof(struct destination) - offsetof(struct destination, name) <
                       REGION_NAME + REGION_LINE &&
                   REGION_LABEL >= CONFIG_LABEL,
               "one layout");

static struct region *map(int fd, int flags)
{
	void *at = mmap(NULL, sizeof(struct region), PROT_READ | PROT_WRITE, flags, fd, 0);

	if (at == MAP_FAILED)
		return NULL;
	segment_hide(at, sizeof(struct region));
	return at;
}

/* To let a file grow beyond RLIMIT_FSIZE (ulimit -f) is SIGXFSZ, the end of most hosts. It goes for
 * memory too where that is a file. */
static bool may_grow(void)
{
	struct rlimit limit;

	return getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur >= sizeof(struct region);
}

/* An anonymous file, sealed so that no tool that opens it through /proc can shorten it under us. */
static int anonymous_file(void)
{
	const unsigned cloexec = 1, sealing = 2, no_exec = 8; /* MFD_* of linux/memfd.h */
	int fd;

	if (!may_grow())
		return -1;
	fd = (int)syscall(SYS_memfd_create, "retrybudget", cloexec | sealing | no_exec);
	if (fd < 0 && errno == EINVAL) /* before Linux 6.3 */
		fd = (int)syscall(SYS_memfd_create, "retrybudget", cloexec | sealing);
	if (fd >= 0 && ftruncate(fd, (off_t)sizeof(struct region)) != 0) {
		real.close(fd);
		return -1;
	}
	if (fd >= 0)
		real.fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
	return fd;
}

int region_make_file(void)
{
	return anonymous_file();
}

static struct {
	int64_t pid, fd, inode, child; /* child 0: nothing was handed on */
} handed;

void region_hand(const char *text)
{
	if (!text || !text_number(&text, ':', &handed.pid) ||
	    !text_number(&text, ':', &handed.fd) || !text_number(&text, ':', &handed.inode) ||
	    !text_number(&text, '\0', &handed.child))
		handed.child = 0;
}

/* Nobody can shorten it any more, and it is ours. */
static bool is_handed(int fd)
{
	struct stat64 is;
	int seals = real.fcntl(fd, F_GET_SEALS, 0);

	return seals >= 0 && seals & F_SEAL_SHRINK && status_of(fd, &is) && S_ISREG(is.st_mode) &&
	       (int64_t)is.st_ino == handed.inode && is.st_uid == geteuid() &&
	       is.st_size == (off64_t)sizeof(struct region);
}

static int open_handed(void)
{
	char path[64];
	struct text text;
	int fd;

	if (handed.child == 0 || handed.child != process_id())
		return -1;
	text_start(&text, path, sizeof(path));
	text_string(&text, "/proc/");
	text_decimal(&text, handed.pid);
	text_string(&text, "/fd/");
	text_decimal(&text, handed.fd);
	fd = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd >= 0 && is_handed(fd))
		return fd;
	if (fd >= 0)
		real.close(fd);
	return -1;
}

static struct region *open_process(const char **why)
{
	struct region *region = NULL;
	int given = open_handed(), fd = given >= 0 ? given : anonymous_file();
	bool fault;

	if (fd >= 0) {
		region = map(fd, MAP_SHARED);
		real.close(fd);
	}
	if (region && given >= 0) /* after an exec: this program writes its own name into it */
		memset(&region->identity, 0, sizeof(region->identity));
	fault = !region;
	if (!region)
		region = map(-1, MAP_SHARED | MAP_ANONYMOUS);
	if (!region) {
		region = map(-1, MAP_PRIVATE | MAP_ANONYMOUS);
		if (region && !*why)
			*why = "no shared memory: forked children have budgets of their own";
	}
	if (!region)
		*why = "no memory for the region";
	else
		region_begin(region, 0);
	if (region && fault)
		count(&region->faults);
	return region;
}

struct region *region_open_in(const char *base, enum scope scope, const char *share,
                              const char **why)
{
	struct region *region = NULL;

	*why = NULL;
	if (scope != SCOPE_PROCESS)
		region = share_map(base, scope, share, why);
	if (region) {
		chunks_bound(memory_limit());
		return region;
	}
	region = open_process(why);
	if (region && scope != SCOPE_PROCESS)
		count(&region->faults);
	return region;
}

struct region *region_open(enum scope scope, const char *share, const char **why)
{
	return region_open_in(SHARED_MEMORY, scope, share, why);
}
