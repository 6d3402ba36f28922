package replica

import (
	"encoding/binary"
	"encoding/json"
	"errors"

	"github.com/redfence/redfence/fsm"
	"github.com/redfence/redfence/fsm/reply"
)

// Frames of a link. A follower dials the leader; batches and reads go to it,
// results and events come back.
const (
	frameOpen   byte = 1 // follower: open an origin for this boot
	frameSubmit byte = 2 // follower: a batch
	frameRead   byte = 3 // follower: lone reads
	frameInfo   byte = 4 // follower: its addresses, and which events it wants
	frameAlive  byte = 5 // follower: nothing but that it is there

	frameServing byte = 16 // leader: it serves, in this term
	frameStopped byte = 17 // leader: it serves no more
	frameOpened  byte = 18 // leader: what became of an open
	frameResult  byte = 19 // leader: what became of a batch
	frameLost    byte = 20 // leader: a batch was not proposed, or nobody knows
	frameAnswer  byte = 21 // leader: what reads came to
	frameEvents  byte = 22 // leader: events of an entry
	frameWoken   byte = 23 // leader: the reply to a command that waited
)

var errBadFrame = errors.New("a frame of a link can't be read")

// linkInfo is what a node tells the leader about itself.
type linkInfo struct {
	Member    fsm.Member
	KeyEvents bool
	Listens   bool // events should be pushed: see pushes
}

// lostBatch says that a batch has no result from this leader.
type lostBatch struct {
	Origin, Number uint64
	Certain        bool // it was certainly not appended to the log
}

// readRequest is a list of lone reads of one client.
type readRequest struct {
	id     uint64
	client fsm.Client
	cmds   []fsm.Command
}

// readResult answers a readRequest; without ok the node did not lead.
type readResult struct {
	id      uint64
	ok      bool
	answers []fsm.Answer
}

// eventsPush carries the events of one entry. Prev is the entry before it that
// had events: who has not seen that one must not take this one.
type eventsPush struct {
	prev, index uint64
	keyEvents   bool // KeyChanged events are among them
	events      []fsm.Event
}

func appendString(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

func appendBool(b []byte, v bool) []byte {
	if v {
		return append(b, 1)
	}
	return append(b, 0)
}

func appendAnswers(b []byte, answers []fsm.Answer) []byte {
	b = binary.AppendUvarint(b, uint64(len(answers)))
	for i := range answers {
		b = binary.AppendVarint(b, answers[i].Grant)
		b = binary.AppendVarint(b, answers[i].Cost)
		b = reply.Append(b, answers[i].Value)
	}
	return b
}

func appendResult(b []byte, r *fsm.BatchResult) []byte {
	b = binary.AppendUvarint(b, r.Origin)
	b = binary.AppendUvarint(b, r.Number)
	b = append(b, byte(r.Status))
	return appendAnswers(b, r.Answers)
}

func appendLost(b []byte, l lostBatch) []byte {
	b = binary.AppendUvarint(b, l.Origin)
	b = binary.AppendUvarint(b, l.Number)
	return appendBool(b, l.Certain)
}

func appendRead(b []byte, r *readRequest) []byte {
	b = binary.AppendUvarint(b, r.id)
	// A batch's encoding carries client and commands; its number means nothing here.
	return fsm.AppendBatch(b, &fsm.Batch{Clients: []fsm.Client{r.client}, Commands: r.cmds})
}

func appendReadResult(b []byte, r *readResult) []byte {
	b = binary.AppendUvarint(b, r.id)
	b = appendBool(b, r.ok)
	return appendAnswers(b, r.answers)
}

func appendEvents(b []byte, p *eventsPush) []byte {
	b = binary.AppendUvarint(b, p.prev)
	b = binary.AppendUvarint(b, p.index)
	b = appendBool(b, p.keyEvents)
	b = binary.AppendUvarint(b, uint64(len(p.events)))
	for i := range p.events {
		e := &p.events[i]
		b = append(b, byte(e.Kind), e.Space, e.DB, e.Class)
		b = appendString(appendString(appendString(b, e.Name), e.Key), e.Payload)
		if e.Kind == fsm.LockChanged {
			b = binary.AppendUvarint(appendString(appendString(b, e.Owner), e.Node), e.Token)
		}
	}
	return b
}

func appendWoken(b []byte, w *fsm.Woken) []byte {
	b = binary.AppendUvarint(b, w.Origin)
	b = binary.AppendUvarint(b, w.Ticket)
	return appendAnswers(b, []fsm.Answer{w.Answer})
}

func appendInfo(b []byte, info *linkInfo) []byte {
	text, _ := json.Marshal(info) // texts and flags: it can't fail
	return append(b, text...)
}

// fields reads what the functions above wrote. After the first fault bad is set
// and everything else is zero.
type fields struct {
	b   []byte
	bad bool
}

func (f *fields) fail() {
	f.bad, f.b = true, nil
}

func (f *fields) uint() uint64 {
	n, used := binary.Uvarint(f.b)
	if used <= 0 {
		f.fail()
		return 0
	}
	f.b = f.b[used:]
	return n
}

func (f *fields) int() int64 {
	n, used := binary.Varint(f.b)
	if used <= 0 {
		f.fail()
		return 0
	}
	f.b = f.b[used:]
	return n
}

func (f *fields) byte() byte {
	if len(f.b) == 0 {
		f.fail()
		return 0
	}
	c := f.b[0]
	f.b = f.b[1:]
	return c
}

func (f *fields) bool() bool { return f.byte() == 1 }

// count reads how many things of at least unit bytes follow: nothing is
// reserved on a forger's word.
func (f *fields) count(unit int) int {
	n := f.uint()
	if n > uint64(len(f.b)/unit) {
		f.fail()
		return 0
	}
	return int(n)
}

func (f *fields) string() string {
	n := f.count(1)
	s := string(f.b[:n])
	f.b = f.b[n:]
	return s
}

func (f *fields) answers() []fsm.Answer {
	n := f.count(3)
	if n == 0 {
		return nil
	}
	out := make([]fsm.Answer, n)
	for i := range out {
		out[i].Grant, out[i].Cost = f.int(), f.int()
		v, rest, err := reply.Decode(f.b)
		if err != nil {
			f.fail()
			return nil
		}
		out[i].Value, f.b = v, rest
	}
	return out
}

// end says whether everything was read and nothing was wrong.
func (f *fields) end() error {
	if f.bad || len(f.b) != 0 {
		return errBadFrame
	}
	return nil
}

func decodeResult(b []byte) (r fsm.BatchResult, err error) {
	f := fields{b: b}
	r.Origin, r.Number, r.Status = f.uint(), f.uint(), fsm.BatchStatus(f.byte())
	r.Answers = f.answers()
	return r, f.end()
}

func decodeLost(b []byte) (l lostBatch, err error) {
	f := fields{b: b}
	l = lostBatch{f.uint(), f.uint(), f.bool()}
	return l, f.end()
}

func decodeRead(b []byte) (*readRequest, error) {
	f := fields{b: b}
	id := f.uint()
	if f.bad {
		return nil, errBadFrame
	}
	batch, err := fsm.DecodeBatch(f.b)
	if err != nil || len(batch.Clients) != 1 {
		return nil, errBadFrame
	}
	return &readRequest{id, batch.Clients[0], batch.Commands}, nil
}

func decodeReadResult(b []byte) (r readResult, err error) {
	f := fields{b: b}
	r.id, r.ok = f.uint(), f.bool()
	r.answers = f.answers()
	return r, f.end()
}

func decodeWoken(b []byte) (w fsm.Woken, err error) {
	f := fields{b: b}
	w.Origin, w.Ticket = f.uint(), f.uint()
	answers := f.answers()
	if len(answers) != 1 {
		return w, errBadFrame
	}
	w.Answer = answers[0]
	return w, f.end()
}

func decodeEvents(b []byte) (p eventsPush, err error) {
	f := fields{b: b}
	p.prev, p.index, p.keyEvents = f.uint(), f.uint(), f.bool()
	p.events = make([]fsm.Event, f.count(7))
	for i := range p.events {
		p.events[i] = fsm.Event{
			Kind: fsm.EventKind(f.byte()), Space: f.byte(), DB: f.byte(), Class: f.byte(),
			Name: f.string(), Key: f.string(), Payload: f.string(),
		}
		if e := &p.events[i]; e.Kind == fsm.LockChanged {
			e.Owner, e.Node, e.Token = f.string(), f.string(), f.uint()
		}
	}
	fsm.SetPlaces(p.events, p.index)
	return p, f.end()
}
