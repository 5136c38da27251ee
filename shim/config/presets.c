/* SPDX-License-Identifier: MIT */
/* presets.def as data. */
#include "config/presets.h"

static const struct setting {
	uint8_t preset, key;
	char value[16];
} settings[] = {
#define SET(name, key, value) { PRESET_##name, KEY_DESTINATION_##key, value },
#include "config/presets.def"
};

_Static_assert(KEY_COUNT < 256 && PRESET_COUNT < 256, "they fit struct setting");

const char *preset_value(enum preset preset, enum key_index key)
{
	for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++)
		if (settings[i].preset == preset && settings[i].key == key)
			return settings[i].value;
	return NULL;
}
