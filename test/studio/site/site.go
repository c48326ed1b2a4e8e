// Package site is a whole studio for tests: the double of Clowder, a job store, a shared volume with runs in every state, and the pages that
// the service serves. Nothing is trained. Visitors log in with their API keys.
package site

import (
	"cmp"
	"context"
	"encoding/base64"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest"

	clowderray "github.com/ncsa/clowder-ray"
	"github.com/ncsa/clowder-ray/cmd/extractor/studio"
	"github.com/ncsa/clowder-ray/internal/clowder"
	"github.com/ncsa/clowder-ray/internal/clowder/clowdertest"
	"github.com/ncsa/clowder-ray/internal/clowder/form"
	"github.com/ncsa/clowder-ray/internal/clowder/versions"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/pipeline/volume"
	"github.com/ncsa/clowder-ray/internal/platform"
	clowderplatform "github.com/ncsa/clowder-ray/internal/platform/clowder"
	"github.com/ncsa/clowder-ray/internal/rayjob"
	"github.com/ncsa/clowder-ray/internal/studio/login/logintest"
	"github.com/ncsa/clowder-ray/test/ports"
)

// The people of the site. Alice owns the dataset, Bob may edit it, Carol may look at it, and Dave has no role.
const (
	Alice = "alice@example.org"
	Bob   = "bob@example.org"
	Carol = "carol@example.org"
	Dave  = "dave@example.org"
)

// Site is a studio with its surroundings.
type Site struct {
	// URL is the address of the studio, without a slash at the end.
	URL     string
	Clowder *clowdertest.Server
	Store   job.Store
	Volume  volume.Volume
	// Listen is the address on which the studio listens.
	Listen string
	// Keycloak is the login service, if Options asked for one.
	Keycloak *logintest.Keycloak
	// Dataset is the id of the dataset "Film reviews", Empty of one without runs.
	Dataset, Empty string

	// Links lead the users of Clowder to the studio.
	Links *studio.Links

	client  *clowder.Client
	options Options
	set     studio.Settings
	keys    *job.Keyring
	stop    func()
}

// Options changes a site.
type Options struct {
	// AMQPURI is the broker of the double. Without it nothing can be submitted.
	AMQPURI string
	// Prefix is the path of the studio, with a slash at its beginning.
	Prefix string
	// URL is the address at which people reach the studio, if there is a proxy before it.
	URL string
	// Page is the address of Clowder's pages, if they are not at that of the double.
	Page string
	// Version is the version of Clowder; 0 is 2.
	Version int
	// Keycloak lets people log in at a double of Keycloak, too.
	Keycloak bool
	// Log takes the log of the studio; nil: that of the test, from warnings on.
	Log *zap.Logger
	// Volume is the folder of the shared volume; empty for a new one.
	Volume string
	// Python is an interpreter that answers for models, and Trainer the folder for its PYTHONPATH. Without it nobody answers.
	Python  string
	Trainer func() (string, error)
	// TensorBoard offers TensorBoard, which Python serves.
	TensorBoard bool
	// Tokens lets visitors in with the cookie of Clowder's own page, too: with a token, which may save new versions of files.
	Tokens bool
}

// New starts a site, which ends with the test.
func New(tb testing.TB, o Options) *Site {
	tb.Helper()
	ctx, stop := context.WithCancel(context.Background())
	double, err := clowdertest.New(clowdertest.Options{Version: o.Version, Users: []string{Alice, Bob, Carol, Dave}, AMQPURI: o.AMQPURI})
	require.NoError(tb, err)
	store, err := job.OpenSQLite(ctx, filepath.Join(tb.TempDir(), "jobs.db"))
	require.NoError(tb, err)
	client, err := clowder.NewClient(clowder.Config{URL: double.URL, Attempts: 1})
	require.NoError(tb, err)
	port, err := ports.Free(ctx, 1)
	require.NoError(tb, err)
	address := net.JoinHostPort("127.0.0.1", strconv.Itoa(port[0]))
	s := &Site{
		URL: cmp.Or(o.URL, "http://"+address+o.Prefix), Listen: address, Clowder: double, Store: store, Volume: volume.Volume{Dir: cmp.Or(o.Volume, tb.TempDir())}, client: client,
	}
	s.Dataset, s.Empty = double.AddDataset(Alice, "Film reviews"), double.AddDataset(Alice, "Letters")
	for _, dataset := range []string{s.Dataset, s.Empty} {
		double.Share(dataset, Bob, "editor")
		double.Share(dataset, Carol, "viewer")
	}
	_, err = double.AddFile(s.Dataset, "train.csv", strings.NewReader("text,label\na fine film,positive\n"))
	require.NoError(tb, err)

	set := studio.Settings{URL: s.URL, Listen: address, Embed: true, PublicURL: o.Page, TensorBoard: o.TensorBoard}
	if o.Keycloak {
		s.Keycloak, err = logintest.Start(logintest.Options{Redirects: []string{s.URL + "/login/callback"}, OnToken: double.AcceptToken})
		require.NoError(tb, err)
		tb.Cleanup(s.Keycloak.Close)
		set.Issuer, set.Client = s.Keycloak.URL, logintest.Client
	}
	if o.Log == nil {
		o.Log = logger(tb)
	}
	if o.Tokens {
		set.Login = []string{"cookie", "key"}
	}
	s.keys, err = job.ParseKeyring(job.Secret(base64.StdEncoding.EncodeToString(make([]byte, 32))))
	require.NoError(tb, err)
	s.set, s.options = set, o
	s.start(tb)
	tb.Cleanup(func() {
		s.stop()
		stop()
		require.NoError(tb, client.Close())
		require.NoError(tb, store.Close())
		require.NoError(tb, double.Close())
	})
	return s
}

// Restart ends the studio, as a restart of the service does, and starts it again.
func (s *Site) Restart(tb testing.TB) {
	tb.Helper()
	s.Down()
	s.Up(tb)
}

// Down ends the studio, and Up starts it again.
func (s *Site) Down() {
	s.stop()
	http.DefaultClient.CloseIdleConnections() // a form that is sent over one of the studio that ended is not sent again
}

// Up starts the studio again.
func (s *Site) Up(tb testing.TB) {
	tb.Helper()
	s.start(tb)
}

// start serves the pages until stop is called.
func (s *Site) start(tb testing.TB) {
	tb.Helper()
	ctx, stop := context.WithCancel(context.Background())
	all := extractors(tb)
	places := clowderplatform.New(s.client, all)
	links, err := studio.NewLinks(s.set, s.Clowder.URL, s.keys, places, s.options.Log)
	require.NoError(tb, err)
	s.Links = links
	server, err := studio.New(ctx, s.set, studio.Parts{
		ClowderURL: s.Clowder.URL, ClowderVersion: versions.Of(s.options.Version), Clowder: s.client, Keys: s.keys, Store: s.Store, Volume: s.Volume, Extractors: all, Places: places, Jobs: jobs{s}, Links: links,
		Python: s.options.Python, Trainer: s.options.Trainer, Version: "1.0.0", Log: s.options.Log,
	})
	require.NoError(tb, err)
	ended := make(chan error, 1)
	go func() { ended <- server.Run(ctx) }()
	s.stop = func() {
		stop()
		require.NoError(tb, <-ended)
	}
}

func logger(tb testing.TB) *zap.Logger {
	tb.Helper()
	return zaptest.NewLogger(tb, zaptest.Level(zap.WarnLevel))
}

// extractors are the extractors of the product.
func extractors(tb testing.TB) platform.Extractors {
	tb.Helper()
	all := platform.Extractors{{Kind: job.Train}, {Kind: job.Train}, {Kind: job.Predict}, {Kind: job.Script}, {Kind: job.Runs}}
	for i, doc := range [][]byte{clowderray.ExtractorInfo, clowderray.AdvancedInfo, clowderray.PredictInfo, clowderray.ScriptInfo, clowderray.RunsInfo} {
		info, err := form.Parse(doc)
		require.NoError(tb, err)
		all[i].Info, all[i].Queue = info, info.Name
	}
	return all
}

// Login logs a user in with their API key and returns a client with the cookie of the login. It does not follow redirects.
func (s *Site) Login(tb testing.TB, user string) *http.Client {
	tb.Helper()
	jar, err := cookiejar.New(nil)
	require.NoError(tb, err)
	client := &http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	form := url.Values{"key": {s.Clowder.Key(user)}, "back": {"/"}}
	req, err := http.NewRequestWithContext(tb.Context(), http.MethodPost, s.URL+"/login/key", strings.NewReader(form.Encode()))
	require.NoError(tb, err)
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	answer, err := client.Do(req)
	require.NoError(tb, err)
	require.NoError(tb, answer.Body.Close())
	require.Equal(tb, http.StatusSeeOther, answer.StatusCode)
	return client
}

// Cookies are those of a login, for a browser.
func (s *Site) Cookies(tb testing.TB, user string) []*http.Cookie {
	tb.Helper()
	address, err := url.Parse(s.URL + "/")
	require.NoError(tb, err)
	return s.Login(tb, user).Jar.Cookies(address)
}

// Token is the cookie with which Clowder's own page keeps an access token of a user; see Options.Tokens.
func (s *Site) Token(user string) *http.Cookie {
	return &http.Cookie{Name: "Authorization", Value: url.PathEscape("Bearer " + s.Clowder.Token(user))} //nolint:gosec // it is sent, not set: Clowder set it
}

// jobs changes records as the pipeline does.
type jobs struct{ site *Site }

func (j jobs) Cancel(ctx context.Context, run, by string) error {
	_, err := j.site.Store.Change(ctx, run, func(r *job.Record) error { return r.Cancel(by) })
	return err
}

func (j jobs) Stop(ctx context.Context, run, by string) error {
	_, err := j.site.Store.Change(ctx, run, func(r *job.Record) error { return r.Stop(by) })
	return err
}

func (j jobs) RunOf(queue, jobID string) string {
	return rayjob.RunName(j.site.Clowder.URL, queue, jobID)
}

func (jobs) LastStatus(string) string { return "" }
