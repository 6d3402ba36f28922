package redlockcompat

// Identity towards drivers: what HELLO, INFO and ROLE say. Drivers choose
// commands and protocols by it, so it names what Redfence can stand in for and
// not what it is; redfence_version stands beside it.
const (
	// ServerName is HELLO's server. Drivers know no other name.
	ServerName = "redis"
	// RedisVersion has three numbers, since some drivers accept nothing else. It
	// is high enough for EVAL_RO, EXPIRE with conditions and CLIENT SETINFO, and
	// below the versions from which drivers send commands that are not here.
	RedisVersion = "7.2.0"
	// Mode and Role say that any node serves any command: nobody should look for
	// another master or for slots.
	Mode = "standalone"
	Role = "master"
	// ClusterDisabled is the text by which cluster-aware drivers (rueidis,
	// StackExchange.Redis) recognise a server without slots and go on.
	ClusterDisabled = "ERR This instance has cluster support disabled"
)
