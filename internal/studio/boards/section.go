package boards

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/ncsa/clowder-ray/internal/disk"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/sidecar"
	"github.com/ncsa/clowder-ray/internal/studio/web"
)

// MostRuns is how many runs one page shows together.
const MostRuns = 10

// Access answers which runs a visitor may see.
type Access interface {
	// See returns the record of a run that the visitor of ctx may see, or web.NotFound.
	See(ctx context.Context, run string) (job.Record, error)
}

// Parts are what the section needs from others.
type Parts struct {
	Access Access
	// Folder is the folder of a run.
	Folder func(run string) disk.Folder
	// Process serves TensorBoard. The section closes it.
	Process sidecar.Process
}

// Section is the part of the studio about TensorBoard. It is safe for concurrent use.
type Section struct {
	Parts
	site   *web.Site
	boards *boardCache
	quota  *web.Quota
	client *http.Client
}

const (
	// callTimeout is the longest wait for an answer of the process.
	callTimeout    = 30 * time.Second
	maxConnections = 16
	// readsPerMinute is how often a person may have event files read: each time may cost 64 MB of reading for each run.
	readsPerMinute = 60
)

// New returns the section. The caller closes it.
func New(site *web.Site, p Parts) *Section {
	return &Section{
		Parts: p, site: site, boards: newBoardCache(p.Folder), quota: web.NewQuota(readsPerMinute, "looks at TensorBoard"),
		client: &http.Client{
			Timeout: callTimeout,
			Transport: &http.Transport{ // no proxy: the process is on this machine or in this cluster
				MaxConnsPerHost: maxConnections, MaxIdleConnsPerHost: maxConnections, IdleConnTimeout: 20 * time.Second, DisableCompression: true,
			},
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}
}

// Close ends the connections, and the process if it is ours.
func (s *Section) Close() error {
	s.client.CloseIdleConnections()
	return s.Process.Close()
}

// Routes adds the pages of TensorBoard. RUNS is the name of a run, or several with commas between them.
func (s *Section) Routes(mux *http.ServeMux) {
	mux.HandleFunc("GET /tensorboard/{runs}", s.redirect)
	mux.HandleFunc("GET /tensorboard/{runs}/{path...}", s.pass)
	mux.HandleFunc("POST /tensorboard/{runs}/data/plugin/{path...}", s.pass) // TensorBoard asks for series in this way
}

// Operations adds nothing: the curves are in the API of runs.
func (s *Section) Operations(huma.API) {}

// redirect adds the slash that the addresses in TensorBoard's page are relative to.
func (s *Section) redirect(w http.ResponseWriter, req *http.Request) {
	runs := req.PathValue("runs")
	if _, err := named(runs); err != nil {
		s.site.Fail(w, req, err)
		return
	}
	http.Redirect(w, req, s.site.Link("tensorboard", runs)+"/", http.StatusSeeOther) //nolint:gosec,nolintlint // a path of ours, its parts escaped; gosec finds it only at times
}

var validRun = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.-]{0,99}$`)

// named are the runs of an address.
func named(runs string) ([]string, error) {
	list := strings.Split(runs, ",")
	if len(list) > MostRuns || slices.ContainsFunc(list, func(run string) bool { return !validRun.MatchString(run) }) {
		return nil, web.NotFound
	}
	return list, nil
}

// pass answers with what TensorBoard answers, for a visitor who may see all the runs.
func (s *Section) pass(w http.ResponseWriter, req *http.Request) {
	runs, err := named(req.PathValue("runs"))
	var records []job.Record
	for _, run := range runs {
		rec, e := s.Access.See(req.Context(), run)
		if e != nil {
			err = e
			break
		}
		records = append(records, rec)
	}
	if err == nil {
		err = s.answer(w, req, records)
	}
	if err != nil {
		s.site.Fail(w, req, problem(err))
	}
}

// problem turns an error of the process into one that a visitor reads.
func problem(err error) error {
	if missing, ok := errors.AsType[*sidecar.MissingError](err); ok {
		return notHere("The Python environment of this service lacks the package " + missing.Package + ".")
	}
	if errors.Is(err, sidecar.ErrNotSetUp) {
		return notHere("This service has no process that serves TensorBoard.")
	}
	if _, ok := errors.AsType[*url.Error](err); ok {
		return &web.Problem{
			Type: "tensorboard-busy", Title: "TensorBoard did not answer", Status: http.StatusServiceUnavailable,
			Detail: "The process that serves TensorBoard did not answer in time.", Do: "Try again in a few seconds.", RetryAfter: 5 * time.Second,
		}
	}
	return err
}

func notHere(detail string) *web.Problem {
	return &web.Problem{
		Type: "no-tensorboard", Title: "TensorBoard is not set up here", Status: http.StatusServiceUnavailable, Detail: detail,
		Do: "The page of the run has its curves. For TensorBoard, ask the administrator to set it up.", RetryAfter: time.Minute,
	}
}
