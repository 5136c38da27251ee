/* SPDX-License-Identifier: MIT */
/* The names of shares: those of files, and those that users type. */
#include "tool/share_name.h"

#include "config/scope.h"
#include "region/shared.h"
#include "sys/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* What namespaces add to a name, from its first '+'. False: nobody has written that. */
static bool spaces_of(const char *added, uint64_t *network, uint64_t *space)
{
	int64_t number;
	bool is_both;

	*network = SHARE_SPACE_UNKNOWN;
	*space = SHARE_SPACE_OF_MACHINE;
	if (!added)
		return true;
	is_both = strchr(++added, '+');
	if (!text_number(&added, is_both ? '+' : '\0', &number))
		return false;
	*network = (uint64_t)number;
	if (is_both && !text_number(&added, '\0', &number))
		return false;
	if (is_both)
		*space = (uint64_t)number;
	return true;
}

bool share_name_read(const char *file, struct share *share)
{
	static char ours[SHARE_FILE];
	const char *plus = strchr(file, '+');
	size_t n = plus ? (size_t)(plus - file) : strlen(file);
	uint64_t network, our_space, space;

	if ((!*ours && !share_file_name("x", ours)) ||
	    !spaces_of(strchr(ours, '+'), &network, &our_space) ||
	    !spaces_of(plus, &share->network, &space) || space != our_space)
		return false;
	share->is_elsewhere = share->network != SHARE_SPACE_UNKNOWN && share->network != network;
	if (n < sizeof("x-v1") - 1 || n - 3 >= sizeof(share->name) ||
	    memcmp(file + n - 3, "-v", 2) != 0)
		return false;
	share->layout = file[n - 1];
	if (share->layout < '0' || share->layout > 'z')
		return false;
	memcpy(share->name, file, n - 3);
	share->name[n - 3] = '\0';
	return share_name_valid(share->name);
}

void share_label(const struct share *share, char label[SHARE_LABEL])
{
	int n = snprintf(label, SHARE_LABEL, "%s/%s", share->owner, share->name);

	if (share->is_elsewhere)
		(void)snprintf(label + n, SHARE_LABEL - (size_t)n, "+%" PRIu64, share->network);
}

/* NAME of our own network namespace, or NAME+NUMBER. */
static bool is_named(const struct share *share, const char *word)
{
	size_t n = strlen(share->name);
	int64_t number;

	if (strncmp(word, share->name, n) != 0)
		return false;
	word += n;
	if (!*word)
		return !share->is_elsewhere;
	return *word++ == '+' && text_number(&word, '\0', &number) &&
	       (uint64_t)number == share->network;
}

bool share_is(const struct share *share, const char *word)
{
	const char *slash = strchr(word, '/');
	char number[16];
	size_t n;

	if (!slash)
		return is_named(share, word);
	n = (size_t)(slash - word);
	(void)snprintf(number, sizeof(number), "%u", share->user);
	return is_named(share, slash + 1) &&
	       ((strlen(share->owner) == n && memcmp(share->owner, word, n) == 0) ||
	        (!share->is_host && strlen(number) == n && memcmp(number, word, n) == 0));
}
