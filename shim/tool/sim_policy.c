/* SPDX-License-Identifier: MIT */
/* Settings are read as `run --set` hands them on, so that they say what they would say there. */
#include "tool/sim_policy.h"

#include "config/read.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ORIGINAL "policy.original"

struct reading_policy {
	struct config config;
	char lines[OVERRIDES_MAX];
	const struct sim_settings *settings;
	int of_line[SIM_SETTINGS + 1]; /* the setting that a line is of */
	int line_count, complaints;
	FILE *err;
};

static void complain(void *arg, const char *file, int line, const char *message)
{
	struct reading_policy *reading = arg;
	const struct sim_setting *setting = NULL;

	reading->complaints++;
	if (strcmp(file, OVERRIDES_FILE) == 0 && line >= 1 && line <= SIM_SETTINGS &&
	    line <= reading->line_count)
		setting = &reading->settings->all[reading->of_line[line]];
	if (setting && setting->path)
		fprintf(reading->err, "%s:%d: %s\n", setting->path, setting->line, message);
	else if (setting)
		fprintf(reading->err, "retrybudget: simulate: '%s = %s': %s\n", setting->name,
		        setting->value, message);
	else
		fprintf(reading->err, "%s:%d: %s\n", file, line, message);
}

/* The settings as lines. False: they are too many. */
static bool write_lines(struct reading_policy *reading, const char *label)
{
	size_t used = 0;

	for (int i = 0; i < reading->settings->count; i++) {
		const struct sim_setting *setting = &reading->settings->all[i];
		const char *key = strrchr(setting->name, '.');
		int section = (int)(key - setting->name);
		bool is_policy = section == 6 && strncmp(setting->name, "policy", 6) == 0;

		if (!sim_setting_is_policy(setting->name) || strcmp(setting->name, ORIGINAL) == 0)
			continue;
		used += (size_t)snprintf(
		    reading->lines + used, sizeof(reading->lines) - used, "[%.*s%s%s] %s = %s\n",
		    is_policy ? 11 : section, is_policy ? "destination" : setting->name,
		    is_policy ? " " : "", is_policy ? label : "", key + 1, setting->value);
		if (used >= sizeof(reading->lines))
			return false;
		reading->of_line[++reading->line_count] = i;
	}
	return true;
}

static bool is_original(const struct sim_settings *settings)
{
	for (int i = 0; i < settings->count; i++)
		if (strcmp(settings->all[i].name, ORIGINAL) == 0)
			return strcmp(settings->all[i].value, "on") == 0;
	return false;
}

static bool read_into(struct reading_policy *reading, struct sim_policy *policy, const char *path,
                      const char *label)
{
	struct source source = {
		.file = path ? path : "",
		.missing_ok = !path,
		.owned_by_root = path && geteuid() == 0,
		.mode = MODE_AS_IN_FILE,
		.overrides = reading->lines,
		.complain = complain,
		.arg = reading,
	};
	struct identity identity;
	uint32_t fingerprint;
	enum reading_result result;
	int place = 0;

	if (!write_lines(reading, label)) {
		fprintf(reading->err, "retrybudget: simulate: too many settings of the policy; "
		                      "put them into a configuration file\n");
		return false;
	}
	result = config_read_source(&reading->config, &source, &identity, &fingerprint);
	if (reading->complaints || (result != READING_GOOD && result != READING_MISSING))
		return false;
	while (place < reading->config.policy_count &&
	       strcmp(reading->config.labels[place], label) != 0)
		place++;
	if (place == reading->config.policy_count) {
		fprintf(reading->err, "retrybudget: simulate: no section [destination %s]\n",
		        label);
		return false;
	}
	policy->policy = reading->config.policies[place];
	policy->process_rule = reading->config.process;
	policy->scope = reading->config.general.scope;
	/* Here there always is a ledger to be asked. */
	policy->policy.leased = policy->policy.fleet;
	policy->policy.label = lease_label(SIM_FLEET_LABEL);
	return true;
}

bool sim_policy_read(struct sim_policy *policy, const char *path, const char *label,
                     const struct sim_settings *settings, FILE *err)
{
	struct reading_policy *reading = calloc(1, sizeof(*reading));
	bool good;

	if (!reading)
		return false;
	reading->settings = settings;
	reading->err = err;
	good = read_into(reading, policy, path, label);
	free(reading);
	if (good && is_original(settings))
		sim_policy_original(policy);
	return good;
}
