package raylocal

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// markName is the variable that marks the processes of a local Ray.
const markName = "CLOWDER_RAY_LOCAL"

// process is one process at one moment. The start time tells it from a later one with the same id.
type process struct {
	pid, parent, session int
	started              string
	marked               bool
}

// processes lists the living processes of the Ray with a mark: those that carry it in their environment, those in the
// sessions of these (nobody can join a session from outside; Ray's workers rename themselves, which may overwrite what
// the system shows of their environment), and all their descendants.
func processes(mark string) ([]process, error) {
	all, err := snapshot(mark)
	if err != nil {
		return nil, err
	}
	sessions, ours := map[int]bool{}, map[int]bool{}
	for _, p := range all {
		if p.marked {
			sessions[p.session], ours[p.pid] = true, true
		}
	}
	delete(sessions, mySession(all))
	for grown := true; grown; {
		grown = false
		for _, p := range all {
			if !ours[p.pid] && (sessions[p.session] || ours[p.parent]) {
				ours[p.pid], grown = true, true
			}
		}
	}
	var list []process
	for _, p := range all {
		if ours[p.pid] && p.pid != os.Getpid() {
			list = append(list, p)
		}
	}
	return list, nil
}

// mySession is never ended as a whole, even if this program itself were started by a job of the local Ray.
func mySession(all []process) int {
	for _, p := range all {
		if p.pid == os.Getpid() {
			return p.session
		}
	}
	return 0
}

// snapshot reads all processes that are not zombies. One that ends meanwhile is left out.
func snapshot(mark string) ([]process, error) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil, fmt.Errorf("list the processes: %w", err)
	}
	var all []process
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		if p, ok := readProcess(pid); ok {
			env, _ := os.ReadFile(filepath.Join("/proc", e.Name(), "environ")) // those of others cannot be read
			p.marked = hasMark(env, mark)
			all = append(all, p)
		}
	}
	return all, nil
}

func hasMark(env []byte, mark string) bool {
	want := []byte(markName + "=" + mark)
	for kv := range bytes.SplitSeq(env, []byte{0}) {
		if bytes.Equal(kv, want) {
			return true
		}
	}
	return false
}

func readProcess(pid int) (process, bool) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return process{}, false
	}
	return parseStat(string(stat))
}

// parseStat reads a line of /proc/<pid>/stat: "pid (name) state parent group session … starttime …". The name may hold
// blanks and brackets.
func parseStat(stat string) (process, bool) {
	head, _, ok := strings.Cut(stat, " (")
	end := strings.LastIndex(stat, ") ")
	if !ok || end < 0 {
		return process{}, false
	}
	fields := strings.Fields(stat[end+2:])
	const startTime = 19 // the 22nd field of the line
	if len(fields) <= startTime || fields[0] == "Z" || fields[0] == "X" {
		return process{}, false
	}
	var p process
	var errs [3]error
	p.pid, errs[0] = strconv.Atoi(head)
	p.parent, errs[1] = strconv.Atoi(fields[1])
	p.session, errs[2] = strconv.Atoi(fields[3])
	p.started = fields[startTime]
	if errors.Join(errs[:]...) != nil {
		return process{}, false
	}
	return p, true
}

// signal sends sig to p, and to no other process that may have its id by now: the process is held first (by pidfd, where
// the system has it), then looked at again.
func (p process) signal(sig syscall.Signal) error {
	held, err := os.FindProcess(p.pid)
	if err != nil {
		return nil // it is gone
	}
	defer func() { _ = held.Release() }()
	now, ok := readProcess(p.pid)
	if !ok || now.started != p.started {
		return nil
	}
	if err := held.Signal(sig); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("end process %d of the local Ray: %w", p.pid, err)
	}
	return nil
}

// Times of an end: how long Ray's own processes have to go by themselves, how long trainings have, how long the last
// processes may take to be gone, and how often is looked.
const (
	brief  = 300 * time.Millisecond
	gentle = 3 * time.Second
	hard   = 10 * time.Second
	glance = 20 * time.Millisecond
)

// endAll ends every process with the mark and returns when none is left. All are asked to end, so that a training may say
// goodbye; Ray itself would take seconds for its own and has nothing to save. What remains is killed, again and again,
// since a process may have begun another one meanwhile.
func endAll(mark string) error {
	told := map[process]bool{}
	for began := time.Now(); ; time.Sleep(glance) {
		left, err := processes(mark)
		if err != nil || len(left) == 0 {
			return err
		}
		since := time.Since(began)
		if since > gentle+hard {
			return fmt.Errorf("%d processes of the local Ray do not end, the first is %d", len(left), left[0].pid)
		}
		kill := since > gentle || since > brief && !anyDriver(left)
		for _, p := range left {
			switch {
			case kill:
				err = p.signal(syscall.SIGKILL)
			case !told[p]:
				told[p] = true
				err = p.signal(syscall.SIGTERM)
			}
			if err != nil {
				return err
			}
		}
	}
}

// anyDriver reports whether a training is among the processes. Ray starts each in a session of its own, while its own
// processes stay in that of the first of them.
func anyDriver(all []process) bool {
	first := slices.MinFunc(all, func(a, b process) int {
		return cmp.Or(cmp.Compare(len(a.started), len(b.started)), cmp.Compare(a.started, b.started)) // numbers as text
	})
	return slices.ContainsFunc(all, func(p process) bool { return p.session != first.session })
}
