/* Takes the lock "report" with hiredis: cc hiredis.c -lhiredis */
#include <hiredis/hiredis.h>
#include <stdio.h>
#include <stdlib.h>

static const char release[] =
	"if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) else return 0 end";

int main(void)
{
	redisContext *redis = redisConnect("127.0.0.1", 6379);
	unsigned long long owner;
	FILE *random = fopen("/dev/urandom", "rb");
	if (!redis || redis->err || !random || fread(&owner, sizeof owner, 1, random) != 1)
		return EXIT_FAILURE;
	fclose(random);

	redisReply *set = redisCommand(redis, "SET report %llu NX PX 8000", owner);
	if (!set || set->type != REDIS_REPLY_STATUS)
		return EXIT_FAILURE; /* held by another */
	redisReply *token = redisCommand(redis, "LOCK.TOKEN report");
	printf("locked %lld\n", token->integer);
	freeReplyObject(redisCommand(redis, "EVAL %s 1 report %llu", release, owner));

	freeReplyObject(token);
	freeReplyObject(set);
	redisFree(redis);
	return EXIT_SUCCESS;
}
