/* SPDX-License-Identifier: MIT */
/*
 * Scenario files. inih takes the lines apart; it is fed one at a time, unindented and counted, for
 * it joins indented lines to the one above and tells its handler no line number.
 */
#include "tool/sim_file.h"

#include "config/value.h"
#include "tool/sim_fits.h"
#include "tool/sim_tally.h"

#include <errno.h>
#include <ini.h>
#include <stdlib.h>
#include <string.h>

#define LINE_MAX_LEN 198 /* inih 55 reads 200 bytes with LF and NUL */
#define SECTION_MAX  49  /* and cuts section names there */

struct reader {
	struct sim_file *file;
	const char *path;
	FILE *in, *err;
	int line, mistakes, told;
};

static void complain(struct reader *reader, const char *message)
{
	reader->mistakes++;
	reader->told = reader->line;
	if (reader->line > 0)
		fprintf(reader->err, "%s:%d: %s\n", reader->path, reader->line, message);
	else /* what is missing stands in no line */
		fprintf(reader->err, "%s: %s\n", reader->path, message);
}

static enum sim_section kind_of(const char *word, size_t n)
{
	int kind = 0;

	while (kind < SIM_SECTION_COUNT && (strlen(sim_section_name(kind)) != n ||
	                                    strncmp(sim_section_name(kind), word, n) != 0))
		kind++;
	return kind;
}

static bool is_word(const char *section, size_t n, const char *word)
{
	return strlen(word) == n && strncmp(section, word, n) == 0;
}

/* The variant of that name, made if there is none; NULL: there is no room. */
static struct sim_variant *variant_named(struct sim_file *file, const char *name)
{
	struct sim_variant *variant = file->variants;

	while (variant < file->variants + file->variant_count && strcmp(variant->name, name) != 0)
		variant++;
	if (variant == file->variants + SIM_VARIANTS)
		return NULL;
	if (variant == file->variants + file->variant_count) {
		file->variant_count++;
		variant->settings.path = file->path;
		snprintf(variant->name, sizeof(variant->name), "%s", name);
	}
	return variant;
}

static void note_line(struct sim_scenario *scenario, enum sim_section kind, int line)
{
	if (kind == SIM_SECTION_SCENARIO)
		scenario->line = line;
	else if (kind == SIM_SECTION_FLEET)
		scenario->fleet_line = line;
}

/* A line with a section's name: inih tells its handler of those only that have a key. */
static void begin_section(struct reader *reader, const char *line)
{
	char section[SECTION_MAX + 1], message[256];
	size_t n = strcspn(line + 1, "]");
	const char *label;
	struct text why;
	enum sim_section kind;

	snprintf(section, sizeof(section), "%.*s", (int)n, line + 1);
	n = strcspn(section, " \t");
	label = section + n + strspn(section + n, " \t");
	kind = kind_of(section, n);
	if (kind == SIM_SECTION_FLEET)
		reader->file->fleet_line = reader->line;
	note_line(&reader->file->scenario, kind, reader->line);
	if (kind == SIM_SECTION_COUNT || kind < SIM_SECTION_CLIENTS)
		return;
	text_start(&why, message, sizeof(message));
	if (strchr(label, '.'))
		complain(reader, "a label has no '.'; rename it");
	else if (!sim_add(&reader->file->scenario, kind, label, reader->line, &why))
		complain(reader, message);
}

/* inih's fgets. */
static char *next_line(char *out, int size, void *arg)
{
	struct reader *reader = arg;
	char line[512], *at;
	size_t n;

	if (!fgets(line, sizeof(line), reader->in))
		return NULL;
	reader->line++;
	at = line + strspn(line, " \t");
	n = strlen(at);
	if (n > LINE_MAX_LEN || n + 2 > (size_t)size) {
		complain(reader, "a line has at most 198 characters; shorten it");
		n = 0;
	} else if (*at == '[' && strcspn(at, "]") > SECTION_MAX) {
		complain(reader, "a section's name has at most 48 characters; shorten it");
		n = 0;
	}
	if (n && *at == '[')
		begin_section(reader, at);
	memcpy(out, at, n);
	if (n == 0 || at[n - 1] != '\n')
		out[n++] = '\n';
	out[n] = '\0';
	return out;
}

/* "4.00 1%", "< 3", "> 5". */
static bool read_expectation(const char *text, struct sim_expectation *one)
{
	char *end;

	one->kind = *text == '<' || *text == '>' ? *text++ : '=';
	one->value = strtod(text, &end);
	if (end == text)
		return false;
	text = end + strspn(end, " \t");
	if (one->kind != '=')
		return !*text;
	one->tolerance = strtod(text, &end) / 100;
	return end != text && strcmp(end, "%") == 0 && one->tolerance >= 0;
}

static void take_expectation(struct reader *reader, const char *label, const char *name,
                             const char *value, struct text *why)
{
	struct sim_file *file = reader->file;
	struct sim_expectation *one = &file->expectations[file->expectation_count];

	if (file->expectation_count == SIM_EXPECTATIONS) {
		text_string(why, "more than 64 numbers are expected; leave some out");
		return;
	}
	if (!read_expectation(value, one)) {
		text_string(why, "expected a number and a tolerance, as in '4.00 1%', or '< 3' or "
		                 "'> 3', not ");
		text_quoted(why, value, strlen(value));
		return;
	}
	snprintf(one->variant, sizeof(one->variant), "%s", label);
	snprintf(one->metric, sizeof(one->metric), "%s", name);
	one->line = reader->line;
	file->expectation_count++;
}

static void take_key(struct reader *reader, const char *section, const char *name,
                     const char *value, struct text *why)
{
	size_t n = strcspn(section, " \t");
	const char *label = section + n + strspn(section + n, " \t");
	struct sim_file *file = reader->file;
	struct sim_variant *variant;
	char full[SIM_NAME * 2];

	if (is_word(section, n, "scenario") && strcmp(name, "about") == 0) {
		snprintf(file->about, sizeof(file->about), "%s", value);
	} else if (kind_of(section, n) != SIM_SECTION_COUNT) {
		char kind[SECTION_MAX + 1];

		snprintf(kind, sizeof(kind), "%.*s", (int)n, section);
		if (sim_set(&file->scenario, kind, label, name, value, why))
			why->used = 0;
		if (strcmp(kind, "fleet") == 0 && strcmp(name, "floor") == 0)
			file->fleet_line = reader->line;
	} else if (is_word(section, n, "policy") || is_word(section, n, "budget")) {
		snprintf(full, sizeof(full), "%.*s.%s", (int)n, section, name);
		file->settings.line = reader->line;
		(void)sim_settings_put(&file->settings, full, value, why);
	} else if (is_word(section, n, "variant")) {
		variant = variant_named(file, label);
		if (!variant) {
			text_string(why, "more than 24 variants; leave some out");
		} else {
			variant->settings.line = reader->line;
			(void)sim_settings_put(&variant->settings, name, value, why);
		}
	} else if (is_word(section, n, "expect")) {
		take_expectation(reader, label, name, value, why);
	} else {
		text_string(why, "no section [");
		text_string(why, section);
		text_string(why, "]; there are scenario, fleet, clients, server, outage, policy, "
		                 "budget, variant and expect");
	}
}

/* inih's handler. */
static int take_line(void *arg, const char *section, const char *name, const char *value)
{
	struct reader *reader = arg;
	char message[256];
	struct text why;

	text_start(&why, message, sizeof(message));
	take_key(reader, section, name, value, &why);
	if (why.used > 0)
		complain(reader, message);
	return 1;
}

/* What variants set is tried out, so that a mistake is told with its file, not in the middle. */
static void try_variants(struct reader *reader)
{
	struct sim_scenario *scenario = &reader->file->tried;
	char message[256];
	struct text why;
	int line;

	for (int i = 0; i < reader->file->variant_count; i++) {
		const struct sim_variant *variant = &reader->file->variants[i];
		const struct sim_setting *bad;

		*scenario = reader->file->scenario;
		text_start(&why, message, sizeof(message));
		bad = sim_settings_apply(&variant->settings, scenario, &why);
		if (!bad)
			text_start(&why, message, sizeof(message));
		if (!bad && sim_scenario_fits(scenario, &line, &why))
			continue;
		reader->mistakes++;
		fprintf(reader->err, "%s:%d: [variant %s]: %s\n", reader->path,
		        bad ? bad->line : variant->settings.all[0].line, variant->name, message);
	}
}

/* Without a variant these two are played. */
static bool is_played(const struct sim_file *file, const char *variant)
{
	if (file->variant_count == 0)
		return strcmp(variant, "bare") == 0 || strcmp(variant, "library") == 0;
	for (int i = 0; i < file->variant_count; i++)
		if (strcmp(file->variants[i].name, variant) == 0)
			return true;
	return false;
}

/* A number that nobody plays or counts would be told at the end of the play, which may be long. */
static void try_expectations(struct reader *reader)
{
	const struct sim_file *file = reader->file;
	char message[256];
	struct text why;

	for (int i = 0; i < file->expectation_count; i++) {
		const struct sim_expectation *one = &file->expectations[i];

		text_start(&why, message, sizeof(message));
		if (sim_metric_named(one->metric) == SIM_METRICS) {
			text_string(&why, "no number ");
			text_quoted(&why, one->metric, strlen(one->metric));
			text_string(&why, " comes out; 'retrybudget simulate --keys' lists them");
		} else if (!is_played(file, one->variant)) {
			text_string(&why, "no [variant ");
			text_string(&why, one->variant);
			text_string(&why, file->variant_count
			                      ? "]; add it, or correct the name"
			                      : "], and without any there are "
			                        "bare and library; correct the name");
		} else {
			continue;
		}
		reader->line = one->line;
		complain(reader, message);
	}
}

bool sim_file_read(struct sim_file *file, const char *path, FILE *err)
{
	struct reader reader = { .file = file, .path = path, .err = err };
	char message[256];
	struct text why;
	int bad;

	memset(file, 0, sizeof(*file));
	file->path = file->settings.path = path;
	sim_scenario_start(&file->scenario);
	reader.in = fopen(path, "re");
	if (!reader.in) {
		fprintf(err, "%s: %s; give the path of a scenario file\n", path, strerror(errno));
		return false;
	}
	bad = ini_parse_stream(next_line, &reader, take_line, &reader);
	fclose(reader.in);
	if (bad > 0 && bad != reader.told) {
		reader.line = bad;
		complain(&reader, "expected 'key = value', '[section]' or a comment");
	}
	text_start(&why, message, sizeof(message));
	if (reader.mistakes == 0 && !sim_scenario_fits(&file->scenario, &reader.line, &why))
		complain(&reader, message);
	if (reader.mistakes == 0) {
		try_variants(&reader);
		try_expectations(&reader);
	}
	return reader.mistakes == 0;
}
