package fsm

// Up to how many elements Redis 7.0 stores small values by default, and how long
// a text of such a value may be.
const (
	listpackHashMax = 512
	listpackZSetMax = 128
	listpackTextMax = 64
	intsetMax       = 512
)

// encodingOf is how Redis would store a value of these elements. It looks at no
// more of them than a small value has. Redis does not go back to a smaller form,
// so that it may show a larger one for a value that has shrunk.
func encodingOf(o object) string {
	switch o := o.(type) {
	case *list:
		return "quicklist"
	case *set:
		if o.texts.Len() == 0 && o.ints.Len() <= intsetMax {
			return "intset"
		}
		return "hashtable"
	case *hash:
		small := o.len() <= listpackHashMax
		if small {
			o.each(func(name, value string) bool {
				small = len(name) <= listpackTextMax && len(value) <= listpackTextMax
				return small
			})
		}
		if small {
			return "listpack"
		}
		return "hashtable"
	case *zset:
		if o.len() <= listpackZSetMax {
			small := true
			o.order.Scan(func(m zmember) bool {
				small = len(m.member) <= listpackTextMax
				return small
			})
			if small {
				return "listpack"
			}
		}
	}
	return "skiplist"
}
