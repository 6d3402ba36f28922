package redistests_test

// unit is one file of Redis's tests.
type unit struct {
	name string
	// leftOut says why it doesn't run, or "".
	leftOut string
}

const (
	ownServers = "starts servers of its own, with its own settings"
	ownMemory  = "looks into the memory and the buffers of Redis's own implementation"
	noCluster  = "a Redis Cluster"
	noStreams  = "streams are not kept here"
	noACL      = "one password is for all clients"
	noBits     = "bits of strings are not addressed here"
)

// units are all of Redis 7.0.15's, in their order.
var units = []unit{
	{name: "unit/printver", leftOut: ownServers},
	{name: "unit/dump", leftOut: "values are not moved between servers here: DUMP, RESTORE, MIGRATE"},
	{name: "unit/auth", leftOut: ownServers},
	{name: "unit/protocol"},
	{name: "unit/keyspace"},
	{name: "unit/scan"},
	{name: "unit/info", leftOut: ownServers},
	{name: "unit/info-command"},
	{name: "unit/type/string"},
	{name: "unit/type/incr"},
	{name: "unit/type/list"},
	{name: "unit/type/list-2"},
	{name: "unit/type/list-3"},
	{name: "unit/type/set"},
	{name: "unit/type/zset"},
	{name: "unit/type/hash"},
	{name: "unit/type/stream", leftOut: noStreams},
	{name: "unit/type/stream-cgroups", leftOut: noStreams},
	{name: "unit/sort", leftOut: "a lock server does not sort"},
	{name: "unit/expire"},
	{name: "unit/other"},
	{name: "unit/multi"},
	{name: "unit/quit"},
	{name: "unit/aofrw", leftOut: ownServers},
	{name: "unit/acl", leftOut: noACL},
	{name: "unit/acl-v2", leftOut: noACL},
	{name: "unit/latency-monitor"},
	{name: "integration/block-repl", leftOut: ownServers},
	{name: "integration/replication", leftOut: ownServers},
	{name: "integration/replication-2", leftOut: ownServers},
	{name: "integration/replication-3", leftOut: ownServers},
	{name: "integration/replication-4", leftOut: ownServers},
	{name: "integration/replication-psync", leftOut: ownServers},
	{name: "integration/replication-buffer", leftOut: ownServers},
	{name: "integration/shutdown", leftOut: ownServers},
	{name: "integration/aof", leftOut: ownServers},
	{name: "integration/aof-multi-part", leftOut: ownServers},
	{name: "integration/rdb", leftOut: ownServers},
	{name: "integration/corrupt-dump", leftOut: ownServers},
	{name: "integration/corrupt-dump-fuzzer", leftOut: ownServers},
	{name: "integration/convert-zipmap-hash-on-load", leftOut: ownServers},
	{name: "integration/convert-ziplist-hash-on-load", leftOut: ownServers},
	{name: "integration/convert-ziplist-zset-on-load", leftOut: ownServers},
	{name: "integration/logging", leftOut: ownServers},
	{name: "integration/psync2", leftOut: ownServers},
	{name: "integration/psync2-reg", leftOut: ownServers},
	{name: "integration/psync2-pingoff", leftOut: ownServers},
	{name: "integration/psync2-master-restart", leftOut: ownServers},
	{name: "integration/failover", leftOut: ownServers},
	{name: "integration/redis-cli", leftOut: ownServers},
	{name: "integration/redis-benchmark", leftOut: ownServers},
	{name: "integration/dismiss-mem", leftOut: ownServers},
	{name: "unit/pubsub"},
	{name: "unit/pubsubshard", leftOut: ownServers},
	{name: "unit/slowlog"},
	{name: "unit/scripting"},
	{name: "unit/functions", leftOut: "no FUNCTION: use EVAL and EVALSHA"},
	{name: "unit/maxmemory", leftOut: ownServers},
	{name: "unit/introspection"},
	{name: "unit/introspection-2"},
	{name: "unit/limits", leftOut: ownServers},
	{name: "unit/obuf-limits", leftOut: ownServers},
	{name: "unit/bitops", leftOut: noBits},
	{name: "unit/bitfield", leftOut: noBits},
	{name: "unit/geo", leftOut: "positions are not kept here"},
	{name: "unit/memefficiency", leftOut: ownMemory},
	{name: "unit/hyperloglog", leftOut: "estimates of counts are not kept here"},
	{name: "unit/lazyfree", leftOut: ownMemory},
	{name: "unit/wait", leftOut: ownServers},
	{name: "unit/pause", leftOut: "a node that others rely on does not stop answering on request: no CLIENT PAUSE"},
	{name: "unit/querybuf", leftOut: ownMemory},
	{name: "unit/pendingquerybuf", leftOut: ownMemory},
	{name: "unit/tls", leftOut: ownServers},
	{name: "unit/tracking"},
	{name: "unit/oom-score-adj", leftOut: ownServers},
	{name: "unit/shutdown", leftOut: ownServers},
	{name: "unit/networking", leftOut: ownServers},
	{name: "unit/cluster", leftOut: noCluster},
	{name: "unit/client-eviction", leftOut: ownMemory},
	{name: "unit/violations", leftOut: "needs values of gigabytes"},
	{name: "unit/replybufsize", leftOut: ownMemory},
	{name: "unit/cluster-scripting", leftOut: noCluster},
	{name: "unit/cluster/misc", leftOut: noCluster},
	{name: "unit/cluster/links", leftOut: noCluster},
}
