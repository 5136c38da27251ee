/* SPDX-License-Identifier: MIT */
/* Files: what a good one means, and that every bad line has its message. */
#include "config_fixture.h"

#include "config/read.h"

TestSuite(config_read, .init = make_folder, .fini = remove_folder);

struct bad {
	const char *text, *said;
};

/* One bad line each, in the line that the message names. */
static const struct bad bads[] = {
	{ "mode = off\n",
	  "1: a key before the first section; write it below a line [retrybudget] or "
	  "[destination default] or [admission NAME]: mode = off" },
	{ "colour = red\n", "1: a key before the first section; begin with [retrybudget]" },
	{ "\n\n[retrybuget]\nx = 1\n",
	  "3: unknown section 'retrybuget'; did you mean [retrybudget]?" },
	{ "[dest x]\n", "1: unknown section 'dest x'; did you mean [destination NAME]?" },
	{ "[budget default]\n", "1: unknown section 'budget default'; did you mean [budget]?" },
	{ "[]\n", "1: unknown section ''; a destination is [destination NAME]" },
	{ "[default]\n", "1: unknown section 'default'; did you mean [destination default]?" },
	{ "[orders-db]\n",
	  "1: unknown section 'orders-db'; a destination is [destination orders-db]" },
	{ "[db]\n", "1: unknown section 'db'; a destination is [destination db]" },
	{ "[log]\ntrce = 1\n", "2: unknown key 'trce'; did you mean 'trace'?" },
	{ "[log]\n; x\n  intervall = 1s\n",
	  "3: unknown key 'intervall'; did you mean 'interval'?" },
	{ "[destination default]\nconnect_timout = 1s\n",
	  "2: unknown key 'connect_timout'; did you mean 'connect_timeout'?" },
	{ "[budget]\nprobe = 1s\n",
	  "2: unknown key 'probe' in this section; write it below a line [destination default]: "
	  "probe = 1s" },
	{ "[budget]\nscope = user\n", "write it below a line [retrybudget]: scope = user" },
	{ "[log]\nmatch = x:1\n", "write it below a line [destination NAME]: match = x:1" },
	{ "[log]\nlisten = :80\n", "write it below a line [admission NAME]: listen = :80" },
	{ "[log]\ncap = \xc3\xa4\n",
	  "write it below a line [destination default]: cap = \\xc3\\xa4" },
	{ "[log]\nfloor = 1/s\n",
	  "write it below a line [budget] or [destination default]: floor = 1/s" },
	{ "[destination x]\nmatch = x:1\nHOLD = 1s\n", "unknown key 'HOLD'; did you mean 'hold'?" },
	{ "[destination default]\nmax_wait = 10s\n",
	  "2: the key 'max_wait' is gone since 0.2.0: no call waits for a token; take it out: "
	  "'hold' is how long" },
	{ "[log]\ndeadline = 10s\n", "2: the key 'deadline' is gone since 0.2.0: what may" },
	{ "[log]\nflor = 1/s\n", "2: unknown key 'flor'; did you mean 'floor' of [budget]?" },
	{ "[budget]\nfloor = fast\n",
	  "2: floor = 'fast' is not a rate such as 2/s, 12/min or 30/h" },
	{ "[budget]\nfloor =\n", "2: floor = '' is not a rate" },
	{ "[budget]\nfloor = ; 2/s\n", "2: floor = '' is not a rate" },
	{ "[budget]\ncapacity = 0\n", "2: capacity = '0' is out of range: 1 to 1000000" },
	{ "[log]\ntarget = stdout\n",
	  "2: target = 'stdout' is not one of: syslog | journal | stderr | none" },
	{ "[log]\ntrace = 1\n\ntrace = 2\n",
	  "4: 'trace' stands already in line 2; keep one of them" },
	{ "[log]\ntrace = 1\n[budget]\n[log]\nbogus = 1\n", "4: 'log' stands already in line 1" },
	{ "[destination default]\n[destination default]\n",
	  "2: 'destination default' stands already in line 1" },
	{ "[destination a]\nmatch = x\n[destination a]\nmatch = y\n",
	  "3: 'a' stands already in line 1" },
	{ "[destination a]\nmatch = x, X\n", "2: pattern 'X' stands already in [destination a]" },
	{ "[destination a]\nmatch = x:y\n", "2: pattern 'x:y': the port is 1 to 65535" },
	{ "[destination a]\nmatch = x,\n", "2: pattern '': it is empty" },
	{ "[destination a]\nmatch =\n", "2: pattern '': it is empty" },
	{ "[log]\n\n[destination a]\nfloor = 1/s\n", "3: this section has no match line" },
	{ "[destination]\n", "1: a label is missing: [destination default] or [destination NAME]" },
	{ "[destination default]\nmatch = x\n", "2: [destination default] is for whatever" },
	{ "[destination *.x:5432]\nmatch = x\n", "1: a label is made of letters, digits" },
	{ "[log\ntrace = 1\n", "1: the ']' of the section is missing" },
	{ "[log] trace = 1\n", "1: text after ']'; write it into a line of its own" },
	{ "[log]\ntrace\n", "2: expected 'key = value', '[section]' or a comment" },
	{ "[log]\njust words here", "2: expected 'key = value', '[section]' or a comment" },
	{ "[log]\n= 1\n", "2: unknown key ''" },
	{ "[log]\ntrace = 1 # frames\n",
	  "2: trace = '1 # frames' is not a whole number (a comment" },
	{ "[destination a]\nmatch = x\nmin = 20s\n",
	  "3: min = 20s is longer than cap = 10s and counts as that; set a shorter min or a "
	  "longer" },
	{ "[destination default]\nbase = 20s\n",
	  "2: base = 20s is longer than cap = 10s and counts as that; set a shorter base or a "
	  "longer cap; usual: 100ms and 10s" },
	{ "[log]\n[destination default]\ncap = 50ms\n\n[destination a]\nmatch = x\n",
	  "3: base = 100ms (not set in this section) is longer than cap = 50ms" },
};

Test(config_read, every_bad_line_has_its_message)
{
	for (size_t i = 0; i < sizeof(bads) / sizeof(*bads); i++) {
		cr_expect_eq(read_text(bads[i].text), 1, "taken for good: %s", bads[i].text);
		expect_said(bads[i].said);
		cr_expect_eq(messages, 1, "%s", said);
	}
}

Test(config_read, the_rest_of_a_bad_file_holds)
{
	cr_expect_eq(read_text("[log]\ntrace = x\ninterval = 5s\n[budjet]\ncapacity = 7\n"
	                       "[budget]\ncapacity = 8\nearn = 1%\nearn = 2%\n"),
	             1);
	cr_expect_eq(messages, 3);
	cr_expect_eq(config.log.trace, 0);
	cr_expect_eq(config.log.interval, 5 * NS_PER_S);
	cr_expect_eq(config.process.capacity, 8000);
	cr_expect_eq(config.process.earn, 10);
	/* A bad value does not keep a good one out. */
	cr_expect_eq(read_text("[log]\ntrace = x\ntrace = 3\n"), 1);
	cr_expect_eq(messages, 1);
	cr_expect_eq(config.log.trace, 3);
}

Test(config_read, messages_come_in_the_order_of_lines)
{
	read_text("[destination a]\nmatch = x\nbad1 = 1\n[log]\nbad2 = 1\n[destination default]\n"
	          "bad3 = 1\n");
	cr_expect_eq(messages, 3);
	cr_expect_lt(strstr(said, "bad1"), strstr(said, "bad2"));
	cr_expect_lt(strstr(said, "bad2"), strstr(said, "bad3"));
}

Test(config_read, labels_inherit_wherever_the_default_stands)
{
	cr_expect_eq(read_text("[destination a]\nmatch = a.x\nfloor = 1/s\n"
	                       "[destination b]\nmatch = b.x:1\nmatch = c.x, d.x\nmode = off\n"
	                       "[destination default]\ncap = 33s\nfloor = 7/s\n"
	                       "[destination c]\nmatch = e.x\n"
	                       "[retrybudget]\nmode = observe\n"),
	             0, "%s", said);
	cr_expect_eq(config.policy_count, 4);
	cr_expect_eq(config.pattern_count, 5);
	cr_expect_str_eq(config.labels[0], "default");
	cr_expect_str_eq(config.labels[1], "a");
	cr_expect_str_eq(config.labels[3], "c");
	for (int i = 0; i < 4; i++)
		cr_expect_eq(config.policies[i].backoff.cap, 33 * NS_PER_S);
	cr_expect_eq(config.policies[0].bucket.floor, 7000);
	cr_expect_eq(config.policies[1].bucket.floor, 1000);
	cr_expect_eq(config.policies[2].bucket.floor, 7000);
	cr_expect_eq(config.policies[0].mode, MODE_OBSERVE);
	cr_expect_eq(config.policies[1].mode, MODE_OBSERVE);
	cr_expect_eq(config.policies[2].mode, MODE_OFF);
	cr_expect_eq(config.policies[3].mode, MODE_OBSERVE);
}

Test(config_read, the_default_mode_of_destinations)
{
	read_text("[destination a]\nmatch = a\n[destination b]\nmatch = b\nmode = enforce\n"
	          "[destination default]\nmode = off\n[retrybudget]\nmode = observe\n");
	cr_expect_eq(config.general.mode, MODE_OBSERVE);
	cr_expect_eq(config.policies[0].mode, MODE_OFF);
	cr_expect_eq(config.policies[1].mode, MODE_OFF);
	cr_expect_eq(config.policies[2].mode, MODE_ENFORCE);
}

/* Who meant observe must not get enforce, at the start or while the program runs. */
Test(config_read, a_mode_that_is_misspelt_means_observe)
{
	cr_expect_eq(read_text("[retrybudget]\nmode = obsrve\n[destination a]\nmatch = a\n"), 1);
	cr_expect_eq(config.general.mode, MODE_OBSERVE);
	cr_expect_eq(config.policies[1].mode, MODE_OBSERVE);
	cr_expect_not_null(strstr(said, "2: mode = 'obsrve' is not one of"), "%s", said);
	cr_expect_not_null(strstr(said, "until it is mended it means observe"), "%s", said);
	read_text("[destination a]\nmatch = a\nmode = none\n[destination b]\nmatch = b\n");
	cr_expect_eq(config.general.mode, MODE_ENFORCE);
	cr_expect_eq(config.policies[1].mode, MODE_OBSERVE);
	cr_expect_eq(config.policies[2].mode, MODE_ENFORCE);
}

static void expect_backoff(int policy, int64_t base, int64_t cap, int64_t min)
{
	const struct backoff_rule *rule = &config.policies[policy].backoff;

	cr_expect_eq(rule->base, base * NS_PER_MS, "%d: %ld", policy, (long)rule->base);
	cr_expect_eq(rule->cap, cap * NS_PER_MS, "%d: %ld", policy, (long)rule->cap);
	cr_expect_eq(rule->min, min * NS_PER_MS, "%d: %ld", policy, (long)rule->min);
}

/* Each key is good by itself; told in the order of their sections, wherever the default stands. */
Test(config_read, times_longer_than_the_cap_are_told_and_bounded)
{
	cr_expect_eq(read_text("[destination a]\nmatch = a\nmin = 40s\n"
	                       "[destination b]\nmatch = b\ncap = 3ms\n"
	                       "[destination default]\nmin = 30s\nbase = 20s\ncap = 15s\n"
	                       "[destination c]\nmatch = c\n"
	                       "[destination d]\nmatch = d\nbase = 15s\ncap = 1m\nmin = 1m\n"),
	             1);
	expect_said("3: min = 40s is longer than cap = 15s");
	expect_said("6: min = 15s (not set in this section) is longer than cap = 3ms");
	expect_said("6: base = 15s (not set in this section) is longer than cap = 3ms");
	expect_said("8: min = 30s is longer than cap = 15s");
	expect_said("9: base = 20s is longer than cap = 15s");
	cr_expect_eq(messages, 5, "%s", said);
	expect_backoff(0, 15000, 15000, 15000);
	expect_backoff(1, 15000, 15000, 15000);
	expect_backoff(2, 3, 3, 3);
	expect_backoff(3, 15000, 15000, 15000);
	expect_backoff(4, 15000, 60000, 60000);
	/* Read twice: what the first pass bounded is told in the second one. */
	cr_expect_eq(read_text("[destination default]\ncap = 4ms\n"), 1);
	cr_expect_eq(messages, 2, "%s", said);
	expect_backoff(0, 4, 4, 4);
	/* Equal is not longer, and the order of the lines does not matter. */
	cr_expect_eq(read_text("[destination default]\nmin = 30s\nbase = 30s\ncap = 30s\n"), 0);
	expect_backoff(0, 30000, 30000, 30000);
}

static void read_with_mode(int32_t mode)
{
	struct source source = { .file = path, .mode = mode, .complain = note };
	struct identity identity;
	uint32_t fingerprint;

	config_read_source(&config, &source, &identity, &fingerprint);
}

/* enforce, observe, off and inherited, in this order, under the given mode of the file. */
static void expect_modes(const char *general, int32_t asked, const int expected[5])
{
	char text[512];

	snprintf(text, sizeof(text),
	         "[destination a]\nmatch = a\nmode = enforce\n[destination b]\nmatch = b\n"
	         "mode = observe\n[destination c]\nmatch = c\nmode = off\n[destination d]\n"
	         "match = d\n[retrybudget]\nmode = %s\n",
	         general);
	write_bytes(text, strlen(text));
	read_with_mode(asked);
	cr_expect_eq(config.general.mode, asked);
	for (int i = 0; i < 5; i++)
		cr_expect_eq(config.policies[i].mode, expected[i], "%s asked %d: policy %d is %d",
		             general, asked, i, config.policies[i].mode);
}

Test(config_read, the_environment_has_the_last_word_on_the_mode)
{
	expect_modes("enforce", MODE_OFF, (int[]) { 0, 0, 0, 0, 0 });
	expect_modes("enforce", MODE_OBSERVE,
	             (int[]) { MODE_OBSERVE, MODE_OBSERVE, MODE_OBSERVE, MODE_OFF, MODE_OBSERVE });
	expect_modes("off", MODE_ENFORCE,
	             (int[]) { MODE_ENFORCE, MODE_ENFORCE, MODE_OBSERVE, MODE_OFF, MODE_ENFORCE });
	unlink(path);
	read_with_mode(MODE_OBSERVE);
	cr_expect_eq(config.general.mode, MODE_OBSERVE);
	cr_expect_eq(config.policies[0].mode, MODE_OBSERVE, "without a file, too");
}

Test(config_read, blanks_marks_and_line_ends)
{
	cr_expect_eq(read_text("\xef\xbb\xbf  [log]  ; here\r\n\ttrace=2;x\r\n"), 1);
	cr_expect_eq(
	    read_text("\xef\xbb\xbf  [ log ]  ; here\r\n\ttrace=2 ;x\r\n   interval  :  5s\r"
	              "\n\r\n\t# c\xc3\xa9\r\n attempts = on"),
	    0, "%s", said);
	cr_expect_eq(config.log.trace, 2);
	cr_expect_eq(config.log.interval, 5 * NS_PER_S);
	cr_expect_eq(config.log.attempts, 1);
	cr_expect_eq(read_text("[ destination \t default ]\nfloor = 3/s\n"), 0, "%s", said);
	cr_expect_eq(config.policies[0].bucket.floor, 3000);
	cr_expect_eq(read_text(""), 0);
	cr_expect_eq(read_text("\xef\xbb\xbf"), 0);
	cr_expect_eq(read_text("\n\n"), 0);
}

/* A line of exactly n characters that sets the share name. */
static int read_line_of(size_t n, const char *end)
{
	char text[512] = "[retrybudget]\nshare = x ";
	size_t start = strlen("[retrybudget]\n");

	memset(text + strlen(text), ' ', sizeof(text) - strlen(text) - 1);
	text[start + n - 1] = ';';
	strcpy(text + start + n, end);
	return read_text(text);
}

Test(config_read, long_lines_are_refused_never_cut)
{
	char text[1024] = "[destination a]\nmatch = ";

	cr_expect_eq(read_line_of(198, "\nreload = 5s\n"), 0, "%s", said);
	cr_expect_str_eq(config.general.share, "x");
	cr_expect_eq(config.general.reload, 5 * NS_PER_S);
	cr_expect_eq(read_line_of(198, ""), 0);
	cr_expect_eq(read_line_of(198, "   \t \r\n"), 0, "%s", said);
	for (size_t n = 199; n < 400; n++) {
		cr_assert_eq(read_line_of(n, "\nreload = 5s\n"), 1);
		cr_assert_eq(messages, 1);
		expect_said(
		    "2: a line has at most 198 characters; split it into several match lines");
		cr_assert_str_eq(config.general.share, "default");
		cr_assert_eq(config.general.reload, 5 * NS_PER_S);
	}
	/* Patterns that would be lost if the line were cut. */
	for (int i = 0; i < 40; i++)
		sprintf(text + strlen(text), "host%d, ", i);
	strcat(text, "last\nmatch = other\n");
	cr_expect_eq(read_text(text), 1);
	cr_expect_eq(config.pattern_count, 1);
	/* Comments may be as long as they like. */
	memset(text, 'c', sizeof(text) - 1);
	text[0] = ';';
	strcpy(text + 900, "\n[log]\ntrace = 3\n");
	cr_expect_eq(read_text(text), 0);
	cr_expect_eq(config.log.trace, 3);
}

Test(config_read, long_section_names_are_refused_never_cut)
{
	char text[256], label[64];

	memset(label, 'l', sizeof(label));
	label[37] = '\0'; /* 49 with "destination " */
	snprintf(text, sizeof(text), "[destination %s]\nmatch = x\n", label);
	cr_expect_eq(read_text(text), 0, "%s", said);
	cr_expect_str_eq(config.labels[1], label);
	snprintf(text, sizeof(text), "[log]\n[destination %sm]\nmatch = x\ntrace = 4\n", label);
	cr_expect_eq(read_text(text), 1);
	expect_said("2: a section name has at most 49 characters; shorten the label");
	cr_expect_eq(messages, 1);
	cr_expect_eq(config.policy_count, 1);
	cr_expect_eq(config.log.trace, 0, "its keys went to the section above");
}

Test(config_read, more_sections_than_there_is_room_for)
{
	char text[16384] = "";

	for (int i = 1; i <= 64; i++)
		sprintf(text + strlen(text), "[destination d%d]\nmatch = h%d\n", i, i);
	cr_expect_eq(read_text(text), 1);
	cr_expect_eq(messages, 1);
	expect_said("127: too many sections: there is room for 63 labels");
	cr_expect_eq(config.policy_count, CONFIG_POLICIES);
}

Test(config_read, more_patterns_than_there_is_room_for)
{
	char text[16384] = "[destination a]\n";

	for (int i = 0; i < 257; i++)
		sprintf(text + strlen(text), "match = h%d\n", i);
	cr_expect_eq(read_text(text), 1);
	expect_said("258: pattern 'h256': no more than 256 patterns");
	cr_expect_eq(messages, 1);
}

Test(config_read, origins_of_values)
{
	static struct origins origins;
	struct source source = {
		.file = path, .mode = MODE_AS_IN_FILE, .complain = note, .origins = &origins
	};
	struct identity identity;
	uint32_t fingerprint;
	static const char text[] = "[log]\ntrace = 1\n[destination a]\nmatch = x, y\ncap = 3s\n"
				   "[destination default]\nbase = 1s\n";

	write_bytes(text, strlen(text));
	cr_expect_eq(config_read_source(&config, &source, &identity, &fingerprint), READING_GOOD);
	cr_expect_eq(origins.common[KEY_LOG_trace], 2);
	cr_expect_eq(origins.common[KEY_LOG_target], 0);
	cr_expect_eq(origins.destination[1][KEY_DESTINATION_cap], 5);
	cr_expect_eq(origins.destination[0][KEY_DESTINATION_base], 7);
	cr_expect_eq(origins.destination[1][KEY_DESTINATION_base], 0);
	cr_expect_eq(origins.pattern[1], 4);
	cr_expect_eq(origins.section[1], 3);
	/* A bounded value comes from the line that bounds it. */
	write_bytes("[destination default]\ncap = 1ms\n", 32);
	cr_expect_eq(config_read_source(&config, &source, &identity, &fingerprint), READING_FLAWED);
	cr_expect_eq(origins.destination[0][KEY_DESTINATION_min], 2);
}
