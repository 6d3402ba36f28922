package differential

import (
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"strings"
)

// lockScripts are what lock libraries send, in the shapes that they have in common.
var lockScripts = []string{
	`if redis.call("get",KEYS[1]) == ARGV[1] then return redis.call("del",KEYS[1]) else return 0 end`,
	`if redis.call("GET", KEYS[1]) == ARGV[1] then return redis.call("PEXPIRE", KEYS[1], ARGV[2]) else return 0 end`,
	`if (redis.call("exists", KEYS[1]) == 0 and ARGV[3] == "yes") or redis.call("get", KEYS[1]) == ARGV[1] then
  return redis.call("set", KEYS[1], ARGV[1], "PX", ARGV[2])
end`,
	`return { redis.call("get", KEYS[1]), redis.call("exists", KEYS[1]) }`,
	`for i, key in ipairs(KEYS) do if redis.call("exists", key) == 1 then return 0 end end
for i, key in ipairs(KEYS) do redis.call("set", key, ARGV[1], "PX", ARGV[2]) end
return #KEYS`,
	`local v = redis.call('GET', KEYS[1])
if not v then return redis.status_reply('FREE') end
if v == ARGV[1] then redis.call('DEL', KEYS[1]) return true end
return redis.error_reply('not yours')`,
	`if redis.call('set', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then return 1 end return false`,
	`local r = redis.pcall('SELECT', tonumber(ARGV[2])) if type(r) == 'table' and r.err then return r.err end
return redis.call('set', KEYS[1], ARGV[1])`,
	`local ttl = redis.call('PTTL', KEYS[1]) if ttl < 0 then return ttl end return 1`,
	`redis.call('set', KEYS[1], ARGV[1]) error('boom')`,
	`redis.call('set', KEYS[1], ARGV[1]) return redis.call('incr', KEYS[1])`,
	`return redis.call('type', KEYS[1]).ok`,
	`redis.call('publish', KEYS[1], ARGV[1]) return redis.call('getrange', KEYS[1], 0, 3)`,
	`local n = tonumber(ARGV[2]) or 0 return redis.call('incrby', KEYS[1], n + 1)`,
	`return redis.call('mset', KEYS[1], 1, KEYS[1] .. 'x', 2.5, KEYS[1] .. 'y', 1e15)`,
}

// plainScripts need no key and touch none: conversions, the language, its libraries.
var plainScripts = []string{
	`return 3.99`, `return -3.99`, `return {1,2,nil,4}`, `return {1,false,'x',true}`, `return {10}`, `return true`, `return false`,
	`return {ok='FINE'}`, `return {err='My Err'}`, `return redis.error_reply('My Err')`, `return redis.status_reply('FINE')`,
	`return {}`, `return {a=1}`, `return nil`, `return`, ``, `return 'a\r\nb'`, `return {{1,{2,{3}}}}`, `return 1e15`, `return 2^53`,
	`return tostring(2^53)`, `return tostring(0.1+0.2)`, `return 0.1+0.2 .. ''`, `return 1/0 .. ''`, `return -1/0 .. ''`, `return 10/2 .. ''`,
	`return type(redis.call('get','no-such-key'))`, `return redis.call('get','no-such-key') == false`,
	`return #ARGV .. '/' .. #KEYS`, `return KEYS`, `return ARGV`, `return ARGV[1]`, `return redis.sha1hex('x')`,
	`return redis.sha1hex(1)`, `return {redis.sha1hex('')}`, `return string.format('%5.2f|%d|%s|%q|%x', 3.14159, 42, 'x', 'a"b', 255)`,
	`return string.rep('ab', 3, 'x')`, `return ('x'):rep(5)`, `return string.sub('hello', 2, -2)`, `return string.byte('A')`,
	`return {string.find('hello world', 'o w')}`, `return {string.find('hello', 'l+')}`, `return {string.match('key=val', '(%w+)=(%w+)')}`,
	`return string.gsub('hello', 'l', 'L')`, `return {string.gsub('abc', '%w', '%0%0')}`, `return string.upper('abc') .. string.lower('ABC')`,
	`return string.reverse('abc')`, `return string.len('abc')`, `return table.concat({1,2,3}, ',')`,
	`local t = {3,1,2} table.sort(t) return t`, `local t = {} table.insert(t, 'a') table.insert(t, 1, 'b') return t`,
	`local t = {1,2,3} table.remove(t, 1) return t`, `return {unpack({1,2,3}, 2)}`, `return math.floor(3.7)`, `return math.max(1, 5, 3)`,
	`return math.huge > 1`, `return {math.floor(-3.5), math.ceil(-3.5), math.abs(-3)}`, `return tostring(math.pi)`,
	`return tonumber('0x10')`, `return tonumber('  12  ')`, `return tonumber('1e2')`, `return tonumber('abc') == nil`, `return tonumber('z', 36)`,
	`return 10 % 3`, `return -10 % 3`, `return 2 ^ 10`, `return '10' + 5`, `return 10 .. ''`, `return #'abc'`, `return not nil`,
	`local s = 0 for i = 1, 10 do s = s + i end return s`, `local s = 0 for i = 10, 1, -2 do s = s + i end return s`,
	`local i = 0 while true do i = i + 1 if i > 5 then break end end return i`, `local i = 0 repeat i = i + 1 until i >= 3 return i`,
	`local function f(n) if n < 2 then return n end return f(n-1) + f(n-2) end return f(10)`,
	`local a, b = (function(...) return select('#', ...), ... end)(7, 8) return {a, b}`,
	`return select(2, 'a', 'b', 'c')`, `local t = setmetatable({}, {__index = function(t, k) return k .. '!' end}) return t.x`,
	`local t = {} for k, v in pairs({a=1}) do t[#t+1] = k .. v end return t`, `return cjson.encode({1,2,3})`, `return cjson.encode({a=1})`,
	`return cjson.decode('[1,2,{"a":null}]')[2]`, `return cjson.encode(cjson.decode('{"a":[1.5,true,false,"x"]}').a)`, `return cjson.encode({})`,
	`return bit.band(12, 10)`, `return bit.tohex(255)`, `return bit.lshift(1, 4)`, `return redis.REDIS_VERSION ~= nil`,
	`return {redis.LOG_DEBUG, redis.LOG_VERBOSE, redis.LOG_NOTICE, redis.LOG_WARNING}`, `return redis.replicate_commands()`,
	`return redis.setresp(3)`, `redis.setresp(3) return redis.call('get', 'no-such-key')`, `redis.setresp(3) return {double=3.5}`,
	`return {map={a=1}}`, `return {set={a=true}}`, `return {big_number='123'}`, `return {verbatim_string={string='x', format='txt'}}`,
	`return redis.call('ping')`, `return redis.call('echo', 'x')`, `return redis.pcall('select', 99)`, `return redis.pcall('select', 'x')`,
	`return _VERSION`, `return type(string)`, `local x <const> = 1`, `return pcall(error, 'x')`,
	`return {pcall(function() error({code=1}) end)}`, `return {pcall(redis.call, 'nosuch')}`, `local ok, e = pcall(redis.call, 'get') return e.err`,
	`return redis.pcall('nosuch').err`, `return type(redis.pcall('set', 'k'))`, `return redis.call('exists')`, `return xpcall(function() error('a') end, function(e) return 'H:' .. e end)`,
	`goto = 1 return goto`, `return "\65\066\n"`, `return [[long
string]]`, `return [==[a]]b]==]`, `--[[ comment ]] return 1 -- end`, `return 0x1F`, `return .5 .. ''`, `return 3 == 3.0`, `return 'a' < 'b'`,
}

// failingScripts end with an error of Lua's: first word and class are compared.
// error({}) is not among them: it ends redis-server 7.0.15.
var failingScripts = []string{
	`error('boom')`, `error({err='My Err'})`, `error({err='ERR x'})`, `error()`, `error(nil)`, `error('boom', 0)`, `error('boom', 2)`,
	`return nosuch`, `nosuch = 1`, `return nosuch.field`, `local t return t.x`, `local t = {} return t.x.y`, `return 1 + {}`, `return 'a' + 1`,
	`return 'a' .. {}`, `return {} < {}`, `return 1 < 'x'`, `return #5`, `return (1)()`, `local f f()`, `return redis.call()`, `return redis.call({})`,
	`return redis.call('nosuch')`, `return redis.call('get')`, `return redis.call('multi')`, `return redis.call('subscribe', 'x')`,
	`return redis.call('set', 'k', 'v', 'px', '1.5')`, `return redis.call('set', 'k', 'v', 'nosuch')`, `return redis.call('incrby', 'k', 'x')`,
	`return redis.call('wait', 0, 0)`, `return redis.call('auth', 'x')`, `return redis.call('object')`, `return redis.call('object', 'foo', 'x')`,
	`return redis.call('client', 'id')`, `return redis.call('config', 'get', 'x')`, `return redis.call('eval', 'return 1', 0)`,
	`return redis.nosuch()`, `redis.x = 1`, `string.x = 1`, `_G.x = 1`, `return require('x')`, `return io.open('x')`, `return os.execute('x')`,
	`return dofile('x')`, `setmetatable(_G, {})`, `getmetatable('').__index = nil`, `string.rep = nil`, `KEYS = 1 return 1`,
	`return string.rep()`, `return ('x'):nosuch()`, `return tostring()`, `return table.concat({{}})`, `return ipairs()`, `return unpack()`,
	`return string.format('%d', 'x')`, `return setmetatable(1, {})`, `return math.floor('x')`, `return redis.sha1hex()`, `return redis.setresp(4)`,
	`return redis.log()`, `return redis.error_reply(1)`, `return redis.status_reply()`, `return cjson.decode('{')`, `return cjson.encode(print)`,
	`return redis.call('get', nil)`, `return redis.call('set', 'k', true)`, `return string.find('a', '[a')`, `return string.gsub('a', '(', '')`,
	`syntax err(`, `return return`, `for`, `local 1 = 2`, `if true then`, `return 'unfinished`, `x = = 1`, `end`, `return )`, `break`, `goto x`, `return 1 +`,
	`#!lua flags=nosuch
return 1`, `#!python
return 1`, `#!lua nosuch
return 1`, `#!lua
return redis.call('nosuch')`, `#!lua flags=no-writes
return redis.call('set', 'k', 'v')`,
}

// inScript are the rows that scripts call with the arguments of their generators.
var inScript = []string{
	"set", "setnx", "get", "getset", "getdel", "append", "strlen", "mget", "mset", "msetnx", "getrange", "setrange", "incr", "decr",
	"incrby", "decrby", "incrbyfloat", "del", "unlink", "exists", "type", "touch", "rename", "renamenx", "copy", "move",
	"expire", "pexpire", "persist", "setex", "psetex", "publish", "getex", "substr",
	"hset", "hget", "hgetall", "hdel", "hincrby", "hincrbyfloat", "hmget", "hkeys", "hlen", "hexists", "hsetnx",
	"lpush", "rpush", "lpop", "rpop", "lrange", "lindex", "lrem", "lmove", "llen", "lmpop",
	"sadd", "srem", "sismember", "scard", "sintercard", "smove",
	"zadd", "zrem", "zscore", "zcount", "zrange", "zrangebyscore", "zrevrange", "zincrby", "zremrangebyscore", "zpopmin", "zrank", "zcard",
}

var callForms = []string{
	`return redis.call(unpack(ARGV))`,
	`return redis.pcall(unpack(ARGV))`,
	`local r = redis.pcall(unpack(ARGV)) if type(r) == 'table' and r.err then return {'failed', r.err} end return {type(r), r}`,
	`local r = redis.call(unpack(ARGV)) if type(r) == 'table' and r.ok then return r.ok end return {r, redis.call('exists', KEYS[1])}`,
	`return {pcall(redis.call, unpack(ARGV))}`,
	`redis.call(unpack(ARGV)) return redis.call('get', KEYS[1])`,
}

// evalArgs draws a script with its keys and arguments.
func evalArgs(d *draw) []string {
	switch d.IntN(10) {
	case 0, 1, 2:
		return []string{d.of(lockScripts), "1", d.key(), d.value(), d.ttl(millisPool), "yes"}
	case 3, 4:
		return append([]string{d.of(plainScripts)}, d.keysAndArgs()...)
	case 5, 6:
		return append([]string{d.of(failingScripts)}, d.keysAndArgs()...)
	}
	name := d.of(inScript)
	args := []string{d.of(callForms), "1", d.key()}
	return append(args, withoutPast(d.command(name))...)
}

// withoutPast takes ends in the past out of a SET: Redis goes on showing such a
// record to the script that made it.
func withoutPast(args []string) []string {
	if !strings.EqualFold(args[0], "set") {
		return args
	}
	for i := range args {
		if strings.EqualFold(args[i], "exat") || strings.EqualFold(args[i], "pxat") {
			return args[:i]
		}
	}
	return args
}

func (d *draw) keysAndArgs() []string {
	switch d.IntN(8) {
	case 0:
		return []string{"-1"}
	case 1:
		return []string{d.of([]string{"x", "", "1.0", "99"}), d.key()}
	}
	keys := d.keysUpTo(3)
	args := append([]string{fmt.Sprint(len(keys))}, keys...)
	for range d.IntN(3) {
		args = append(args, d.value())
	}
	return args
}

func sha(text string) string {
	sum := sha1.Sum([]byte(text))
	return hex.EncodeToString(sum[:])
}

// shaArgs names a script that may have been loaded.
func shaArgs(d *draw) []string {
	args := evalArgs(d)
	switch d.IntN(8) {
	case 0:
		args[0] = "zz"
	case 1:
		args[0] = strings.ToUpper(sha(d.of(lockScripts)))
	case 2:
		args[0] = sha(args[0] + " ")
	default:
		args[0] = sha(d.of(lockScripts[:4]))
	}
	return args
}

func (d *draw) anyScript() string {
	switch d.IntN(4) {
	case 0:
		return d.of(failingScripts)
	case 1:
		return d.of(plainScripts)
	}
	return d.of(lockScripts[:4])
}

var scriptGenerators = map[string]generator{
	"eval": evalArgs, "evalsha": shaArgs, "eval_ro": evalArgs, "evalsha_ro": shaArgs,
	"script|load": func(d *draw) []string { return []string{d.anyScript()} },
	"script|exists": func(d *draw) []string {
		args := []string{sha(d.of(lockScripts[:4])), strings.ToUpper(sha(d.of(lockScripts[:4]))), "zz"}
		return args[:1+d.IntN(3)]
	},
	"script|flush": flushArgs, "script|help": none,
}
