/* redlock-cpp, which no registry serves here: what it sends over hiredis, in our own words. */
#include "locker.h"

#include <hiredis/hiredis.h>
#include <string.h>

static const char delete_if_equal[] =
	"if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end\n"
	"return redis.call('DEL', KEYS[1])";
static const char replace_if_equal[] =
	"if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('DEL', KEYS[1]) end\n"
	"return redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3], 'NX')";

static bool is_ok(redisReply *r)
{
	bool ok = r && r->type == REDIS_REPLY_STATUS && strcmp(r->str, "OK") == 0;
	freeReplyObject(r);
	return ok;
}

/* Whether votes are a quorum, and something is left of the lease that began then. */
static bool won(const struct locker *l, size_t votes, long long began)
{
	long long drift = l->millis / 100 + 2;
	return votes >= l->count / 2 + 1 && l->millis - (now_ms() - began) - drift > 0;
}

static bool give(struct locker *l)
{
	for (size_t i = 0; i < l->count; i++)
		if (l->masters[i])
			freeReplyObject(redisCommand(l->masters[i], "EVAL %s 1 %s %s", delete_if_equal, l->name, l->value));
	return true;
}

static bool take(struct locker *l)
{
	long long began = now_ms();
	size_t votes = 0;
	for (size_t i = 0; i < l->count; i++)
		if (l->masters[i])
			votes += is_ok(redisCommand(l->masters[i], "set %s %s px %lld nx", l->name, l->value, l->millis));
	if (won(l, votes, began))
		return true;
	give(l);
	return false;
}

/* An extension is a lock of another value in the place of the one that is held. */
static bool extend(struct locker *l)
{
	char value[VALUE_SIZE];
	random_value(value);
	long long began = now_ms();
	size_t votes = 0;
	for (size_t i = 0; i < l->count; i++)
		if (l->masters[i])
			votes += is_ok(redisCommand(l->masters[i], "EVAL %s 1 %s %s %s %lld", replace_if_equal, l->name, l->value, value, l->millis));
	memcpy(l->value, value, sizeof value);
	if (won(l, votes, began))
		return true;
	give(l);
	return false;
}

const struct library redlock_cpp = {
	.name = "redlock-cpp",
	.version = "calls as of f9f56187ba",
	.try_lock = take,
	.extend = extend,
	.unlock = give,
};
