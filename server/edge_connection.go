package server

import (
	"crypto/sha256"
	"crypto/subtle"
	"strings"

	"github.com/redfence/redfence/fsm"
	"github.com/redfence/redfence/fsm/reply"
	"github.com/redfence/redfence/redlockcompat"
)

func ping(c *session, args []string) reply.Value {
	if len(args) > 2 {
		return fsm.WrongArity("ping")
	}
	if c.subs.count() > 0 && c.w.proto == 2 {
		text := ""
		if len(args) == 2 {
			text = args[1]
		}
		return reply.List(reply.String("pong"), reply.String(text))
	}
	if len(args) == 2 {
		return reply.String(args[1])
	}
	return reply.Simple("PONG")
}

func echo(_ *session, args []string) reply.Value { return reply.String(args[1]) }

func quit(c *session, _ []string) reply.Value {
	c.closing = true
	return reply.OK
}

// reset makes the connection a fresh one, in the protocol and the state it
// began with.
func reset(c *session, _ []string) reply.Value {
	if c.subs.count() > 0 {
		// Nobody confirms these: RESET's one reply says it all.
		c.settle()
		c.server.hub.leave(c)
		c.showSubscriptions()
	}
	c.settle()
	c.begin()
	c.renamed()
	return reply.Simple("RESET")
}

// rightPassword compares without telling by its time how much was right.
func (c *session) rightPassword(given string) bool {
	a, b := sha256.Sum256([]byte(given)), sha256.Sum256([]byte(c.server.cfg.Password))
	return subtle.ConstantTimeCompare(a[:], b[:]) == 1
}

// logIn checks a user and a password. There is one user, "default"; without a
// password set anything opens it. A failure leaves the connection as it was.
func (c *session) logIn(user, password string) bool {
	if user != "default" || c.server.cfg.Password != "" && !c.rightPassword(password) {
		c.server.stats.authFailures.Add(1)
		return false
	}
	c.setAuthenticated(true)
	return true
}

func auth(c *session, args []string) reply.Value {
	if len(args) > 3 {
		return errSyntax
	}
	user, password := "default", args[len(args)-1]
	if len(args) == 3 {
		user = args[1]
	} else if c.server.cfg.Password == "" {
		return errNoPassword
	}
	if !c.logIn(user, password) {
		return errWrongPass
	}
	return reply.OK
}

// hello carries its options out one after the other, as Redis does: a login
// stays when a later option is refused. The protocol changes last.
func hello(c *session, args []string) reply.Value {
	proto := 0
	if len(args) > 1 {
		n, ok := parseLength([]byte(args[1]))
		if !ok {
			return errProtoVersion
		}
		if n != 2 && n != 3 {
			return errNoProto
		}
		proto = int(n)
	}
	for i := 2; i < len(args); i++ {
		more := len(args) - 1 - i
		switch {
		case strings.EqualFold(args[i], "auth") && more >= 2:
			if !c.logIn(args[i+1], args[i+2]) {
				return errWrongPass
			}
			i += 2
		case strings.EqualFold(args[i], "setname") && more >= 1:
			if v := c.setName(args[i+1]); v.IsError() {
				return v
			}
			i++
		default:
			return reply.Err("ERR Syntax error in HELLO option '" + args[i] + "'")
		}
	}
	if !c.authenticated {
		return errHelloNoAuth
	}
	if proto != 0 {
		c.settle() // what came before is spelled in the protocol it was asked in
		c.w.proto = proto
		c.proto.Store(int32(proto))
		if proto == 2 {
			c.stopTracking() // nothing can be told out of band any more
		}
	}
	return c.greeting()
}

// greeting is HELLO's map. redfence_version is beside what Redis says.
func (c *session) greeting() reply.Value {
	return reply.Pairs(
		reply.String("server"), reply.String(redlockcompat.ServerName),
		reply.String("version"), reply.String(redlockcompat.RedisVersion),
		reply.String("proto"), reply.Integer(int64(c.w.proto)),
		reply.String("id"), reply.Integer(c.id),
		reply.String("mode"), reply.String(redlockcompat.Mode),
		reply.String("role"), reply.String(redlockcompat.Role),
		reply.String("modules"), reply.List(),
		reply.String("redfence_version"), reply.String(c.server.cfg.Version),
	)
}

func selectDatabase(c *session, args []string) reply.Value {
	n, refusal := fsm.ParseDatabase(args[1])
	if refusal.IsError() {
		return refusal
	}
	c.setShown(func(s *shown) { s.db = n })
	return reply.OK
}

// databaseOf reads a database number that SELECT would accept.
func databaseOf(text string) (uint8, bool) {
	n, ok := parseLength([]byte(text))
	if !ok || n < 0 || n >= fsm.Databases {
		return 0, false
	}
	return uint8(n), true
}
