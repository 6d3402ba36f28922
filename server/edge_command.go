package server

import (
	"strconv"
	"strings"
	"sync"

	"github.com/redfence/redfence/fsm"
	"github.com/redfence/redfence/fsm/reply"
)

// catalogue is the command table as clients see it. It never changes, so what
// is said about all of it is put together once.
type catalogue struct {
	all  []*fsm.Spec            // rows that clients can call
	rows []*fsm.Spec            // those without subcommands
	subs map[string][]*fsm.Spec // subcommands by the container's name
}

var commands = sync.OnceValue(func() *catalogue {
	c := &catalogue{subs: map[string][]*fsm.Spec{}}
	for _, spec := range fsm.Table() {
		if !callable(spec) {
			continue
		}
		c.all = append(c.all, spec)
		if container, _, sub := strings.Cut(spec.Name, "|"); sub {
			c.subs[container] = append(c.subs[container], spec)
		} else {
			c.rows = append(c.rows, spec)
		}
	}
	return c
})

var (
	allDescriptions = sync.OnceValue(func() reply.Value {
		var out []reply.Value
		for _, spec := range commands().rows {
			out = append(out, describeCommand(spec))
		}
		return reply.List(out...)
	})
	allDocs = sync.OnceValue(func() reply.Value { return docsOf(commands().rows) })
)

func callable(spec *fsm.Spec) bool {
	return spec.Where != fsm.Absent && !strings.HasPrefix(spec.Name, "_")
}

// commandRow finds a row by a name as COMMAND's arguments have it: "client" or "client|id".
func commandRow(name string) *fsm.Spec {
	spec := fsm.Find(strings.ToLower(name))
	if spec == nil || !callable(spec) {
		return nil
	}
	return spec
}

func command(*session, []string) reply.Value { return allDescriptions() }

func commandCount(*session, []string) reply.Value { return reply.Integer(int64(len(commands().rows))) }

func commandInfo(c *session, args []string) reply.Value {
	if len(args) == 2 {
		return command(c, args)
	}
	out := make([]reply.Value, 0, len(args)-2)
	for _, name := range args[2:] {
		if spec := commandRow(name); spec != nil {
			out = append(out, describeCommand(spec))
		} else {
			out = append(out, reply.Null)
		}
	}
	return reply.List(out...)
}

// describeCommand is a row as COMMAND shows it.
func describeCommand(spec *fsm.Spec) reply.Value {
	var subs, keySpecs []reply.Value
	for _, sub := range commands().subs[spec.Name] {
		subs = append(subs, describeCommand(sub))
	}
	if spec.First > 0 {
		keySpecs = append(keySpecs, describeKeys(spec))
	}
	return reply.List(
		reply.String(spec.Name), reply.Integer(int64(spec.Arity)), words(flagWords(spec)),
		reply.Integer(int64(spec.First)), reply.Integer(int64(spec.Last)), reply.Integer(int64(spec.Step)),
		words(categories(spec)), setOf(), setOf(keySpecs...), reply.List(subs...),
	)
}

// describeKeys says in Redis's form where a command has its keys.
func describeKeys(spec *fsm.Spec) reply.Value {
	flag := "RO"
	if spec.Has(fsm.Write) {
		flag = "RW"
	}
	last := spec.Last
	if last > 0 {
		last -= spec.First // counted from the first key
	}
	return reply.Pairs(
		reply.String("flags"), words([]string{flag}),
		reply.String("begin_search"), reply.Pairs(
			reply.String("type"), reply.String("index"),
			reply.String("spec"), reply.Pairs(reply.String("index"), reply.Integer(int64(spec.First)))),
		reply.String("find_keys"), reply.Pairs(
			reply.String("type"), reply.String("range"),
			reply.String("spec"), reply.Pairs(
				reply.String("lastkey"), reply.Integer(int64(last)),
				reply.String("keystep"), reply.Integer(int64(spec.Step)),
				reply.String("limit"), reply.Integer(0))),
	)
}

func setOf(elems ...reply.Value) reply.Value { return reply.Value{Kind: reply.Set, Elems: elems} }

// words is a set of status lines, as COMMAND has its flags.
func words(ss []string) reply.Value {
	out := setOf()
	for _, s := range ss {
		out.Elems = append(out.Elems, reply.Simple(s))
	}
	return out
}

var flagNames = []struct {
	flag fsm.Flags
	name string
}{
	{fsm.Write, "write"}, {fsm.Read, "readonly"}, {fsm.DenyOOM, "denyoom"}, {fsm.Admin, "admin"},
	{fsm.PubSub, "pubsub"}, {fsm.NoScript, "noscript"}, {fsm.Blocking, "blocking"}, {fsm.Loading, "loading"},
	{fsm.Loading, "stale"}, {fsm.Fast, "fast"}, {fsm.NoAuth, "no_auth"}, {fsm.MayReplicate, "may_replicate"},
	{fsm.NoMulti, "no_multi"}, {fsm.MovableKeys, "movablekeys"},
}

func flagWords(spec *fsm.Spec) []string {
	var out []string
	for _, f := range flagNames {
		if spec.Has(f.flag) {
			out = append(out, f.name)
		}
	}
	return out
}

// categories are the words of ACL that clients group commands by, in Redis's order.
func categories(spec *fsm.Spec) []string {
	var out []string
	add := func(yes bool, name string) {
		if yes {
			out = append(out, name)
		}
	}
	group := func(name string) bool { return spec.Group == name }
	add(group("generic"), "@keyspace")
	add(spec.Has(fsm.Read), "@read")
	add(spec.Has(fsm.Write), "@write")
	add(group("set"), "@set")
	add(group("sorted-set"), "@sortedset")
	add(group("list"), "@list")
	add(group("hash"), "@hash")
	add(group("string"), "@string")
	add(group("pubsub"), "@pubsub")
	add(spec.Has(fsm.Admin), "@admin")
	add(spec.Has(fsm.Fast), "@fast")
	add(!spec.Has(fsm.Fast), "@slow")
	add(spec.Has(fsm.Blocking), "@blocking")
	add(spec.Has(fsm.Admin), "@dangerous")
	add(group("connection"), "@connection")
	add(group("transactions"), "@transaction")
	add(group("scripting"), "@scripting")
	return out
}

func commandDocs(_ *session, args []string) reply.Value {
	if len(args) == 2 {
		return allDocs()
	}
	var rows []*fsm.Spec
	for _, name := range args[2:] {
		if spec := commandRow(name); spec != nil {
			rows = append(rows, spec)
		}
	}
	return docsOf(rows)
}

func docsOf(rows []*fsm.Spec) reply.Value {
	out := reply.Pairs()
	for _, spec := range rows {
		doc := reply.Pairs(
			reply.String("summary"), reply.String(spec.Summary),
			reply.String("since"), reply.String(spec.Since),
			reply.String("group"), reply.String(spec.Group),
		)
		if subs := commands().subs[spec.Name]; len(subs) > 0 {
			doc.Elems = append(doc.Elems, reply.String("subcommands"), docsOf(subs))
		}
		out.Elems = append(out.Elems, reply.String(spec.Name), doc)
	}
	return out
}

func commandList(_ *session, args []string) reply.Value {
	keep := func(*fsm.Spec) bool { return true }
	switch {
	case len(args) == 2:
	case len(args) != 5 || !strings.EqualFold(args[2], "filterby"):
		return errSyntax
	case strings.EqualFold(args[3], "module"):
		keep = func(*fsm.Spec) bool { return false }
	case strings.EqualFold(args[3], "aclcat"):
		keep = func(s *fsm.Spec) bool {
			for _, category := range categories(s) {
				if strings.EqualFold(category[1:], args[4]) {
					return true
				}
			}
			return false
		}
	case strings.EqualFold(args[3], "pattern"):
		keep = func(s *fsm.Spec) bool { return fsm.Match(strings.ToLower(args[4]), s.Name) }
	default:
		return errSyntax
	}
	var names []string
	for _, spec := range commands().all {
		if keep(spec) {
			names = append(names, spec.Name)
		}
	}
	return reply.Strings(names)
}

func commandGetkeys(_ *session, args []string) reply.Value {
	keys, _, refusal := keysOf(args[2:])
	if refusal.IsError() {
		return refusal
	}
	return reply.Strings(keys)
}

func commandGetkeysAndFlags(_ *session, args []string) reply.Value {
	keys, spec, refusal := keysOf(args[2:])
	if refusal.IsError() {
		return refusal
	}
	flags := []string{"RO"}
	if spec.Has(fsm.Write) || spec.Has(fsm.Script) && !spec.Has(fsm.Read) {
		flags = []string{"RW"}
	}
	out := make([]reply.Value, len(keys))
	for i, key := range keys {
		out[i] = reply.List(reply.String(key), words(flags))
	}
	return reply.List(out...)
}

// keysOf finds the keys among a command's arguments.
func keysOf(args []string) ([]string, *fsm.Spec, reply.Value) {
	spec, _ := fsm.Resolve(args)
	if spec == nil {
		if commandRow(args[0]) != nil {
			return nil, nil, reply.Err("ERR Invalid number of arguments specified for command")
		}
		return nil, nil, reply.Err("ERR Invalid command specified")
	}
	if spec.Has(fsm.MovableKeys) {
		keys := movableKeys(spec, args)
		if keys == nil && !spec.Has(fsm.Script) {
			return nil, nil, reply.Err("ERR Invalid arguments specified for command")
		}
		return keys, spec, reply.Value{}
	}
	if spec.First == 0 {
		return nil, nil, reply.Err("ERR The command has no key arguments")
	}
	last := spec.Last
	if last < 0 {
		last += len(args)
	}
	var keys []string
	for i := spec.First; i <= last && i < len(args); i += spec.Step {
		keys = append(keys, args[i])
	}
	return keys, spec, reply.Value{}
}

// movableKeys finds the keys of a command that says how many there are: after
// the script of an EVAL, after the timeout of a BLMPOP, after the destination of a
// ZUNIONSTORE, or at once.
func movableKeys(spec *fsm.Spec, args []string) []string {
	at := 1
	if spec.Has(fsm.Script) || spec.Has(fsm.Blocking) || spec.First > 0 {
		at = 2
	}
	if spec.Name == "lock.acquireall" { // behind the owner and the lease
		at = 3
	}
	n, err := strconv.Atoi(args[at])
	if err != nil || n < 1 || n > len(args)-at-1 {
		return nil
	}
	keys := args[at+1 : at+1+n]
	if spec.First > 0 {
		keys = append([]string{args[spec.First]}, keys...)
	}
	return keys
}
