#!lua name=retrybudget_1
-- SPDX-License-Identifier: MIT
-- The ledger of a fleet's retry budget, one for each policy label: a library for Redis 7 or Valkey.
-- retrybudgetd calls it; retrybudgetd(8), THE FLEET, says how to load it:
--
--     redis-cli -x FUNCTION LOAD REPLACE <retrybudget.lua
--
-- The rules stand in shim/agent/ledger.h, and shim/agent/ledger.c is this file in C, function by
-- function; tests/fleet/agree plays the same traces through both. All numbers are integers that a
-- double holds exactly. Keys of one label share a slot: PREFIX{LABEL}, PREFIX{LABEL}:rule and
-- PREFIX{LABEL}:host:HOST.

local WHOLE, PRESS_ONE, PRESS_TOP, LONG = 1000000, 16, 8192, 1000000000
local WINDOWS, TOKENS, PROBES = 6, 1, 2
local GOOD, STALE, NO_RULE, FORGOTTEN = 0, 1, 2, 3
local RULE = { 'generation', 'capacity', 'floor', 'probe', 'hosts', 'leased', 'lifetime' }
local LEAST = { 1, 1000, 1, 1, 1, 0, 4000 }
local MOST = { 9007199254740991, 100000000, 10000000, 3600000, 1000000, 1000000, 120000 }

-- Epochs of the ledgers that this very process has written. It dies with the process, is not
-- replicated, and no FLUSHALL takes it: whose epoch is not in here was written by another.
local mine = {}

-- Where a library is loaded there is no math yet: set at the first call.
local floor, max, min

local function within(value, low, high)
	return value < low and low or value > high and high or value
end

local function div(a, b)
	return floor(a / b)
end

local function clock()
	local t = redis.call('TIME')
	return tonumber(t[1]) * 1000000 + tonumber(t[2])
end

-- Of a ledger: the rule, seven numbers, and ten of each purse. Of a host: three, and three of each.
local LEDGER = '<ddddddd' .. 'ddddddd' .. 'dddddddddd' .. 'dddddddddd'
local HOST = '<ddd' .. 'ddd' .. 'ddd'

local function read_purse(v, at)
	return { free = v[at], ready = v[at + 1], now_want = v[at + 2], wanted = v[at + 3],
		out = { [0] = v[at + 4], v[at + 5], v[at + 6], v[at + 7], v[at + 8], v[at + 9] } }
end

local function read_ledger(text)
	local v = { struct.unpack(LEDGER, text) }
	return { rule = { generation = v[1], capacity = v[2], floor = v[3], probe = v[4], hosts = v[5],
			leased = v[6], lifetime = v[7] },
		epoch = v[8], clock = v[9], time = v[10], learning = v[11], success = v[12],
		good = v[13], bad = v[14], read_purse(v, 15), read_purse(v, 25) }
end

local function write_ledger(key, l)
	local r, a, b = l.rule, l[1], l[2]
	local p, q = a.out, b.out
	redis.call('SET', key, struct.pack(LEDGER, r.generation, r.capacity, r.floor, r.probe, r.hosts,
		r.leased, r.lifetime, l.epoch, l.clock, l.time, l.learning, l.success, l.good, l.bad,
		a.free, a.ready, a.now_want, a.wanted, p[0], p[1], p[2], p[3], p[4], p[5],
		b.free, b.ready, b.now_want, b.wanted, q[0], q[1], q[2], q[3], q[4], q[5]))
end

local function read_host(text)
	if not text or #text ~= 72 then
		return { life = 0, number = 0, time = 0, { out = 0, served = 0, wanted = 0 },
			{ out = 0, served = 0, wanted = 0 } }
	end
	local a, b, c, d, e, f, g, h, i = struct.unpack(HOST, text)
	return { life = a, number = b, time = c, { out = d, served = e, wanted = f },
		{ out = g, served = h, wanted = i } }
end

local function write_host(key, h, lifetime)
	redis.call('SET', key, struct.pack(HOST, h.life, h.number, h.time, h[1].out, h[1].served,
		h[1].wanted, h[2].out, h[2].served, h[2].wanted), 'PX', lifetime * 4)
end

local function leased_capacity(rule)
	return div(rule.capacity * rule.leased, WHOLE)
end

local function leased_floor(rule)
	return max(div(rule.floor * rule.leased, WHOLE), 1)
end

local function measure_of(rule, purse)
	if purse == PROBES then
		return { capacity = 1, scale = rule.probe, per_ms = 1, whole = 1 }
	end
	return { capacity = leased_capacity(rule), scale = 1000, per_ms = leased_floor(rule), whole = 1000 }
end

local function held_by_all(purse)
	local out = purse.out
	return out[0] + out[1] + out[2] + out[3] + out[4] + out[5]
end

local function clamp_free(purse, of)
	purse.free = min(purse.free, max((of.capacity - held_by_all(purse)) * of.scale, 0))
end

local function pass_time(l, purse, of, gap)
	local eighth, quarter = div(l.rule.lifetime, 8), div(l.rule.lifetime, 4)
	local one, now = of.whole * of.scale, l.time + gap
	local was_ready = purse.free >= one

	if l.time >= l.learning then
		purse.free = purse.free + of.per_ms * gap
		clamp_free(purse, of)
	end
	if not was_ready and purse.free >= one then
		purse.ready = now
	end
	if div(now, quarter) ~= div(l.time, quarter) then
		purse.out[div(now, quarter) % WINDOWS] = 0
	end
	if div(now, eighth) ~= div(l.time, eighth) then
		purse.wanted, purse.now_want = purse.now_want, 0
	end
end

local function advance(l, of, now)
	local gap = within(now - l.clock, 0, div(l.rule.lifetime, 8))
	local quarter = div(l.rule.lifetime, 4)

	pass_time(l, l[TOKENS], of[TOKENS], gap)
	pass_time(l, l[PROBES], of[PROBES], gap)
	if div(l.time + gap, quarter) ~= div(l.time, quarter) then
		l.good, l.bad = div(l.good, 2), div(l.bad, 2)
	end
	l.time, l.clock = l.time + gap, now
end

local function learn(l, now_us, heard_of)
	if l.epoch == 0 then
		l.success = -1
	end
	l.epoch = max(now_us, max(l.epoch, heard_of) + 1)
	l.learning = l.time + div(l.rule.lifetime, 4) * 5
	l[TOKENS].free, l[PROBES].free = 0, 0
end

local function note_outcomes(l, ask)
	l.good = min(l.good + within(ask.good, 0, LONG), LONG)
	l.bad = min(l.bad + within(ask.bad, 0, LONG), LONG)
	if ask.success_age >= 0 then
		l.success = max(l.success, max(l.time - min(ask.success_age, LONG), 0))
	end
end

local function hosts_that_want(purse)
	return max(purse.now_want, purse.wanted, 1)
end

local function part_of(l, purse, of, since)
	local eighth, one = div(l.rule.lifetime, 8), of.whole * of.scale
	local hosts, base = hosts_that_want(purse), max(of.per_ms * 1000, one)
	local press = within(div(purse.free * PRESS_ONE, base), PRESS_ONE, PRESS_TOP)
	local part = div(div(of.per_ms * min(since, eighth), hosts) * press, PRESS_ONE)

	part = div(part, of.scale)
	part = part - part % of.whole
	if part > 0 or purse.free < one then
		return part
	end
	local turn = min(div(div(hosts * one, of.per_ms) * PRESS_ONE, press), LONG)
	local left = 2 * (eighth - min(l.time - purse.ready, eighth))
	return min(since, LONG) * eighth >= turn * min(left, eighth) and of.whole or 0
end

local function grant(l, host, i, of, wants)
	local eighth, purse = div(l.rule.lifetime, 8), l[i]

	wants = within(wants, 0, of.capacity)
	wants = div(wants + of.whole - 1, of.whole) * of.whole
	if wants == 0 then
		return 0
	end
	if host[i].wanted < 0 or div(host[i].wanted, eighth) ~= div(l.time, eighth) then
		purse.now_want = purse.now_want + 1
	end
	host[i].wanted = l.time
	if l.time < l.learning then
		return 0
	end
	local part = part_of(l, purse, of, l.time - host[i].served)
	part = min(wants, part, div(purse.free, of.scale))
	part = part - part % of.whole
	if part == 0 then
		return 0
	end
	purse.free = purse.free - part * of.scale
	purse.ready = l.time
	host[i].served = l.time
	return part
end

local function write_down(l, host, ask, i, of, is_known)
	local quarter, purse = div(l.rule.lifetime, 4), l[i]
	local now, before = div(l.time, quarter), div(host.time, quarter)
	local held, most = within(ask.held[i], 0, of.capacity), host[i].out

	if is_known and now - before < WINDOWS then
		purse.out[before % WINDOWS] = max(purse.out[before % WINDOWS] - most, 0)
		if l.time >= l.learning then
			purse.free = purse.free + within(ask.back[i], 0, max(most - held, 0)) * of.scale
		end
	end
	purse.out[now % WINDOWS] = purse.out[now % WINDOWS] + held
	clamp_free(purse, of)
	return held
end

local function serve(l, host, ask, of)
	local now = div(l.time, div(l.rule.lifetime, 4)) % WINDOWS
	local is_known, granted = host.life == ask.life, {}

	for i = TOKENS, PROBES do
		local held = write_down(l, host, ask, i, of[i], is_known)
		if not is_known then
			host[i].served = l.time - div(l.rule.lifetime, 8)
			host[i].wanted = -1
		end
		granted[i] = grant(l, host, i, of[i], ask.wants[i])
		l[i].out[now] = l[i].out[now] + granted[i]
		host[i].out = held + granted[i]
	end
	host.life, host.number, host.time = ask.life, ask.number, l.time
	return granted
end

local function tell(l, status, granted, of)
	local tokens, probes = l[TOKENS], l[PROBES]
	local sum, hosts = l.good + l.bad, hosts_that_want(tokens)
	local keep = of[TOKENS].capacity

	if hosts > 1 and tokens.free < 1000000 then
		keep = max(div(keep, hosts), 1000)
	end
	return { status, l.epoch, l.rule.generation, l.rule.lifetime, l.time < l.learning and 1 or 0,
		granted[TOKENS], granted[PROBES], keep,
		max(tokens.now_want, tokens.wanted, probes.now_want, probes.wanted),
		l.success < 0 and -1 or l.time - l.success,
		sum == 0 and -1 or div(l.bad * WHOLE, sum) }
end

local function number(text, name)
	local value = tonumber(text)
	if not value or value ~= floor(value) or value < -1 or value > 9007199254740991 then
		error({ err = 'ERR retrybudget: ' .. name .. ' is no number' })
	end
	return value
end

local function new_purse()
	return { free = 0, ready = 0, now_want = 0, wanted = 0,
		out = { [0] = 0, 0, 0, 0, 0, 0 } }
end

-- The ledger of a label; where it is lost and its rule is not, a new one. nil and a status: no rule.
local function find(key)
	local text = redis.call('GET', key)
	if text and #text == 272 then
		return read_ledger(text)
	end
	text = redis.call('GET', key .. ':rule')
	if not text then
		return nil, NO_RULE
	end
	local rule, i = {}, 0
	for word in string.gmatch(text, '%d+') do
		i = i + 1
		rule[RULE[i]] = tonumber(word)
	end
	if i ~= #RULE then
		return nil, FORGOTTEN
	end
	return { rule = rule, epoch = 0, clock = 0, time = 0, learning = 0, success = -1, good = 0,
		bad = 0, new_purse(), new_purse() }
end

-- KEYS: the label's, and its host's. ARGV: life, number, heard, epoch, generation; held, back and
-- wants of tokens (mt), the same of probes; good, bad, success_age. Returns struct ledger_answer in
-- its order, and the rule behind it if the host's is of another generation.
local function sync(keys, args)
	local l, status = find(keys[1])
	if not l then
		return { status }
	end
	local v = {}
	for i = 1, 14 do
		v[i] = number(args[i], 'argument ' .. i)
	end
	local ask = { life = v[1], number = v[2], heard = v[3], epoch = v[4], held = { v[6], v[9] },
		back = { v[7], v[10] }, wants = { v[8], v[11] }, good = v[12], bad = v[13],
		success_age = v[14] }
	local now_us, host = clock(), read_host(redis.call('GET', keys[2]))
	local of = { measure_of(l.rule, TOKENS), measure_of(l.rule, PROBES) }
	local is_known = host.life == ask.life

	advance(l, of, div(now_us, 1000))
	if mine[keys[1]] ~= l.epoch or l.epoch == 0 or ask.epoch > l.epoch or
		(ask.epoch == l.epoch and is_known and ask.heard > host.number) then
		learn(l, now_us, ask.epoch)
		mine[keys[1]] = l.epoch
	end
	local granted = { 0, 0 }
	status = (is_known and ask.number <= host.number) and STALE or GOOD
	if status == GOOD then
		note_outcomes(l, ask)
		granted = serve(l, host, ask, of)
		write_host(keys[2], host, l.rule.lifetime)
	end
	write_ledger(keys[1], l)
	local answer = tell(l, status, granted, of)
	if v[5] ~= l.rule.generation then
		for i = 1, #RULE do
			answer[#answer + 1] = l.rule[RULE[i]]
		end
	end
	return answer
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
	redis.call('SET', key .. ':rule', table.concat(words, ' '))
end

-- KEYS: the label's. ARGV: the rule, in the order of RULE. Returns the generation that holds: the
-- rule's own, if it has replaced an older one.
local function set(keys, args)
	local rule, l = rule_of(args), find(keys[1])

	if l and rule.generation <= l.rule.generation then
		return l.rule.generation
	end
	put_rule(keys[1], rule)
	if not l or l.epoch == 0 then
		return rule.generation
	end
	local before = l.rule.lifetime
	l.rule = rule
	if before ~= rule.lifetime then
		l.learning = max(l.learning, l.time + div(max(before, rule.lifetime), 4) * 5)
	end
	for i = TOKENS, PROBES do
		if before ~= rule.lifetime then
			local sum = held_by_all(l[i])
			for j = 0, WINDOWS - 1 do
				l[i].out[j] = 0
			end
			l[i].out[div(l.time, div(rule.lifetime, 4)) % WINDOWS] = sum
		end
		clamp_free(l[i], measure_of(rule, i))
	end
	write_ledger(keys[1], l)
	return rule.generation
end

-- The same from an agent that remembers a rule which the server has lost; nothing else is touched.
local function restore(keys, args)
	local l, status = find(keys[1])

	if l or status == FORGOTTEN then
		return l and l.rule.generation or 0
	end
	return set(keys, args)
end

-- KEYS: the label's. Hosts that ask are told so, and forget the rule too.
local function forget(keys)
	redis.call('DEL', keys[1])
	redis.call('SET', keys[1] .. ':rule', 'forgotten')
	return 1
end

-- KEYS: the label's. The rule, epoch, time, learning left (ms), success age, good, bad, and of each
-- purse what is free, what is held and who wants some. Nothing, where there is no rule.
local function show(keys)
	local l = find(keys[1])
	if not l then
		return {}
	end
	local told, r = {}, l.rule
	for i = 1, #RULE do
		told[i] = r[RULE[i]]
	end
	local more = { l.epoch, l.time, max(l.learning - l.time, 0),
		l.success < 0 and -1 or l.time - l.success, l.good, l.bad,
		div(l[TOKENS].free, 1000), held_by_all(l[TOKENS]), max(l[TOKENS].now_want, l[TOKENS].wanted),
		div(l[PROBES].free, r.probe), held_by_all(l[PROBES]),
		max(l[PROBES].now_want, l[PROBES].wanted) }
	for i = 1, #more do
		told[#told + 1] = more[i]
	end
	return told
end

-- KEYS: that of a host. Life, number, time of its last request, tokens and probes that it may hold.
local function show_host(keys)
	local h = read_host(redis.call('GET', keys[1]))
	return { h.life, h.number, h.time, h[TOKENS].out, h[PROBES].out }
end

local function register(name, call, flags)
	redis.register_function({ function_name = 'retrybudget_1_' .. name, flags = flags,
		callback = function(keys, args)
			floor, max, min = math.floor, math.max, math.min
			return call(keys, args)
		end })
end

register('sync', sync, {})
register('restore', restore, {})
register('set', set, {})
register('forget', forget, {})
register('show', show, { 'no-writes' })
register('show_host', show_host, { 'no-writes' })
