package fsm

import (
	lru "container/list"
	"strings"

	"github.com/redfence/redfence/fsm/script"
)

// scriptCache is the replicated script cache. Only entries touch it, so that it
// is alike on every replica. It is bounded: the least recently used goes first,
// texts that EVAL left before those that SCRIPT LOAD asked for.
type scriptCache struct {
	bySHA  map[string]*lru.Element
	evals  *lru.List // of *cached, most recently used first
	loaded *lru.List
	bytes  int
}

type cached struct {
	sha     string
	text    string
	loaded  bool
	program *script.Program
	fault   string // why the text does not compile
}

func (sc *scriptCache) init() {
	sc.bySHA = map[string]*lru.Element{}
	sc.evals, sc.loaded = lru.New(), lru.New()
	sc.bytes = 0
}

// use finds a script and makes it the most recently used.
func (sc *scriptCache) use(sha string) *cached {
	el := sc.bySHA[sha]
	if el == nil {
		return nil
	}
	c := el.Value.(*cached)
	sc.listOf(c).MoveToFront(el)
	return c
}

func (sc *scriptCache) has(sha string) bool { return sc.bySHA[sha] != nil }

// add puts a text in, or makes one that EVAL left a loaded one.
func (sc *scriptCache) add(c *cached) {
	if el := sc.bySHA[c.sha]; el != nil {
		old := el.Value.(*cached)
		sc.listOf(old).Remove(el)
		c.loaded = c.loaded || old.loaded
		sc.bytes -= len(old.text)
	}
	sc.bySHA[c.sha] = sc.listOf(c).PushFront(c)
	sc.bytes += len(c.text)
	for len(sc.bySHA) > ScriptCacheEntries || sc.bytes > ScriptCacheBytes {
		sc.evict()
	}
}

func (sc *scriptCache) evict() {
	from := sc.evals
	if from.Len() == 0 {
		from = sc.loaded
	}
	el := from.Back()
	c := from.Remove(el).(*cached)
	delete(sc.bySHA, c.sha)
	sc.bytes -= len(c.text)
}

func (sc *scriptCache) listOf(c *cached) *lru.List {
	if c.loaded {
		return sc.loaded
	}
	return sc.evals
}

// compile makes a cache item of a text. The text's own fault, if it has one, is kept out of the cache.
func compileScript(text string) *cached {
	c := &cached{sha: script.SHA1(text), text: strings.Clone(text)}
	program, err := script.Compile(c.text, scriptLimits)
	if err != nil {
		c.fault = err.Error()
	}
	c.program = program
	return c
}

// oldestFirst lists the cache so that adding its items in this order to an
// empty cache makes it again.
func (sc *scriptCache) oldestFirst() []*cached {
	var out []*cached
	for _, l := range []*lru.List{sc.evals, sc.loaded} {
		for el := l.Back(); el != nil; el = el.Prev() {
			out = append(out, el.Value.(*cached))
		}
	}
	return out
}
