#include "locker.h"

#include <hiredis/hiredis.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static struct redisContext *connect_to(const char *host, int port)
{
	struct timeval connecting = {.tv_sec = 2}, answering = {.tv_sec = 10};
	redisContext *c = redisConnectWithTimeout(host, port, connecting);
	if (c && (c->err || redisSetTimeout(c, answering) != REDIS_OK)) {
		redisFree(c);
		return NULL;
	}
	return c;
}

void locker_open(struct locker *l, const struct library *library, const char *addresses, const char *name, long long millis)
{
	*l = (struct locker){.library = library, .name = name, .millis = millis};
	random_value(l->value);
	char text[256];
	snprintf(text, sizeof text, "%s", addresses);
	char *rest;
	for (char *a = strtok_r(text, ",", &rest); a && l->count < MAX_MASTERS; a = strtok_r(NULL, ",", &rest)) {
		char *colon = strrchr(a, ':');
		if (!colon)
			continue;
		*colon = '\0';
		l->masters[l->count++] = connect_to(a, atoi(colon + 1));
	}
}

void locker_close(struct locker *l)
{
	for (size_t i = 0; i < l->count; i++)
		if (l->masters[i])
			redisFree(l->masters[i]);
}

bool locker_wait(struct locker *l, long long until_ms)
{
	while (!l->library->try_lock(l)) {
		if (now_ms() >= until_ms)
			return false;
		pause_about(10);
	}
	return true;
}

long long now_ms(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000LL + t.tv_nsec / 1000000;
}

/* Bytes from the system's source of chance; without it nothing can be locked. */
static void random_bytes(unsigned char *bytes, size_t n)
{
	FILE *source = fopen("/dev/urandom", "rb");
	if (!source || fread(bytes, 1, n, source) != n) {
		fputs("no random source\n", stderr);
		exit(1);
	}
	fclose(source);
}

void random_value(char value[VALUE_SIZE])
{
	unsigned char bytes[(VALUE_SIZE - 1) / 2];
	random_bytes(bytes, sizeof bytes);
	for (size_t i = 0; i < sizeof bytes; i++)
		snprintf(value + 2 * i, 3, "%02x", bytes[i]);
}

void pause_about(int min_ms)
{
	unsigned char more;
	random_bytes(&more, 1);
	struct timespec t = {.tv_nsec = min_ms * 1000000L + min_ms * 1000000L / 255 * more};
	nanosleep(&t, NULL);
}
