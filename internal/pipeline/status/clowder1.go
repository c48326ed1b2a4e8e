package status

import (
	"sync"

	"github.com/ncsa/clowder-ray/internal/job"
)

// maxClowders limits how many hosts are remembered. Each message names one, and an installation has a few.
const maxClowders = 100

// ReplyQueues remembers where each Clowder v1 reads statuses. When a user cancels a waiting submission there, v1 publishes the messages
// ahead of it again without the name of that queue. The zero value is ready to use, and safe for concurrent use.
type ReplyQueues struct {
	mu     sync.Mutex
	byHost map[string]string
}

// Complete remembers the reply queue of a request of v1, or gives it the one of an earlier request from the same host if it names none.
// Requests of v2 stay as they are.
func (r *ReplyQueues) Complete(req *job.Request) {
	if req.APIVersion != 1 || req.Host == "" {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	known, ok := r.byHost[req.Host]
	switch {
	case req.ReplyTo == "":
		req.ReplyTo = known
	case ok || len(r.byHost) < maxClowders:
		if r.byHost == nil {
			r.byHost = map[string]string{}
		}
		r.byHost[req.Host] = req.ReplyTo
	}
}
