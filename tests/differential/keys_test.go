package differential

import "strconv"

// generators draw the arguments of each row that Redis has, too. A row of the
// table without one must be in the list of what is not compared.
var generators map[string]generator

// Those of scripts draw commands of others, so it is filled when all are there.
func init() {
	generators = merge(
		stringGenerators, keyGenerators, scriptGenerators, edgeGenerators, hashGenerators, listGenerators, setGenerators, zsetGenerators,
	)
}

type generator = func(d *draw) []string

func merge(maps ...map[string]generator) map[string]generator {
	all := map[string]generator{}
	for _, m := range maps {
		for name, g := range m {
			all[name] = g
		}
	}
	return all
}

func none(*draw) []string          { return nil }
func oneKey(d *draw) []string      { return []string{d.key()} }
func manyKeys(d *draw) []string    { return d.keysUpTo(4) }
func keyAndValue(d *draw) []string { return []string{d.key(), d.value()} }

func pairs(d *draw) []string {
	var args []string
	for _, k := range d.keysUpTo(3) {
		args = append(args, k, d.value())
	}
	return args
}

func setArgs(d *draw) []string {
	args := []string{d.key(), d.value()}
	for range d.IntN(4) {
		switch d.IntN(8) {
		case 0, 1:
			args = append(args, d.word("nx"))
		case 2:
			args = append(args, d.word("xx"))
		case 3:
			args = append(args, d.word("get"))
		case 4:
			args = append(args, d.word("keepttl"))
		default:
			args = append(args, d.expiry()...)
		}
	}
	return args
}

// expiry is one of the four ways to give a lease time.
func (d *draw) expiry() []string {
	switch d.IntN(6) {
	case 0:
		return []string{d.word("ex"), d.ttl(secondsPool)}
	case 1:
		return []string{d.word("exat"), d.ttl(unixSecondsPool)}
	case 2:
		return []string{d.word("pxat"), d.ttl(unixMillisPool)}
	}
	return []string{d.word("px"), d.ttl(millisPool)}
}

var (
	unixSecondsPool = []string{"4102444800", "32503680000", "1", "1000000000"}
	unixMillisPool  = []string{"4102444800000", "32503680000000", "1", "1000000000000"}
)

var stringGenerators = map[string]generator{
	"set": setArgs, "setnx": keyAndValue, "getset": keyAndValue, "append": keyAndValue,
	"get": oneKey, "getdel": oneKey, "strlen": oneKey, "incr": oneKey, "decr": oneKey,
	"mget": manyKeys, "mset": pairs, "msetnx": pairs,
	"setex":  func(d *draw) []string { return []string{d.key(), d.ttl(secondsPool), d.value()} },
	"psetex": func(d *draw) []string { return []string{d.key(), d.ttl(millisPool), d.value()} },
	"getex": func(d *draw) []string {
		args := oneKey(d)
		for range d.IntN(3) {
			if d.chance(20) {
				args = append(args, d.word("persist"))
			} else {
				args = append(args, d.expiry()...)
			}
		}
		return args
	},
	"getrange": func(d *draw) []string { return []string{d.key(), d.of(intPool), d.of(intPool)} },
	"substr":   func(d *draw) []string { return []string{d.key(), d.of(intPool), d.of(intPool)} },
	"setrange": func(d *draw) []string { return []string{d.key(), d.of(intPool), d.value()} },
	"incrby":   func(d *draw) []string { return []string{d.key(), d.of(intPool)} },
	"decrby":   func(d *draw) []string { return []string{d.key(), d.of(intPool)} },
	"incrbyfloat": func(d *draw) []string {
		return []string{d.key(), d.of(floatPool)}
	},
}

// expireArgs draws for EXPIRE and its relatives.
func expireArgs(pool []string) generator {
	return func(d *draw) []string {
		args := []string{d.key(), d.ttl(pool)}
		for range d.IntN(3) {
			if d.chance(60) {
				args = append(args, d.word([]string{"nx", "xx", "gt", "lt"}[d.IntN(4)]))
			}
		}
		return args
	}
}

func flushArgs(d *draw) []string {
	if d.chance(60) {
		return nil
	}
	return []string{d.word([]string{"sync", "async", "foo"}[d.IntN(3)])}
}

func objectArgs(d *draw) []string { return []string{d.key()} }

var keyGenerators = map[string]generator{
	"del": manyKeys, "unlink": manyKeys, "exists": manyKeys, "touch": manyKeys,
	"type": oneKey, "ttl": oneKey, "pttl": oneKey, "expiretime": oneKey, "pexpiretime": oneKey, "persist": oneKey,
	"randomkey": none, "dbsize": none, "time": none, "flushdb": flushArgs, "flushall": flushArgs,
	"expire": expireArgs(secondsPool), "pexpire": expireArgs(millisPool),
	"expireat": expireArgs(unixSecondsPool), "pexpireat": expireArgs(unixMillisPool),
	"keys": func(d *draw) []string { return []string{d.of(patternPool)} },
	"scan": func(d *draw) []string {
		args := []string{"0"}
		if d.chance(10) {
			args[0] = d.of([]string{"x", "99999999999999999999", " 0", ""})
		}
		for range d.IntN(3) {
			switch d.IntN(4) {
			case 0:
				args = append(args, d.word("match"), d.of(patternPool))
			case 1:
				args = append(args, d.word("type"), d.word(d.of([]string{"string", "list", "hash", "set", "zset", "nosuch"})))
			case 2:
				args = append(args, d.word("count"), d.of([]string{"0", "-1", "x", ""}))
			}
		}
		return append(args, "count", "1000")
	},
	"rename":   func(d *draw) []string { return []string{d.key(), d.key()} },
	"renamenx": func(d *draw) []string { return []string{d.key(), d.key()} },
	"copy": func(d *draw) []string {
		args := []string{d.key(), d.key()}
		if d.chance(40) {
			args = append(args, d.word("db"), d.dbNumber())
		}
		if d.chance(40) {
			args = append(args, d.word("replace"))
		}
		return args
	},
	"move":            func(d *draw) []string { return []string{d.key(), d.dbNumber()} },
	"object|encoding": objectArgs, "object|refcount": objectArgs, "object|freq": objectArgs, "object|idletime": objectArgs,
	"object|help": none,
	"memory|usage": func(d *draw) []string {
		args := []string{d.key()}
		if d.chance(30) {
			args = append(args, d.word("samples"), d.of(intPool))
		}
		return args
	},
	"publish":  func(d *draw) []string { return []string{d.key(), d.value()} },
	"spublish": func(d *draw) []string { return []string{d.key(), d.value()} },
}

func (d *draw) dbNumber() string {
	if d.chance(20) {
		return d.of([]string{"16", "-1", "x", "99999999999", "1.0"})
	}
	return strconv.Itoa(d.IntN(3))
}
