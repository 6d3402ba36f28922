package fsm

var (
	stringRows, genericRows, expireRows, scriptRows, lockRows, serverRows []Spec
)
