package server

import (
	"strings"

	"github.com/redfence/redfence/fsm"
	"github.com/redfence/redfence/fsm/reply"
)

// configGet answers the parameters that match one of the patterns. An unknown
// one gives nothing, which tools take for a default. A name is answered as it
// was asked.
func configGet(c *session, args []string) reply.Value {
	out := reply.Pairs()
	for i := range parameters {
		p := &parameters[i]
		for _, pattern := range args[2:] {
			if !fsm.Match(strings.ToLower(pattern), p.name) {
				continue
			}
			name := p.name
			if strings.EqualFold(pattern, name) {
				name = pattern
			}
			out.Elems = append(out.Elems, reply.String(name), reply.String(p.get(c.server)))
			break
		}
	}
	return out
}

// configSet changes all of the pairs or, when one is refused, none.
func configSet(c *session, args []string) reply.Value {
	if len(args)%2 != 0 {
		return errSyntax
	}
	type step struct {
		p   *parameter
		old string
	}
	var steps []step
	for i := 2; i < len(args); i += 2 {
		p := findParameter(args[i])
		if p == nil {
			return reply.Err("ERR Unknown option or number of arguments for CONFIG SET - '" + args[i] + "'")
		}
		for _, s := range steps {
			if s.p == p {
				return reply.Err("ERR CONFIG SET failed (possibly related to argument '" + args[i] + "') - duplicate parameter")
			}
		}
		steps = append(steps, step{p, p.get(c.server)})
	}
	for i, s := range steps {
		if err := s.p.change(c.server, args[2*i+3]); err != nil {
			for _, done := range steps[:i] {
				_ = done.p.change(c.server, done.old) // it was accepted before
			}
			return reply.Err("ERR CONFIG SET failed (possibly related to argument '" + args[2*i+2] + "') - " + err.Error())
		}
	}
	return reply.OK
}

func findParameter(name string) *parameter {
	name = strings.ToLower(name)
	for i := range parameters {
		if parameters[i].name == name {
			return &parameters[i]
		}
	}
	return nil
}

func configResetstat(c *session, _ []string) reply.Value {
	c.server.stats.reset()
	return reply.OK
}

func configRewrite(*session, []string) reply.Value {
	return reply.Err("ERR The server is running without a config file")
}
