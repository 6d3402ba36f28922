package differential

// edgeGenerators are for the rows that the node which reads them answers itself.
var edgeGenerators = map[string]generator{
	"ping": func(d *draw) []string { return d.someOf(d.value()) },
	"echo": func(d *draw) []string { return []string{d.value()} },
	"select": func(d *draw) []string {
		return []string{d.dbNumber()}
	},
	"multi": none, "exec": none, "discard": none, "unwatch": none, "watch": manyKeys, "reset": none,
	"auth": func(d *draw) []string { return append(d.someOf("default"), d.value()) },
	"hello": func(d *draw) []string {
		args := d.someOf(d.of([]string{"2", "3", "3", "4", "x", "-1"}))
		if len(args) > 0 && d.chance(30) {
			args = append(args, d.word("setname"), d.of([]string{"me", "a b", ""}))
		}
		if len(args) > 0 && d.chance(15) {
			args = append(args, d.word("auth"), "default", d.value())
		}
		return args
	},
	"client|getname": none, "client|id": none, "client|info": none, "client|getredir": none, "client|trackinginfo": none, "client|help": none,
	"client|setname": func(d *draw) []string { return []string{d.of([]string{"me", "", "a b", "x\n", "caf\u00e9", "-"})} },
	"client|list":    func(d *draw) []string { return d.someOf("type", "normal", "id", "x") },
	"client|kill": func(d *draw) []string {
		return d.of2([]string{"127.0.0.1:1"}, []string{"id", "x"}, []string{"type", "x"}, []string{"addr", "1.2.3.4:5"})
	},
	"client|no-evict": onOff, "client|caching": onOff,
	"client|unblock": func(d *draw) []string { return append([]string{d.of(intPool)}, d.someOf("timeout")...) },
	"client|unpause": none,
	"cluster": func(d *draw) []string {
		return d.of2([]string{"nodes"}, []string{"slots"}, []string{"KeySlot", "a"}, []string{"keyslot"}, []string{"info", "x"}, []string{"nosuch"}, []string{"meet", "x"}, []string{"help"})
	},
	"asking": none, "readonly": none, "readwrite": none,
	"command|count": none, "command|help": none, "command|list": none,
	"command|docs":            func(d *draw) []string { return []string{d.of([]string{"get", "set", "nosuch"})} },
	"command|info":            func(d *draw) []string { return []string{d.of([]string{"get", "mset", "nosuch", "eval", "del"})} },
	"command|getkeys":         getKeysArgs,
	"command|getkeysandflags": getKeysArgs,
	"config|get":              func(d *draw) []string { return []string{d.of([]string{"databases", "nosuch", "databas?s"})} },
	"config|set": func(d *draw) []string {
		return d.of2([]string{"nosuch", "x"}, []string{"notify-keyspace-events", ""}, []string{"notify-keyspace-events", "?"}, []string{"databases", "2"})
	},
	"config|resetstat": none, "config|rewrite": none, "config|help": none,
	"info": func(d *draw) []string {
		return []string{d.of([]string{"server", "replication", "nosuch", "everything"})}
	},
	"memory|doctor": none, "memory|help": none, "memory|purge": none, "memory|stats": none,
	"module|list": none, "module|help": none,
	"latency|doctor": none, "latency|latest": none, "latency|help": none, "latency|history": func(d *draw) []string { return []string{d.of([]string{"x", "command"})} },
	"latency|histogram": func(d *draw) []string { return d.of2([]string{"nosuch"}, []string{"set", "nosuch"}, []string{}) },
	"latency|reset":     func(d *draw) []string { return d.someOf("x") },
	"pubsub|channels":   func(d *draw) []string { return d.someOf(d.of(patternPool)) }, "pubsub|numpat": none, "pubsub|help": none,
	"pubsub|numsub": manyKeys, "pubsub|shardchannels": func(d *draw) []string { return d.someOf(d.of(patternPool)) }, "pubsub|shardnumsub": manyKeys,
	"role": none, "script|kill": none,
	// A WAIT for a replica that isn't there is drawn with the shortest time, and never without an end.
	"wait": func(d *draw) []string {
		return d.of2([]string{"0", "0"}, []string{"-1", "100"}, []string{"1", "1"}, []string{"x", "1"}, []string{"0", "x"}, []string{"0", "-1"})
	},
	"function|list": func(d *draw) []string { return d.someOf(d.word("withcode"), d.word("libraryname"), "x") }, "function|help": none, "function|flush": func(d *draw) []string { return d.of2([]string{}, []string{"sync"}, []string{"Async"}, []string{"x"}) },
	"slowlog|len": none, "slowlog|reset": none, "slowlog|help": none, "slowlog|get": func(d *draw) []string { return d.someOf(d.of(intPool)) },
	"acl|whoami": none, "acl|users": none, "acl|help": none,
}

func onOff(d *draw) []string { return []string{d.word(d.of([]string{"on", "off", "yes", "no", "x"}))} }

func getKeysArgs(d *draw) []string {
	name := d.of([]string{"get", "mset", "del", "eval", "rename", "exists", "ping", "nosuch", "object"})
	switch name {
	case "object":
		return []string{name, "encoding", d.key()}
	case "eval":
		return []string{name, "return 1", "1", d.key(), d.value()}
	}
	args := []string{name}
	if g := generators[name]; g != nil {
		args = append(args, g(d)...)
	}
	return args
}

// someOf is some of the first of all.
func (d *draw) someOf(all ...string) []string { return all[:d.IntN(len(all)+1)] }

// of2 is one of several lists.
func (d *draw) of2(lists ...[]string) []string { return lists[d.IntN(len(lists))] }
