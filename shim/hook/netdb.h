/* SPDX-License-Identifier: MIT */
/* h_errno of the older calls and the EAI_ codes of getaddrinfo, which is what a destination keeps:
 * glibc's own pairs. */
#ifndef RETRYBUDGET_HOOK_NETDB_H
#define RETRYBUDGET_HOOK_NETDB_H

#include <netdb.h>

static inline int netdb_to_eai(int error)
{
	switch (error) {
	case HOST_NOT_FOUND:
		return EAI_NONAME;
	case NO_RECOVERY:
		return EAI_FAIL;
	case NO_DATA:
		return EAI_NODATA;
#ifdef NETDB_INTERNAL
	case NETDB_INTERNAL:
		return EAI_SYSTEM;
#endif
	default:
		return EAI_AGAIN;
	}
}

/* code: one that a refused lookup ends in. */
static inline int netdb_from_eai(int code)
{
	switch (code) {
	case EAI_NONAME:
		return HOST_NOT_FOUND;
	case EAI_FAIL:
		return NO_RECOVERY;
	default:
		return TRY_AGAIN;
	}
}

#endif
