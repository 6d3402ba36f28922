package main

import (
	"fmt"
	"net"
	"strconv"
	"strings"
)

// addrList is a flag of several addresses with commas between them; "none" is none.
type addrList []string

func (a *addrList) Set(text string) error {
	list := addrList{}
	if text != "none" && text != "" {
		for _, addr := range strings.Split(text, ",") {
			addr = strings.TrimSpace(addr)
			if err := checkAddr(addr); err != nil {
				return err
			}
			list = append(list, addr)
		}
	}
	*a = list
	return nil
}

func (a *addrList) String() string {
	if len(*a) == 0 {
		return "none"
	}
	return strings.Join(*a, ",")
}

// Type names the kind of value in --help.
func (a *addrList) Type() string { return "addresses" }

// checkAddr says whether text is host:port. The host may be empty or an IPv6
// address in brackets, the port a number.
func checkAddr(text string) error {
	_, port, err := net.SplitHostPort(text)
	if err != nil {
		return fmt.Errorf("%q is not host:port", text)
	}
	if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		return fmt.Errorf("%q: the port is not a number from 0 to 65535", text)
	}
	return nil
}

// peer is one node of the --cluster line.
type peer struct{ id, addr string }

// peerList is the --cluster line: n1=host:port,n2=host:port.
type peerList []peer

func (p *peerList) Set(text string) error {
	list := peerList{}
	for _, item := range strings.Split(text, ",") {
		if item = strings.TrimSpace(item); item == "" {
			continue
		}
		id, addr, ok := strings.Cut(item, "=")
		if !ok || id == "" {
			return fmt.Errorf("%q is not id=host:port", item)
		}
		if err := checkAddr(addr); err != nil {
			return err
		}
		list = append(list, peer{id, addr})
	}
	*p = list
	return nil
}

func (p *peerList) String() string {
	items := make([]string, len(*p))
	for i, x := range *p {
		items[i] = x.id + "=" + x.addr
	}
	return strings.Join(items, ",")
}

// Type names the kind of value in --help.
func (p *peerList) Type() string { return "id=address,..." }

// byteSize is a number of bytes, written as in a Redis configuration: 100, 64kb, 1gb.
type byteSize int64

// units from the largest: k, m and g are powers of 1000, kb, mb and gb of 1024.
var units = []struct {
	name string
	size int64
}{
	{"gb", 1 << 30}, {"g", 1e9}, {"mb", 1 << 20}, {"m", 1e6}, {"kb", 1 << 10}, {"k", 1e3}, {"b", 1},
}

func (b *byteSize) Set(text string) error {
	digits, size := strings.ToLower(strings.TrimSpace(text)), int64(1)
	for _, u := range units {
		if rest, ok := strings.CutSuffix(digits, u.name); ok {
			digits, size = rest, u.size
			break
		}
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || n < 0 || n > (1<<62)/size {
		return fmt.Errorf("%q is not a number of bytes such as 67108864, 64mb or 1gb", text)
	}
	*b = byteSize(n * size)
	return nil
}

func (b *byteSize) String() string {
	for _, u := range units {
		if strings.HasSuffix(u.name, "b") && *b != 0 && int64(*b)%u.size == 0 && u.size > 1 {
			return strconv.FormatInt(int64(*b)/u.size, 10) + u.name
		}
	}
	return strconv.FormatInt(int64(*b), 10)
}

// Type names the kind of value in --help.
func (b *byteSize) Type() string { return "bytes" }
