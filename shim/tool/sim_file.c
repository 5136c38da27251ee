/* SPDX-License-Identifier: MIT */
/*
 * Scenario files. inih takes the lines apart; it is fed one at a time, unindented and counted, for
 * it joins indented lines to the one above and tells its handler no line number.
 */
#include "tool/sim_file.h"

#include "tool/sim_expect.h"
#include "tool/sim_fits.h"
#include "tool/sim_sections.h"

#include <errno.h>
#include <ini.h>
#include <stdlib.h>
#include <string.h>

#define LINE_MAX_LEN 198 /* inih 55 reads 200 bytes with LF and NUL */
#define SECTION_MAX  49  /* and cuts section names there */

struct reader {
	struct sim_file *file;
	struct sim_sections *seen;
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

static struct sim_variant *variant_named(struct sim_file *file, const char *name)
{
	for (int i = 0; i < file->variant_count; i++)
		if (strcmp(file->variants[i].name, name) == 0)
			return &file->variants[i];
	return NULL;
}

static bool add_variant(struct sim_file *file, const char *name, int line, struct text *why)
{
	struct sim_variant *variant = &file->variants[file->variant_count];

	if (file->variant_count == SIM_VARIANTS) {
		text_string(why, "more than 24 variants; leave some out");
		return false;
	}
	file->variant_count++;
	variant->settings.path = file->path;
	variant->line = line;
	snprintf(variant->name, sizeof(variant->name), "%s", name);
	return true;
}

static void note_line(struct sim_scenario *scenario, enum sim_section kind, int line)
{
	if (kind == SIM_SECTION_SCENARIO)
		scenario->line = line;
	else if (kind == SIM_SECTION_FLEET)
		scenario->fleet_line = line;
}

static bool add_section(struct reader *reader, const char *word, const char *label,
                        struct text *why)
{
	enum sim_section kind = kind_of(word, strlen(word));

	if (kind == SIM_SECTION_FLEET)
		reader->file->fleet_line = reader->line;
	note_line(&reader->file->scenario, kind, reader->line);
	if (strcmp(word, "variant") == 0)
		return add_variant(reader->file, label, reader->line, why);
	if (kind == SIM_SECTION_COUNT || kind < SIM_SECTION_CLIENTS)
		return true;
	if (!strchr(label, '.'))
		return sim_add(&reader->file->scenario, kind, label, reader->line, why);
	text_string(why, "a label has no '.'; rename it");
	return false;
}

/* A line with a section's name: inih tells its handler of those only that have a key. */
static void begin_section(struct reader *reader, const char *line)
{
	char section[SECTION_MAX + 1], message[256];
	const char *end = strchr(line, ']'), *label;
	struct text why;
	size_t n;

	if (!end) /* inih says so */
		return;
	snprintf(section, sizeof(section), "%.*s", (int)(end - line - 1), line + 1);
	n = strcspn(section, " \t");
	label = section + n + strspn(section + n, " \t");
	section[n] = '\0';
	text_start(&why, message, sizeof(message));
	if (!sim_sections_begin(reader->seen, section, label, end + 1, reader->line, &why) ||
	    !add_section(reader, section, label, &why))
		complain(reader, message);
}

static bool has_controls(const char *line)
{
	for (; *line; line++)
		if (((unsigned char)*line < ' ' && !strchr("\t\r\n", *line)) || *line == 0x7f)
			return true;
	return false;
}

/* Of a line that is too long. */
static void skip_rest(FILE *in)
{
	int c;

	do
		c = fgetc(in);
	while (c != '\n' && c != EOF);
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
	if (!strchr(line, '\n'))
		skip_rest(reader->in);
	at = line + strspn(line, " \t");
	n = strlen(at);
	if (n > LINE_MAX_LEN || n + 2 > (size_t)size) {
		complain(reader, "a line has at most 198 characters; shorten it");
		n = 0;
	} else if (*at == '[' && strcspn(at, "]") > SECTION_MAX) {
		complain(reader, "a section's name has at most 48 characters; shorten it");
		reader->seen->keys.count = 0;
		n = 0;
	} else if (has_controls(at)) {
		complain(reader, "a line has no control characters but tabs; take them out");
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
		if (variant) { /* else its section has been refused */
			variant->settings.line = reader->line;
			(void)sim_settings_put(&variant->settings, name, value, why);
		}
	} else if (is_word(section, n, "expect")) {
		(void)sim_expect_put(file, label, name, value, reader->line, why);
	} else {
		sim_sections_unknown(section, why);
	}
}

/* inih's handler. */
static int take_line(void *arg, const char *section, const char *name, const char *value)
{
	struct reader *reader = arg;
	char message[256];
	struct text why;

	text_start(&why, message, sizeof(message));
	if (sim_sections_key(reader->seen, name, reader->line, &why))
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
		        bad                       ? bad->line
		        : variant->settings.count ? variant->settings.all[0].line
		                                  : variant->line,
		        variant->name, message);
	}
}

/* A number that nobody plays or counts. */
static void try_expectations(struct reader *reader)
{
	const struct sim_file *file = reader->file;
	char message[256];
	struct text why;

	for (int i = 0; i < file->expectation_count; i++) {
		text_start(&why, message, sizeof(message));
		if (sim_expect_fits(file, &file->expectations[i], &why))
			continue;
		reader->line = file->expectations[i].line;
		complain(reader, message);
	}
}

bool sim_file_read(struct sim_file *file, const char *path, FILE *err)
{
	static struct sim_sections seen; /* too large for a stack; files are read by one thread */
	struct reader reader = { .file = file, .seen = &seen, .path = path, .err = err };
	char message[256];
	struct text why;
	int bad;

	memset(file, 0, sizeof(*file));
	memset(&seen, 0, sizeof(seen));
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
