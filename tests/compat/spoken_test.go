package compat_test

// spokenLibraries are those that no registry serves: golang speaks what they send.

const seatsForSeveral = "shared with one address; the seats with three"

var (
	noExtend       = map[string]string{"extend": "the library has none"}
	onMultiplexer  = "greeted as StackExchange.Redis greets: the role must be master, CLUSTER an error, ECHO exact"
	byFieldOfEntry = "`LOCK.TOKEN` of the key that the library makes"
)

var spokenLibraries = []library{
	{Name: "redlock-cs", Language: ".NET", Spoken: true, Masters: true, None: noExtend, Port: seatsForSeveral, Token: byCommand,
		Quirks: "values of 16 bytes that are no text; the same address twice is refused by the library; " + onMultiplexer},
	{Name: "RedLock.net", Language: ".NET", Spoken: true, Masters: true, Port: seatsForSeveral, Token: byCommand, Quirks: onMultiplexer},
	{Name: "ScarletLock", Language: ".NET", Spoken: true, Masters: true, None: noExtend, Port: seatsForSeveral, Token: byCommand, Quirks: onMultiplexer},
	{Name: "Redlock4Net", Language: ".NET", Spoken: true, Masters: true, None: noExtend, Port: seatsForSeveral, Token: byCommand, Quirks: onMultiplexer},
	{Name: "DistributedLock.Redis", Language: ".NET", Spoken: true, Masters: true, Port: seatsForSeveral, Token: byCommand, Quirks: onMultiplexer},
	{Name: "DistributedLock.Redis, semaphore", Language: ".NET", Spoken: true, Port: "shared", Token: "the set's, not a holder's: `LOCK.TOKEN key`",
		Quirks: "its script decides by TIME, which is wall time"},
	{Name: "Deno DLM", Language: "Deno", Spoken: true, Masters: true, Port: seatsForSeveral, Token: byCommand,
		Quirks: "the error must begin with NOSCRIPT"},
	{Name: "redis-plus-plus", Language: "C++", Spoken: true, Masters: true, Port: seatsForSeveral, Token: byCommand},
	{Name: "redis-plus-plus, transactions", Language: "C++", Spoken: true, Masters: true, Port: seatsForSeveral, Token: byCommand},
	{Name: "redis_queued_locks", Language: "Ruby", Spoken: true, Port: "shared", Token: byFieldOfEntry,
		Quirks: "its queue goes by the clients' wall clocks"},
	{Name: "sidekiq-unique-jobs", Language: "Ruby", Spoken: true, Port: "shared", None: noExtend, Token: byFieldOfEntry,
		Quirks: "it lives in Sidekiq's own Redis, so only its scripts are of interest here"},
}
