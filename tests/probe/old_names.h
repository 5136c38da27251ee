/* SPDX-License-Identifier: MIT */
/* The lookups of DNS records under the names that programs of before glibc 2.34 have for them. */
#ifndef RETRYBUDGET_TESTS_PROBE_OLD_NAMES_H
#define RETRYBUDGET_TESTS_PROBE_OLD_NAMES_H

#include <resolv.h>

#ifdef __x86_64__
int old_query(const char *, int, int, unsigned char *, int);
int old_search(const char *, int, int, unsigned char *, int);
int old_nquery(res_state, const char *, int, int, unsigned char *, int);
int old_nsearch(res_state, const char *, int, int, unsigned char *, int);
__asm__(".symver old_query, __res_query@GLIBC_2.2.5");
__asm__(".symver old_search, __res_search@GLIBC_2.2.5");
__asm__(".symver old_nquery, __res_nquery@GLIBC_2.2.5");
__asm__(".symver old_nsearch, __res_nsearch@GLIBC_2.2.5");
#else /* another baseline version: not there for new programs */
#define old_query   res_query
#define old_search  res_search
#define old_nquery  res_nquery
#define old_nsearch res_nsearch
#endif

#endif
