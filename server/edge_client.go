package server

import (
	"strings"

	"github.com/redfence/redfence/fsm"
	"github.com/redfence/redfence/fsm/reply"
)

func clientID(c *session, _ []string) reply.Value { return reply.Integer(c.id) }

func clientGetname(c *session, _ []string) reply.Value {
	if c.name == "" {
		return reply.Null
	}
	return reply.String(c.name)
}

func clientSetname(c *session, args []string) reply.Value {
	return c.setName(args[2])
}

// setName names the connection. What it asked for before keeps the old name.
func (c *session) setName(name string) reply.Value {
	if !validName(name) {
		return errClientName
	}
	if len(name) > NameMax {
		return errNameTooLong
	}
	c.settle()
	name = strings.Clone(name)
	c.setShown(func(s *shown) { s.name = name })
	c.renamed()
	return reply.OK
}

// validName says whether every byte of a name is printable and no space, so
// that CLIENT LIST stays readable.
func validName(name string) bool {
	for i := range len(name) {
		if name[i] < '!' || name[i] > '~' {
			return false
		}
	}
	return true
}

// clientSetinfo takes what a library says of itself; locks show it.
func clientSetinfo(c *session, args []string) reply.Value {
	field, value := strings.ToLower(args[2]), args[3]
	if field != "lib-name" && field != "lib-ver" {
		return reply.Err("ERR Unrecognized option '" + args[2] + "'")
	}
	if !validName(value) {
		return reply.Err("ERR " + field + " cannot contain spaces, newlines or special characters.")
	}
	if len(value) > NameMax {
		return errNameTooLong
	}
	c.settle()
	value = strings.Clone(value)
	c.setShown(func(s *shown) {
		if field == "lib-name" {
			s.libName = value
		} else {
			s.libVersion = value
		}
	})
	c.renamed()
	return reply.OK
}

func clientInfo(c *session, _ []string) reply.Value { return text(c.describe() + "\n") }

func clientList(c *session, args []string) reply.Value {
	wanted := func(*session) bool { return true }
	switch {
	case len(args) == 4 && strings.EqualFold(args[2], "type"):
		kind, ok := clientTypes[strings.ToLower(args[3])]
		if !ok {
			return unknownType(args[3])
		}
		wanted = kind
	case len(args) > 3 && strings.EqualFold(args[2], "id"):
		ids := map[int64]bool{}
		for _, a := range args[3:] {
			n, ok := parseLength([]byte(a))
			if !ok {
				return reply.Err("ERR Invalid client ID")
			}
			ids[n] = true
		}
		wanted = func(x *session) bool { return ids[x.id] }
	case len(args) != 2:
		return errSyntax
	}
	var b strings.Builder
	for _, x := range c.server.everySession() {
		if wanted(x) {
			b.WriteString(x.describe() + "\n")
		}
	}
	return text(b.String())
}

// clientTypes are the words of TYPE in CLIENT LIST and CLIENT KILL.
var clientTypes = map[string]func(*session) bool{
	"normal":  func(x *session) bool { return !x.listens() },
	"pubsub":  (*session).listens,
	"master":  func(*session) bool { return false },
	"replica": func(*session) bool { return false },
	"slave":   func(*session) bool { return false },
}

func unknownType(word string) reply.Value { return reply.Err("ERR Unknown client type '" + word + "'") }

func (c *session) listens() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.channels+c.patterns+c.shards > 0
}

// clientKill closes connections: CLIENT KILL addr:port answers OK or an error,
// the form with filters how many it closed.
func clientKill(c *session, args []string) reply.Value {
	if len(args) == 3 {
		for _, x := range c.server.everySession() {
			if x.addr == args[2] {
				c.killOne(x)
				return reply.OK
			}
		}
		return reply.Err("ERR No such client")
	}
	filters, skipMe, refusal := killFilters(args[2:])
	if refusal.IsError() {
		return refusal
	}
	killed := 0
	for _, x := range c.server.everySession() {
		if x == c && skipMe || !all(filters, x) {
			continue
		}
		c.killOne(x)
		killed++
	}
	return reply.Integer(int64(killed))
}

func all(filters []func(*session) bool, x *session) bool {
	for _, f := range filters {
		if !f(x) {
			return false
		}
	}
	return true
}

// killOne ends a connection; its own only after the reply.
func (c *session) killOne(x *session) {
	if x == c {
		c.closing = true
		return
	}
	x.kill()
}

// killFilters reads the pairs of CLIENT KILL.
func killFilters(args []string) (filters []func(*session) bool, skipMe bool, refusal reply.Value) {
	skipMe = true
	for i := 0; i < len(args); i += 2 {
		if i+1 == len(args) {
			return nil, false, errSyntax
		}
		value := args[i+1]
		switch strings.ToLower(args[i]) {
		case "id":
			id, ok := fsm.ParseInt(value)
			if !ok || id < 1 {
				return nil, false, reply.Err("ERR client-id should be greater than 0")
			}
			filters = append(filters, func(x *session) bool { return x.id == id })
		case "addr":
			filters = append(filters, func(x *session) bool { return x.addr == value })
		case "laddr":
			filters = append(filters, func(x *session) bool { return x.local == value })
		case "type":
			kind, ok := clientTypes[strings.ToLower(value)]
			if !ok {
				return nil, false, unknownType(value)
			}
			filters = append(filters, kind)
		case "user":
			if value != "default" {
				return nil, false, reply.Err("ERR No such user '" + value + "'")
			}
		case "skipme":
			switch strings.ToLower(value) {
			case "yes":
				skipMe = true
			case "no":
				skipMe = false
			default:
				return nil, false, errSyntax
			}
		default:
			return nil, false, errSyntax
		}
	}
	return filters, skipMe, reply.Value{}
}

func clientReply(c *session, args []string) reply.Value {
	switch strings.ToLower(args[2]) {
	case "on":
		c.quiet, c.skipping = false, false
		return reply.OK
	case "off":
		c.quiet = true
	case "skip":
		c.skipNext = !c.quiet
	default:
		return errSyntax
	}
	return noReply
}

// onOff reads ON or OFF.
func onOff(word string) (on, ok bool) {
	switch strings.ToLower(word) {
	case "on":
		return true, true
	case "off":
		return false, true
	}
	return false, false
}

func clientNoEvict(c *session, args []string) reply.Value {
	on, ok := onOff(args[2])
	if !ok {
		return errSyntax
	}
	c.setShown(func(s *shown) { s.noEvict = on })
	return reply.OK
}

func clientNoTouch(c *session, args []string) reply.Value {
	on, ok := onOff(args[2])
	if !ok {
		return errSyntax
	}
	c.setShown(func(s *shown) { s.noTouch = on })
	return reply.OK
}

func clientPause(*session, []string) reply.Value {
	return reply.Err("ERR CLIENT PAUSE is not supported: a node that others rely on does not stop answering on request")
}

// clientUnblock ends the wait of another connection of this node.
func clientUnblock(c *session, args []string) reply.Value {
	if len(args) > 4 {
		return subcommandSyntax(args)
	}
	if len(args) == 4 && !strings.EqualFold(args[3], "timeout") && !strings.EqualFold(args[3], "error") {
		return reply.Err("ERR CLIENT UNBLOCK reason should be TIMEOUT or ERROR")
	}
	id, ok := fsm.ParseInt(args[2])
	if !ok {
		return errNotInteger
	}
	answer := reply.NullArray
	if len(args) == 4 && strings.EqualFold(args[3], "error") {
		answer = errUnblocked
	}
	for _, x := range c.server.everySession() {
		if x.id == id {
			return reply.Truth(x.unblock(answer))
		}
	}
	return reply.Integer(0)
}
