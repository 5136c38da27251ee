/* SPDX-License-Identifier: MIT */
/* Connections as the kernel sees them. */
#include "conn/tcp_info.h"

#include "conn/outcome.h"
#include "dest/answer_time.h"
#include "dest/demand.h"
#include "sys/cell.h"
#include "sys/real.h"
#include "sys/thread.h"

#include <errno.h>
#include <netinet/in.h>
#include <stddef.h>

bool tcp_info(int fd, struct tcp_info *info)
{
	socklen_t len = sizeof(*info);

	*info = (struct tcp_info) { 0 };
	return real.getsockopt(fd, IPPROTO_TCP, TCP_INFO, info, &len) == 0 &&
	       len > offsetof(struct tcp_info, tcpi_bytes_received);
}

bool tcp_info_has_taken(const struct tcp_info *info)
{
	return info->tcpi_bytes_acked > info->tcpi_bytes_sent - info->tcpi_bytes_retrans;
}

int64_t tcp_info_answered_in(const struct tcp_info *info)
{
	uint32_t sent = info->tcpi_last_data_sent, heard = info->tcpi_last_data_recv;

	return info->tcpi_bytes_sent && sent >= heard ? (int64_t)(sent - heard) * NS_PER_MS : -1;
}

/* How much older the one moment is than the other, in ms; both are told as ages. */
static int64_t older_by(uint32_t one, uint32_t other)
{
	return (int64_t)one - other;
}

bool tcp_info_says_goodbye(const struct tcp_info *info)
{
	return info->tcpi_bytes_sent &&
	       older_by(info->tcpi_last_data_recv, info->tcpi_last_data_sent) >= TCP_INFO_IDLE_MS &&
	       older_by(info->tcpi_last_data_sent, info->tcpi_last_ack_recv) < TCP_INFO_IDLE_MS;
}

/* Nothing of it was taken, and it was not repeated: an age is that of the repetition, then. */
static bool was_forgotten(const struct tcp_info *info)
{
	return info->tcpi_retransmits == 0 &&
	       older_by(info->tcpi_last_ack_recv, info->tcpi_last_data_sent) >= TCP_INFO_IDLE_MS;
}

enum idle tcp_info_idle(int fd, int err, bool asks)
{
	struct tcp_info info;
	int saved = errno;
	bool known = tcp_info(fd, &info);

	errno = saved;
	if (!known)
		return IDLE_NOT;
	if (tcp_info_has_taken(&info))
		return (err == 0 || err == ECONNRESET) && !asks && tcp_info_says_goodbye(&info)
		           ? IDLE_GOODBYE
		           : IDLE_NOT;
	return err != ECONNRESET || was_forgotten(&info) ? IDLE_CLOSED : IDLE_NOT;
}

bool tcp_info_waited(int fd, const struct socket_entry *entry)
{
	struct tcp_info info;
	struct trial trial;
	int saved = errno;
	int64_t waited = monotonic() - LOAD(entry->since);
	bool known = tcp_info(fd, &info);

	errno = saved;
	if (known && LOAD(entry->state) == SOCKET_ASKED)
		waited = (int64_t)info.tcpi_last_data_sent * NS_PER_MS;
	if (waited >= TCP_INFO_LONG_WAIT)
		return true;
	return trial_of(entry, &trial) && answer_time_is_long(trial.destination, waited);
}

int64_t tcp_info_answer_time(int fd, const struct socket_entry *entry)
{
	struct tcp_info info;
	int saved = errno;
	int64_t age = monotonic() - LOAD(entry->since);

	/* The program may have been in no hurry to ask; the kernel knows when it did. */
	if (age < TCP_INFO_LONG_WAIT)
		return age;
	age = tcp_info(fd, &info) ? tcp_info_answered_in(&info) : -1;
	errno = saved;
	return age;
}

bool tcp_info_met(int fd)
{
	struct tcp_info info;
	int saved = errno;
	bool known = tcp_info(fd, &info);

	errno = saved;
	return !known || info.tcpi_bytes_acked > 0; /* the SYN counts */
}

bool tcp_info_alive(int fd)
{
	struct tcp_info info;
	int saved = errno;
	bool known = tcp_info(fd, &info);

	errno = saved;
	return known && info.tcpi_state == TCP_ESTABLISHED_ && info.tcpi_bytes_acked > 1;
}

bool tcp_info_goes_on(int fd)
{
	struct tcp_info info;
	int saved = errno;
	bool known = tcp_info(fd, &info);

	errno = saved;
	return known && (info.tcpi_state == TCP_ESTABLISHED_ || info.tcpi_state == TCP_SYN_SENT_);
}

/* The kernel remembers who called listen(). A parent that listens for its children, and connects to
 * them, does not accept itself. */
bool tcp_info_is_own(int fd)
{
	struct ucred listener;
	socklen_t len = sizeof(listener);
	int saved = errno;
	bool own = demand_serves() &&
	           real.getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &listener, &len) == 0 &&
	           listener.pid == thread_process();

	errno = saved;
	return own;
}
