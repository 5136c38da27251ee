/* SPDX-License-Identifier: MIT */
/* The hook on dlopen, and what is done before it loads anything. */
#ifndef RETRYBUDGET_HOOK_LOAD_H
#define RETRYBUDGET_HOOK_LOAD_H

/* From now on dlopen ignores RTLD_DEEPBIND. Call from the constructor. */
void load_strip_deepbind(void);

/* Has dlopen call this before it loads anything. Nothing can be done after: see load.c. */
void load_call_first(void (*call)(void));

#endif
