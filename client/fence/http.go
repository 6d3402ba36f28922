package fence

import (
	"errors"
	"net/http"
	"strconv"
)

// Header carries the fencing token of a request.
const Header = "Redfence-Token"

// SetToken puts the token of a grant into a request.
func SetToken(r *http.Request, token int64) { r.Header.Set(Header, strconv.FormatInt(token, 10)) }

// Token reads the token of a request; ErrNoToken if it has none that makes sense.
func Token(r *http.Request) (int64, error) {
	n, err := strconv.ParseInt(r.Header.Get(Header), 10, 64)
	if err != nil || n < 1 {
		return 0, ErrNoToken
	}
	return n, nil
}

// Handler passes on requests whose token is not older than the highest that was seen
// for the name of their resource. Requests for one name run one after the other, so
// that none is overtaken between the check and what it does. What is refused gets
// 428 without a token, 412 with an old one, 503 when gates are full.
//
// name says which resource a request is for; all tokens of one name must be of the
// same lock.
func Handler(gates *Gates, name func(*http.Request) string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		token, err := Token(r)
		if err == nil {
			err = gates.Do(name(r), token, func() error {
				next.ServeHTTP(w, r)
				return nil
			})
		}
		if err != nil {
			http.Error(w, err.Error(), statusOf(err))
		}
	})
}

func statusOf(err error) int {
	switch {
	case errors.Is(err, ErrNoToken):
		return http.StatusPreconditionRequired
	case errors.Is(err, ErrOldToken):
		return http.StatusPreconditionFailed
	}
	return http.StatusServiceUnavailable
}
