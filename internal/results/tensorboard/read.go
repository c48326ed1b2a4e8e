package tensorboard

import (
	"bufio"
	"cmp"
	"errors"
	"io"
	"math"
	"path"
	"slices"
	"strings"
)

// The limits of what is read.
const (
	// MaxBytes bounds the bytes of all files together.
	MaxBytes = 64 << 20
	// MaxTags bounds the curves of all folders together. Those that come first are kept.
	MaxTags = 200
	// MaxPoints bounds the points of a curve. A longer one is thinned out evenly; its last point stays.
	MaxPoints = 2000

	maxTag = 200 // bytes of a name
)

// File is an event file that can be opened once.
type File struct {
	// Path has slashes. Files of one folder are read as one log.
	Path string
	Open func() (io.ReadCloser, error)
}

// Log is the content of a folder of event files.
type Log struct {
	Folder string
	// Curves are in the order of their names.
	Curves []Curve
}

// Curve has the finite values of one tag, by ascending step.
type Curve struct {
	Tag    string
	Points []Point
	// NotFinite counts the values that were no numbers (NaN), infinite, or beyond what a chart can draw.
	NotFinite int
}

// Point is one value. Wall is when it was written, in seconds since 1970; 0 where that is unknown.
type Point struct {
	Step  int64
	Value float64
	Wall  float64
}

// Limits says what was left out.
type Limits struct {
	// Bytes, Tags: there was more than MaxBytes or MaxTags.
	Bytes, Tags bool
	// Damaged are the paths of the files that were read in part, or not at all.
	Damaged []string
}

// IsFile recognises event files by their name.
func IsFile(p string) bool { return strings.Contains(path.Base(p), "tfevents") }

// Read reads the files and returns a log for each folder that has curves, by the order of the folders' names.
//
// Several files in a folder are merged in the order of their first event's time: a program that was started again wrote the later one. From
// the first step on that a tag has in the later file, the later file replaces what the earlier ones have of that tag. If the later file
// says at which step the program goes on, that holds for all tags.
func Read(files []File) ([]Log, Limits) {
	r := reader{budget: MaxBytes, tags: map[[2]string]bool{}}
	folders := map[string][]part{}
	for _, f := range slices.SortedFunc(slices.Values(files), func(a, b File) int { return cmp.Compare(a.Path, b.Path) }) {
		if p := r.file(f); len(p.curves) > 0 || p.purge != nil {
			dir := path.Dir(f.Path)
			folders[dir] = append(folders[dir], p)
		}
	}
	var logs []Log
	for dir, parts := range folders {
		if curves := merge(parts); len(curves) > 0 {
			logs = append(logs, Log{Folder: dir, Curves: curves})
		}
	}
	slices.SortFunc(logs, func(a, b Log) int { return cmp.Compare(a.Folder, b.Folder) })
	return logs, r.limits
}

// part is what one file has.
type part struct {
	path   string
	began  float64
	purge  *int64
	curves map[string]*thinned
}

type reader struct {
	budget int64
	tags   map[[2]string]bool // folder and tag
	limits Limits
}

// file reads one file as far as it is whole.
func (r *reader) file(f File) part {
	p := part{path: f.Path, began: math.Inf(1), curves: map[string]*thinned{}}
	body, err := f.Open()
	if err != nil {
		r.limits.Damaged = append(r.limits.Damaged, f.Path)
		return p
	}
	defer func() { _ = body.Close() }()
	counted := &io.LimitedReader{R: body, N: r.budget}
	in := bufio.NewReader(counted)
	for {
		data, err := nextRecord(in)
		if err == nil && data != nil {
			e, ok := decodeEvent(data)
			if !ok {
				err = errDamaged
			} else {
				r.add(&p, e)
			}
		}
		if err != nil {
			r.ended(f, err, counted.N)
			r.budget = counted.N
			return p
		}
	}
}

// ended notes why the reader of a file stopped with err, with left bytes of the budget.
func (r *reader) ended(f File, err error, left int64) {
	switch {
	case left == 0:
		r.limits.Bytes = true
	case !errors.Is(err, io.EOF):
		r.limits.Damaged = append(r.limits.Damaged, f.Path)
	}
}

// add takes the values of one event.
func (r *reader) add(p *part, e event) {
	if math.IsInf(p.began, 1) && !math.IsNaN(e.wall) {
		p.began = e.wall
	}
	if e.purge && p.purge == nil {
		p.purge = &e.step
	}
	wall := e.wall
	if math.IsNaN(wall) || math.IsInf(wall, 0) {
		wall = 0
	}
	for _, v := range e.values {
		c := p.curves[v.tag]
		if c == nil {
			if !r.take([2]string{path.Dir(p.path), v.tag}) {
				r.limits.Tags = true
				continue
			}
			c = &thinned{every: 1}
			p.curves[v.tag] = c
		}
		c.add(Point{Step: e.step, Value: v.number, Wall: wall})
	}
}

// take reports whether there is room for the curve of a tag in a folder.
func (r *reader) take(name [2]string) bool {
	if !r.tags[name] && (len(r.tags) >= MaxTags || len(name[1]) > maxTag) {
		return false
	}
	r.tags[name] = true
	return true
}
