package fence

import (
	"context"
	"database/sql"
	"fmt"
)

// ErrNoRow is returned by Exec when no row was changed: the token is old, or there
// is no such row.
var ErrNoRow = fmt.Errorf("%w, or there is no such row", ErrOldToken)

// Execer is a *sql.DB, *sql.Tx or *sql.Conn.
type Execer interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
}

// Exec runs a guarded UPDATE or DELETE: one that names the token in its condition and
// so changes nothing when its token is old. For rows that keep the token of their
// last writer:
//
//	UPDATE account SET balance = $1, token = $2 WHERE id = $3 AND token <= $2
//
// ErrNoRow says that nothing was changed.
func Exec(ctx context.Context, db Execer, query string, args ...any) error {
	res, err := db.ExecContext(ctx, query, args...)
	if err != nil {
		return err
	}
	n, err := res.RowsAffected()
	if err != nil {
		return err
	}
	if n == 0 {
		return ErrNoRow
	}
	return nil
}

// Table keeps the highest token of each name in a table of its own, for resources
// whose rows have no column for it. The zero Table is redfence_fence.
type Table struct {
	// Name is the table's name as it stands in a statement, schema and quotes included.
	Name string
}

func (t Table) name() string {
	if t.Name == "" {
		return "redfence_fence"
	}
	return t.Name
}

// Schema is the statement that makes the table. PostgreSQL and SQLite understand it.
func (t Table) Schema() string {
	return "CREATE TABLE IF NOT EXISTS " + t.name() + " (name varchar(255) PRIMARY KEY, token bigint NOT NULL)"
}

// Create makes the table if it isn't there.
func (t Table) Create(ctx context.Context, db Execer) error {
	_, err := db.ExecContext(ctx, t.Schema())
	return err
}

// Pass notes the token in the transaction that writes, and returns ErrOldToken if a
// higher one was noted: the transaction must be rolled back then. It locks the
// name's row until the transaction ends, so a newer holder waits for it and an
// older one is refused. It works on PostgreSQL and on SQLite from 3.24.
func (t Table) Pass(ctx context.Context, tx *sql.Tx, name string, token int64) error {
	if token < 1 {
		return ErrNoToken
	}
	res, err := tx.ExecContext(ctx, "INSERT INTO "+t.name()+" (name, token) VALUES ($1, $2) "+
		"ON CONFLICT (name) DO UPDATE SET token = excluded.token WHERE "+t.name()+".token <= excluded.token", name, token)
	if err != nil {
		return err
	}
	n, err := res.RowsAffected()
	if err != nil {
		return err
	}
	if n == 0 {
		return fmt.Errorf("%w: %d", ErrOldToken, token)
	}
	return nil
}

// Do runs f in a transaction that has passed the token, and commits it. With an old
// token f isn't run and nothing is changed.
func (t Table) Do(ctx context.Context, db *sql.DB, name string, token int64, f func(tx *sql.Tx) error) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	// After a commit this does nothing; after an error the first one tells more.
	defer func() { _ = tx.Rollback() }()
	if err := t.Pass(ctx, tx, name, token); err != nil {
		return err
	}
	if err := f(tx); err != nil {
		return err
	}
	return tx.Commit()
}

// Forget removes a name: of a resource that is no more.
func (t Table) Forget(ctx context.Context, db Execer, name string) error {
	_, err := db.ExecContext(ctx, "DELETE FROM "+t.name()+" WHERE name = $1", name)
	return err
}
