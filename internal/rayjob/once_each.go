package rayjob

import "sync"

// maxRemembered bounds how many words are remembered, since they are foreign text.
const maxRemembered = 32

// OnceEach remembers words of other programs, so that each causes one warning. The zero value is ready to use, and it is safe
// for concurrent use.
type OnceEach struct {
	mu    sync.Mutex
	words map[string]bool
}

// First reports whether the word is new. It returns false for every word once too many are remembered.
func (w *OnceEach) First(word string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.words[word] || len(w.words) >= maxRemembered {
		return false
	}
	if w.words == nil {
		w.words = map[string]bool{}
	}
	w.words[word] = true
	return true
}
