package redlockcompat

import "strconv"

// PortName says which kind of port a keyspace belongs to, for people: space 0
// is the shared port's, every other a seat's.
func PortName(space uint8) string {
	if space == 0 {
		return "shared"
	}
	return "seat " + strconv.Itoa(int(space))
}
