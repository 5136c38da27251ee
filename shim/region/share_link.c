/* SPDX-License-Identifier: MIT */
/* What the link of a share is called, and what it says. */
#include "region/share_link.h"

#include "sys/status.h"
#include "sys/text.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static const char magic[] = "retrybudget:";

void share_link_text(const struct share_link *link, char text[SHARE_TEXT])
{
	struct text out;

	text_start(&out, text, SHARE_TEXT);
	text_string(&out, magic);
	text_decimal(&out, link->id);
	text_string(&out, ":");
	text_decimal(&out, link->nonce);
}

bool share_link_read(const char *text, struct share_link *link)
{
	int64_t id;

	if (strncmp(text, magic, sizeof(magic) - 1) != 0)
		return false;
	text += sizeof(magic) - 1;
	if (!text_number(&text, ':', &id) || id > INT32_MAX ||
	    !text_number(&text, '\0', &link->nonce))
		return false;
	link->id = (int32_t)id;
	return true;
}

/* The number of a namespace of this process. Where it cannot be told (no /proc, or a kernel without
 * such namespaces) it counts as the one that is given. */
static uint64_t own_space(const char *path, uint64_t unknown)
{
	struct stat64 is;

	return syscall(SYS_STATUS, AT_FDCWD, path, &is, 0) == 0 ? is.st_ino : unknown;
}

/* An address is another server in another network namespace. And a container that has the directory
 * mounted, but segments of its own, must not take the names of others for its own, nor for
 * stale. */
bool share_file_name(const char *share, char name[SHARE_FILE])
{
	const char suffix[] = { '-', 'v', REGION_LAYOUT, '\0' };
	uint64_t network = own_space("/proc/self/ns/net", SHARE_SPACE_UNKNOWN),
		 space = own_space("/proc/self/ns/ipc", SHARE_SPACE_OF_MACHINE);
	bool is_machine = space == SHARE_SPACE_OF_MACHINE;
	struct text text;

	text_start(&text, name, SHARE_FILE);
	return text_string(&text, share) && text_string(&text, suffix) &&
	       ((network == SHARE_SPACE_UNKNOWN && is_machine) ||
	        (text_string(&text, "+") && text_decimal(&text, (int64_t)network))) &&
	       (is_machine || (text_string(&text, "+") && text_decimal(&text, (int64_t)space)));
}
