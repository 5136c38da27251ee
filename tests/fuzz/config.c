// SPDX-License-Identifier: MIT
/* The configuration file: whatever it holds, what comes out of it is in range, and reading it again
 * gives the same. */
#include "config/config.h"
#include "config/keys.h"
#include "config/read.h"
#include "config/match.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <fcntl.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int complaints;

static void complain(void *arg, const char *file, int line, const char *message)
{
	(void)arg, (void)file;
	complaints++;
	if (line < 0 || line > FILE_LIMIT || message[0] == '\0')
		abort();
	for (const char *at = message; *at; at++)
		if ((unsigned char)*at < ' ' || (unsigned char)*at > '~')
			abort();
}

static void check(const struct config *config)
{
	if (config->policy_count < 1 || config->policy_count > CONFIG_POLICIES ||
	    config->pattern_count < 0 || config->pattern_count > CONFIG_PATTERNS ||
	    config->text_used > CONFIG_TEXT || !share_name_valid(config->general.share))
		abort();
	for (int i = 0; i < config->policy_count; i++) {
		const struct policy *policy = &config->policies[i];

		if (policy->mode < MODE_OFF || policy->mode > MODE_ENFORCE || policy->probe <= 0 ||
		    policy->bucket.capacity < 1 || policy->backoff.base < 0 || policy->hold < 0 ||
		    memchr(config->labels[i], 0, CONFIG_LABEL) == NULL)
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint8_t address[16] = { [10] = 0xff, [11] = 0xff, [12] = 10, [15] = 1 };
	static struct config config, again;
	static char path[64];
	struct target targets[] = { { "db.internal", address, 5432 },
		                    { "unix:/run/app/1.sock", NULL, 0 },
		                    { "dns:db.internal", NULL, 0 } };
	int fd, result, before;

	if (path[0] == '\0')
		(void)snprintf(path, sizeof(path), "/dev/shm/retrybudget-fuzz-%d.ini", getpid());
	fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	close(fd);
	complaints = 0;
	memset(&config, 0xa5, sizeof(config));
	memset(&again, 0xa5, sizeof(again));
	result = config_read(&config, path, false, complain, NULL);
	if ((result == 0) != (complaints == 0))
		abort();
	check(&config);
	for (size_t i = 0; i < sizeof(targets) / sizeof(*targets); i++) {
		int policy = config_match(&config, &targets[i]);

		if (policy < 0 || policy >= config.policy_count)
			abort();
	}
	before = complaints;
	if (config_read(&again, path, false, complain, NULL) != result ||
	    complaints != 2 * before || again.policy_count != config.policy_count ||
	    memcmp(&again.general, &config.general, sizeof(config.general)) != 0)
		abort();
	unlink(path);
	return 0;
}
