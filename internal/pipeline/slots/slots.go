// Package slots says which job may go on. It brings together the limits of the service: the jobs in progress, the places on Ray, the room in
// each stage, and how many jobs a user may begin.
//
// Nothing of it is on disk. After a start the jobs that had begun get their places back, whatever the limits say by now, and the others queue
// in their order. The package knows records and their states, and nothing of what the stages do.
package slots

import (
	"time"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/pipeline/admission"
)

const (
	// maxSubmits and maxBuilds bound the jobs that are being given to Ray and those whose results are verified and built.
	maxSubmits = 16
	maxBuilds  = 4
	// maxObservers bounds the looks under way, so that a Ray that does not answer keeps no download and no upload waiting.
	maxObservers = 64
	// looksPerSecond bounds the looks at jobs on Ray. With thousands of jobs each of them is looked at less often.
	looksPerSecond = 500
)

// The pauses after which a job that waits looks how long the line still is. The farther behind, the longer: nobody reads of
// ten thousand places every half minute.
const (
	positionPause    = admission.UpdateInterval
	maxPositionPause = 10 * time.Minute
)

// Limits is what an operator allows at once. A limit for each user of 0 is none.
type Limits struct {
	// Jobs bounds the jobs in progress, JobsPerUser those of one user; as many as Jobs is no limit.
	Jobs, JobsPerUser int
	// Running bounds the jobs on Ray, RunningPerUser those of one user; 0 does not.
	Running, RunningPerUser int
	// Downloads and Uploads bound the jobs that move data. They are apart so that a new job never waits for the results of others.
	Downloads, Uploads int
	// JobsPerHour is how many jobs of a user begin at once, and in each hour after that, RequestsPerHour the same for requests.
	JobsPerHour, RequestsPerHour int
}

// jobsPerUser is the largest number of jobs of one user; 0 means no limit.
func (l Limits) jobsPerUser() int {
	if l.JobsPerUser >= l.Jobs {
		return 0
	}
	return l.JobsPerUser
}

// Hooks connect the slots with what is around them.
type Hooks struct {
	// Wake is called for a run that has got a place.
	Wake func(run string)
	// Say tells the user of a waiting job its position. A newer sentence replaces it.
	Say func(rec job.Record, sentence string)
	// OnRay is called with the jobs that use a place on Ray and those that wait for one.
	OnRay func(used, waiting int)
}

// Slots are the places of jobs. They are safe for concurrent use.
type Slots struct {
	// InProgress admits jobs up to Limits.Jobs; the others wait for their turn. Requests about runs need no slot here.
	InProgress *admission.Queue
	// Ray has the places on Ray, Observers those for looking at the jobs there.
	Ray, Observers *admission.Queue
	// Downloads, Submits, Builds and Uploads are the rooms of the stages.
	Downloads, Submits, Builds, Uploads *admission.Queue

	jobs  int
	hooks Hooks
	// jobsOfUsers and requestsOfUsers count the jobs, and the requests about runs, that are accepted and not over.
	jobsOfUsers, requestsOfUsers *admission.Active
	// rooms are all that an admitted job may wait in.
	rooms []*admission.Queue
}

// New returns slots that nobody holds.
func New(l Limits, hooks Hooks) *Slots {
	s := &Slots{
		jobs: l.Jobs, hooks: hooks, InProgress: admission.NewQueue("Waiting to start", l.Jobs, l.jobsPerUser(), hooks.Wake),
		jobsOfUsers: admission.NewActive("job", l.JobsPerHour), requestsOfUsers: admission.NewActive("request", l.RequestsPerHour),
	}
	s.Ray = s.room("Waiting for a free slot on Ray", l.Running, l.RunningPerUser)
	s.Downloads = s.room("Waiting to download the dataset", max(1, l.Downloads), 0)
	s.Uploads = s.room("Waiting to upload the results", max(1, l.Uploads), 0)
	s.Submits, s.Builds, s.Observers = s.room("", maxSubmits, 0), s.room("", maxBuilds, 0), s.room("", maxObservers, 0)
	return s
}

// room makes a queue for admitted jobs; waitingFor begins the sentence that waiting users read, empty for none.
func (s *Slots) room(waitingFor string, slots, perUser int) *admission.Queue {
	q := admission.NewQueue(waitingFor, slots, perUser, s.hooks.Wake)
	s.rooms = append(s.rooms, q)
	return q
}

// Admit asks for the slot of a job that has not started. A job that has to wait is woken when it gets one, and looks at its position
// after wait.
func (s *Slots) Admit(rec job.Record) (wait time.Duration, ok bool) {
	s.Active(rec.Kind).Add(rec.Run, rec.Owner)
	if s.Needs(rec) && !s.Join(rec) {
		return s.wait(rec, s.InProgress), false
	}
	return 0, true
}

// Join puts a job into the line for a slot, and reports whether it has one.
func (s *Slots) Join(rec job.Record) bool { return s.InProgress.Enter(rec.Run, rec.Owner, rec.Created) }

// Enter asks for what a stage needs: a place on Ray, and one in room, nil for none. A job that has to wait is called, and comes back after
// wait to tell its place; at all other gates it waits no longer.
func (s *Slots) Enter(rec job.Record, room *admission.Queue, onRay bool) (wait time.Duration, ok bool) {
	for _, q := range s.rooms {
		if q != room && (q != s.Ray || !usesRay(rec)) {
			q.Leave(rec.Run)
		}
	}
	defer func() { s.hooks.OnRay(s.Ray.Size()) }()
	if rec.State != job.Staged && usesRay(rec) {
		s.Ray.Restore(rec.Run, rec.Owner) // no matter which process put it there
	}
	if onRay && !s.Ray.Enter(rec.Run, rec.Owner, rec.Created) {
		return s.wait(rec, s.Ray), false
	}
	if room != nil && !room.Enter(rec.Run, rec.Owner, rec.Created) {
		return s.wait(rec, room), false
	}
	return 0, true
}

// Leave gives up all places of a job that is over.
func (s *Slots) Leave(run string) {
	for _, q := range s.rooms {
		q.Leave(run)
	}
	s.InProgress.Leave(run)
	s.jobsOfUsers.Remove(run)
	s.requestsOfUsers.Remove(run)
}

// Restore gives a job that an earlier process worked on the places that it had. waits says that it had none and has to queue.
func (s *Slots) Restore(rec job.Record) (waits bool) {
	s.Active(rec.Kind).Add(rec.Run, rec.Owner)
	if OnRay(rec) {
		s.Ray.Restore(rec.Run, rec.Owner)
	}
	if s.Needs(rec) {
		return true
	}
	if rec.State != job.Accepted && rec.Kind != job.Runs {
		s.InProgress.Restore(rec.Run, rec.Owner)
	}
	return false
}

// OnRay reports whether Ray has the attempt of a job.
func OnRay(rec job.Record) bool { return rec.State == job.Submitted || rec.State == job.Running }

// usesRay reports whether a job keeps its place on Ray: until its attempt has ended, and from one attempt to the next.
func usesRay(rec job.Record) bool {
	return OnRay(rec) || rec.State == job.Staged && rec.Ending == nil && rec.CancelledBy == ""
}

// wait updates the user on the position of a waiting job, and returns when to look at it again.
func (s *Slots) wait(rec job.Record, q *admission.Queue) time.Duration {
	position, changed := q.PositionUpdate(rec.Run, time.Now())
	if text := q.Describe(position); changed && text != "" {
		s.hooks.Say(rec, text)
	}
	return min(positionPause+time.Duration(position.Ahead)*time.Second, maxPositionPause)
}

// Pace is the shortest time between two looks at a job on Ray.
func (s *Slots) Pace() time.Duration {
	inside, _ := s.Ray.Size()
	return time.Duration(inside) * time.Second / looksPerSecond
}

// Needs reports whether a job needs a slot to go on: it has not started, and is not about to end. A request about runs never does.
func (s *Slots) Needs(rec job.Record) bool {
	return rec.State == job.Accepted && rec.Ending == nil && rec.CancelledBy == "" && rec.Kind != job.Runs
}

// Active is the list of active jobs or requests that counts the jobs of a kind.
func (s *Slots) Active(kind job.Work) *admission.Active {
	if kind == job.Runs {
		return s.requestsOfUsers
	}
	return s.jobsOfUsers
}
