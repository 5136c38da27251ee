/* SPDX-License-Identifier: MIT */
/*
 * Anybody may make names in /dev/shm, and a member of a share may make any name in its directory:
 * nothing here waits for, follows, opens or maps a file that it finds. A name that leads to nothing
 * is taken away and made anew by whoever may; where it cannot be had, the program gets a region of
 * its own.
 */
#include "region/shared.h"

#include "sys/process.h"
#include "sys/random.h"
#include "sys/real.h"
#include "sys/status.h"
#include "sys/text.h"
#include "sys/thread.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <string.h>
#include <unistd.h>

#define TRIES 8 /* a name that others change all the time */

static struct segment_rights rights_of_share;

static struct {
	int id;
	int64_t mark;
} segment_of_share;

struct place {
	int directory;
	char name[SHARE_FILE];
	struct segment_rights rights; /* of what is made here */
	bool is_host;
	bool may_make;
	bool by_members; /* who is in the group may have made it */
};

const struct segment_rights *share_rights(void)
{
	return &rights_of_share;
}

bool share_is_here(void)
{
	return segment_mark(segment_of_share.id) == segment_of_share.mark;
}

/* Also of a link, which is not followed. */
static bool status_below(int directory, const char *name, struct stat64 *is)
{
	return syscall(SYS_STATUS, directory, name, is, AT_SYMLINK_NOFOLLOW) == 0;
}

static bool path_of(const char *base, bool is_host, uid_t user, char *path, size_t size)
{
	struct text text;

	text_start(&text, path, size);
	return text_string(&text, base) && text_string(&text, "/") &&
	       text_string(&text, is_host ? "retrybudget" : "retrybudget-") &&
	       (is_host || text_decimal(&text, user));
}

/* A directory counts only if it belongs to the right user and no stranger can change it. */
static bool is_trusted(struct place *place, uid_t user)
{
	struct stat64 is;

	if (!status_of(place->directory, &is) || is.st_uid != (place->is_host ? 0 : user))
		return false;
	if (!place->is_host) {
		if (is.st_mode & 07077)
			return false;
		if ((is.st_mode & 0700) != 0700) /* the umask may have taken something away */
			(void)fchmod(place->directory, 0700);
		return true;
	}
	if ((is.st_mode & 010) && !(is.st_mode & 07)) {
		place->rights.group = is.st_gid;
		place->rights.mode = 0660;
	}
	place->by_members = place->rights.mode == 0660 && is.st_mode & 020;
	place->may_make |= place->by_members;
	return !(is.st_mode & (place->rights.mode == 0660 ? 02 : 022));
}

static const char not_for_us[] = "the shared region is for root, or for the group of its directory";

static const char *why_not_opened(const struct place *place, int error)
{
	if (place->is_host && error == ENOENT)
		return "/dev/shm/retrybudget, for the host's shared regions, does not exist: the "
		       "administrator must make it";
	return place->is_host && error == EACCES
	           ? not_for_us
	           : "the directory of the shared region cannot be opened";
}

static bool open_place(const char *base, const char *share, struct place *place, const char **why)
{
	uid_t user = geteuid();
	char path[256];

	place->rights = (struct segment_rights) { user, 0, 0600 };
	place->may_make = !place->is_host || user == 0;
	if (!share_file_name(share, place->name) ||
	    !path_of(base, place->is_host, user, path, sizeof(path))) {
		*why = "the path of the shared region is too long";
		return false;
	}
	if (!place->is_host)
		(void)mkdir(path, 0700); /* EEXIST is the usual case */
	place->directory = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (place->directory < 0) {
		*why = why_not_opened(place, errno);
		return false;
	}
	if (is_trusted(place, user))
		return true;
	*why = place->is_host
	           ? "/dev/shm/retrybudget can be changed by others: make it anew, root's, "
	             "with mode 0755"
	           : "the directory of the shared region, retrybudget-UID in /dev/shm, can "
	             "be changed by others: remove it";
	real.close(place->directory);
	return false;
}

enum link_state {
	LINK_GOOD,
	LINK_NONE,
	LINK_FALSE, /* something else has that name */
	LINK_STALE, /* it leads to nothing */
};

static enum link_state read_link(const struct place *place, char text[SHARE_TEXT],
                                 struct share_link *link, struct segment_rights *rights)
{
	struct stat64 is;
	ssize_t n;

	if (!status_below(place->directory, place->name, &is))
		return errno == ENOENT ? LINK_NONE : LINK_FALSE;
	*rights = place->rights;
	rights->owner = is.st_uid;
	n = S_ISLNK(is.st_mode) ? readlinkat(place->directory, place->name, text, SHARE_TEXT - 1)
	                        : -1;
	if (n < 0 ||
	    (is.st_uid != (place->is_host ? 0 : place->rights.owner) && !place->by_members))
		return LINK_FALSE;
	text[n] = '\0';
	return share_link_read(text, link) ? LINK_GOOD : LINK_STALE;
}

/* NULL with *state: LINK_STALE, or LINK_FALSE with *why. */
static struct region *map_link(const struct share_link *link, const struct segment_rights *rights,
                               enum link_state *state, const char **why)
{
	struct region *region;
	void *at;

	*state = LINK_STALE;
	switch (segment_map(link->id, sizeof(*region), rights, &at)) {
	case SEGMENT_GOOD:
		break;
	case SEGMENT_DENIED:
		*state = LINK_FALSE;
		*why = errno == EACCES ? not_for_us : "the shared region cannot be mapped";
		return NULL;
	case SEGMENT_GONE:
	case SEGMENT_FOREIGN:
	default:
		return NULL;
	}
	region = at;
	if (LOAD_ACQUIRE(region->magic) == REGION_MAGIC && LOAD(region->nonce) == link->nonce &&
	    LOAD(region->size) == (int64_t)sizeof(*region)) {
		*state = LINK_GOOD;
		return region;
	}
	segment_drop(link->id, at, false);
	return NULL;
}

/* NULL with errno; EEXIST: somebody was faster. */
static struct region *make(const struct place *place, struct share_link *link)
{
	char text[SHARE_TEXT];
	struct timespec now;
	int saved;
	void *at;

	libc_own.clock_gettime(CLOCK_REALTIME, &now);
	segment_sweep(now.tv_sec);
	link->nonce = (int64_t)(random_next(thread_random()) >> 16);
	link->id = segment_make(SEGMENT_REGION, sizeof(struct region), &place->rights, &at);
	if (link->id < 0)
		return NULL;
	region_begin(at, link->nonce);
	share_link_text(link, text);
	if (symlinkat(text, place->directory, place->name) == 0)
		return at;
	saved = errno;
	segment_drop(link->id, at, true);
	errno = saved;
	return NULL;
}

/*
 * Takes a name away that leads to nothing, for one that does. Whoever has made it anew meanwhile
 * gets it back: the name goes to one that nobody else takes, and is looked at there.
 */
static bool take_away(const struct place *place, const char *stale)
{
	char aside[64], text[SHARE_TEXT];
	struct text name;
	ssize_t n;

	text_start(&name, aside, sizeof(aside));
	text_string(&name, ".stale-");
	text_decimal(&name, process_id());
	text_string(&name, "-");
	text_decimal(&name, (int64_t)(random_next(thread_random()) >> 16));
	if (renameat(place->directory, place->name, place->directory, aside) != 0)
		return errno == ENOENT;
	n = readlinkat(place->directory, aside, text, sizeof(text) - 1);
	text[n < 0 ? 0 : n] = '\0';
	if (strcmp(text, stale) != 0)
		(void)syscall(SYS_renameat2, place->directory, aside, place->directory, place->name,
		              RENAME_NOREPLACE);
	(void)unlinkat(place->directory, aside, 0);
	return true;
}

static const char *reason(int error)
{
	switch (error) {
	case ENOSPC:
	case ENOMEM:
		return "the shared region cannot be allocated: shared memory may be full (ipcs "
		       "-lm)";
	case EROFS:
	case EACCES:
		return "the name of the shared region cannot be made: its directory is read-only";
	default:
		return "the shared region cannot be made: there is no System V shared memory, or a "
		       "sandbox forbids it";
	}
}

/* One look. NULL with *why; with *why NULL look again. */
static struct region *look(const struct place *place, const char **why)
{
	struct segment_rights rights = { 0 };
	struct share_link link = { 0 };
	struct region *region = NULL;
	char text[SHARE_TEXT];
	enum link_state state = read_link(place, text, &link, &rights);

	if (state == LINK_GOOD)
		region = map_link(&link, &rights, &state, why);
	if (!region && state == LINK_STALE && place->may_make) {
		if (!take_away(place, text))
			*why = reason(errno);
		return NULL;
	}
	if (state == LINK_NONE && place->may_make) {
		region = make(place, &link);
		rights = place->rights;
		if (!region && errno != EEXIST)
			*why = reason(errno);
	}
	if (region) {
		rights_of_share = rights;
		segment_of_share.id = link.id;
		segment_of_share.mark = segment_mark(link.id);
		return region;
	}
	if (state == LINK_FALSE && !*why)
		*why = "the name of the shared region is not ours alone: remove it";
	else if (!*why && !place->may_make)
		*why = "the host's shared region does not exist: root must make it first";
	return NULL;
}

struct region *share_map(const char *base, enum scope scope, const char *share, const char **why)
{
	struct place place = { .is_host = scope == SCOPE_HOST };
	struct region *region = NULL;

	if (!share_name_valid(share)) {
		*why = "the share name is not 1 to 63 letters, digits, '.', '_', '-' without a '.' "
		       "first";
		return NULL;
	}
	if (!open_place(base, share, &place, why))
		return NULL;
	for (int i = 0; i < TRIES && !region && !*why; i++)
		region = look(&place, why);
	real.close(place.directory);
	if (!region && !*why)
		*why = "the name of the shared region changes all the time";
	return region;
}
