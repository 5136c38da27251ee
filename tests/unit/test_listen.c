/* SPDX-License-Identifier: MIT */
/* [admission] sections: what their lines say, and which listening socket gets which of them. */
#include "config_fixture.h"

#include "config/listen.h"
#include "config/read.h"

#include <arpa/inet.h>
#include <stddef.h>
#include <sys/un.h>

TestSuite(listen, .init = make_folder, .fini = remove_folder);

struct bad {
	const char *text, *said;
};

static const struct bad bads[] = {
	{ "[admission]\n", "1: a label is missing: [admission NAME]" },
	{ "[admission a b]\n", "1: a label is made of letters, digits" },
	{ "[log]\n[admission a]\nrate = 1/s\n", "2: this section has no listen line" },
	{ "[admission a]\nlisten = :1\n[admission a]\nlisten = :2\n",
	  "3: 'a' stands already in line 1" },
	{ "[admission a]\nlisten = :1\n[admission b]\nlisten = :2, *:1\n",
	  "4: listen '*:1' stands already in [admission a]; keep one of them" },
	{ "[admission a]\nlisten = unix:/x, unix:/x\n",
	  "2: listen 'unix:/x' stands already in [admission a]" },
	{ "[admission a]\nlisten = 80\n", "2: listen '80': write :8080" },
	{ "[admission a]\nlisten = :0\n", "2: listen ':0': the port is 1 to 65535" },
	{ "[admission a]\nlisten = :65536\n", "2: listen ':65536': the port is" },
	{ "[admission a]\nlisten = :8.5\n", "2: listen ':8.5': the port is" },
	{ "[admission a]\nlisten = web:80\n", "2: listen 'web:80': this is not an address" },
	{ "[admission a]\nlisten = ::1:80\n", "this is not an address; write :8080" },
	{ "[admission a]\nlisten = [::1:80\n", "this is not an address" },
	{ "[admission a]\nlisten = 1.2.3.4:\n", "the port is 1 to 65535" },
	{ "[admission a]\nlisten = :1,\n", "2: listen '': it is empty; separate addresses" },
	{ "[admission a]\nlisten = unix:run\n", "after unix: comes a path from '/'" },
	{ "[admission a]\nlisten = :1\nrate = 0\n", "3: rate = '0' is out of range: 0.001/s to" },
	{ "[admission a]\nlisten = :1\nburst = 0.5\n", "3: burst = '0.5' is out of range: 1 to" },
	{ "[admission a]\nlisten = :1\nreply = drop\n",
	  "3: reply = 'drop' is not one of: reset | close | http" },
	{ "[admission a]\nlisten = :1\nretry_after = 0\n", "out of range: 1s to 24h" },
	{ "[admission a]\nlisten = :1\nmatch = x\n",
	  "3: unknown key 'match' in this section; write it below a line [destination NAME]" },
	{ "[budget]\nretry_after = 3s\n", "2: unknown key 'retry_after' in this section; write it "
	                                  "below a line [admission NAME]" },
	{ "[admision web]\n", "1: unknown section 'admision web'; did you mean [admission NAME]?" },
};

Test(listen, every_bad_line_has_its_message)
{
	for (size_t i = 0; i < sizeof(bads) / sizeof(bads[0]); i++) {
		cr_expect_eq(read_text(bads[i].text), 1, "%s", bads[i].text);
		cr_expect_eq(messages, 1, "%s\n%s", bads[i].text, said);
		expect_said(bads[i].said);
	}
}

static int find_v4(const char *address, uint16_t port)
{
	struct sockaddr_in in = { .sin_family = AF_INET, .sin_port = htons(port) };

	cr_assert_eq(inet_pton(AF_INET, address, &in.sin_addr), 1);
	return listener_find(&config, (struct sockaddr *)&in, sizeof(in));
}

static int find_v6(const char *address, uint16_t port)
{
	struct sockaddr_in6 in6 = { .sin6_family = AF_INET6, .sin6_port = htons(port) };

	cr_assert_eq(inet_pton(AF_INET6, address, &in6.sin6_addr), 1);
	return listener_find(&config, (struct sockaddr *)&in6, sizeof(in6));
}

static int find_path(const char *name, size_t n)
{
	struct sockaddr_un un = { .sun_family = AF_UNIX };

	memcpy(un.sun_path, name, n);
	return listener_find(&config, (struct sockaddr *)&un,
	                     (socklen_t)(offsetof(struct sockaddr_un, sun_path) + n));
}

Test(listen, sockets_find_their_section)
{
	cr_assert_eq(read_text("[admission any]\nlisten = :80, *:81\nlisten = :82\n"
	                       "[admission one]\nlisten = 127.0.0.1:80, [::]:80, [fe80::1]:82\n"
	                       "[admission path]\nlisten = unix:/run/x, unix:@name\n"
	                       "[admission late]\nlisten = 10.0.0.1:84\n"
	                       "[admission later]\nlisten = :84\n"),
	             0, "%s", said);
	cr_expect_eq(find_v4("0.0.0.0", 80), 0);
	cr_expect_eq(find_v4("127.0.0.1", 80), 1);
	cr_expect_eq(find_v6("::ffff:127.0.0.1", 80), 1, "the same address");
	cr_expect_eq(find_v6("::", 80), 1);
	cr_expect_eq(find_v6("::1", 80), 0);
	cr_expect_eq(find_v4("10.0.0.1", 81), 0);
	cr_expect_eq(find_v6("fe80::1", 82), 1);
	cr_expect_eq(find_v6("fe80::2", 82), 0);
	cr_expect_eq(find_v4("127.0.0.1", 83), -1);
	cr_expect_eq(find_v4("10.0.0.1", 84), 3, "whichever stands first");
	cr_expect_eq(find_v4("10.0.0.2", 84), 4);
	cr_expect_eq(find_path("/run/x", 7), 2);
	cr_expect_eq(find_path("/run/x", 6), 2, "without its NUL, as the kernel also takes it");
	cr_expect_eq(find_path("/run/xy", 8), -1);
	cr_expect_eq(find_path("\0name", 5), 2);
	cr_expect_eq(find_path("\0names", 6), -1);
	cr_expect_eq(find_path("", 0), -1, "bound to nothing");
}

/* What is printed reads back as the same. */
Test(listen, printed_as_written)
{
	static const char *const written[] = { ":80",       "127.0.0.1:80",      "0.0.0.0:1",
		                               "[::]:80",   "[2001:db8::7]:443", "unix:/run/x",
		                               "unix:@name" };
	char printed[256];
	struct text text;
	int twin;

	config_defaults(&config);
	for (int i = 0; i < 7; i++) {
		text_start(&text, said, sizeof(said));
		cr_assert(listener_add(&config, 0, written[i], strlen(written[i]), &twin, &text),
		          "%s", said);
		text_start(&text, printed, sizeof(printed));
		listener_print(&config, i, &text);
		cr_expect_str_eq(printed, written[i]);
	}
}

Test(listen, values_and_defaults)
{
	cr_assert_eq(read_text("[admission a]\nlisten = :80\n"
	                       "[admission b]\nlisten = :81\nrate = 30/min\nburst = 2.5\n"
	                       "reply = http\nretry_after = 1500ms\nmode = observe\n"),
	             0, "%s", said);
	cr_expect_eq(config.admission_count, 2);
	cr_expect_str_eq(config.admission_labels[1], "b");
	cr_expect_eq(config.admissions[0].mode, MODE_ENFORCE);
	cr_expect_eq(config.admissions[0].rate, 100000);
	cr_expect_eq(config.admissions[0].burst, 10000);
	cr_expect_eq(config.admissions[0].reply, REPLY_RESET);
	cr_expect_eq(config.admissions[0].retry_after, NS_PER_S);
	cr_expect_eq(config.admissions[1].mode, MODE_OBSERVE);
	cr_expect_eq(config.admissions[1].rate, 500);
	cr_expect_eq(config.admissions[1].burst, 2500);
	cr_expect_eq(config.admissions[1].reply, REPLY_HTTP);
	/* A smaller file read into the same place leaves nothing of the larger one. */
	cr_assert_eq(read_text("[log]\n"), 0);
	cr_expect_eq(config.admission_count, 0);
	cr_expect_eq(find_v4("127.0.0.1", 80), -1);
}

static int32_t mode_in(const char *text, int32_t environment)
{
	struct source source = { .file = path, .mode = environment, .complain = note };
	struct identity identity;
	uint32_t fingerprint;

	write_bytes(text, strlen(text));
	cr_assert_eq(config_read_source(&config, &source, &identity, &fingerprint), READING_GOOD);
	return config.admissions[0].mode;
}

Test(listen, modes)
{
	static const char plain[] = "[admission a]\nlisten = :1\n[retrybudget]\nmode = observe\n";
	static const char own[] = "[retrybudget]\nmode = off\n[admission a]\nlisten = :1\n"
				  "mode = enforce\n";

	cr_expect_eq(mode_in(plain, MODE_AS_IN_FILE), MODE_OBSERVE);
	cr_expect_eq(mode_in(plain, MODE_ENFORCE), MODE_ENFORCE);
	cr_expect_eq(mode_in(plain, MODE_OFF), MODE_OFF);
	cr_expect_eq(mode_in(own, MODE_AS_IN_FILE), MODE_ENFORCE, "an [admission] section alone");
	cr_expect_eq(mode_in(own, MODE_OBSERVE), MODE_OBSERVE);
}

Test(listen, more_than_there_is_room_for)
{
	char text[8192] = "";
	size_t used = 0;

	for (int i = 0; i < CONFIG_ADMISSIONS + 1; i++)
		used += (size_t)snprintf(text + used, sizeof(text) - used,
		                         "[admission a%d]\nlisten = :%d\n", i, i + 1);
	cr_expect_eq(read_text(text), 1);
	expect_said("33: too many sections: there is room for 16");
	cr_expect_eq(config.admission_count, CONFIG_ADMISSIONS);
	used = (size_t)snprintf(text, sizeof(text), "[admission a]\n");
	for (int i = 0; i < CONFIG_LISTENERS + 1; i++)
		used += (size_t)snprintf(text + used, sizeof(text) - used, "listen = :%d\n", i + 1);
	cr_expect_eq(read_text(text), 1);
	expect_said("66: listen ':65': no more than 64 addresses in all");
	cr_expect_eq(config.listener_count, CONFIG_LISTENERS);
}

Test(listen, origins_of_values)
{
	static struct origins origins;
	struct source source = {
		.file = path, .mode = MODE_AS_IN_FILE, .origins = &origins, .complain = note
	};
	struct identity identity;
	uint32_t fingerprint;
	static const char text[] = "[admission a]\nlisten = :1\n[admission b]\n"
				   "listen = :2, :3\nlisten = :4\nrate = 1/s\n";

	write_bytes(text, strlen(text));
	cr_assert_eq(config_read_source(&config, &source, &identity, &fingerprint), READING_GOOD);
	cr_expect_eq(origins.admission[1][KEY_ADMISSION_rate], 6);
	cr_expect_eq(origins.admission[0][KEY_ADMISSION_rate], 0);
	cr_expect_eq(origins.listener[0], 2);
	cr_expect_eq(origins.listener[2], 4);
	cr_expect_eq(origins.listener[3], 5);
}
