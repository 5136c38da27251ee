/* SPDX-License-Identifier: MIT */
/* A pid alone names nobody: numbers are given again. With the time of its start it does. */
#include "region/identity.h"

#include "config/current.h"
#include "region/steering.h"
#include "sys/process.h"
#include "sys/real.h"
#include "sys/text.h"
#include "sys/thread.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#define START_FIELD 22
#define AFTER_NAME  3 /* the field behind the name in parentheses */

int64_t identity_start_time(const char *text)
{
	const char *at = strrchr(text, ')');
	int64_t value = 0;

	if (!at)
		return 0;
	for (int field = AFTER_NAME; field <= START_FIELD; field++) {
		at = strchr(at, ' ');
		if (!at)
			return 0;
		at++;
	}
	for (; is_digit(*at); at++) {
		if (value > (INT64_MAX - 9) / 10)
			return 0;
		value = value * 10 + (*at - '0');
	}
	return *at == ' ' ? value : 0;
}

/* 0 without /proc, as in many a chroot. */
static int64_t own_start_time(void)
{
	char text[512];
	ssize_t n;
	int fd = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return 0;
	n = real.read(fd, text, sizeof(text) - 1);
	real.close(fd);
	if (n <= 0)
		return 0;
	text[n] = '\0';
	return identity_start_time(text);
}

/* The rest stays zero, as the mapping was. */
static void write_text(char *out, size_t size, const char *text)
{
	size_t n = strnlen(text, size - 1);

	memcpy(out, text, n);
}

/* Of those who share a region, whoever has read the file that its maker named tells what it says
 * now: the maker may have ended long ago. A request of an operator stands over its mode. */
static void follow_file(struct region *region, const struct config *config)
{
	struct region_identity *identity = &region->identity;
	struct steering_request request;
	char file[REGION_PATH] = "";

	if (!atomic_load(&identity->is_whole) ||
	    atomic_load(&identity->config_hash) == config->fingerprint)
		return;
	write_text(file, sizeof(file), config_file());
	if (strncmp(file, identity->config, sizeof(file)) != 0)
		return;
	atomic_store(&identity->config_hash, config->fingerprint);
	if (config_has_mode_of_file() &&
	    (steering_read(LOAD(region->steering.request), &request) != STEERING_GOOD ||
	     request.mode == STEERING_AS_IN_FILE))
		atomic_store(&identity->mode, config->general.mode);
}

void identity_write(struct region *region, enum scope scope, const struct config *config)
{
	struct region_identity *identity = &region->identity;
	int64_t nobody = 0;

	if (!atomic_compare_exchange_strong(&identity->pid, &nobody, thread_process())) {
		follow_file(region, config);
		return;
	}
	atomic_store(&identity->started, own_start_time());
	atomic_store(&identity->scope, scope);
	atomic_store(&identity->mode, config->general.mode);
	atomic_store(&identity->config_hash, config->fingerprint);
	write_text(identity->version, sizeof(identity->version), VERSION);
	write_text(identity->program, sizeof(identity->program), program_invocation_short_name);
	write_text(identity->config, sizeof(identity->config), config_file());
	atomic_store(&identity->is_whole, 1);
}

void identity_steered(struct region *region, const struct config *config)
{
	atomic_store(&region->identity.mode, config->general.mode);
	identity_refresh(region, config);
}

void identity_refresh(struct region *region, const struct config *config)
{
	struct region_identity *identity = &region->identity;

	if (atomic_load(&identity->scope) != SCOPE_PROCESS &&
	    atomic_load(&identity->pid) != process_id()) {
		follow_file(region, config);
		return;
	}
	atomic_store(&identity->mode, config->general.mode);
	atomic_store(&identity->config_hash, config->fingerprint);
}
