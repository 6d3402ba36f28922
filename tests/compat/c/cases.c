#include "cases.h"
#include "turns.h"

#include <hiredis/hiredis.h>
#include <stdio.h>
#include <string.h>

enum { LEASE_MS = 10000, SHORT_LEASE_MS = 500, FREE_WITHIN_MS = 5000 };

/* One case: what it runs on, and why it failed. */
struct run {
	const struct library *library;
	const char *addresses;
	char name[128];
	char why[256];
	struct locker probe; /* a plain client, one connection a server */
};

static bool fail(struct run *r, const char *why)
{
	snprintf(r->why, sizeof r->why, "%s", why);
	return false;
}

static void open_locker(struct run *r, struct locker *l, long long millis)
{
	locker_open(l, r->library, r->addresses, r->name, millis);
}

/* Sends a command with the lock's name to every server; of several masters one may be
 * dead. Says whether a majority answered, each at least at_least. */
static bool everywhere(struct run *r, const char *command, long long at_least)
{
	size_t answered = 0;
	for (size_t i = 0; i < r->probe.count; i++) {
		if (!r->probe.masters[i])
			continue;
		redisReply *reply = redisCommand(r->probe.masters[i], command, r->name);
		bool fits = reply && reply->type == REDIS_REPLY_INTEGER && reply->integer >= at_least;
		freeReplyObject(reply);
		if (!fits)
			return false;
		answered++;
	}
	return answered * 2 > r->probe.count;
}

/* What the lock has left at the first address, in milliseconds. */
static long long left(struct run *r)
{
	redisReply *reply = redisCommand(r->probe.masters[0], "PTTL %s", r->name);
	long long ms = reply && reply->type == REDIS_REPLY_INTEGER ? reply->integer : -1;
	freeReplyObject(reply);
	return ms;
}

static bool acquire(struct run *r, struct locker *a, struct locker *b)
{
	(void)b;
	if (!a->library->try_lock(a))
		return fail(r, "not taken");
	long long ms = left(r);
	if (ms <= 0 || ms > LEASE_MS)
		return fail(r, "the lease isn't what was asked for");
	return everywhere(r, "LOCK.TOKEN %s", 1) || fail(r, "no token");
}

static bool contended(struct run *r, struct locker *a, struct locker *b)
{
	if (!a->library->try_lock(a))
		return fail(r, "not taken");
	return !b->library->try_lock(b) || fail(r, "taken twice");
}

static bool extend(struct run *r, struct locker *a, struct locker *b)
{
	(void)b;
	if (!a->library->try_lock(a) || !everywhere(r, "PEXPIRE %s 1000", 0))
		return fail(r, "not taken");
	if (!a->library->extend(a))
		return fail(r, "not extended");
	return left(r) > LEASE_MS / 2 || fail(r, "the lease is short after extending");
}

static bool release(struct run *r, struct locker *a, struct locker *b)
{
	if (!a->library->try_lock(a))
		return fail(r, "not taken");
	if (!a->library->unlock(a))
		return fail(r, "not released");
	return b->library->try_lock(b) || fail(r, "not taken after the release");
}

static bool foreign(struct run *r, struct locker *a, struct locker *b)
{
	if (!a->library->try_lock(a) || !everywhere(r, "DEL %s", 0) || !b->library->try_lock(b))
		return fail(r, "not taken");
	if (a->library->unlock(a) && a->library->tells_release)
		return fail(r, "the former holder was told that it released the lock");
	return left(r) > 0 || fail(r, "the former holder released its successor's lock");
}

static bool expiry(struct run *r, struct locker *a, struct locker *b)
{
	a->millis = SHORT_LEASE_MS;
	long long began = now_ms();
	if (!a->library->try_lock(a))
		return fail(r, "not taken");
	while (!b->library->try_lock(b))
		if (now_ms() - began > FREE_WITHIN_MS)
			return fail(r, "not free in time");
	long long took = now_ms() - began;
	if (took < SHORT_LEASE_MS * 99 / 100)
		return fail(r, "taken from its holder too early");
	if (took > FREE_WITHIN_MS)
		return fail(r, "free too late");
	return !a->library->extend(a) || fail(r, "extended after it had ended");
}

static bool wait_turns(struct run *r, struct locker *a, struct locker *b)
{
	(void)a, (void)b;
	struct turns turns = take_turns(r->library, r->addresses, r->name, LEASE_MS);
	if (turns.taken == TAKERS && turns.clashes == 0 && turns.unreleased == 0)
		return true;
	snprintf(r->why, sizeof r->why, "%d turns, %d times two were in, %d not released", turns.taken, turns.clashes, turns.unreleased);
	return false;
}

static const struct {
	const char *name;
	bool (*run)(struct run *, struct locker *, struct locker *);
} all[] = {
	{"acquire", acquire}, {"contended", contended}, {"extend", extend}, {"release", release},
	{"foreign", foreign}, {"expiry", expiry}, {"wait", wait_turns},
};

bool run_cases(const struct library *library, const char *addresses, const char *prefix)
{
	bool passed = true;
	for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
		struct run r = {.library = library, .addresses = addresses};
		snprintf(r.name, sizeof r.name, "%s:%s", prefix, all[i].name);
		struct locker a, b;
		open_locker(&r, &r.probe, 0);
		open_locker(&r, &a, LEASE_MS);
		open_locker(&r, &b, LEASE_MS);
		if (!r.probe.masters[0]) {
			fail(&r, "the first server can't be reached");
			passed = false;
		} else if (!all[i].run(&r, &a, &b)) {
			passed = false;
		}
		locker_close(&a);
		locker_close(&b);
		locker_close(&r.probe);
		if (*r.why)
			printf("%s FAIL %s\n", all[i].name, r.why);
		else
			printf("%s ok\n", all[i].name);
		fflush(stdout);
	}
	return passed;
}
