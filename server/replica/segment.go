package replica

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
)

// segmentContent is what the newest segment of the log holds.
type segmentContent struct {
	base, id uint64
	entries  uint64 // in batches that are whole
	whole    int64  // where the last whole batch ends
	indexAt  uint64 // where a full segment's table of offsets begins; 0 if it isn't full
}

// Frames of a segment of raft-wal: type in one byte, three of zeros, length or
// checksum in four, low end first; then the payload, up to a multiple of eight.
const (
	segmentHeader = 32
	frameHeader   = 8
	frameEntry    = 1
	frameIndex    = 2
	frameCommit   = 3
)

// readSegment walks the newest segment and verifies the checksum of each batch.
// A batch that isn't whole must be the last one: the next is written only when
// the one before is durable.
func readSegment(path string) (c segmentContent, err error) {
	f, err := os.Open(path)
	if err != nil {
		return c, err
	}
	defer f.Close()
	r := bufio.NewReaderSize(f, 1<<20)
	head := make([]byte, segmentHeader)
	if _, err := io.ReadFull(r, head); err != nil {
		return c, ended(err)
	}
	c.base, c.id = binary.LittleEndian.Uint64(head[8:]), binary.LittleEndian.Uint64(head[16:])
	w := segmentWalk{r: r, c: &c, at: segmentHeader, sum: crc32.Checksum(head, castagnoli)}
	for {
		more, err := w.frame()
		if err != nil || !more {
			return c, err
		}
	}
}

// ended takes the end of the file for the end of what was written.
func ended(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return nil
	}
	return err
}

type segmentWalk struct {
	r       io.Reader
	c       *segmentContent
	at      int64
	sum     uint32 // of the batch so far
	entries uint64 // of all batches so far
	indexAt uint64
	torn    int64 // where a batch with a wrong checksum ended
}

// frame reads one frame. more is false where none begins.
func (w *segmentWalk) frame() (more bool, err error) {
	var head [frameHeader]byte
	if _, err := io.ReadFull(w.r, head[:]); err != nil {
		return false, ended(err)
	}
	start := w.at
	w.at += frameHeader
	number := binary.LittleEndian.Uint32(head[4:])
	switch head[0] {
	case frameCommit:
		return w.commit(number)
	case frameEntry:
		w.entries++
	case frameIndex:
		w.indexAt = uint64(start) + frameHeader
	default:
		return false, nil
	}
	w.sum = crc32.Update(w.sum, castagnoli, head[:])
	size := (int64(number) + frameHeader - 1) / frameHeader * frameHeader
	read, err := io.Copy(crcWriter{&w.sum}, io.LimitReader(w.r, size))
	w.at += read
	return read == size, err
}

// commit is the end of a batch.
func (w *segmentWalk) commit(sum uint32) (bool, error) {
	right := sum == w.sum
	w.sum = 0
	switch {
	case right && w.torn > 0:
		return false, fmt.Errorf("a batch that ends at byte %d is corrupt, and whole ones follow", w.torn)
	case right:
		w.c.entries, w.c.whole, w.c.indexAt = w.entries, w.at, w.indexAt
	case w.torn == 0:
		w.torn = w.at
	}
	return true, nil
}

type crcWriter struct{ sum *uint32 }

func (w crcWriter) Write(p []byte) (int, error) {
	*w.sum = crc32.Update(*w.sum, castagnoli, p)
	return len(p), nil
}

// dropTorn makes zeros of what a torn write left behind the last whole batch: a
// later batch that is shorter would leave some of it in place.
func dropTorn(path string, whole int64) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	dirty, err := anyBytes(io.NewSectionReader(f, whole, info.Size()-whole))
	if err != nil || !dirty {
		return err
	}
	if err := errors.Join(f.Truncate(whole), f.Truncate(info.Size())); err != nil {
		return err
	}
	return f.Sync()
}

// anyBytes says whether something else than zeros is left in r.
func anyBytes(r io.Reader) (bool, error) {
	buf := make([]byte, 256<<10)
	for {
		n, err := r.Read(buf)
		for _, b := range buf[:n] {
			if b != 0 {
				return true, nil
			}
		}
		if err != nil {
			return false, ended(err)
		}
	}
}
