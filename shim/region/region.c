/* SPDX-License-Identifier: MIT */
/*
 * Making and finding the region. Whatever fails here costs only the sharing, never the program:
 * there is always a region of the process's own to fall back to.
 *
 * CLOCK_MONOTONIC, in which the region's times are, starts anew at boot; so does /dev/shm.
 */
#include "region/region.h"

#include "config/config.h"
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

/* Of a shared file's name: programs of before and after a change of the layout have one each. */
static const char suffix[] = { '-', 'v', REGION_LAYOUT, '\0' };

/* The same numbers whatever the word size: no padding anywhere. */
_Static_assert(_Alignof(struct region) == 8 && sizeof(struct bucket) == 16, "one layout");
_Static_assert(offsetof(struct region, magic) == 0 && offsetof(struct region, size) == 8 &&
                   offsetof(struct region, identity) == 16 &&
                   sizeof(struct region_identity) ==
                       6 * sizeof(cell64) + REGION_VERSION + REGION_PROGRAM + REGION_PATH,
               "one layout");
_Static_assert(offsetof(struct region, steering) == 16 + sizeof(struct region_identity) &&
                   offsetof(struct region, used) ==
                       offsetof(struct region, steering) + 3 * sizeof(cell64) &&
                   offsetof(struct region, process) ==
                       offsetof(struct region, used) + (REGION_DESTINATIONS / 64 + 3) * 8 &&
                   offsetof(struct region, tally) == offsetof(struct region, process) + 16 &&
                   offsetof(struct region, destinations) ==
                       offsetof(struct region, tally) + sizeof(struct tally),
               "one layout");
_Static_assert(sizeof(struct tally) ==
                       (7 + FAILURE_COUNT + 2 + 2 + 4 + 3 + REGION_RULES + STATUS_PLACES) * 8 +
                           3 * sizeof(struct times) &&
                   sizeof(struct times) == (1 + REGION_TIMES) * 8 &&
                   offsetof(struct destination, tally) ==
                       offsetof(struct destination, budget) + sizeof(struct budget) +
                           (1 + REGION_DECISIONS * REGION_DECISION_WORDS) * 8 &&
                   offsetof(struct destination, policy) == offsetof(struct destination, tally) +
                                                               sizeof(struct tally) + 8 +
                                                               REGION_SITES * REGION_SITE &&
                   offsetof(struct destination, name) ==
                       offsetof(struct destination, policy) + REGION_LABEL &&
                   sizeof(struct destination) == offsetof(struct destination, name) + REGION_NAME &&
                   REGION_LABEL >= CONFIG_LABEL &&
                   offsetof(struct region, admissions) ==
                       offsetof(struct region, destinations) +
                           REGION_DESTINATIONS * sizeof(struct destination) &&
                   sizeof(struct admission) == 7 * sizeof(cell64) &&
                   sizeof(struct region) == offsetof(struct region, admissions) +
                                                REGION_ADMISSIONS * sizeof(struct admission),
               "one layout");

/* What differs between a user's region and the host's. */
struct place {
	const char *directory; /* below base; NULL: "retrybudget-<euid>" */
	mode_t directory_mode, file_mode;
	uid_t owner;
	bool may_create;
};

/* Marks a new region; false if it was made by somebody with another layout. Racing makers write the
 * same values. */
static bool adopt(struct region *region)
{
	int64_t size = 0, magic = 0;

	atomic_compare_exchange_strong(&region->size, &size, (int64_t)sizeof(struct region));
	atomic_compare_exchange_strong(&region->magic, &magic, REGION_MAGIC);
	return atomic_load(&region->size) == (int64_t)sizeof(struct region) &&
	       atomic_load(&region->magic) == REGION_MAGIC;
}

static struct region *map(int fd, int flags)
{
	void *at = mmap(NULL, sizeof(struct region), PROT_READ | PROT_WRITE, flags, fd, 0);

	return at == MAP_FAILED ? NULL : at;
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

/* Digits up to the byte that must end them. */
static bool take_number(const char **text, char end, int64_t *value)
{
	int digits = 0;

	for (*value = 0; **text >= '0' && **text <= '9' && digits < 18; ++*text, digits++)
		*value = *value * 10 + (**text - '0');
	return digits > 0 && *(*text)++ == end;
}

void region_hand(const char *text)
{
	if (!text || !take_number(&text, ':', &handed.pid) ||
	    !take_number(&text, ':', &handed.fd) || !take_number(&text, ':', &handed.inode) ||
	    !take_number(&text, '\0', &handed.child))
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
	if (region && given >= 0) /* this program signs it, not the one that has become it */
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
		adopt(region);
	if (region && fault)
		count(&region->faults);
	return region;
}

/* Anybody may make names in /dev/shm. The directory counts only if it belongs to the right user and
 * nobody else can change it; what is in it can then be trusted not to move. */
static int open_directory(const char *base, const struct place *place, const char **why)
{
	char path[256];
	struct text text;
	struct stat64 is;
	int fd;

	text_start(&text, path, sizeof(path));
	if (!text_string(&text, base) || !text_string(&text, "/") ||
	    !text_string(&text, place->directory ? place->directory : "retrybudget-") ||
	    (!place->directory && !text_decimal(&text, place->owner))) {
		*why = "the path of the shared region is too long";
		return -1;
	}
	if (place->may_create)
		(void)mkdir(path, place->directory_mode); /* EEXIST is the usual case */
	fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0) {
		*why = errno == ENOENT && !place->may_create
		           ? "the host's shared region does not exist: root must make it first"
		           : "the directory of the shared region cannot be opened";
		return -1;
	}
	if (!status_of(fd, &is) || is.st_uid != place->owner ||
	    (is.st_mode & 07777 & ~place->directory_mode) != 0) {
		*why = "the directory of the shared region can be changed by others: remove it";
		real.close(fd);
		return -1;
	}
	/* The umask may have taken something away. */
	if (place->may_create && (is.st_mode & 07777) != place->directory_mode)
		(void)fchmod(fd, place->directory_mode);
	return fd;
}

/*
 * The file is given all of its memory before it is mapped: on a full /dev/shm that is an error now
 * instead of a SIGBUS in the program later. Growing is one step, so that nobody sees a part of it.
 */
static bool prepare_file(int fd, const struct place *place, const char **why)
{
	struct stat64 is;

	if (!status_of(fd, &is) || !S_ISREG(is.st_mode) || is.st_uid != place->owner ||
	    is.st_nlink != 1 || (is.st_mode & 07777 & ~place->file_mode) != 0) {
		*why = "the file of the shared region is not ours alone: remove it";
		return false;
	}
	if (is.st_size != 0 && is.st_size != (off64_t)sizeof(struct region)) {
		*why = "the shared region was made by another version";
		return false;
	}
	if (is.st_size == 0 && !may_grow()) {
		*why = "the shared region would be larger than a file may be (ulimit -f)";
		return false;
	}
	if (fallocate(fd, 0, 0, (off_t)sizeof(struct region)) != 0) {
		*why = "the shared region cannot be allocated: /dev/shm may be full";
		return false;
	}
	/* The umask, not us, chose the mode at creation; and others come in only now. */
	if (place->may_create && (is.st_mode & 07777) != place->file_mode)
		(void)fchmod(fd, place->file_mode);
	return true;
}

static struct region *open_file(int directory, const char *share, const struct place *place,
                                const char **why)
{
	char name[SHARE_NAME_MAX + sizeof(suffix)];
	struct text text;
	struct region *region = NULL;
	int flags = O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, fd;

	text_start(&text, name, sizeof(name));
	text_string(&text, share);
	text_string(&text, suffix);
	fd = openat(directory, name, place->may_create ? flags | O_CREAT : flags, 0600);
	if (fd < 0) {
		*why = errno == ENOENT && !place->may_create
		           ? "the host's shared region does not exist: root must make it first"
		           : "the file of the shared region cannot be opened";
		return NULL;
	}
	if (prepare_file(fd, place, why)) {
		region = map(fd, MAP_SHARED);
		if (!region)
			*why = "the shared region cannot be mapped";
	}
	real.close(fd);
	if (region && !adopt(region)) {
		*why = "the shared region was made by another version";
		munmap(region, sizeof(*region));
		region = NULL;
	}
	return region;
}

static struct region *open_shared(const char *base, const char *share, const struct place *place,
                                  const char **why)
{
	struct region *region;
	int directory;

	if (!share_name_valid(share)) {
		*why = "the share name is not 1 to 63 letters, digits, '.', '_', '-' without a '.' "
		       "first";
		return NULL;
	}
	directory = open_directory(base, place, why);
	if (directory < 0)
		return NULL;
	region = open_file(directory, share, place, why);
	real.close(directory);
	return region;
}

struct region *region_open_in(const char *base, enum scope scope, const char *share,
                              const char **why)
{
	struct place user = { NULL, 0700, 0600, geteuid(), true };
	/* For processes that start as root: whoever may write the file may also cut it short, and
	 * every program that maps it would die of SIGBUS. */
	struct place host = { "retrybudget", 0755, 0600, 0, geteuid() == 0 };
	struct region *region = NULL;

	*why = NULL;
	if (scope != SCOPE_PROCESS)
		region = open_shared(base, share, scope == SCOPE_HOST ? &host : &user, why);
	if (region)
		return region;
	region = open_process(why);
	if (region && scope != SCOPE_PROCESS)
		count(&region->faults);
	return region;
}

struct region *region_open(enum scope scope, const char *share, const char **why)
{
	return region_open_in(SHARED_MEMORY, scope, share, why);
}
