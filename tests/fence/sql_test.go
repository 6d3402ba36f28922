package fence_test

import (
	"context"
	"database/sql"
	"errors"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/redfence/redfence/client/fence"
)

const guardedUpdate = "UPDATE account SET balance = $1, token = $2 WHERE id = $3 AND token <= $2"

func execute(t *testing.T, db *sql.DB, query string) {
	t.Helper()
	if _, err := db.Exec(query); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
}

func accounts(t *testing.T, db *sql.DB) {
	t.Helper()
	execute(t, db, "CREATE TABLE account (id int PRIMARY KEY, balance int NOT NULL, token bigint NOT NULL)")
	execute(t, db, "INSERT INTO account VALUES (1, 0, 0)")
}

func balance(t *testing.T, db *sql.DB) (n int) {
	t.Helper()
	if err := db.QueryRow("SELECT balance FROM account WHERE id = 1").Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// TestGuardedUpdate: an old token changes no row, and Exec says so.
func TestGuardedUpdate(t *testing.T) {
	for name, d := range databases(t) {
		t.Run(name, func(t *testing.T) {
			db, ctx := d.open(t), context.Background()
			accounts(t, db)
			for _, step := range []struct {
				balance, token, id int
				want               error
			}{{10, 7, 1, nil}, {11, 7, 1, nil}, {12, 6, 1, fence.ErrNoRow}, {13, 8, 1, nil}, {14, 7, 1, fence.ErrOldToken}, {15, 9, 2, fence.ErrNoRow}} {
				if err := fence.Exec(ctx, db, guardedUpdate, step.balance, step.token, step.id); !errors.Is(err, step.want) {
					t.Errorf("%+v: %v", step, err)
				}
			}
			if got := balance(t, db); got != 13 {
				t.Errorf("the balance is %d, want the last write of the newest token", got)
			}
			if err := fence.Exec(ctx, db, "UPDATE nonsense"); err == nil || errors.Is(err, fence.ErrOldToken) {
				t.Errorf("a wrong statement: %v", err)
			}
		})
	}
}

// TestTable: the token is noted in the transaction that writes, or nothing is.
func TestTable(t *testing.T) {
	for name, d := range databases(t) {
		for _, table := range []fence.Table{{}, {Name: `"other fences"`}} {
			t.Run(name+table.Name, func(t *testing.T) {
				db, ctx := d.open(t), context.Background()
				execute(t, db, "DROP TABLE IF EXISTS account")
				accounts(t, db)
				for range 2 {
					if err := table.Create(ctx, db); err != nil {
						t.Fatal(err)
					}
				}
				write := func(lock string, token int64, balance int, then error) error {
					return table.Do(ctx, db, lock, token, func(tx *sql.Tx) error {
						if _, err := tx.Exec("UPDATE account SET balance = $1", balance); err != nil {
							return err
						}
						return then
					})
				}
				for _, step := range []struct {
					lock       string
					token      int64
					then, want error
				}{
					{"a", 0, nil, fence.ErrNoToken}, {"a", 5, nil, nil}, {"a", 5, nil, nil}, {"a", 4, nil, fence.ErrOldToken},
					{"a", 8, errors.ErrUnsupported, errors.ErrUnsupported}, {"a", 7, nil, nil}, {"b", 1, nil, nil}, {"a", 6, nil, fence.ErrOldToken},
				} {
					before := balance(t, db)
					err := write(step.lock, step.token, before+1, step.then)
					changed := balance(t, db) != before
					if !errors.Is(err, step.want) || changed != (step.want == nil) {
						t.Errorf("%+v: %v, changed %v", step, err, changed)
					}
				}
				if err := table.Forget(ctx, db, "a"); err != nil {
					t.Error(err)
				}
				if err := write("a", 1, 0, nil); err != nil {
					t.Errorf("after Forget: %v", err)
				}
			})
		}
	}
}

// TestTwoWriters: of many writers at once, in any order, what is written last has
// the newest token, and the database alone made it so.
func TestTwoWriters(t *testing.T) {
	for name, d := range databases(t) {
		t.Run(name, func(t *testing.T) {
			db, ctx := d.open(t), context.Background()
			accounts(t, db)
			if err := (fence.Table{}).Create(ctx, db); err != nil {
				t.Fatal(err)
			}
			execute(t, db, "CREATE TABLE history (n integer PRIMARY KEY, token bigint)")
			var writers sync.WaitGroup
			for _, token := range rand.Perm(40) {
				writers.Go(func() {
					err := fence.Table{}.Do(ctx, db, "lock", int64(token+1), func(tx *sql.Tx) error {
						if _, err := tx.Exec("INSERT INTO history SELECT coalesce(max(n), 0) + 1, $1 FROM history", token+1); err != nil {
							return err
						}
						return nil
					})
					if err != nil && !errors.Is(err, fence.ErrOldToken) {
						t.Error(err)
					}
					if err := fence.Exec(ctx, db, guardedUpdate, token+1, token+1, 1); err != nil && !errors.Is(err, fence.ErrNoRow) {
						t.Error(err)
					}
				})
			}
			writers.Wait()
			if got := balance(t, db); got != 40 {
				t.Errorf("the last write of the guarded row has token %d", got)
			}
			rows, err := db.Query("SELECT token FROM history ORDER BY n")
			if err != nil {
				t.Fatal(err)
			}
			defer rows.Close()
			var seen []int
			for rows.Next() {
				var token int
				if err := rows.Scan(&token); err != nil {
					t.Fatal(err)
				}
				if len(seen) > 0 && token < seen[len(seen)-1] {
					t.Errorf("%d was written after %d", token, seen[len(seen)-1])
				}
				seen = append(seen, token)
			}
			if rows.Err() != nil || len(seen) == 0 || seen[len(seen)-1] != 40 {
				t.Errorf("written in the order %v: %v", seen, rows.Err())
			}
		})
	}
}
