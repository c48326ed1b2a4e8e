package results

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/ncsa/clowder-ray/internal/disk"
)

// EventsFile is the name of the event log in a run folder.
const EventsFile = "events.jsonl"

const (
	// maxLine bounds one event. A longer line is skipped whole.
	maxLine = 64 << 10
	// maxRead bounds what one Next takes into memory; the rest waits for the following call.
	maxRead = 1 << 20
	// MaxEventBytes bounds how much of an event log is read at all. A training of many days writes a few megabytes.
	MaxEventBytes = 64 << 20
	// holeLooks is how often a line with NUL bytes is looked at again before it is given up. A reader on NFS may see the new
	// size of a file before the bytes that fill it, and reads zeros in their place.
	holeLooks = 3
)

// Tail reads an event log while it grows. Its zero value with a Dir starts at the beginning, which is also how to resume
// after a restart: a log is small and folding it again gives the same Progress. It is not safe for concurrent use.
type Tail struct {
	// Dir is the run folder, which need not exist yet.
	Dir disk.Folder
	// Offset is where the next unread line begins.
	Offset int64
	// Skipped counts the lines that were not events.
	Skipped int

	holes    int  // looks at the line at Offset that found NUL bytes in it
	oversize bool // the line at Offset is too long: drop bytes up to its end
}

// NewTail returns a Tail at the beginning of the event log in a run folder.
func NewTail(dir disk.Folder) *Tail { return &Tail{Dir: dir} }

// Full reports whether the log is larger than what is read of one. Next then returns nothing more.
func (t *Tail) Full() bool { return t.Offset >= MaxEventBytes }

// LoggedEvent is an event with its place in the log.
type LoggedEvent struct {
	Event
	// End is the offset of the byte after its line. A Tail that begins there reads the events that follow.
	End int64
}

// Next returns the events that were completely written since the last call, at most a megabyte of them: call it until
// it returns none to be up to date. A half-written last line is left for the next time and a line that is no event is
// counted and skipped. A log that does not exist yet has no events; one that became shorter is read from the beginning.
//
// The file is opened again each time, because NFS promises fresh bytes at open and not while a file is held open.
func (t *Tail) Next() ([]Event, error) {
	placed, err := t.NextLogged()
	if len(placed) == 0 {
		return nil, err
	}
	events := make([]Event, len(placed))
	for i, p := range placed {
		events[i] = p.Event
	}
	return events, err
}

// NextLogged is Next with the places of the events.
func (t *Tail) NextLogged() ([]LoggedEvent, error) {
	if size, err := t.Dir.FreshSize(EventsFile); errors.Is(err, fs.ErrNotExist) || err == nil && size == t.Offset {
		return nil, nil
	}
	root, err := t.Dir.Open()
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("open the run folder: %w", err)
	}
	defer func() { _ = root.Close() }()
	f, _, err := openRegular(root, EventsFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("open the event log: %w", err)
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat() // after the open, which made it fresh
	if err != nil {
		return nil, fmt.Errorf("look at the event log: %w", err)
	}
	if info.Size() < t.Offset {
		t.Offset, t.holes, t.oversize = 0, 0, false
	}
	if info.Size() == t.Offset || t.Full() {
		return nil, nil
	}
	chunk := make([]byte, min(info.Size()-t.Offset, maxRead))
	n, err := f.ReadAt(chunk, t.Offset)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("read the event log: %w", err)
	}
	return t.take(chunk[:n]), nil
}

// take decodes the complete lines of chunk, which begins at Offset, and moves on behind them.
func (t *Tail) take(chunk []byte) []LoggedEvent {
	var events []LoggedEvent
	for {
		line, rest, complete := bytes.Cut(chunk, []byte{'\n'})
		if !complete {
			t.dropOversize(chunk)
			return events
		}
		if !t.oversize && bytes.IndexByte(line, 0) >= 0 && t.holes < holeLooks {
			t.holes++
			return events
		}
		e, ok := t.decode(line)
		t.Offset += int64(len(line)) + 1
		if ok {
			events = append(events, LoggedEvent{e, t.Offset})
		}
		t.holes, t.oversize = 0, false
		chunk = rest
	}
}

func (t *Tail) decode(line []byte) (Event, bool) {
	if t.oversize || len(line) > maxLine {
		t.Skipped++
		return Event{}, false
	}
	if len(bytes.TrimSpace(line)) == 0 {
		return Event{}, false
	}
	e, err := DecodeEvent(line)
	if err != nil {
		t.Skipped++
		return Event{}, false
	}
	return e, true
}

// dropOversize steps over the beginning of a line that is too long already, so that it never fills the memory.
func (t *Tail) dropOversize(part []byte) {
	if t.oversize || len(part) > maxLine {
		t.Offset += int64(len(part))
		t.oversize = true
	}
}
