/* SPDX-License-Identifier: MIT */
/* retrybudget show: the settings in force as an INI file, each with where it comes from. */
#include "config/listen.h"
#include "config/match.h"
#include "config/pattern.h"
#include "config/read.h"
#include "config/value.h"
#include "config/value_words.h"
#include "tool/options.h"
#include "tool/sample.h"
#include "tool/tell.h"
#include "tool/tool.h"
#include "sys/text.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The stack is our own here, unlike in the shim. */
#pragma GCC diagnostic ignored "-Wframe-larger-than="

static const char usage[] =
    "usage: retrybudget show [FILE] [DEST]\n"
    "       retrybudget show --sample | --man-keys\n"
    "\n"
    "Prints the settings in force, and where each comes from. FILE is a path with\n"
    "a '/' or an existing file; without one, $RETRYBUDGET_CONFIG or\n" CONFIG_SYSTEM_FILE
    ". With DEST (db.internal:5432, 10.1.0.5:5432,\n"
    "[2001:db8::1]:443, unix:/path, dns:name) only what that destination gets.\n"
    "\n";

static const char more[] = "\n"
			   "Exit status: 0, 1 if the file has mistakes, 2 for a wrong usage.\n";

static void print_usage(FILE *out)
{
	fputs(usage, out);
	options_print("show", out);
	fputs(more, out);
}

/* What is shown. Large, and there is only one. */
static struct config config;
static struct origins origins;
static const char *file;
static int32_t mode_asked = MODE_AS_IN_FILE;
static bool log_asked;

static void print_line(const char *name, const char *value)
{
	printf("%-17s = %-14s ; ", name, value);
}

/* The mode of a section: its own line, that of its default one, of [retrybudget], or the
 * environment where that has the last word. */
static void print_mode_origin(int32_t mode, int own, int general)
{
	if (mode_asked != MODE_AS_IN_FILE && mode == mode_asked)
		puts("environment");
	else if (own)
		printf("%s:%d\n", file, own);
	else if (general)
		printf("%s:%d, [destination default]\n", file, general);
	else if (origins.common[KEY_GENERAL_mode])
		printf("%s:%d, [retrybudget]\n", file, origins.common[KEY_GENERAL_mode]);
	else
		puts("default");
}

static void print_origin(int index, int policy)
{
	int line = origins.common[index];
	const char *inherited = "";

	if (index == KEY_DESTINATION_mode) {
		print_mode_origin(config.policies[policy].mode, origins.destination[policy][index],
		                  origins.destination[0][index]);
		return;
	}
	if (index == KEY_ADMISSION_mode) {
		print_mode_origin(config.admissions[policy].mode, origins.admission[policy][index],
		                  0);
		return;
	}
	if ((index == KEY_GENERAL_mode && mode_asked != MODE_AS_IN_FILE) ||
	    (index == KEY_LOG_target && log_asked)) {
		puts("environment");
		return;
	}
	if (config_keys[index].section == SECTION_DESTINATION) {
		line = origins.destination[policy][index];
		if (!line && policy > 0 && origins.destination[0][index]) {
			line = origins.destination[0][index];
			inherited = ", [destination default]";
		}
	}
	if (config_keys[index].section == SECTION_ADMISSION)
		line = origins.admission[policy][index];
	if (line)
		printf("%s:%d%s\n", file, line, inherited);
	else
		puts("default");
}

static void print_patterns(int policy)
{
	char buffer[512];
	struct text text;

	for (int i = 0; i < config.pattern_count; i++) {
		if (config.patterns[i].policy != policy)
			continue;
		text_start(&text, buffer, sizeof(buffer));
		pattern_print(&config, i, &text);
		print_line("match", buffer);
		printf("%s:%d\n", file, origins.pattern[i]);
	}
}

static void print_listeners(int admission)
{
	char buffer[512];
	struct text text;

	for (int i = 0; i < config.listener_count; i++) {
		if (config.listeners[i].admission != admission)
			continue;
		text_start(&text, buffer, sizeof(buffer));
		listener_print(&config, i, &text);
		print_line("listen", buffer);
		printf("%s:%d\n", file, origins.listener[i]);
	}
}

static void print_section(enum section section, int policy)
{
	char buffer[256];
	struct text text;

	if (section == SECTION_DESTINATION)
		printf("[%s %s]\n", section_name(section), config.labels[policy]);
	else if (section == SECTION_ADMISSION)
		printf("[%s %s]\n", section_name(section), config.admission_labels[policy]);
	else
		printf("[%s]\n", section_name(section));
	if (section == SECTION_DESTINATION && policy > 0)
		print_patterns(policy);
	if (section == SECTION_ADMISSION)
		print_listeners(policy);
	for (int i = 0; i < KEY_COUNT; i++) {
		const struct key *key = &config_keys[i];

		if (key->section != section || key->type == TYPE_PATTERNS ||
		    key->type == TYPE_LISTENERS)
			continue;
		text_start(&text, buffer, sizeof(buffer));
		value_print(key, section_fields(&config, section, policy), &text);
		print_line(key->name, buffer);
		print_origin(i, policy);
	}
}

static void print_all(void)
{
	for (int section = 0; section < SECTION_DESTINATION; section++) {
		print_section((enum section)section, 0);
		putchar('\n');
	}
	for (int i = 0; i < config.policy_count; i++) {
		print_section(SECTION_DESTINATION, i);
		if (i + 1 < config.policy_count)
			putchar('\n');
	}
	for (int i = 0; i < config.admission_count; i++) {
		putchar('\n');
		print_section(SECTION_ADMISSION, i);
	}
}

/* Reads DEST: a port after the last colon, and an address if the rest is one. */
static bool read_target(char *dest, struct target *target, uint8_t address[16])
{
	uint8_t v4[4];
	char *host = dest, *colon = strrchr(dest, ':'), *end;
	unsigned long port;

	if (begins(dest, "udp:")) { /* as records show it; patterns do without */
		dest += 4;
		host += 4;
		if (colon < host)
			return false;
	}
	target->name = dest;
	if (begins(dest, "unix:") || begins(dest, "dns:"))
		return strchr(dest, ':')[1] != '\0';
	if (!colon || colon == dest || colon[1] < '0' || colon[1] > '9')
		return false;
	port = strtoul(colon + 1, &end, 10);
	if (*end != '\0' || port < 1 || port > 65535)
		return false;
	target->port = (uint16_t)port;
	*colon = '\0';
	if (*host == '[' && colon[-1] == ']') {
		host++;
		colon[-1] = '\0';
	}
	if (inet_pton(AF_INET, host, v4) == 1) {
		ip_map_v4(address, v4);
	} else if (inet_pton(AF_INET6, host, address) != 1) {
		return host == dest && !strchr(host, ':');
	}
	target->address = address;
	target->name = NULL;
	return true;
}

static int show_destination(const char *dest)
{
	char copy[512], buffer[512];
	uint8_t address[16];
	struct target target = { .name = NULL };
	struct text text;
	int pattern, policy = 0;

	if (strlen(dest) >= sizeof(copy)) {
		fputs("retrybudget: show: no destination has so long a name\n", stderr);
		return EXIT_USAGE;
	}
	memcpy(copy, dest, strlen(dest) + 1);
	if (!read_target(copy, &target, address)) {
		fprintf(stderr,
		        "retrybudget: show: '%s' is neither a file nor a destination such as "
		        "db.internal:5432\n",
		        dest);
		return EXIT_USAGE;
	}
	pattern = pattern_find(&config, &target);
	printf("; %s gets ", dest);
	if (pattern < 0) {
		puts("[destination default]: no pattern fits");
	} else {
		policy = config.patterns[pattern].policy;
		text_start(&text, buffer, sizeof(buffer));
		pattern_print(&config, pattern, &text);
		printf("[destination %s] by match = %s, %s:%d\n", config.labels[policy], buffer,
		       file, origins.pattern[pattern]);
	}
	print_section(SECTION_DESTINATION, policy);
	return 0;
}

static int load(void)
{
	const char *mode = getenv("RETRYBUDGET"), *log = getenv("RETRYBUDGET_LOG");
	const char *named = getenv("RETRYBUDGET_CONFIG");
	struct source source = {
		.owned_by_root = geteuid() == 0,
		.origins = &origins,
		.complain = tell,
	};
	struct identity identity;
	uint32_t fingerprint;
	enum reading_result result;

	if (mode && *mode && !word_parse(TYPE_MODE, mode, &mode_asked))
		fprintf(stderr,
		        "environment: RETRYBUDGET is not one of: enforce | observe | off\n");
	if (!file) {
		file = named && *named ? named : CONFIG_SYSTEM_FILE;
		source.missing_ok = !(named && *named);
	}
	source.file = file;
	source.mode = mode_asked;
	result = config_read_source(&config, &source, &identity, &fingerprint);
	if (log && strcmp(log, "stderr") == 0) {
		config.log.target = LOG_TARGET_STDERR;
		log_asked = true;
	}
	if (result == READING_FAILED)
		memset(&origins, 0, sizeof(origins));
	return result == READING_FAILED || result == READING_FLAWED;
}

static bool is_file(const char *argument)
{
	if (begins(argument, "unix:") || begins(argument, "dns:"))
		return false;
	return strchr(argument, '/') || access(argument, F_OK) == 0;
}

int cmd_show(int argc, char **argv)
{
	struct option known[OPTIONS_MAX];
	const char *dest = NULL;
	int option, bad, result = 0;

	options_of("show", known);
	while ((option = getopt_long(argc, argv, "h", known, NULL)) != -1) {
		if (option == 'h')
			print_usage(stdout);
		else if (option == OPTION_SAMPLE)
			print_sample(stdout);
		else if (option == OPTION_MAN_KEYS)
			print_man_keys(stdout);
		else
			print_usage(stderr);
		return option == '?' ? EXIT_USAGE : fflush(stdout) ? 1 : 0;
	}
	if (argc - optind > 2) {
		print_usage(stderr);
		return EXIT_USAGE;
	}
	if (argc - optind == 2 || (argc - optind == 1 && is_file(argv[optind])))
		file = argv[optind++];
	if (argc > optind)
		dest = argv[optind];
	bad = load();
	if (dest)
		result = show_destination(dest);
	else
		print_all();
	if (fflush(stdout))
		return 1;
	return result ? result : bad;
}
