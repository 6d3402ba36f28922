package redlockcompat

import "strconv"

// SeatsDefault is how many seats a cluster has by default: the fewest masters
// with which Redlock's majority means something.
const SeatsDefault = 3

// PortName says which kind of port a keyspace belongs to, for people: space 0
// is the shared port's, every other a seat's.
func PortName(space uint8) string {
	if space == 0 {
		return "shared"
	}
	return "seat " + strconv.Itoa(int(space))
}
