package rayjob

import "sync"

// maxWarned bounds what is remembered, since it is foreign text.
const maxWarned = 32

// Warned remembers the words of other programs that were warned about, so that each is warned about once. The zero value is
// ready, and safe for concurrent use.
type Warned struct {
	mu    sync.Mutex
	words map[string]bool
}

// First reports whether word is to be warned about now: it is new, and not too many came before it.
func (w *Warned) First(word string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.words[word] || len(w.words) >= maxWarned {
		return false
	}
	if w.words == nil {
		w.words = map[string]bool{}
	}
	w.words[word] = true
	return true
}
