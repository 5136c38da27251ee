/* SPDX-License-Identifier: MIT */
/* Reads a path of cgroups from its end. Groups within a unit (Delegate= of systemd, the payload of
 * a container) are passed over. Paths are as systemd, Docker, Podman, CRI-O, containerd, ECS and
 * the kubelet make them, by either of their cgroup drivers. */
#include "dest/own_unit.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#define HEX    "0123456789abcdef"
#define DIGITS 32 /* of what numbers a container or a pod: so many, or 64 */

enum group { WITHIN, UNIT, MANY };

/* Scopes of what a person starts: in a session, or from a desktop or a terminal. */
static const char *const persons[] = { "session-", "app-", "vte-spawn-", "tmux-spawn-",
	                               "init.scope" };

static bool begins(const char *name, const char *with)
{
	return strncmp(name, with, strlen(with)) == 0;
}

static bool ends(const char *name, const char *with)
{
	size_t length = strlen(name), n = strlen(with);

	return length >= n && strcmp(name + length - n, with) == 0;
}

static bool is_of_a_person(const char *scope)
{
	for (size_t i = 0; i < sizeof(persons) / sizeof(*persons); i++)
		if (begins(scope, persons[i]))
			return true;
	return false;
}

/* libpod-NUMBER, NUMBER-1053176469. */
static bool has_number(const char *name)
{
	size_t run;

	while ((run = strspn(name, HEX)) < DIGITS) {
		if (name[run] == '\0')
			return false;
		name += run + 1;
	}
	return true;
}

static enum group group_of(const char *name)
{
	if (ends(name, ".service"))
		return begins(name, "user@") ? MANY : UNIT;
	if (ends(name, ".scope"))
		return is_of_a_person(name) ? MANY : UNIT;
	if (ends(name, ".slice"))
		return MANY;
	return has_number(name) ? UNIT : WITHIN;
}

/* Whether it names a pod, and nothing more then: podUID, or kubepods-burstable-podUID.slice, which
 * may be the first of three names (:cri-containerd:NUMBER). */
static bool cut_to_pod(char *name)
{
	char *slice;

	if (!begins(name, "kubepods"))
		return begins(name, "pod") && strspn(name + 3, HEX "-_") >= DIGITS;
	slice = strstr(name, "-pod");
	slice = slice ? strstr(slice, ".slice") : NULL;
	if (slice)
		slice[strlen(".slice")] = '\0';
	return slice;
}

static bool cut_to_unit(char *path)
{
	for (char *slash, *above; (slash = strrchr(path, '/')); *slash = '\0') {
		enum group group;

		if (cut_to_pod(slash + 1))
			return true;
		group = group_of(slash + 1);
		if (group == MANY)
			return false;
		if (group == WITHIN)
			continue;
		*slash = '\0';
		above = strrchr(path, '/');
		if (!above || !cut_to_pod(above + 1))
			*slash = '/';
		return true;
	}
	return false;
}

/* Who started what is known to systemd, where it runs. With both versions of cgroups, the second
 * may name what started the container. */
static int rank_of(const char *controllers)
{
	return begins(controllers, "name=systemd:") ? 0 : *controllers == ':' ? 1 : 2;
}

const char *own_unit(char *text)
{
	char *found = NULL;
	int best = 3;

	for (char *line = text, *end; (end = strchr(line, '\n')); line = end + 1) {
		char *controllers, *path;

		*end = '\0';
		controllers = strchr(line, ':');
		path = controllers ? strstr(controllers + 1, ":/") : NULL;
		if (path && rank_of(controllers + 1) < best && cut_to_unit(path + 1)) {
			best = rank_of(controllers + 1);
			found = path + 1;
		}
	}
	return found;
}
