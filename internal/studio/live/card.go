package live

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"errors"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/results"
	"github.com/ncsa/clowder-ray/internal/studio/web"
	"github.com/ncsa/clowder-ray/internal/text"
)

// cardTime is how long a card can be seen after the end of its run.
const cardTime = 7 * 24 * time.Hour

// Cards makes the addresses of cards. A card shows how far one run is, inside of Clowder, to everybody who has its address: who can see the
// visualization in Clowder can read the dataset. It is read-only, needs no login, and names no files, labels or people.
type Cards struct {
	site *web.Site
	keys [][]byte
}

// NewCards returns the addresses below a site. They are derived from the first of the keys, at least one; those from the others are valid too.
func NewCards(site *web.Site, keys [][]byte) Cards { return Cards{site, keys} }

// Address is the address of the card of a run.
func (c Cards) Address(run string) string {
	return c.site.Absolute("embed", "runs", run) + "?t=" + token(c.keys[0], run)
}

// Visualization is what Clowder shows on a dataset while a run goes on: a link, and the card unless that is switched off.
func (c Cards) Visualization(run string, embed bool) (string, error) {
	view := struct{ Run, Link, Card string }{Run: run, Link: c.site.Absolute("runs", run)}
	if embed {
		view.Card = c.Address(run)
	}
	var b strings.Builder
	err := frameTemplate.Execute(&b, view)
	return b.String(), err
}

// frameTemplate is a fragment for the page of Clowder, which runs no script and has no style of its own for it.
var frameTemplate = template.Must(template.New("frame").Parse(
	`<div><p>This run goes on. <a href="{{.Link}}" target="_blank" rel="noopener">Open it in the studio</a></p>` +
		`{{with .Card}}<iframe src="{{.}}" title="Progress of the run" width="100%" height="200" loading="lazy" referrerpolicy="no-referrer"></iframe>{{end}}</div>`))

// token is what the address of a card ends in.
func token(key []byte, run string) string {
	sum := hmac.New(sha256.New, key)
	sum.Write([]byte(run))
	return base64.RawURLEncoding.EncodeToString(sum.Sum(nil)[:16])
}

func (c Cards) valid(run, given string) bool {
	return slices.ContainsFunc(c.keys, func(key []byte) bool { return hmac.Equal([]byte(token(key, run)), []byte(given)) })
}

//go:embed card.tmpl.html
var cardText string

var cardTemplate = template.Must(template.New("card").Parse(cardText))

// cardRefresh is how often the card of a run that goes on is loaded again, in seconds. It runs no script and holds no stream open.
const cardRefresh = "5"

// cardView is what a card shows.
type cardView struct {
	Nonce, Run, Link, Sentence string
	Percent                    int
	Going                      bool
	// Curve is the loss as the points of an SVG line of 300 by 60 units, empty before the second point. Words say the same.
	Curve, CurveWords string
}

// Public adds the card, which needs no login.
func (s *Section) Public(mux *http.ServeMux) {
	mux.HandleFunc("GET /embed/runs/{run}", func(w http.ResponseWriter, req *http.Request) {
		if err := s.showCard(w, req); err != nil {
			s.site.Fail(w, req, err)
		}
	})
}

func (s *Section) showCard(w http.ResponseWriter, req *http.Request) error {
	run := req.PathValue("run")
	if !s.cards.valid(run, req.URL.Query().Get("t")) {
		return web.NotFound
	}
	rec, err := s.runs.Get(req.Context(), run)
	if errors.Is(err, job.ErrNotFound) || err == nil && !rec.Active() && time.Since(rec.Updated) > cardTime {
		return web.NotFound
	}
	if err != nil {
		return err
	}
	view := s.cardOf(req.Context(), rec)
	var page strings.Builder
	if err := cardTemplate.Execute(&page, view); err != nil {
		return err
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'nonce-"+view.Nonce+"'; base-uri 'none'; form-action 'none'; frame-ancestors "+origin(s.site.Clowder))
	h.Del("Cross-Origin-Opener-Policy")
	h.Set("Referrer-Policy", "no-referrer")
	if view.Going {
		h.Set("Refresh", cardRefresh)
	}
	_, _ = w.Write([]byte(page.String()))
	return nil
}

// origin is scheme and host of an address, as a policy names it.
func origin(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return "'none'"
	}
	return u.Scheme + "://" + u.Host
}

// cardOf says how far a run is. Without its events, the card shows the state alone.
func (s *Section) cardOf(ctx context.Context, rec job.Record) cardView {
	view := cardView{Nonce: rand.Text(), Run: rec.Run, Going: rec.Active(), Link: s.site.Absolute("runs", rec.Run)}
	limited, cancel := context.WithTimeout(ctx, writeTime)
	defer cancel()
	snapshot, err := s.hub.Snapshot(limited, rec.Run, snapshotPoints)
	if err != nil {
		snapshot = Snapshot{}
	}
	view.Percent = int(100 * snapshot.Progress.Fraction)
	view.Sentence = cardSentence(rec, snapshot.Progress)
	for _, name := range []string{"train/loss", "loss"} {
		for _, line := range snapshot.Lines {
			if line.Name == name && len(line.Points) > 1 {
				view.Curve = polyline(line.Points)
				view.CurveWords = "Loss from " + text.Significant(line.Points[0].Y) + " to " + text.Significant(line.Points[len(line.Points)-1].Y)
			}
		}
	}
	return view
}

// cardSentence says how far a run is, without a word that came from its data.
func cardSentence(rec job.Record, s Progress) string {
	switch rec.State {
	case job.Accepted, job.Staged, job.Submitted:
		return "Waiting to start."
	case job.Finished, job.Collected, job.Uploaded:
		return "Saving the results."
	case job.Done:
		return "Done. The report is in this dataset."
	case job.Failed:
		return "Failed."
	case job.Cancelled:
		return "Cancelled."
	case job.Skipped:
		return "Skipped."
	case job.Running:
		if !rec.Requeued.IsZero() {
			return "Waiting to go on."
		}
	}
	var parts []string
	if s.Epochs > 0 {
		parts = append(parts, fmt.Sprintf("Epoch %d of %d", s.Epoch, s.Epochs))
	} else {
		parts = append(parts, "Running")
	}
	if s.Fraction > 0 {
		parts = append(parts, fmt.Sprintf("%.0f %%", 100*s.Fraction))
	}
	if s.ETASeconds > 0 {
		parts = append(parts, text.About(results.Seconds(s.ETASeconds))+" left")
	}
	if s.Best != nil {
		parts = append(parts, fmt.Sprintf("best validation %s so far %s", s.described.Named(s.Metric).Words(), s.described.Named(s.Metric).Figure(*s.Best)))
	}
	return strings.Join(parts, ", ") + "."
}

// The size of the curve of a card.
const (
	curveWidth, curveHeight = 300.0, 60.0
	curvePoints             = 150
)

// polyline places the points of a curve in its picture.
func polyline(points []Point) string {
	points = thin(points, curvePoints)
	low, high := points[0], points[0]
	for _, p := range points {
		low, high = Point{min(low.X, p.X), min(low.Y, p.Y)}, Point{max(high.X, p.X), max(high.Y, p.Y)}
	}
	const margin = 2
	var b strings.Builder
	for _, p := range points {
		x := margin + (curveWidth-2*margin)*share(p.X, low.X, high.X)
		y := curveHeight - margin - (curveHeight-2*margin)*share(p.Y, low.Y, high.Y)
		b.WriteString(strconv.FormatFloat(x, 'f', 1, 64) + "," + strconv.FormatFloat(y, 'f', 1, 64) + " ")
	}
	return strings.TrimSpace(b.String())
}

func share(v, low, high float64) float64 {
	if !(high > low) {
		return 0.5
	}
	return v/(high-low) - low/(high-low)
}
