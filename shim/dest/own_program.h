/* SPDX-License-Identifier: MIT */
/* What this process runs, as hashes by which processes of a share know each other
 * (dest/lineage.h). They read /proc: call from the constructor. */
#ifndef RETRYBUDGET_DEST_OWN_PROGRAM_H
#define RETRYBUDGET_DEST_OWN_PROGRAM_H

#include <stddef.h>
#include <stdint.h>

/* The program: its file, and of an interpreter what that runs. Never 0. */
uint64_t own_program_hash(void);

/* That program with all its arguments. */
uint64_t own_command_hash(uint64_t program);

/* The unit of a supervisor that it is of (dest/own_unit.h); 0: of none. */
uint64_t own_unit_hash(void);

/* The argument that names what the interpreter in this file runs: a script, a module, a class, or
 * the text of -c and -e; of a file that has many programs in it, the program. NULL: there is none,
 * or it is no interpreter. args: n bytes as in /proc/PID/cmdline, which may be cut. Pure. */
const char *own_program_script(const char *file, const char *args, size_t n);

#endif
