package bench_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/redfence/redfence/tests/internal/process"
	etcd "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"
	"go.uber.org/zap"
)

// startEtcd starts a cluster of three with etcd's own settings, and returns where
// its clients connect.
func startEtcd(t *testing.T, path string) []string {
	t.Helper()
	const n = 3
	addrs := process.FreeAddrs(t, 2*n)
	clients, peers := addrs[:n], addrs[n:]
	var cluster []string
	for i, p := range peers {
		cluster = append(cluster, fmt.Sprintf("e%d=http://%s", i+1, p))
	}
	for i := range n {
		startPeer(t, fmt.Sprintf("etcd e%d", i+1), path,
			"--name", fmt.Sprintf("e%d", i+1), "--data-dir", t.TempDir(),
			"--listen-client-urls", "http://"+clients[i], "--advertise-client-urls", "http://"+clients[i],
			"--listen-peer-urls", "http://"+peers[i], "--initial-advertise-peer-urls", "http://"+peers[i],
			"--initial-cluster", strings.Join(cluster, ","))
	}
	process.Until(t, "etcd serves", func() bool {
		c, err := etcdClient(clients)
		if err != nil {
			return false
		}
		defer c.Close()
		ctx, cancel := context.WithTimeout(context.Background(), ioWait)
		defer cancel()
		_, err = c.Put(ctx, "ready", "yes")
		return err == nil
	})
	return clients
}

func etcdClient(addrs []string) (*etcd.Client, error) {
	return etcd.New(etcd.Config{Endpoints: addrs, DialTimeout: ioWait, Logger: zap.NewNop()})
}

// etcdFleet is one program: a client of all three nodes, and sessions that its
// locks live by.
type etcdFleet struct {
	client   *etcd.Client
	sessions []*concurrency.Session
	bare     bool
}

// openEtcd opens so many sessions, which the workers take in turn. To etcd a session
// is one holder, so workers who want one name need one each.
func openEtcd(addrs []string, sessions int, bare bool) (fleet, error) {
	c, err := etcdClient(addrs)
	if err != nil {
		return nil, err
	}
	f := &etcdFleet{client: c, bare: bare}
	for range sessions {
		s, err := concurrency.NewSession(c, concurrency.WithTTL(int(lease.Seconds())))
		if err != nil {
			f.close()
			return nil, err
		}
		f.sessions = append(f.sessions, s)
	}
	return f, nil
}

func (f *etcdFleet) worker(i int, name string) locker {
	s := f.sessions[i%len(f.sessions)]
	if f.bare {
		return &etcdTxn{f.client, s.Lease(), name}
	}
	return etcdMutex{concurrency.NewMutex(s, name)}
}

func (f *etcdFleet) close() {
	for _, s := range f.sessions {
		s.Close()
	}
	f.client.Close()
}

// etcdMutex is the lock of etcd's own client.
type etcdMutex struct{ m *concurrency.Mutex }

func (l etcdMutex) acquire(ctx context.Context) error { return l.m.Lock(ctx) }
func (l etcdMutex) release(ctx context.Context) error { return l.m.Unlock(ctx) }

// etcdTxn is the least that a lock on etcd takes: one transaction and one delete.
type etcdTxn struct {
	client *etcd.Client
	lease  etcd.LeaseID
	name   string
}

func (l *etcdTxn) acquire(ctx context.Context) error {
	absent := etcd.Compare(etcd.CreateRevision(l.name), "=", 0)
	r, err := l.client.Txn(ctx).If(absent).Then(etcd.OpPut(l.name, "held", etcd.WithLease(l.lease))).Commit()
	if err == nil && !r.Succeeded {
		err = errNotHad
	}
	return err
}

func (l *etcdTxn) release(ctx context.Context) error {
	r, err := l.client.Delete(ctx, l.name)
	if err == nil && r.Deleted != 1 {
		err = errLost
	}
	return err
}
