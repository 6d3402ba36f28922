package fsm

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// EntryVersion is the version of the entry format that this binary writes and
// reads. docs/format.md has the bytes.
const EntryVersion = 2

// ErrCorrupt is returned for bytes that no encoder of ours made.
var ErrCorrupt = errors.New("fsm: corrupt entry")

// VersionError is returned for an entry or snapshot that another binary wrote,
// as a rule a newer one.
// The node must stop: skipping it would make replicas differ.
type VersionError struct {
	What string
	Got  int
	Max  int
}

func (e *VersionError) Error() string {
	if e.Got < e.Max {
		return fmt.Sprintf("%s has version %d, from before the first release; this binary reads %d", e.What, e.Got, e.Max)
	}
	return fmt.Sprintf("%s has version %d, this binary reads up to %d: upgrade the binary of this node", e.What, e.Got, e.Max)
}

// AppendEntry appends e's encoding to b.
func AppendEntry(b []byte, e *Entry) []byte {
	b = append(b, EntryVersion, byte(e.Kind))
	b = binary.AppendUvarint(b, e.Stamp.Term)
	b = binary.AppendVarint(b, e.Stamp.Now)
	b = binary.AppendVarint(b, e.Stamp.Wall)
	b = binary.AppendUvarint(b, e.Seed)
	b = binary.AppendUvarint(b, e.MemoryMax)
	switch e.Kind {
	case Batches:
		b = binary.AppendUvarint(b, uint64(len(e.Batches)))
		for i := range e.Batches {
			b = AppendBatch(b, &e.Batches[i])
		}
	case OpenOrigin:
		b = appendText(b, e.Open.Node)
		b = appendText(b, e.Open.Disk)
		b = binary.AppendUvarint(b, e.Open.Boot)
	case RecordMember:
		b = appendMember(b, &e.Member)
	case Birth:
		b = appendText(b, e.Birth.Cluster)
		b = append(b, e.Birth.Seats)
	case LoseWaits:
		b = binary.AppendUvarint(b, e.Lost)
	}
	return b
}

// AppendBatch appends a batch's encoding to b; nodes send batches to the leader in it.
func AppendBatch(b []byte, x *Batch) []byte {
	b = binary.AppendUvarint(b, x.Origin)
	b = binary.AppendUvarint(b, x.Number)
	b = binary.AppendUvarint(b, x.Acked)
	b = append(b, flag(x.Cancel))
	b = binary.AppendUvarint(b, uint64(len(x.Settled)))
	for _, ticket := range x.Settled {
		b = binary.AppendUvarint(b, ticket)
	}
	b = binary.AppendUvarint(b, uint64(len(x.Clients)))
	for i := range x.Clients {
		c := &x.Clients[i]
		b = appendText(appendText(appendText(appendText(b, c.Name), c.Addr), c.Library), c.Node)
	}
	b = binary.AppendUvarint(b, uint64(len(x.Commands)))
	for i := range x.Commands {
		b = AppendCommand(b, &x.Commands[i])
	}
	return b
}

// AppendCommand appends one command's encoding to b; nodes send lone reads to the leader in it.
func AppendCommand(b []byte, c *Command) []byte {
	b = append(b, c.Space, c.DB, flag(c.Exec != nil)|flag(c.Ticket != 0)<<1)
	b = binary.AppendUvarint(b, uint64(c.Client))
	b = appendArgs(b, c.Args)
	if c.Ticket != 0 {
		b = binary.AppendUvarint(b, c.Ticket)
	}
	if c.Exec == nil {
		return b
	}
	b = binary.AppendUvarint(b, uint64(len(c.Exec.Watched)))
	for _, w := range c.Exec.Watched {
		b = append(b, w.DB)
		b = appendText(b, w.Key)
		b = binary.AppendUvarint(b, w.Version)
	}
	b = binary.AppendUvarint(b, uint64(len(c.Exec.Commands)))
	for _, q := range c.Exec.Commands {
		b = append(b, q.DB)
		b = appendArgs(b, q.Args)
	}
	return b
}

func appendMember(b []byte, m *Member) []byte {
	for _, s := range []string{m.Node, m.Disk, m.Raft, m.Client, m.HTTP, m.Version} {
		b = appendText(b, s)
	}
	return append(appendArgs(b, m.Seats), flag(m.Removed))
}

func appendArgs(b []byte, args []string) []byte {
	b = binary.AppendUvarint(b, uint64(len(args)))
	for _, a := range args {
		b = appendText(b, a)
	}
	return b
}

func appendText(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

func flag(set bool) byte {
	if set {
		return 1
	}
	return 0
}

// DecodeEntry reads an entry that AppendEntry wrote. The entry's texts are
// parts of one copy of data.
func DecodeEntry(data []byte) (*Entry, error) {
	if len(data) < 2 {
		return nil, ErrCorrupt
	}
	if data[0] != EntryVersion {
		return nil, &VersionError{What: "log entry", Got: int(data[0]), Max: EntryVersion}
	}
	d := decoder{s: string(data[1:])}
	e := &Entry{Kind: EntryKind(d.byte())}
	e.Stamp = Stamp{Term: d.uint(), Now: d.int(), Wall: d.int()}
	e.Seed, e.MemoryMax = d.uint(), d.uint()
	switch e.Kind {
	case Batches:
		n := d.count(6)
		e.Batches = make([]Batch, n)
		for i := range e.Batches {
			d.batch(&e.Batches[i])
		}
	case TermStart:
	case OpenOrigin:
		e.Open = Open{Node: d.text(), Disk: d.text(), Boot: d.uint()}
	case RecordMember:
		e.Member = d.member()
	case Birth:
		e.Birth = BirthRecord{Cluster: d.text(), Seats: d.byte()}
	case LoseWaits:
		e.Lost = d.uint()
	default:
		return nil, &VersionError{What: "log entry of an unknown kind", Got: int(e.Kind), Max: int(LoseWaits)}
	}
	if d.bad || d.s != "" {
		return nil, ErrCorrupt
	}
	return e, nil
}

// DecodeBatch reads what AppendBatch wrote and nothing else.
func DecodeBatch(data []byte) (*Batch, error) {
	d := decoder{s: string(data)}
	x := new(Batch)
	d.batch(x)
	if d.bad || d.s != "" {
		return nil, ErrCorrupt
	}
	return x, nil
}

// DecodeCommand reads what AppendCommand wrote and nothing else.
func DecodeCommand(data []byte) (*Command, error) {
	d := decoder{s: string(data)}
	c := new(Command)
	d.command(c, 1)
	if d.bad || d.s != "" {
		return nil, ErrCorrupt
	}
	return c, nil
}

// decoder cuts texts out of s. After the first fault bad is set and every
// further read gives zero values.
type decoder struct {
	s   string
	bad bool
}

func (d *decoder) fail() {
	d.bad = true
	d.s = ""
}

func (d *decoder) byte() byte {
	if d.s == "" {
		d.fail()
		return 0
	}
	b := d.s[0]
	d.s = d.s[1:]
	return b
}

func (d *decoder) flag() bool {
	b := d.byte()
	if b > 1 {
		d.fail()
	}
	return b == 1
}

func (d *decoder) uint() uint64 {
	var x uint64
	for i := 0; i < len(d.s) && i < binary.MaxVarintLen64; i++ {
		b := d.s[i]
		if i == binary.MaxVarintLen64-1 && b > 1 {
			break
		}
		x |= uint64(b&0x7f) << (7 * i)
		if b < 0x80 {
			d.s = d.s[i+1:]
			return x
		}
	}
	d.fail()
	return 0
}

func (d *decoder) int() int64 {
	u := d.uint()
	return int64(u>>1) ^ -int64(u&1)
}

// count reads how many things of at least unit bytes follow, and refuses a
// number that the bytes at hand can't hold: nothing is reserved on a forger's word.
func (d *decoder) count(unit int) int {
	n := d.uint()
	if n > uint64(len(d.s)/unit) {
		d.fail()
		return 0
	}
	return int(n)
}

func (d *decoder) text() string {
	n := d.count(1)
	t := d.s[:n]
	d.s = d.s[n:]
	return t
}

func (d *decoder) args() []string {
	args := make([]string, d.count(1))
	for i := range args {
		args[i] = d.text()
	}
	return args
}

func (d *decoder) uints() []uint64 {
	n := d.count(1)
	if n == 0 {
		return nil
	}
	out := make([]uint64, n)
	for i := range out {
		out[i] = d.uint()
	}
	return out
}

func (d *decoder) batch(x *Batch) {
	x.Origin, x.Number, x.Acked, x.Cancel = d.uint(), d.uint(), d.uint(), d.flag()
	x.Settled = d.uints()
	x.Clients = make([]Client, d.count(4))
	for i := range x.Clients {
		x.Clients[i] = Client{Name: d.text(), Addr: d.text(), Library: d.text(), Node: d.text()}
	}
	x.Commands = make([]Command, d.count(5))
	for i := range x.Commands {
		d.command(&x.Commands[i], len(x.Clients))
	}
}

func (d *decoder) command(c *Command, clients int) {
	c.Space, c.DB = d.byte(), d.byte()
	more := d.byte()
	if more > 3 {
		d.fail()
	}
	client := d.uint()
	c.Args = d.args()
	if more&2 != 0 {
		if c.Ticket = d.uint(); c.Ticket == 0 {
			d.fail()
		}
	}
	if client >= uint64(clients) || c.DB >= Databases || c.Space > SeatsMax || len(c.Args) == 0 {
		d.fail()
		return
	}
	c.Client = uint32(client)
	if more&1 != 0 {
		c.Exec = d.exec()
	}
}

func (d *decoder) exec() *Exec {
	x := &Exec{Watched: make([]Watched, d.count(3))}
	for i := range x.Watched {
		x.Watched[i] = Watched{DB: d.byte(), Key: d.text(), Version: d.uint()}
		if x.Watched[i].DB >= Databases {
			d.fail()
		}
	}
	x.Commands = make([]Queued, d.count(3))
	for i := range x.Commands {
		x.Commands[i] = Queued{DB: d.byte(), Args: d.args()}
		if x.Commands[i].DB >= Databases || len(x.Commands[i].Args) == 0 {
			d.fail()
		}
	}
	return x
}

func (d *decoder) member() Member {
	m := Member{Node: d.text(), Disk: d.text(), Raft: d.text(), Client: d.text(), HTTP: d.text(), Version: d.text()}
	m.Seats = d.args()
	m.Removed = d.flag()
	return m
}
