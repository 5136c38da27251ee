/* SPDX-License-Identifier: MIT */
/* What the C++ parts of the tests share with the C host: one action, by its name. */
#ifndef RETRYBUDGET_TESTS_GUESTS_THROWER_H
#define RETRYBUDGET_TESTS_GUESTS_THROWER_H

#ifdef __cplusplus
extern "C" {
#endif

/* Returns an exit code. */
int throw_act(const char *action);

#ifdef __cplusplus
}
#endif

#endif
