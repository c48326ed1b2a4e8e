package raylocal

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"syscall"
	"time"

	"github.com/prometheus/procfs"
)

// markName is the environment variable that marks the processes of a local Ray.
const markName = "CLOWDER_RAY_LOCAL"

// process is one process at one moment. The start time distinguishes it from a later process with the same id.
type process struct {
	pid, parent, session int
	started              uint64 // in clock ticks since the machine started
	marked               bool
}

// processes lists the living processes of the Ray with a mark: those that have it in their environment, those in the
// sessions of these, and all their descendants. The sessions are needed because Ray's workers rename themselves, which may
// overwrite what the system shows of their environment; no other process can join a session.
func processes(mark string) ([]process, error) {
	all, err := allProcesses(mark)
	if err != nil {
		return nil, err
	}
	sessions, ours := map[int]bool{}, map[int]bool{}
	for _, p := range all {
		if p.marked {
			sessions[p.session], ours[p.pid] = true, true
		}
	}
	delete(sessions, ownSession(all))
	for grown := true; grown; {
		grown = false
		for _, p := range all {
			if !ours[p.pid] && (sessions[p.session] || ours[p.parent]) {
				ours[p.pid], grown = true, true
			}
		}
	}
	return slices.DeleteFunc(all, func(p process) bool { return !ours[p.pid] || p.pid == os.Getpid() }), nil
}

// ownSession is the session of this program. It is never ended as a whole, even if a job of the local Ray started this
// program.
func ownSession(all []process) int {
	for _, p := range all {
		if p.pid == os.Getpid() {
			return p.session
		}
	}
	return 0
}

// allProcesses reads all processes that are not zombies. A process that ends meanwhile is left out.
func allProcesses(mark string) ([]process, error) {
	found, err := procfs.AllProcs()
	if err != nil {
		return nil, fmt.Errorf("list the processes: %w", err)
	}
	var all []process
	for _, f := range found {
		if p, ok := readProcess(f); ok {
			env, _ := f.Environ() // the environment of another user's process cannot be read
			p.marked = slices.Contains(env, markName+"="+mark)
			all = append(all, p)
		}
	}
	return all, nil
}

// readProcess returns false for a process that has ended, and for a zombie.
func readProcess(f procfs.Proc) (process, bool) {
	stat, err := f.Stat()
	if err != nil || stat.State == "Z" || stat.State == "X" {
		return process{}, false
	}
	return process{pid: stat.PID, parent: stat.PPID, session: stat.Session, started: stat.Starttime}, true
}

// alive reports whether the process still runs, and not only another one with its id.
func (p process) alive() bool {
	f, err := procfs.NewProc(p.pid)
	if err != nil {
		return false
	}
	now, ok := readProcess(f)
	return ok && now.started == p.started
}

// signal sends sig to p, and to no other process that has its id by now: it first opens the process (as a pidfd, where the
// system has it) and then checks that it is still the same.
func (p process) signal(sig syscall.Signal) error {
	opened, err := os.FindProcess(p.pid)
	if err != nil {
		return nil // it has ended
	}
	defer func() { _ = opened.Release() }()
	if !p.alive() {
		return nil
	}
	if err := opened.Signal(sig); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("end process %d of the local Ray: %w", p.pid, err)
	}
	return nil
}

const (
	// rayGrace is how long Ray's own processes have to end by themselves. They would take seconds and have nothing to save.
	rayGrace = 300 * time.Millisecond
	// trainingGrace is how long a training has to save a checkpoint.
	trainingGrace = 3 * time.Second
	// killTimeout is how long killed processes may take to end.
	killTimeout = 10 * time.Second
	// endPoll is the time between two looks at the processes.
	endPoll = 20 * time.Millisecond
)

// endAll ends every process with the mark and returns when none is left. It first asks all of them to end, so that a
// training can save a checkpoint. It then kills the rest repeatedly, since a process may start another one meanwhile.
func endAll(mark string) error {
	terminated := map[process]bool{}
	for began := time.Now(); ; time.Sleep(endPoll) {
		left, err := processes(mark)
		if err != nil || len(left) == 0 {
			return err
		}
		elapsed := time.Since(began)
		if elapsed > trainingGrace+killTimeout {
			return fmt.Errorf("%d processes of the local Ray did not end, the first is %d: end them by hand", len(left), left[0].pid)
		}
		kill := elapsed > trainingGrace || elapsed > rayGrace && !anyTraining(left)
		for _, p := range left {
			switch {
			case kill:
				err = p.signal(syscall.SIGKILL)
			case !terminated[p]:
				terminated[p] = true
				err = p.signal(syscall.SIGTERM)
			}
			if err != nil {
				return err
			}
		}
	}
}

// anyTraining reports whether a training is among the processes. Ray starts each training in a session of its own, while
// its own processes stay in the session of the oldest one.
func anyTraining(all []process) bool {
	oldest := slices.MinFunc(all, func(a, b process) int { return cmp.Compare(a.started, b.started) })
	return slices.ContainsFunc(all, func(p process) bool { return p.session != oldest.session })
}
