package admission

import "sync"

// Active counts the jobs of one kind that are accepted and not over, for each user.
type Active struct {
	// Noun is what users call such a job.
	Noun string
	// Limiter limits how fast jobs of one user begin.
	Limiter *Limiter

	mu     sync.Mutex
	owners map[string]string // by run
	counts map[string]int    // by owner
}

// NewActive returns an empty count; perHour is the limit of its Limiter.
func NewActive(noun string, perHour int) *Active {
	return &Active{Noun: noun, Limiter: NewLimiter(perHour), owners: map[string]string{}, counts: map[string]int{}}
}

// Add counts a job once, however often it is added.
func (a *Active) Add(run, owner string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if _, known := a.owners[run]; !known {
		a.owners[run] = owner
		a.counts[owner]++
	}
}

// Remove removes a job that is over. It does nothing for a job that was never added.
func (a *Active) Remove(run string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	owner, known := a.owners[run]
	if !known {
		return
	}
	delete(a.owners, run)
	if a.counts[owner]--; a.counts[owner] == 0 {
		delete(a.counts, owner)
	}
}

// Count returns how many jobs of the owner are counted.
func (a *Active) Count(owner string) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.counts[owner]
}
