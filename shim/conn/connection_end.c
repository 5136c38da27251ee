/* SPDX-License-Identifier: MIT */
/* How a connection fails: each step once, in the only order that keeps breaker and counts right. */
#include "conn/connection_end.h"

#include "conn/flight.h"

bool connection_failed(int fd, struct socket_entry *entry, enum socket_state from,
                       enum socket_event event, enum failure failure, int err)
{
	struct trial trial;
	bool counts =
	    failure && moves[from][event].outcome == MOVE_FAILURE && trial_of(entry, &trial);
	int64_t permit = counts ? flight_take_permit(entry) : 0;
	bool moved = socket_move(fd, entry, from, event);

	if (!counts)
		return moved;
	if (moved) {
		trial.unmet = event == ON_CALL_FAILED || event == ON_CONNECT_TIMED_OUT ||
		              event == ON_UNREACHED ||
		              (event == ON_ERROR_TOLD && from == SOCKET_CONNECTING);
		outcome_failure(&trial, failure, err, 0);
	}
	flight_release_permit(&trial, permit);
	return moved;
}
