package report

import (
	"cmp"
	"fmt"
	"html/template"
	"io"
	"maps"
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/ncsa/clowder-ray/internal/results"
	"github.com/ncsa/clowder-ray/internal/results/report/chart"
	"github.com/ncsa/clowder-ray/internal/results/report/picture"
	"github.com/ncsa/clowder-ray/internal/results/tensorboard"
	"github.com/ncsa/clowder-ray/internal/text"
)

// Files are what the report of a script reads beside its result. Without Open it has no pictures, and no curves of TensorBoard.
type Files struct {
	// Open opens an output for a reader that gets the promised bytes or an error.
	Open func(o results.Output) (io.ReadCloser, error)
	// LogEnd is the end of what the script printed.
	LogEnd string
}

// LogLines is how many lines of the log a report shows.
const LogLines = 60

// logEnd bounds the lines, which may be of any length.
func logEnd(s string) string {
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		l = strings.ToValidUTF8(l, "\uFFFD")
		lines[i] = text.Shorten(strings.Map(func(r rune) rune {
			if r != '\t' && !unicode.IsPrint(r) {
				return -1
			}
			return r
		}, l), 400)
	}
	return strings.Join(lines[max(0, len(lines)-LogLines):], "\n")
}

// scriptCurves are the curves of a script, the most telling ones visible.
type scriptCurves struct {
	Source      string
	First, Rest []*chart.Chart
	// Notes say what is not drawn.
	Notes []string
}

const (
	firstCharts = 6
	maxCharts   = 60
)

// namedCurve is a curve of a script before it has a chart.
type namedCurve struct {
	folder, name string
	points       []chart.Point
}

// newScriptCurves draws TensorBoard's event files where there are any, since a script writes them on purpose, and otherwise what was
// understood of the log. It returns nil without curves.
func newScriptCurves(r *results.Result, files Files) *scriptCurves {
	curves, notes := boardCurves(r, files)
	part := &scriptCurves{Source: "From the TensorBoard files of the script.", Notes: notes}
	if len(curves) == 0 {
		part.Source = "Read from the lines that the script printed."
		for _, name := range slices.Sorted(maps.Keys(r.Script.Series)) {
			c := namedCurve{name: name}
			for _, p := range r.Script.Series[name] {
				c.points = append(c.points, chart.Point{X: p[0], Y: p[1]})
			}
			slices.SortStableFunc(c.points, func(a, b chart.Point) int { return cmp.Compare(a.X, b.X) })
			curves = append(curves, c)
		}
	}
	charts := groupCharts(curves, r.Script.Metric)
	if len(charts) > maxCharts {
		part.Notes = append(part.Notes, fmt.Sprintf("Not drawn: %s.", text.Count(len(charts)-maxCharts, "more curve")))
		charts = charts[:maxCharts]
	}
	n := min(len(charts), firstCharts)
	part.First, part.Rest = charts[:n], charts[n:]
	if len(charts) == 0 && len(part.Notes) == 0 {
		return nil
	}
	return part
}

// boardCurves reads the event files among the outputs.
func boardCurves(r *results.Result, files Files) ([]namedCurve, []string) {
	if files.Open == nil {
		return nil, nil
	}
	var events []tensorboard.File
	for _, o := range r.Outputs {
		if tensorboard.IsFile(o.Path) {
			events = append(events, tensorboard.File{Path: o.Path, Open: func() (io.ReadCloser, error) { return files.Open(o) }})
		}
	}
	logs, limits := tensorboard.Read(events)
	var curves []namedCurve
	broken := 0
	for _, l := range logs {
		folder := ""
		if len(logs) > 1 {
			folder = strings.TrimPrefix(l.Folder, strings.TrimSuffix(results.OutDir, "/"))
			folder = strings.TrimPrefix(folder, "/")
		}
		for _, c := range l.Curves {
			points := make([]chart.Point, len(c.Points))
			for i, p := range c.Points {
				points[i] = chart.Point{X: float64(p.Step), Y: p.Value}
			}
			broken += c.NotFinite
			curves = append(curves, namedCurve{folder, c.Tag, points})
		}
	}
	var notes []string
	if broken > 0 {
		notes = append(notes, fmt.Sprintf("Not drawn: %s (NaN or infinite).", text.Count(broken, "value")))
	}
	if len(limits.Damaged) > 0 {
		notes = append(notes, "Read only in part, because they are damaged: "+results.Plain(text.ListSome(limits.Damaged, 5, 80), "")+".")
	}
	if limits.Bytes || limits.Tags {
		notes = append(notes, fmt.Sprintf("Not everything is read: the limits are %s and %d curves.", text.Bytes(tensorboard.MaxBytes), tensorboard.MaxTags))
	}
	return curves, notes
}

// groupCharts draws each curve, and the training and the validation values of one quantity in one chart. The metric comes first, then
// losses, then the others by name.
func groupCharts(curves []namedCurve, metric *results.ScriptMetric) []*chart.Chart {
	type group struct {
		title string
		lines []chart.StepLine
		rank  int
	}
	groups := map[string]*group{}
	for _, c := range curves {
		subject, role := subjectOf(c.name)
		key := c.folder + "\x00" + subject
		if g := groups[key]; g != nil && slices.ContainsFunc(g.lines, func(l chart.StepLine) bool { return l.Role == role }) {
			key += "\x00" + c.name // two curves of one role: a chart of its own
			subject = c.name
		}
		g := groups[key]
		if g == nil {
			g = &group{title: subject, rank: 2}
			groups[key] = g
		}
		g.lines = append(g.lines, chart.StepLine{Name: string(role), Role: role, Points: c.points})
		if len(g.lines) == 1 {
			g.title = c.name
		} else {
			g.title = subject
		}
		if c.folder != "" {
			g.title = c.folder + ": " + g.title
		}
		switch {
		case metric != nil && c.name == metric.Name:
			g.rank = 0
		case strings.Contains(strings.ToLower(subject), "loss"):
			g.rank = min(g.rank, 1)
		}
	}
	keys := slices.SortedFunc(maps.Keys(groups), func(a, b string) int {
		return cmp.Or(cmp.Compare(groups[a].rank, groups[b].rank), strings.Compare(a, b))
	})
	var charts []*chart.Chart
	for _, key := range keys {
		g := groups[key]
		if c := chart.Steps(text.Excerpt(g.title, 44), g.lines...); c != nil {
			charts = append(charts, c)
		}
	}
	return charts
}

// subjectOf splits the name of a curve: "train/loss", "loss" and "eval_loss" are about the loss.
func subjectOf(name string) (subject string, role chart.Role) {
	role = chart.RoleTrain
	var rest []string
	for _, word := range strings.FieldsFunc(name, func(r rune) bool { return r == '/' || r == '_' || r == '-' || r == ' ' || r == '.' }) {
		switch strings.ToLower(word) {
		case "train", "training":
		case "val", "valid", "validation", "eval", "dev", "test":
			role = chart.RoleValidation
		default:
			rest = append(rest, word)
		}
	}
	return strings.Join(rest, " "), role
}

// scriptPicture is a picture of a script, encoded by this program.
type scriptPicture struct {
	Name string
	URL  template.URL
}

// maxPictures is how many pictures of a script are shown.
const maxPictures = 12

// newScriptPictures shows the pictures among the outputs. Each is decoded and encoded again, so that nothing but its colours gets into the
// page. What is too large, or no picture, is left out without a word, since it is delivered as a file.
func newScriptPictures(r *results.Result, files Files) []scriptPicture {
	if files.Open == nil {
		return nil
	}
	var shown []scriptPicture
	left := maxImageBytes
	outputs := slices.SortedFunc(slices.Values(r.Outputs), func(a, b results.Output) int { return strings.Compare(a.Path, b.Path) })
	for _, o := range outputs {
		if ext := strings.ToLower(path.Ext(o.Path)); len(shown) == maxPictures || !slices.Contains([]string{".png", ".jpg", ".jpeg"}, ext) || o.Size > picture.MaxBytes {
			continue
		}
		body, err := files.Open(o)
		if err != nil {
			continue
		}
		url, err := picture.URL(body, left)
		_ = body.Close()
		if err != nil {
			continue
		}
		left -= len(url)
		shown = append(shown, scriptPicture{Name: text.Excerpt(strings.TrimPrefix(o.Path, results.OutDir), 120), URL: template.URL(url)}) //nolint:gosec // picture.URL made it
	}
	return shown
}
