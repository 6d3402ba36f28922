package server

// handlers are the commands of the edge by the names of their rows in the
// command table (fsm/rows_edge.go). A test holds the two together.
var handlers map[string]handler

func init() {
	handlers = map[string]handler{
		"ping": ping, "echo": echo, "quit": quit, "reset": reset,
		"hello": hello, "auth": auth, "select": selectDatabase,

		"client|caching": clientCaching, "client|getname": clientGetname, "client|getredir": clientGetredir,
		"client|help": help, "client|id": clientID, "client|info": clientInfo, "client|kill": clientKill,
		"client|list": clientList, "client|no-evict": clientNoEvict, "client|no-touch": clientNoTouch,
		"client|pause": clientPause, "client|reply": clientReply, "client|setinfo": clientSetinfo,
		"client|setname": clientSetname, "client|tracking": clientTracking,
		"client|trackinginfo": clientTrackinginfo, "client|unblock": clientUnblock, "client|unpause": ok,

		"command": command, "command|count": commandCount, "command|docs": commandDocs,
		"command|getkeys": commandGetkeys, "command|getkeysandflags": commandGetkeysAndFlags,
		"command|help": help, "command|info": commandInfo, "command|list": commandList,

		"config|get": configGet, "config|help": help, "config|resetstat": configResetstat,
		"config|rewrite": configRewrite, "config|set": configSet,

		"info": info, "role": role, "redfence|status": redfenceStatus, "redfence|hash": redfenceHash, "redfence|help": help,

		"cluster": noCluster, "readonly": noCluster, "readwrite": noCluster, "asking": noCluster,

		"multi": multi, "exec": exec, "discard": discard, "watch": watch, "unwatch": unwatch,

		"subscribe": subscribe, "psubscribe": psubscribe,
		"unsubscribe": unsubscribe, "punsubscribe": punsubscribe,
		"ssubscribe": ssubscribe, "sunsubscribe": sunsubscribe,
		"pubsub|channels": pubsubChannels, "pubsub|help": help, "pubsub|numpat": pubsubNumpat,
		"pubsub|numsub": pubsubNumsub, "pubsub|shardchannels": pubsubShardchannels,
		"pubsub|shardnumsub": pubsubShardnumsub,

		"script|kill": scriptKill, "module|list": emptyList, "module|help": help,
		"memory|doctor": memoryDoctor, "memory|help": help, "memory|purge": memoryPurge, "memory|stats": memoryStats,
		"latency|doctor": latencyDoctor, "latency|help": help, "latency|history": latencyHistory, "latency|histogram": latencyHistogram,
		"latency|latest": latencyLatest, "latency|reset": latencyReset,
		"lock.watch": lockWatch,
		"wait":       wait, "waitaof": waitaof,
		"function|flush": functionFlush, "function|help": help, "function|list": functionList,
		"slowlog|get": slowlogGet, "slowlog|help": help, "slowlog|len": slowlogLen, "slowlog|reset": slowlogReset,
		"acl|help": help, "acl|users": aclUsers, "acl|whoami": aclWhoami,
	}
}
