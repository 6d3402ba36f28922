package replica

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"os"
)

// boltCheck walks the pages of a bolt file. They have no checksums; what is
// verified here is that each is what the one that leads to it says, within its
// bounds, and met once. The entries have checksums of their own.
type boltCheck struct {
	file     *os.File
	pageSize uint64
	pages    uint64 // as many as the newest meta page says
	met      map[uint64]bool
}

// Layouts of bolt's pages, low end first.
const (
	boltMagic      = 0xED0CDAED
	boltMetaSize   = 64
	boltPageHeader = 16
	boltElement    = 16
	boltBranch     = 1
	boltLeaf       = 2
	boltIsBucket   = 1
	boltDepthMax   = 32
)

var errBoltPage = errors.New("a page is damaged")

// checkBolt says what is wrong with a bolt file, if bolt can't be trusted with it.
func checkBolt(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	c := &boltCheck{file: f, met: map[uint64]bool{}}
	root, err := c.meta()
	if err != nil {
		return err
	}
	if c.pages > uint64(info.Size())/c.pageSize {
		return fmt.Errorf("it is cut short: %d bytes, at least %d pages of %d bytes wanted", info.Size(), c.pages, c.pageSize)
	}
	return c.page(root, nil, nil, 0)
}

// meta finds the newer of the two meta pages that is whole. The other one may be
// torn by a crash, or older.
func (c *boltCheck) meta() (root uint64, err error) {
	newest, found := uint64(0), false
	for _, at := range []int64{0, int64(os.Getpagesize())} {
		var page [boltPageHeader + boltMetaSize]byte
		if _, err := c.file.ReadAt(page[:], at); err != nil && !errors.Is(err, io.EOF) {
			return 0, err
		}
		b := page[boltPageHeader:]
		sum := fnv.New64a()
		sum.Write(b[:56])
		txid := binary.LittleEndian.Uint64(b[48:])
		if binary.LittleEndian.Uint32(b) != boltMagic || sum.Sum64() != binary.LittleEndian.Uint64(b[56:]) || found && txid < newest {
			continue
		}
		newest, found = txid, true
		c.pageSize, root = uint64(binary.LittleEndian.Uint32(b[8:])), binary.LittleEndian.Uint64(b[16:])
		c.pages = binary.LittleEndian.Uint64(b[40:])
	}
	if !found || c.pageSize == 0 {
		return 0, errors.New("neither of its meta pages is whole")
	}
	return root, nil
}

// page checks a page and what it leads to; its keys lie from low to below high.
func (c *boltCheck) page(id uint64, low, high []byte, depth int) error {
	head := make([]byte, boltPageHeader)
	if id < 2 || id >= c.pages || depth > boltDepthMax {
		return errBoltPage
	}
	if _, err := c.file.ReadAt(head, int64(id*c.pageSize)); err != nil {
		return err
	}
	overflow := uint64(binary.LittleEndian.Uint32(head[12:]))
	if binary.LittleEndian.Uint64(head) != id || id+overflow >= c.pages {
		return errBoltPage
	}
	for i := id; i <= id+overflow; i++ {
		if c.met[i] {
			return errBoltPage
		}
		c.met[i] = true
	}
	data := make([]byte, (overflow+1)*c.pageSize)
	if _, err := c.file.ReadAt(data, int64(id*c.pageSize)); err != nil {
		return err
	}
	return c.elements(data, low, high, depth)
}

// boltItem is one element of a page: a key, and a value or a page below.
type boltItem struct {
	key, value []byte
	bucket     bool
	below      uint64
}

// item reads element i. A branch's is position, size of the key, page; a leaf's
// is flags, position, sizes of key and value. Positions count from the element.
func item(data []byte, i int, leaf bool) (it boltItem, ok bool) {
	at := boltPageHeader + i*boltElement
	if at+boltElement > len(data) {
		return it, false
	}
	e := data[at:]
	word := func(n int) uint64 { return uint64(binary.LittleEndian.Uint32(e[n:])) }
	pos, key, value := word(0), word(4), uint64(0)
	if leaf {
		it.bucket = word(0)&boltIsBucket != 0
		pos, key, value = word(4), word(8), word(12)
		if word(0) > boltIsBucket {
			return it, false
		}
	} else {
		it.below = binary.LittleEndian.Uint64(e[8:])
	}
	if pos+key+value > uint64(len(e)) {
		return it, false
	}
	it.key, it.value = e[pos:pos+key], e[pos+key:pos+key+value]
	return it, true
}

func (c *boltCheck) elements(data, low, high []byte, depth int) error {
	flags, count := binary.LittleEndian.Uint16(data[8:]), int(binary.LittleEndian.Uint16(data[10:]))
	if flags != boltLeaf && (flags != boltBranch || count == 0) {
		return errBoltPage
	}
	items := make([]boltItem, count)
	for i := range items {
		it, ok := item(data, i, flags == boltLeaf)
		items[i] = it
		if !ok || bytes.Compare(it.key, low) < 0 || high != nil && bytes.Compare(it.key, high) >= 0 ||
			i > 0 && bytes.Compare(items[i-1].key, it.key) >= 0 {
			return errBoltPage
		}
	}
	for i, it := range items {
		var err error
		switch {
		case flags == boltBranch && i+1 < count:
			err = c.page(it.below, it.key, items[i+1].key, depth+1)
		case flags == boltBranch:
			err = c.page(it.below, it.key, high, depth+1)
		case it.bucket:
			err = c.bucket(it.value, depth+1)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// bucket checks a bucket: its root page and a number, or 0 and a page within the value.
func (c *boltCheck) bucket(value []byte, depth int) error {
	if len(value) < 16 {
		return errBoltPage
	}
	if root := binary.LittleEndian.Uint64(value); root != 0 {
		return c.page(root, nil, nil, depth)
	}
	if len(value) < 16+boltPageHeader || binary.LittleEndian.Uint16(value[24:]) != boltLeaf {
		return errBoltPage
	}
	return c.elements(value[16:], nil, nil, depth)
}
