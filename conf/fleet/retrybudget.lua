#!lua name=retrybudget_1
-- SPDX-License-Identifier: MIT
-- The ledger of a fleet's retry budget, one for each policy label: a library for Redis 7 or Valkey.
-- retrybudgetd calls it; retrybudgetd(8), THE FLEET, says how to load it:
--
--     redis-cli -x FUNCTION LOAD REPLACE <retrybudget.lua
--
-- The rules stand in shim/tool/ledger.h, and shim/tool/ledger.c is this file in C, function by
-- function; tests/fleet/agree plays the same traces through both. All numbers are integers that a
-- double holds exactly. Keys of one prefix share a slot: {PREFIX}:ledger:LABEL, {PREFIX}:rule:LABEL
-- and {PREFIX}:host:HOST, a hash with what is known of the host, by the key of each ledger.
--
-- One core carries what this file costs, so the way of a sync is written for that: a host asks for
-- all of its labels at once, four commands serve them all, a ledger that was written here last is
-- not unpacked again, and `x - x % 1` is math.floor(x).

local WHOLE, PRESS_ONE, PRESS_TOP, LONG = 1000000, 16, 8192, 1000000000
local WINDOWS, TOKENS, PROBES, MANY = 6, 1, 2, 1000
local GOOD, STALE, NO_RULE, FORGOTTEN = 0, 1, 2, 3
local RULE = { 'generation', 'capacity', 'floor', 'probe', 'hosts', 'leased', 'lifetime' }
local LEAST = { 1, 1000, 1, 1, 1, 0, 4000 }
local MOST = { 9007199254740991, 100000000, 10000000, 3600000, 1000000, 1000000, 120000 }
local WHOLE_NUMBERS = 9007199254740991
local AHEAD = 86400000 -- ms by which the clock of who set a rule may be ahead, where a host brings it
local FORGET_HOST = 480000 -- ms: four times the longest lifetime
local TOKEN, EARN, FINE, DEBT_MOST = 1000, 1250, 750, 4000 -- mt
local FULL_PART, FULL_EARN, FULL_FINE = 8, 900, 250

-- Epochs of the ledgers that this very process has written. It dies with the process, is not
-- replicated, and no FLUSHALL takes it: whose epoch is not in here was written by another.
local mine = {}

-- Ledgers as they were written last: true for as long as Redis has that very text.
local known, known_count, turn = {}, 0, 0

-- Where a library is loaded there are none of these yet: set at the first call.
local max, min, pack, unpack_bytes, call

local function within(value, low, high)
	return value < low and low or value > high and high or value
end

local function div(a, b)
	local c = a / b
	return c - c % 1
end

local function clock()
	local t = redis.call('TIME')
	return tonumber(t[1]) * 1000000 + tonumber(t[2])
end

-- Of a ledger: the rule, fourteen numbers, and ten of each purse. Of a host: four, and three of each.
local LEDGER = '<ddddddd' .. 'dddddddddddddd' .. 'dddddddddd' .. 'dddddddddd'
local HOST = '<dddd' .. 'ddd' .. 'ddd'
local ASK = '<ddddd' .. 'ddd' .. 'ddd' .. 'ddddd'
local ANSWER = '<dddddddddddd'
local LEDGER_BYTES, HOST_BYTES, ASK_BYTES = 41 * 8, 10 * 8, 16 * 8

-- What is counted in the purses, by the rule.
local function measure(l)
	local r = l.rule
	local leased = div(r.capacity * r.leased, WHOLE)
	local per_ms = max(div(r.floor * r.leased, WHOLE), 1)
	local a, b = l[TOKENS], l[PROBES]

	l.eighth, l.quarter = div(r.lifetime, 8), div(r.lifetime, 4)
	a.capacity, a.scale, a.per_ms, a.whole, a.one = leased, 1000, per_ms, 1000, 1000000
	b.capacity, b.scale, b.per_ms, b.whole, b.one = 1, r.probe, 1, 1, r.probe
	a.base, b.base = max(per_ms * 1000, a.one), max(1000, b.one)
	return l
end

local function new_purse(free, ready, now_want, wanted, ...)
	local p = { ... }
	p.free, p.ready, p.now_want, p.wanted = free, ready, now_want, wanted
	p.held = p[1] + p[2] + p[3] + p[4] + p[5] + p[6] -- windows, each at its number and one
	return p
end

local function read_ledger(text)
	local v = { unpack_bytes(LEDGER, text) }
	return measure({ rule = { generation = v[1], capacity = v[2], floor = v[3], probe = v[4],
			hosts = v[5], leased = v[6], lifetime = v[7] },
		epoch = v[8], born = v[9], clock = v[10], time = v[11], learning = v[12],
		success = v[13], good = v[14], bad = v[15], earned = v[16], earned_before = v[17],
		won = v[18], lost = v[19], won_before = v[20], lost_before = v[21],
		new_purse(v[22], v[23], v[24], v[25], v[26], v[27], v[28], v[29], v[30], v[31]),
		new_purse(v[32], v[33], v[34], v[35], v[36], v[37], v[38], v[39], v[40], v[41]) })
end

local function text_of(l)
	local r, a, b = l.rule, l[TOKENS], l[PROBES]
	return pack(LEDGER, r.generation, r.capacity, r.floor, r.probe, r.hosts, r.leased, r.lifetime,
		l.epoch, l.born, l.clock, l.time, l.learning, l.success, l.good, l.bad,
		l.earned, l.earned_before, l.won, l.lost, l.won_before, l.lost_before, a.free, a.ready, a.now_want, a.wanted, a[1], a[2], a[3], a[4], a[5], a[6],
		b.free, b.ready, b.now_want, b.wanted, b[1], b[2], b[3], b[4], b[5], b[6])
end

local function read_host(text)
	if not text or #text ~= HOST_BYTES then
		return 0, 0, 0, 0, 0, 0, 0, 0, 0, 0
	end
	return unpack_bytes(HOST, text)
end

local function clamp_free(p)
	local room = (p.capacity - p.held) * p.scale

	if p.free > room then
		p.free = room > 0 and room or 0
	end
end

-- window: what it says falls out; nil: no quarter ends. is_eighth: one ends.
local function pass_time(l, p, gap, window, is_eighth)
	local one, free = p.one, p.free

	if l.time >= l.learning then
		local more, room = free + p.per_ms * gap, (p.capacity - p.held) * p.scale
		more = more < room and more or room > 0 and room or 0
		p.free = more
		if free < one and more >= one then
			p.ready = l.time + gap
		end
	end
	if window then
		p.held, p[window] = p.held - p[window], 0
	end
	if is_eighth then
		p.wanted, p.now_want = p.now_want, 0
	end
end

local function advance(l, now)
	local time, quarter, eighth = l.time, l.quarter, l.eighth
	local gap = within(now - l.clock, 0, eighth)

	l.clock = now
	if gap == 0 then
		return -- nothing of it would change
	end
	local into = time % quarter + gap -- a gap is no longer than half of a quarter
	local window = into >= quarter and div(time + gap, quarter) % WINDOWS + 1 or nil
	local is_eighth = time % eighth + gap >= eighth
	pass_time(l, l[TOKENS], gap, window, is_eighth)
	pass_time(l, l[PROBES], gap, window, is_eighth)
	if window then
		l.good, l.bad = div(l.good, 2), div(l.bad, 2)
	end
	if is_eighth then
		l.earned_before, l.earned = max(l.earned, 0), min(l.earned, 0)
		l.won_before, l.lost_before, l.won, l.lost = l.won, l.lost, 0, 0
	end
	l.time = time + gap
end

local function learn(l, now_us, heard_of)
	local is_new = l.epoch == 0

	l.epoch = max(now_us, max(l.epoch, heard_of) + 1)
	if is_new then
		l.success, l.born = -1, l.epoch
	end
	l.learning = max(l.learning, l.time + l.quarter * 5)
	l.earned, l.earned_before = 0, 0
	l[TOKENS].free, l[PROBES].free = 0, 0
end

local function note_outcomes(l, good, bad, success_age)
	if good > 0 then
		l.good = min(l.good + min(good, LONG), LONG)
	end
	if bad > 0 then
		l.bad = min(l.bad + min(bad, LONG), LONG)
	end
	if success_age >= 0 then
		l.success = max(l.success, max(l.time - min(success_age, LONG), 0))
	end
end

local function hosts_that_want(p)
	local now_want, wanted = p.now_want, p.wanted
	local hosts = now_want > wanted and now_want or wanted
	return hosts > 1 and hosts or 1
end

-- Of what is taken away the oldest goes first.
local function take_earned(l, mt)
	local before = min(l.earned_before, mt)
	l.earned_before = l.earned_before - before
	l.earned = max(l.earned - (mt - before), -DEBT_MOST)
end

local function note_retries(l, won, lost)
	if won <= 0 and lost <= 0 then
		return -- nothing of it would change
	end
	won, lost = within(won, 0, LONG), within(lost, 0, LONG)
	l.won, l.lost = min(l.won + won, LONG), min(l.lost + lost, LONG)
	local failed, more = l.lost + l.lost_before, nil
	if failed * FULL_PART > failed + l.won + l.won_before then
		more = won * FULL_EARN - lost * FULL_FINE
	else
		more = won * EARN - lost * FINE
	end
	if more <= 0 then
		take_earned(l, -more)
		return
	end
	local most = max(l[TOKENS].capacity, hosts_that_want(l[TOKENS]) * TOKEN)
	l.earned = max(l.earned, min(l.earned + more, most - l.earned_before))
end

local function grant_earned(l, p, wants)
	local all = l.earned + l.earned_before
	if all < TOKEN or wants < TOKEN then
		return 0
	end
	local mt = min(wants, max(div(all, hosts_that_want(p)), TOKEN), all)
	mt = mt - mt % TOKEN
	take_earned(l, mt)
	return mt
end

local function part_of(l, p, since)
	local eighth, one, free, whole = l.eighth, p.one, p.free, p.whole
	local hosts, press = hosts_that_want(p), free * PRESS_ONE / p.base

	press = press - press % 1
	press = press < PRESS_ONE and PRESS_ONE or press > PRESS_TOP and PRESS_TOP or press
	local part = p.per_ms * (since < eighth and since or eighth) / hosts
	part = (part - part % 1) * press / PRESS_ONE
	part = (part - part % 1) / p.scale
	part = part - part % 1
	part = part - part % whole
	if part > 0 or free < one then
		return part
	end
	local whole_turn = min(div(div(hosts * one, p.per_ms) * PRESS_ONE, press), LONG)
	local lain = max(l.time - p.ready, div(free - one, p.per_ms)) -- of many the one that lies longest
	local left = 2 * (eighth - min(lain, eighth))
	return min(since, LONG) * eighth >= whole_turn * min(left, eighth) and whole or 0
end

-- Returns what is granted, when the host was served, and wanted some, last, and what of the grant
-- answers have earned. earns: they earn some of this purse.
local function grant(l, p, wants, served, wanted, earns)
	local time, whole = l.time, p.whole

	wants = wants < p.capacity and wants or p.capacity
	if wants <= 0 then
		return 0, served, wanted, 0
	end
	wants = wants + whole - 1
	wants = wants - wants % whole
	if wanted < 0 or div(wanted, l.eighth) ~= div(time, l.eighth) then
		p.now_want = p.now_want + 1
	end
	if time < l.learning then
		return 0, served, time, 0
	end
	local part, free = part_of(l, p, time - served), p.free / p.scale
	free = free - free % 1
	part = part < wants and part or wants
	part = part < free and part or free
	part = part - part % whole
	if part > 0 then
		p.free = p.free - part * p.scale
		p.ready = time
	end
	local earned = earns and grant_earned(l, p, wants - part) or 0
	part = part + earned
	return part, part > 0 and time or served, time, earned
end

-- Returns what the host holds.
local function write_down(l, p, now, before, held, back, most, is_known)
	if held > p.capacity then
		held = p.capacity
	elseif held < 0 then
		held = 0
	end
	if is_known and now - before < WINDOWS then
		local i = before % WINDOWS + 1
		local less = p[i] < most and p[i] or most
		p[i], p.held = p[i] - less, p.held - less
		if back > 0 and most > held and l.time >= l.learning then
			p.free = p.free + min(back, most - held) * p.scale
		end
	end
	local i = now % WINDOWS + 1
	p[i], p.held = p[i] + held, p.held + held
	clamp_free(p)
	return held
end

-- Returns what is granted, of the host what it may hold, when it was served, and wanted some, and
-- what of the grant answers have earned.
local function serve(l, p, now, before, held, back, wants, most, served, wanted, is_known, earns)
	held = write_down(l, p, now, before, held, back, most, is_known)
	if not is_known then
		served, wanted = l.time - l.eighth, -1
	end
	local granted, earned
	granted, served, wanted, earned = grant(l, p, wants, served, wanted, earns)
	if granted > 0 then
		local i = now % WINDOWS + 1
		p[i], p.held = p[i] + granted, p.held + granted
	end
	return granted, held + granted, served, wanted, earned
end

local function tell(l, status, tokens_granted, probes_granted, earned)
	local tokens, probes = l[TOKENS], l[PROBES]
	local sum, hosts = l.good + l.bad, hosts_that_want(tokens)
	local keep = tokens.capacity

	if hosts > 1 and tokens.free < 1000000 then
		keep = max(div(keep, hosts), 1000)
	end
	return pack(ANSWER, status, l.epoch, l.rule.generation, l.rule.lifetime,
		l.time < l.learning and 1 or 0, tokens_granted, probes_granted, keep,
		max(tokens.now_want, tokens.wanted, probes.now_want, probes.wanted),
		l.success < 0 and -1 or l.time - l.success,
		sum == 0 and -1 or div(l.bad * WHOLE, sum), earned)
end

local function number(text, name)
	local value = tonumber(text)
	if not value or value % 1 ~= 0 or value < -1 or value > WHOLE_NUMBERS then
		error({ err = 'ERR retrybudget: ' .. name .. ' is no number' })
	end
	return value
end

-- The ledger of a label, whose text that is; where it is lost and its rule is not, a new one. nil
-- and a status: no rule.
local function find(key, text)
	if text and #text == LEDGER_BYTES then
		return read_ledger(text)
	end
	local name, count = string.gsub(key, ':ledger:', ':rule:', 1)
	if count == 0 then
		error({ err = 'ERR retrybudget: the key of no ledger' })
	end
	text = redis.call('GET', name)
	if not text then
		return nil, NO_RULE
	end
	local rule, i = {}, 0
	for word in string.gmatch(text, '%d+') do
		i = i + 1
		rule[RULE[i] or ''] = tonumber(word)
	end
	if i ~= #RULE then
		return nil, FORGOTTEN
	end
	return measure({ rule = rule, epoch = 0, born = 0, clock = 0, time = 0, learning = 0,
		success = -1, good = 0, bad = 0, earned = 0, earned_before = 0,
		won = 0, lost = 0, won_before = 0, lost_before = 0,
		new_purse(0, 0, 0, 0, 0, 0, 0, 0, 0, 0),
		new_purse(0, 0, 0, 0, 0, 0, 0, 0, 0, 0) })
end

-- One of a batch. ask, host: packed. Returns the answer, and then what is to be written of the
-- ledger, and of the host.
local function sync_one(key, text, ask, known_host, now_us)
	local l, status = known[key], nil

	if l and l.turn == turn then
		error({ err = 'ERR retrybudget: a ledger that stands there twice' })
	end
	if not l or l.text ~= text then
		l, status = find(key, text)
		if not l then
			return pack('<d', status)
		end
		if not known[key] then
			if known_count >= MANY then
				known, known_count = {}, 0
			end
			known_count = known_count + 1
		end
		known[key] = l
	end
	l.text, l.turn = nil, turn -- until it is written
	if #ask ~= ASK_BYTES then
		error({ err = 'ERR retrybudget: a request that is none' })
	end
	local life, count, heard, epoch, generation, held, back, wants, held_probes, back_probes,
		wants_probes, good, bad, won, lost, success_age = unpack_bytes(ASK, ask)
	-- What is no whole number leaves something; what is too large is cut where it is used.
	if life % 1 + count % 1 + heard % 1 + epoch % 1 + generation % 1 + held % 1 + back % 1 + wants % 1 +
		held_probes % 1 + back_probes % 1 + wants_probes % 1 + good % 1 + bad % 1 +
		won % 1 + lost % 1 + success_age % 1 ~= 0 or max(life, count, heard, epoch) > WHOLE_NUMBERS then
		error({ err = 'ERR retrybudget: a request of numbers that are none' })
	end
	local host_life, host_count, host_time, host_born, out, served, wanted, out_probes,
		served_probes, wanted_probes = read_host(known_host)
	local is_known = host_life == life and host_born == l.born

	advance(l, div(now_us, 1000))
	if mine[key] ~= l.epoch or l.epoch == 0 or epoch > l.epoch or
		(epoch == l.epoch and is_known and heard > host_count) then
		learn(l, now_us, epoch)
		mine[key] = l.epoch
	end
	local granted, granted_probes, earned, host = 0, 0, 0, nil
	status = (is_known and count <= host_count) and STALE or GOOD
	if status == GOOD then
		local now, before = div(l.time, l.quarter), div(host_time, l.quarter)
		note_outcomes(l, good, bad, success_age)
		if is_known and l.time >= l.learning then
			note_retries(l, won, lost)
		end
		granted, out, served, wanted, earned = serve(l, l[TOKENS], now, before, held, back, wants,
			out, served, wanted, is_known, true)
		granted_probes, out_probes, served_probes, wanted_probes = serve(l, l[PROBES], now,
			before, held_probes, back_probes, wants_probes, out_probes, served_probes,
			wanted_probes, is_known, false)
		host = pack(HOST, life, count, l.time, l.born, out, served, wanted, out_probes,
			served_probes, wanted_probes)
	end
	local answer = tell(l, status, granted, granted_probes, earned)
	if generation ~= l.rule.generation or epoch ~= l.epoch then
		local r = l.rule
		answer = answer .. pack('<ddddddd', r.generation, r.capacity, r.floor, r.probe, r.hosts,
			r.leased, r.lifetime)
	end
	return answer, l, host
end

-- KEYS: the host's, and those of the ledgers that it asks. ARGV: of each 16 numbers, packed as
-- doubles: life, number, heard, epoch, generation; held, back and wants of tokens (mt), the same of
-- probes; good, bad, won, lost, success_age. Returns for each struct ledger_answer in its order, packed, and
-- the rule behind it if the host's is of another generation, or of a ledger that has learnt since: there may be
-- another rule of that number in it.
local function sync(keys, args)
	if #keys < 2 or #args ~= #keys - 1 then
		error({ err = 'ERR retrybudget: as many requests as ledgers' })
	end
	local now_us = clock()
	local texts = call('MGET', unpack(keys, 2))
	local hosts = call('HMGET', keys[1], unpack(keys, 2))
	local answers, ledgers, records, written = {}, {}, { 'HSET', keys[1] }, {}

	turn = turn + 1
	for i = 1, #args do
		local key, l, host = keys[i + 1], nil, nil
		answers[i], l, host = sync_one(key, texts[i], args[i], hosts[i], now_us)
		if l then
			local text, n = text_of(l), #ledgers
			ledgers[n + 1], ledgers[n + 2] = key, text
			written[#written + 1] = l
		end
		if host then
			local n = #records
			records[n + 1], records[n + 2] = key, host
		end
	end
	if #ledgers > 0 then
		call('MSET', unpack(ledgers))
		for i = 1, #written do
			written[i].text = ledgers[2 * i]
		end
	end
	if #records > 2 then
		call(unpack(records))
		call('PEXPIRE', keys[1], FORGET_HOST)
	end
	return answers
end

local function rule_of(args)
	local rule = {}
	for i = 1, #RULE do
		rule[RULE[i]] = number(args[i], RULE[i])
		if rule[RULE[i]] < LEAST[i] or rule[RULE[i]] > MOST[i] then
			error({ err = 'ERR retrybudget: ' .. RULE[i] .. ' is out of range' })
		end
	end
	return rule
end

local function put_rule(key, rule)
	local words = {}
	for i = 1, #RULE do
		words[i] = string.format('%.0f', rule[RULE[i]])
	end
	redis.call('SET', (string.gsub(key, ':ledger:', ':rule:', 1)), table.concat(words, ' '))
end

-- l: the ledger, if there is one.
local function replace(key, l, rule)
	put_rule(key, rule)
	if not l or l.epoch == 0 then
		return rule.generation
	end
	local before = l.rule.lifetime
	l.rule, l.earned, l.earned_before = rule, 0, 0
	measure(l)
	if before ~= rule.lifetime then
		l.learning = max(l.learning, l.time + div(max(before, rule.lifetime), 4) * 5)
	end
	for i = TOKENS, PROBES do
		local p = l[i]
		if before ~= rule.lifetime then
			for j = 1, WINDOWS do
				p[j] = 0
			end
			p[div(l.time, l.quarter) % WINDOWS + 1] = p.held
		end
		clamp_free(p)
	end
	redis.call('SET', key, text_of(l))
	return rule.generation
end

-- KEYS: the label's. ARGV: the rule, in the order of RULE, and the generation of the one that it is to
-- replace, if that matters. Returns the generation that holds: the rule's own, if it has replaced an older one.
local function set(keys, args)
	local rule, l = rule_of(args), find(keys[1], redis.call('GET', keys[1]))
	local before = args[8] and number(args[8], 'before')

	if l and (rule.generation <= l.rule.generation or (before and before ~= l.rule.generation)) then
		return l.rule.generation
	end
	return replace(keys[1], l, rule)
end

-- What both rules let go. Of hosts and lifetime more lets no more go.
local function merged(a, b)
	return { capacity = min(a.capacity, b.capacity), floor = min(a.floor, b.floor), probe = max(a.probe, b.probe),
		hosts = max(a.hosts, b.hosts), leased = min(a.leased, b.leased), lifetime = max(a.lifetime, b.lifetime) }
end

local function is_same(a, b)
	for i = 2, #RULE do -- whatever their numbers
		if a[RULE[i]] ~= b[RULE[i]] then
			return false
		end
	end
	return true
end

-- The same from an agent that remembers a rule which the server has lost: where there is none it holds again, and in
-- the place of an older one come both, so that no host lets more go than an operator has said. It has its own number
-- if it is what both are and that is a time that has come, a day more or less, and else the next one: no host can be in
-- the way of a rule that is set, whose number is the time.
local function restore(keys, args)
	local rule, l, status = rule_of(args), find(keys[1], redis.call('GET', keys[1]))
	local latest = div(clock(), 1000) + AHEAD

	if not l and status == FORGOTTEN then
		return 0
	elseif not l then
		rule.generation = min(rule.generation, latest)
		return replace(keys[1], nil, rule)
	end
	local both = merged(l.rule, rule)
	if rule.generation < l.rule.generation or is_same(both, l.rule) then
		return l.rule.generation
	end
	both.generation = l.rule.generation + 1
	if is_same(both, rule) and rule.generation <= latest then
		both.generation = max(both.generation, rule.generation)
	end
	return replace(keys[1], l, both)
end

-- KEYS: the label's. Hosts that ask are told so, and forget the rule too.
local function forget(keys)
	redis.call('DEL', keys[1])
	redis.call('SET', (string.gsub(keys[1], ':ledger:', ':rule:', 1)), 'forgotten')
	return 1
end

-- KEYS: the label's. The rule, epoch, time, learning left (ms), success age, good, bad, of each
-- purse what is free, what is held and who wants some, and what answers have earned. Nothing, where there is no rule.
local function show(keys)
	local l = find(keys[1], redis.call('GET', keys[1]))
	if not l then
		return {}
	end
	local told, r = {}, l.rule
	for i = 1, #RULE do
		told[i] = r[RULE[i]]
	end
	local more = { l.epoch, l.time, max(l.learning - l.time, 0),
		l.success < 0 and -1 or l.time - l.success, l.good, l.bad,
		div(l[TOKENS].free, 1000), l[TOKENS].held, max(l[TOKENS].now_want, l[TOKENS].wanted),
		div(l[PROBES].free, r.probe), l[PROBES].held,
		max(l[PROBES].now_want, l[PROBES].wanted), max(l.earned + l.earned_before, 0) }
	for i = 1, #more do
		told[#told + 1] = more[i]
	end
	return told
end

-- KEYS: that of a host, and of a ledger. Life, number, time of its last request, tokens and probes
-- that it may hold.
local function show_host(keys)
	local life, count, time, _, out, _, _, out_probes = read_host(redis.call('HGET', keys[1], keys[2]))
	return { life, count, time, out, out_probes }
end

local function register(name, callee, flags)
	redis.register_function({ function_name = 'retrybudget_1_' .. name, flags = flags,
		callback = function(keys, args)
			max, min, call = math.max, math.min, redis.call
			pack, unpack_bytes = struct.pack, struct.unpack
			return callee(keys, args)
		end })
end

register('sync', sync, {})
register('restore', restore, {})
register('set', set, {})
register('forget', forget, {})
register('show', show, { 'no-writes' })
register('show_host', show_host, { 'no-writes' })
