/* SPDX-License-Identifier: MIT */
/* The unit of a supervisor that a process is of, by its cgroup: what is ended and started anew as
 * one. Pure. */
#ifndef RETRYBUDGET_DEST_OWN_UNIT_H
#define RETRYBUDGET_DEST_OWN_UNIT_H

/* The path of that unit, in the text of /proc/PID/cgroup, whose last line may be cut, and which is
 * written over: a service or scope of systemd, a container, or the pod that a container is of,
 * since what is started anew there is another container. NULL: it is of none, or of a group of all
 * that somebody starts: a person's session, a slice, a whole system. */
const char *own_unit(char *text);

#endif
