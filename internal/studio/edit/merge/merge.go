package merge

import (
	"strings"

	"github.com/aymanbagabas/go-udiff"
)

// Part is a piece of a merged text: lines that nobody or one side changed, or lines that both sides changed differently.
type Part struct {
	// Text is what stands in the merged text; empty in a conflict.
	Text string
	// Conflict says that Mine and Theirs are different changes of the same lines.
	Conflict     bool
	Mine, Theirs string
	// Line is the first line of the part in my text, from 1, and Lines how many lines of mine it has.
	Line, Lines int
}

// Result is a three-way merge.
type Result struct {
	Parts []Part
	// Conflicts is how many parts are conflicts.
	Conflicts int
}

// Three merges mine and theirs, which both come from base. Changes that touch the same or neighbouring lines are conflicts, unless they
// are equal.
func Three(base, mine, theirs string) Result {
	a, b := udiff.Lines(base, mine), udiff.Lines(base, theirs)
	m := merger{base: base}
	for len(a) > 0 || len(b) > 0 {
		start, end := span(a, b)
		m.keep(start)
		var as, bs []udiff.Edit
		for grown := true; grown; { // each edit can reach further edits of the other side
			grown = false
			for len(a) > 0 && a[0].Start <= end {
				as, end, a, grown = append(as, a[0]), max(end, a[0].End), a[1:], true
			}
			for len(b) > 0 && b[0].Start <= end {
				bs, end, b, grown = append(bs, b[0]), max(end, b[0].End), b[1:], true
			}
		}
		m.change(start, end, as, bs)
	}
	m.keep(len(base))
	return m.result
}

// span returns where the first edit of the two sides begins, and its end.
func span(a, b []udiff.Edit) (start, end int) {
	if len(b) == 0 || len(a) > 0 && a[0].Start <= b[0].Start {
		return a[0].Start, a[0].End
	}
	return b[0].Start, b[0].End
}

type merger struct {
	base   string
	at     int // bytes of the base that are merged
	lines  int // lines of mine before the next part
	result Result
}

// keep adds what nobody changed up to a byte of the base.
func (m *merger) keep(until int) {
	if until > m.at {
		m.add(Part{Text: m.base[m.at:until]}, m.base[m.at:until])
		m.at = until
	}
}

// change adds what one side or both sides changed.
func (m *merger) change(start, end int, a, b []udiff.Edit) {
	mine, theirs := apply(m.base, start, end, a), apply(m.base, start, end, b)
	m.at = end
	switch {
	case len(a) == 0:
		m.add(Part{Text: theirs}, mine)
	case len(b) == 0 || mine == theirs:
		m.add(Part{Text: mine}, mine)
	default:
		m.result.Conflicts++
		m.add(Part{Conflict: true, Mine: mine, Theirs: theirs}, mine)
	}
}

func (m *merger) add(p Part, mine string) {
	p.Line, p.Lines = m.lines+1, countLines(mine)
	m.lines += p.Lines
	m.result.Parts = append(m.result.Parts, p)
}

// apply returns the lines from start to end after the edits, which lie within them.
func apply(base string, start, end int, edits []udiff.Edit) string {
	var out strings.Builder
	for _, e := range edits {
		out.WriteString(base[start:e.Start])
		out.WriteString(e.New)
		start = e.End
	}
	out.WriteString(base[start:end])
	return out.String()
}

func countLines(text string) int {
	n := strings.Count(text, "\n")
	if text != "" && !strings.HasSuffix(text, "\n") {
		n++
	}
	return n
}

// The marks around both sides of a conflict, as git writes them.
const (
	Begin  = "<<<<<<< mine"
	Middle = "======="
	End    = ">>>>>>> theirs"
)

// Text returns the merged text. A conflict stands in it as both sides between marks.
func (r Result) Text() string {
	return r.join(func(p Part) string {
		return Begin + "\n" + closed(p.Mine) + Middle + "\n" + closed(p.Theirs) + End + "\n"
	})
}

// Mine returns the merged text with my side of each conflict.
func (r Result) Mine() string { return r.join(func(p Part) string { return p.Mine }) }

// Theirs returns the merged text with their side of each conflict.
func (r Result) Theirs() string { return r.join(func(p Part) string { return p.Theirs }) }

func (r Result) join(conflict func(Part) string) string {
	var out strings.Builder
	for _, p := range r.Parts {
		if p.Conflict {
			out.WriteString(conflict(p))
		} else {
			out.WriteString(p.Text)
		}
	}
	return out.String()
}

// closed ends a text with a line end, so that a mark begins a line.
func closed(text string) string {
	if text == "" || strings.HasSuffix(text, "\n") {
		return text
	}
	return text + "\n"
}

// Marked reports whether a text still has the marks of a conflict at the begin of lines.
func Marked(text string) bool {
	for line := range strings.Lines(text) {
		if line = strings.TrimRight(line, "\r\n"); line == Begin || line == End {
			return true
		}
	}
	return false
}
