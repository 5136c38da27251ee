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

/* The cgroup of the unit that systemd started as a service; 0: this process is of none, as those of
 * a user's session are not. */
uint64_t own_service_hash(void);

/* The argument that names what the interpreter in this file runs: a script, a module, a class, or
 * the text of -c and -e; of a file that has many programs in it, the program. NULL: there is none,
 * or it is no interpreter. args: n bytes as in /proc/PID/cmdline, which may be cut. Pure. */
const char *own_program_script(const char *file, const char *args, size_t n);

#endif
