/* SPDX-License-Identifier: MIT */
/* Files that must not be used at all: each is said why, and the defaults hold. */
#include "config_fixture.h"

#include "config/read.h"

TestSuite(config_file, .init = make_folder, .fini = remove_folder);

static void expect_defaults(void)
{
	static struct config plain;

	config_defaults(&plain);
	cr_expect_eq(memcmp(&config.general, &plain.general, sizeof(plain.general)), 0);
	cr_expect_eq(memcmp(&config.log, &plain.log, sizeof(plain.log)), 0);
	cr_expect_eq(memcmp(&config.process, &plain.process, sizeof(plain.process)), 0);
	cr_expect_eq(memcmp(&config.policies[0], &plain.policies[0], sizeof(struct policy)), 0);
	cr_expect_eq(config.policy_count, 1);
	cr_expect_eq(config.pattern_count, 0);
}

static void expect_refused(const char *why)
{
	cr_expect_eq(read_path(), -1, "used although it %s", why);
	cr_expect_eq(messages, 1, "%s", said);
	expect_said(why);
	expect_defaults();
}

#define OTHERWISE_GOOD "[log]\ntrace = 5\n[destination a]\nmatch = x\n"

Test(config_file, missing)
{
	expect_refused("0: does not exist");
	said[0] = '\0';
	messages = 0;
	cr_expect_eq(config_read(&config, path, true, note, NULL), -1);
	cr_expect_eq(messages, 0);
	expect_defaults();
	cr_expect_eq(config_read(&config, path, true, NULL, NULL), -1, "nobody listens");
}

Test(config_file, unreadable)
{
	read_text(OTHERWISE_GOOD);
	cr_assert_eq(chmod(path, 0), 0);
	if (geteuid() == 0)
		cr_assert_eq(seteuid(65534), 0);
	expect_refused("0: cannot be read: permission denied");
	if (getuid() == 0)
		cr_assert_eq(seteuid(0), 0);
}

Test(config_file, oversized)
{
	static char text[65537];

	memset(text, '\n', sizeof(text));
	memcpy(text, OTHERWISE_GOOD, strlen(OTHERWISE_GOOD));
	write_bytes(text, 65536);
	cr_expect_eq(read_path(), 0, "%s", said);
	cr_expect_eq(config.log.trace, 5);
	write_bytes(text, 65537);
	expect_refused("0: is larger than 64 KiB");
}

Test(config_file, binary)
{
	static const char nul[] = OTHERWISE_GOOD "x = \0y\n";
	static const char *const others[] = { OTHERWISE_GOOD "\x01", OTHERWISE_GOOD "\x7f\n",
		                              OTHERWISE_GOOD "; \x1b[31m\n",
		                              OTHERWISE_GOOD "a = b\rc = d\n",
		                              OTHERWISE_GOOD "\f" };

	write_bytes(nul, sizeof(nul) - 1);
	expect_refused("5: a byte that no text file has");
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
		write_bytes(others[i], strlen(others[i]));
		expect_refused("5: a byte that no text file has");
	}
	write_bytes("\x7f"
	            "ELF\2\1\1\0",
	            8);
	expect_refused("1: a byte that no text file has");
}

Test(config_file, folder)
{
	cr_assert_eq(mkdir(path, 0755), 0);
	expect_refused("0: is not a regular file");
}

/* Opening a FIFO that nobody writes to must not wait. */
Test(config_file, fifo, .timeout = 20)
{
	cr_assert_eq(mkfifo(path, 0644), 0);
	expect_refused("0: is not a regular file");
}

Test(config_file, symbolic_link)
{
	char other[128];

	snprintf(other, sizeof(other), "%s/other", folder);
	read_text(OTHERWISE_GOOD);
	cr_assert_eq(rename(path, other), 0);
	cr_assert_eq(symlink(other, path), 0);
	expect_refused("0: is a symbolic link: name the file itself");
}

Test(config_file, written_by_others)
{
	struct source source = {
		.file = path, .owned_by_root = true, .mode = MODE_AS_IN_FILE, .complain = note
	};
	struct identity identity;
	uint32_t fingerprint;

	read_text(OTHERWISE_GOOD);
	if (geteuid() != 0) {
		/* A file of this user is one that root's programs refuse. */
		cr_expect_eq(config_read_source(&config, &source, &identity, &fingerprint),
		             READING_FAILED);
		expect_said("does not belong to root");
		return;
	}
	cr_expect_eq(read_path(), 0);
	chmod(path, 0664);
	expect_refused("0: can be written by others than root");
	chmod(path, 0646);
	expect_refused("0: can be written by others than root");
	chmod(path, 0644);
	cr_assert_eq(chown(path, 65534, 0), 0);
	expect_refused("0: does not belong to root");
	/* Who is not root may use what he can read. */
	chmod(path, 0666);
	cr_assert_eq(seteuid(65534), 0);
	cr_expect_eq(read_path(), 0, "%s", said);
	cr_assert_eq(seteuid(0), 0);
}

static int open_descriptors(void)
{
	int n = 0;

	for (int fd = 0; fd < 256; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

/* Random bytes, and good files with some bytes changed: no crash, no leak, always valid values. */
Test(config_file, noise, .timeout = 120)
{
	static const char good[] = "[retrybudget]\nmode = observe ; x\n[log]\ntrace = 1\n[budget]\n"
				   "floor = 12/min\n[destination default]\nprobe = 1s\n"
				   "[destination a]\nmatch = *.x:1-2, 10.0.0.0/8:5, [::1]/128:3\n"
				   "match = unix:/a*, dns:b?\nearn = 10%\n";
	static const char likely[] = "[]=:;#,/*?.\n\r\t 019abx\xff";
	unsigned seed = 4711;
	int before = open_descriptors(), good_ones = 0;

	for (int round = 0; round < 3000; round++) {
		char text[1024];
		size_t n = sizeof(good) - 1;

		memcpy(text, good, n);
		if (round % 3 == 0)
			n = (size_t)rand_r(&seed) % sizeof(text);
		for (size_t i = 0; i < n; i++) {
			if (round % 3 == 0)
				text[i] = likely[(size_t)rand_r(&seed) % (sizeof(likely) - 1)];
			else if (rand_r(&seed) % 40 == 0)
				text[i] =
				    round % 3 == 1
					? (char)rand_r(&seed)
					: likely[(size_t)rand_r(&seed) % (sizeof(likely) - 1)];
		}
		write_bytes(text, n);
		good_ones += read_path() >= 0;
		cr_assert_geq(config.policy_count, 1);
		cr_assert_leq(config.policy_count, CONFIG_POLICIES);
		cr_assert_eq(config.text[CONFIG_TEXT - 1], '\0');
		for (int i = 0; i < config.policy_count; i++) {
			const struct policy *policy = &config.policies[i];

			cr_assert(policy->probe >= 100 * NS_PER_MS &&
			          policy->probe <= 3600 * NS_PER_S);
			cr_assert(policy->bucket.capacity >= MT_PER_TOKEN);
			cr_assert(policy->bucket.threshold <= PPM_WHOLE * 9 / 10);
			cr_assert(policy->backoff.factor >= 1000);
			cr_assert(policy->mode >= MODE_OFF && policy->mode <= MODE_ENFORCE);
		}
		for (int i = 0; i < config.pattern_count; i++)
			cr_assert_lt(config.patterns[i].policy, config.policy_count);
	}
	cr_expect_gt(good_ones, 1000);
	cr_expect_eq(open_descriptors(), before);
}
