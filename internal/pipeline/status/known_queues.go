package status

import (
	"sync"

	"github.com/ncsa/clowder-ray/internal/clowder/ability"
	"github.com/ncsa/clowder-ray/internal/job"
)

// maxClowders limits how many hosts are remembered. Each message names one, and an installation has a few.
const maxClowders = 100

// ReplyQueues remembers where each Clowder reads statuses that does not say it in every message. When a user cancels a waiting submission,
// Clowder v1 publishes the messages ahead of it again without the name of that queue. The zero value is ready to use, and safe for concurrent
// use.
type ReplyQueues struct {
	mu     sync.Mutex
	byHost map[string]string
}

// Complete remembers the reply queue of a request, or gives it the one of an earlier request from the same host if it names none. A request
// stays as it is if its Clowder, which can do what abilities says, names the queue in every message.
func (r *ReplyQueues) Complete(req *job.Request, abilities ability.Set) {
	if !abilities.DropsReplyQueue || req.Host == "" {
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
