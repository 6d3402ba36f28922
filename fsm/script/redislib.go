package script

import "github.com/redfence/redfence/fsm/reply"

// What redis.REDIS_VERSION says: the version whose commands Redfence has.
const (
	redisVersion    = "7.2.0"
	redisVersionNum = 7<<16 | 2<<8
)

var redisLibrary = []entry{
	{"call", redisCall},
	{"pcall", redisPcall},
	{"status_reply", func(m *machine, args []value) []value { return m.singleField(args, "ok") }},
	{"error_reply", redisErrorReply},
	{"sha1hex", redisSHA1},
	{"log", redisLog},
	{"setresp", redisSetResp},
	{"replicate_commands", func(m *machine, args []value) []value { return m.one(trueValue) }},
	{"set_repl", redisSetRepl},
	{"breakpoint", func(m *machine, args []value) []value { return m.one(falseValue) }},
	{"debug", func(m *machine, args []value) []value { return nil }},
	{"acl_check_cmd", redisACLCheck},
}

func (m *machine) redisConstants() {
	t := m.lib("redis")
	for _, c := range []struct {
		name string
		num  float64
	}{
		{"LOG_DEBUG", 0}, {"LOG_VERBOSE", 1}, {"LOG_NOTICE", 2}, {"LOG_WARNING", 3},
		{"REPL_NONE", 0}, {"REPL_AOF", 1}, {"REPL_SLAVE", 2}, {"REPL_REPLICA", 2}, {"REPL_ALL", 3},
		{"REDIS_VERSION_NUM", redisVersionNum},
	} {
		t.setString(c.name, number(c.num))
	}
	t.setString("REDIS_VERSION", str(redisVersion))
}

// redisError raises an error as Redis's own functions do: a table.
func (m *machine) redisError(text string) {
	m.throw(m.field("err", m.newString("ERR "+text)))
}

func redisCall(m *machine, args []value) []value {
	v := m.command(args)
	if v.Kind == reply.Error {
		m.throw(m.fromReply(&v))
	}
	return m.one(m.fromReply(&v))
}

func redisPcall(m *machine, args []value) []value {
	v := m.command(args)
	return m.one(m.fromReply(&v))
}

// costCommand is what reaching the host is charged, whatever the command does.
const costCommand = 10

// command passes a command to the host. What it may not even ask is answered with
// an error as the host's would be.
func (m *machine) command(args []value) reply.Value {
	if len(args) == 0 {
		return reply.Err("ERR Please specify at least one argument for this redis lib call")
	}
	m.spend(costCommand + int64(len(args)))
	m.grow(int64(len(args)) * 16)
	list := make([]string, len(args))
	for i := range args {
		switch v := &args[i]; v.kind {
		case kString:
			list[i] = v.ref.(string)
		case kNumber:
			list[i] = formatArg(v.num)
			m.grow(sizeString)
		default:
			return reply.Err("ERR Lua redis lib command arguments must be strings or integers")
		}
	}
	v := m.host.Call(list, &m.budget)
	if m.budget.Exceeded() {
		panic(overBudget{})
	}
	return v
}

func (m *machine) singleField(args []value, name string) []value {
	if len(args) != 1 || args[0].kind != kString {
		return m.one(m.field("err", str("ERR wrong number or type of arguments")))
	}
	return m.one(m.field(name, args[0]))
}

// redisErrorReply takes a dash off the front and puts ERR before a lone word.
func redisErrorReply(m *machine, args []value) []value {
	if len(args) != 1 || args[0].kind != kString {
		return m.singleField(nil, "err")
	}
	s := args[0].str()
	if len(s) > 0 && s[0] == '-' {
		s = s[1:]
	}
	m.spend(int64(len(s)) / 64)
	for i := range len(s) {
		if s[i] == ' ' {
			return m.one(m.field("err", m.newString(s)))
		}
	}
	m.chargeString(len(s) + 4)
	return m.one(m.field("err", m.newString("ERR "+s)))
}

func redisSHA1(m *machine, args []value) []value {
	if len(args) != 1 {
		m.redisError("wrong number of arguments")
	}
	s := ""
	if text, ok := toStr(&args[0]); ok {
		s = text
	}
	m.spend(int64(len(s)) / 16)
	return m.one(m.newString(SHA1(s)))
}

func redisLog(m *machine, args []value) []value {
	if len(args) < 2 {
		m.redisError("redis.log() requires two arguments or more.")
	}
	if args[0].kind != kNumber {
		m.redisError("First argument must be a number (log level).")
	}
	level := truncate(args[0].num)
	if level < 0 || level > 3 {
		m.redisError("Invalid debug level.")
	}
	total := 0
	for i := range args[1:] {
		s, _ := toStr(&args[1+i])
		total += len(s) + 1
	}
	m.chargeString(total)
	line := make([]byte, 0, total)
	for i := range args[1:] {
		if i > 0 {
			line = append(line, ' ')
		}
		s, _ := toStr(&args[1+i])
		line = append(line, s...)
	}
	m.host.Log(int(level), string(line))
	return nil
}

func redisSetResp(m *machine, args []value) []value {
	if len(args) != 1 {
		m.redisError("redis.setresp() requires one argument.")
	}
	f, _ := m.toNumber(&args[0])
	if f != 2 && f != 3 {
		m.redisError("RESP version must be 2 or 3.")
	}
	m.budget.resp3 = f == 3
	return nil
}

// redisSetRepl checks its argument and does nothing: a script is replicated whole.
func redisSetRepl(m *machine, args []value) []value {
	if len(args) != 1 {
		m.redisError("redis.set_repl() requires two arguments.")
	}
	if f, _ := m.toNumber(&args[0]); truncate(f)&^3 != 0 {
		m.redisError("Invalid replication flags. Use REPL_AOF, REPL_REPLICA, REPL_ALL or REPL_NONE.")
	}
	return nil
}

// redisACLCheck: who may run a script may run all commands that it may contain.
func redisACLCheck(m *machine, args []value) []value {
	if len(args) == 0 {
		m.redisError("Please specify at least one argument for this redis.acl_check_cmd() call")
	}
	return m.one(trueValue)
}
