/* SPDX-License-Identifier: MIT */
/* Connections that are asked for TCP_INFO. */
#ifndef RETRYBUDGET_TESTS_TCP_INFO_FIXTURE_H
#define RETRYBUDGET_TESTS_TCP_INFO_FIXTURE_H

#include "track_fixture.h"
#include "dest/answer_time.h"
#include "conn/attempt_end.h"

/* The program asks, waits for a second, and gives up. */
static inline void asks_in_vain(const struct talk *talk)
{
	host_send(talk->host, "ask");
	until_acknowledged(talk->host);
	usleep(1100000);
	host_close(talk->host);
}

#endif
