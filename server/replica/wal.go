package replica

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	wal "github.com/hashicorp/raft-wal"
	walfs "github.com/hashicorp/raft-wal/fs"
	"github.com/hashicorp/raft-wal/segment"
	"github.com/hashicorp/raft-wal/types"

	"github.com/hashicorp/go-hclog"
)

// walIndexFile lists the segments of the log. raft-wal would keep the list in a
// bolt file, whose pages have no checksums.
const walIndexFile = "segments.json"

// walParts is what raft-wal is given instead of its own: the list of segments in
// a checked file, and segments whose errors have names.
type walParts struct {
	*segment.Filer
	dir    *directory // the log's own
	end    *logEnd
	known  atomic.Pointer[types.PersistentState]
	failed atomic.Pointer[error] // why no segment could be begun
	fresh  atomic.Bool           // a segment was opened and nothing is appended yet
}

var (
	_ types.MetaStore    = (*walParts)(nil)
	_ types.SegmentFiler = (*walParts)(nil)
)

// openWAL opens the log, having made sure that it is the one that was left.
func openWAL(path string, end *logEnd, log hclog.Logger) (*wal.WAL, *walParts, error) {
	if err := os.MkdirAll(path, 0o700); err != nil {
		return nil, nil, err
	}
	p := &walParts{Filer: segment.NewFiler(path, walfs.New()), dir: &directory{dir: path}, end: end}
	if err := p.mendTail(); err != nil {
		return nil, nil, err
	}
	w, err := wal.Open(path, wal.WithLogger(log), wal.WithSegmentSize(logSegmentBytes),
		wal.WithMetaStore(p), wal.WithSegmentFiler(p))
	return w, p, err
}

// Load reads the list of segments. Once the log has begun there must be one.
func (p *walParts) Load(string) (state types.PersistentState, err error) {
	data, err := p.dir.read(walIndexFile)
	if absent(err) {
		if _, _, begun := p.end.get(); begun {
			return state, fmt.Errorf("%s is gone, and with it this node's log; %s", p.dir.path(walIndexFile), joinAnew)
		}
		return state, nil
	}
	if err == nil {
		err = json.Unmarshal(data, &state)
	}
	if err != nil {
		return state, fmt.Errorf("%s: %w", p.dir.path(walIndexFile), err)
	}
	p.known.Store(&state)
	return state, nil
}

// CommitState replaces the list.
func (p *walParts) CommitState(state types.PersistentState) error {
	data, err := json.Marshal(state)
	if err == nil {
		err = p.dir.write(walIndexFile, append(data, '\n'))
	}
	if err != nil {
		return p.fail(fmt.Errorf("write %s: %w", p.dir.path(walIndexFile), err))
	}
	p.known.Store(&state)
	return nil
}

func (p *walParts) fail(err error) error {
	p.failed.CompareAndSwap(nil, &err)
	return err
}

// cause is why no segment could be begun: raft-wal only logs it, and says of
// every append that comes later that the segment is sealed.
func (p *walParts) cause() error {
	if err := p.failed.Load(); err != nil {
		return *err
	}
	return nil
}

var errNoStable = errors.New("the log keeps no values")

// GetStable is not used: term and vote have a file of their own.
func (p *walParts) GetStable([]byte) ([]byte, error) { return nil, errNoStable }

// SetStable is not used.
func (p *walParts) SetStable(_, _ []byte) error { return errNoStable }

// Close has nothing to close.
func (p *walParts) Close() error { return nil }

func (p *walParts) segmentPath(info *types.SegmentInfo) string {
	return filepath.Join(p.dir.dir, segment.FileName(*info))
}

// Create begins a segment.
func (p *walParts) Create(info types.SegmentInfo) (types.SegmentWriter, error) {
	w, err := p.Filer.Create(info)
	if err != nil {
		return nil, p.fail(fmt.Errorf("begin the segment %s: %w", p.segmentPath(&info), err))
	}
	p.fresh.Store(true)
	return w, nil
}

// Open opens a full segment.
func (p *walParts) Open(info types.SegmentInfo) (types.SegmentReader, error) {
	r, err := p.Filer.Open(info)
	if err != nil {
		return nil, p.broken(&info, err)
	}
	return r, nil
}

// RecoverTail opens the newest segment.
func (p *walParts) RecoverTail(info types.SegmentInfo) (types.SegmentWriter, error) {
	w, err := p.Filer.RecoverTail(info)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, p.broken(&info, err)
	}
	p.fresh.Store(true)
	return w, err
}

func (p *walParts) broken(info *types.SegmentInfo, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s is gone, and with it a part of this node's log; %s", p.segmentPath(info), joinAnew)
	}
	return fmt.Errorf("%s is damaged (%w); %s", p.segmentPath(info), err, joinAnew)
}

// newFile says whether this was the first append to a segment.
func (p *walParts) newFile(uint64) bool { return p.fresh.Load() && p.fresh.Swap(false) }

// file is the segment that holds an entry.
func (p *walParts) file(index uint64) string {
	if state := p.known.Load(); state != nil {
		for i := len(state.Segments) - 1; i >= 0; i-- {
			if info := &state.Segments[i]; info.BaseIndex <= index {
				return p.segmentPath(info)
			}
		}
	}
	return p.dir.dir
}

// mendTail prepares the newest segment for raft-wal, which trusts whatever a torn
// write left there, and can't append to a segment that was full when the process
// ended.
func (p *walParts) mendTail() error {
	state, err := p.Load("")
	if err != nil || len(state.Segments) == 0 {
		return err
	}
	tail := &state.Segments[len(state.Segments)-1]
	path := p.segmentPath(tail)
	found, err := readSegment(path)
	_, last, _ := p.end.get()
	switch {
	case absent(err) && last >= tail.BaseIndex:
		return p.broken(tail, err)
	case absent(err):
		return nil // a crash came before the segment was begun
	case err != nil:
		return p.broken(tail, err)
	case found.entries == 0 && last >= tail.BaseIndex, tail.BaseIndex+found.entries-1 < last && found.entries > 0:
		return p.broken(tail, fmt.Errorf("whole entries up to %d, there were some up to %d",
			tail.BaseIndex+found.entries-1, last))
	case found.whole > 0 && (found.base != tail.BaseIndex || found.id != tail.ID):
		return p.broken(tail, errors.New("it is another one"))
	}
	if err := dropTorn(path, found.whole); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if found.indexAt == 0 {
		return nil
	}
	tail.IndexStart, tail.SealTime, tail.MaxIndex = found.indexAt, time.Now(), tail.BaseIndex+found.entries-1
	next := types.SegmentInfo{
		ID: state.NextSegmentID, BaseIndex: tail.MaxIndex + 1, MinIndex: tail.MaxIndex + 1,
		SizeLimit: logSegmentBytes, Codec: tail.Codec, CreateTime: time.Now(),
	}
	state.NextSegmentID++
	state.Segments = append(state.Segments, next)
	return p.CommitState(state)
}
