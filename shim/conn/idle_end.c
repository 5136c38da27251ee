/* SPDX-License-Identifier: MIT */
/* A kept connection that the peer closed while it was idle is nobody's failure: then the peer never
 * acknowledged the request that met a closed connection, and a reset that answers it reads as
 * EPIPE. ECONNRESET says that the connection was whole until then, even where the reset came before
 * any acknowledgement; unless it had long been idle. Then what was written may also have been a
 * goodbye, of which the peer makes no words: MySQL's COM_QUIT, PostgreSQL's Terminate, an end of
 * TLS. */
#include "conn/idle_end.h"

#include "conn/data_connection.h"
#include "conn/greeting.h"
#include "conn/tcp_info.h"
#include "sys/cell.h"

bool idle_end(int fd, struct socket_entry *entry, enum socket_state state, enum failure failure,
              int err)
{
	unsigned int traits = LOAD(entry->traits);

	if (greeting_was_in_vain(entry))
		return false;
	if (traits & TRAIT_TIMED_OUT ||
	    (failure == FAILURE_DROPPED &&
	     (traits & TRAIT_FINISHED || data_connection_is_over(fd, entry))) ||
	    (traits & TRAIT_HANDSHAKE_DONE && state == SOCKET_OPEN))
		return true;
	if (!(traits & TRAIT_SERVED) || state == SOCKET_ANSWERED)
		return traits & TRAIT_SERVED;
	switch (tcp_info_idle(fd, err, traits & TRAIT_HTTP)) {
	case IDLE_GOODBYE:
		socket_mark(entry, TRAIT_FINISHED);
		return true;
	case IDLE_CLOSED:
		return true;
	case IDLE_NOT:
		break;
	}
	return false;
}
