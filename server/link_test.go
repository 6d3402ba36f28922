package server

import (
	"runtime"
	"strings"
	"testing"
)

// TestManyArgumentsCostTheirBytes: a command that grows argument by argument must
// not be copied whole for each few of them.
func TestManyArgumentsCostTheirBytes(t *testing.T) {
	for _, arg := range []string{"$1\r\na\r\n", "$5000\r\n" + strings.Repeat("a", 5000) + "\r\n"} {
		const size = 4 << 20
		input := []byte("*1000001\r\n" + strings.Repeat(arg, size/len(arg)))
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		requestsOf(input, 16<<10)
		runtime.ReadMemStats(&after)
		if took := after.TotalAlloc - before.TotalAlloc; took > 12*size {
			t.Errorf("%d bytes of arguments of %d bytes allocated %d", size, len(arg), took)
		}
	}
}
