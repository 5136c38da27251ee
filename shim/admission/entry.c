/* SPDX-License-Identifier: MIT */
/* From a listening socket to its section, and from there to its state in the region. */
#include "admission/entry.h"

#include "config/current.h"
#include "config/listen.h"
#include "dest/address.h"
#include "report/record.h"
#include "report/refresh.h"
#include "report/report.h"
#include "sys/hash.h"
#include "sys/real.h"

#include <errno.h>
#include <linux/tcp.h>
#include <netinet/in.h>

#define LISTENING 10 /* TCP_LISTEN of netinet/tcp.h, which cannot be had with linux/tcp.h */

struct socket_name {
	struct sockaddr_storage address;
	socklen_t len;
};

static bool name_of(int listener, struct socket_name *name)
{
	int saved = errno;
	bool known;

	name->len = sizeof(name->address);
	known = getsockname(listener, (struct sockaddr *)&name->address, &name->len) == 0 &&
	        name->len <= sizeof(name->address);
	errno = saved;
	return known;
}

/* How many are in its queue still; 0 also where nobody can tell (a unix socket). */
static int64_t waiting_at(int listener)
{
	struct tcp_info info = { .tcpi_state = 0 };
	socklen_t len = sizeof(info);
	int saved = errno;
	bool known = real.getsockopt(listener, IPPROTO_TCP, TCP_INFO, &info, &len) == 0 &&
	             info.tcpi_state == LISTENING;

	errno = saved;
	return known ? info.tcpi_unacked : 0;
}

/* Sections are known by their label, which a reload that adds others does not change. */
static struct admission *admission_of(const struct config *config, int section)
{
	const char *label = config->admission_labels[section];
	int64_t key = (int64_t)hash_bytes(HASH_START, label, strnlen(label, CONFIG_LABEL));
	struct admission *admission =
	    admission_find(shim_region->admissions, REGION_ADMISSIONS, key ? key : 1);

	if (!admission)
		count(&shim_region->faults);
	return admission;
}

void entry_refresh(void)
{
	int saved = errno;

	refresh(monotonic());
	errno = saved;
}

void entry_tell(const struct entry *entry, int listener)
{
	const struct admission_rule *rule = &entry->config->admissions[entry->section];
	struct socket_name name;
	struct record record = {
		.event = EVENT_REJECTED,
		.admission = entry->admission,
		.policy = entry->config->admission_labels[entry->section],
		.observe = !entry->rule,
		.tokens = admission_tokens(entry->admission, rule),
		.capacity = rule->burst,
		.queue = entry->queue,
	};
	int saved = errno;

	if (name_of(listener, &name)) {
		record.listen = (const struct sockaddr *)&name.address;
		record.listen_len = name.len;
	}
	announce(entry->now);
	report(&record, entry->now);
	errno = saved;
}

void entry_judge(struct entry *entry, int listener)
{
	const struct config *config = config_current();
	const struct admission_rule *rule;
	struct socket_name name;

	entry->rule = NULL;
	entry->config = config;
	entry->section = name_of(listener, &name)
	                     ? listener_find(config, (struct sockaddr *)&name.address, name.len)
	                     : -1;
	if (entry->section < 0)
		return;
	rule = &config->admissions[entry->section];
	if (rule->mode == MODE_OFF)
		return;
	entry->now = monotonic();
	entry->admission = admission_of(config, entry->section);
	/* Where nobody is rejected the queue is what it would not be otherwise. */
	entry->queue = rule->mode == MODE_ENFORCE ? waiting_at(listener) : 0;
	if (!entry->admission || admission_take(entry->admission, rule, entry->queue, entry->now))
		return;
	if (rule->mode == MODE_ENFORCE)
		entry->rule = rule;
	else
		entry_tell(entry, listener);
}
