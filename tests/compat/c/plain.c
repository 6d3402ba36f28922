/* hiredis alone, as those use it who lock without a library: SET NX PX, and scripts
 * that compare the value first, loaded and then asked for by their hash. */
#include "locker.h"

#include <hiredis/hiredis.h>
#include <stdio.h>
#include <string.h>

#define TEXT(n) TEXT_OF(n)
#define TEXT_OF(n) #n

static const char delete_if_equal[] =
	"if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end\n"
	"return redis.call('DEL', KEYS[1])";
static const char expire_if_equal[] =
	"if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end\n"
	"return redis.call('PEXPIRE', KEYS[1], ARGV[2])";

static bool take(struct locker *l)
{
	redisReply *r = redisCommand(l->masters[0], "SET %s %s NX PX %lld", l->name, l->value, l->millis);
	bool ok = r && r->type == REDIS_REPLY_STATUS && strcmp(r->str, "OK") == 0;
	freeReplyObject(r);
	return ok;
}

/* Asks for a script by its hash. It answers 1 if it did what it is for. */
static redisReply *by_hash(struct locker *l, const char *hash)
{
	return redisCommand(l->masters[0], "EVALSHA %s 1 %s %s %lld", hash, l->name, l->value, l->millis);
}

static bool run(struct locker *l, const char *script)
{
	redisReply *loaded = redisCommand(l->masters[0], "SCRIPT LOAD %s", script);
	redisReply *r = NULL;
	if (loaded && loaded->type == REDIS_REPLY_STRING)
		r = by_hash(l, loaded->str);
	bool ok = r && r->type == REDIS_REPLY_INTEGER && r->integer == 1;
	freeReplyObject(r);
	freeReplyObject(loaded);
	return ok;
}

static bool extend(struct locker *l) { return run(l, expire_if_equal); }

static bool release(struct locker *l) { return run(l, delete_if_equal); }

const struct library plain = {
	.name = "hiredis",
	.version = TEXT(HIREDIS_MAJOR) "." TEXT(HIREDIS_MINOR) "." TEXT(HIREDIS_PATCH),
	.tells_release = true,
	.try_lock = take,
	.extend = extend,
	.unlock = release,
};
