/* SPDX-License-Identifier: MIT */
/* The rules of other systems (presets.def) as settings of a destination section. */
#ifndef RETRYBUDGET_CONFIG_PRESETS_H
#define RETRYBUDGET_CONFIG_PRESETS_H

#include "config/keys.h"

enum preset {
#define PRESET(name, word, about) PRESET_##name,
#include "config/presets.def"
	PRESET_COUNT,
};

/* The text that the preset has for a key; NULL: it leaves the key alone. */
const char *preset_value(enum preset preset, enum key_index key);

#endif
