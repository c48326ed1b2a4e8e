package basemodels

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/ncsa/clowder-ray/internal/basemodel"
	"github.com/ncsa/clowder-ray/internal/hub"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/text"
)

// installFlags are the flags of extractor models install.
type installFlags struct {
	revision, endpoint, tokenFile string
	// sha256 is what a ZIP file at an address must have, or empty.
	sha256  string
	options basemodel.Options
	yes     bool
}

func (env Environment) installCommand() *cobra.Command {
	var flags installFlags
	cmd := &cobra.Command{
		Use: "install ORG/NAME | FOLDER | FILE.zip | https://…", Short: "Install a base model from the Hub, a folder or a ZIP file",
		Long: "Install a base model from the Hub (ORG/NAME), from a folder (./FOLDER) or from a ZIP file, which may be a bundle of several models.\n" +
			"The address of a ZIP file begins with https://. It is loaded into the folder for temporary files (TMPDIR).\n" +
			"The command says what it would load and asks, unless --yes is given. A command that was interrupted goes on where it stopped.",
		Args: args(1, 1, "models install ORG/NAME | FOLDER | FILE.zip | https://…"),
		RunE: func(cmd *cobra.Command, args []string) error {
			store, err := env.Store(cmd)
			if err != nil {
				return err
			}
			err = env.install(cmd.Context(), store, args[0], flags)
			if errors.Is(err, context.Canceled) {
				return errors.New("stopped: run the command again, it goes on where it stopped")
			}
			return err
		},
	}
	f := cmd.Flags()
	f.StringVar(&flags.revision, "revision", "", "branch, tag, commit or refs/pr/N of a model on the Hub (main)")
	f.StringVar(&flags.endpoint, "endpoint", "", "address of the Hub or of a mirror (HF_ENDPOINT, or "+hub.PublicEndpoint+")")
	f.StringVar(&flags.tokenFile, "token-file", "", "file with the token for private and gated models (HF_TOKEN)")
	f.StringVar(&flags.sha256, "sha256", "", "SHA-256 that the ZIP file at an address must have")
	f.StringVar(&flags.options.Name, "name", "", "install the model under another name, owner/name")
	f.StringVar(&flags.options.License, "license", "", "license of the model, if it names none")
	f.StringVar(&flags.options.Hints.ModelType, "model-type", "", "model type of transformers, e.g. bert, if the model does not say it")
	f.BoolVar(&flags.options.Default, "default", false, "start trainings of this kind of data from this model, unless their user chooses another")
	f.BoolVar(&flags.yes, "yes", false, "do not ask")
	return cmd
}

// install plans all installations, asks once, and carries them out.
func (env Environment) install(ctx context.Context, store *basemodel.Store, from string, flags installFlags) error {
	sources, closeAll, err := env.sources(ctx, from, flags)
	if err != nil {
		return err
	}
	defer closeAll()
	if len(sources) > 1 && flags.options != (basemodel.Options{}) {
		return job.Permanent(fmt.Errorf("%s has %s: leave out --name, --license, --model-type and --default", from, text.Count(len(sources), "model")))
	}
	var plans []*basemodel.Plan
	work := false
	for _, source := range sources {
		plan, err := store.Plan(ctx, source, flags.options)
		if err != nil {
			return err
		}
		plans = append(plans, plan)
		work = work || !plan.Done
		env.describe(plan)
	}
	if work && !flags.yes {
		if err := env.ask(); err != nil {
			return err
		}
	}
	for _, plan := range plans {
		m, err := store.Install(ctx, plan, env.progress(plan.ID))
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(env.Stdout, "installed %s: %s, %s parameters, %s\n", m.ID, kind(m.Facts), parameters(m.Parameters), text.Bytes(m.Bytes()))
		if err != nil {
			return err
		}
	}
	return nil
}

// hubPattern is a name as the Hub has them: one slash, and no dot at the beginning as in ./folder.
var hubPattern = regexp.MustCompile(`^[A-Za-z0-9_][^/\\]*/[^/\\]+$`)

var errRevision = job.Permanent(errors.New("--revision is for models of the Hub: leave it out"))

// sources opens what the argument means. A name with one slash is one of the Hub, unless it ends with .zip.
func (env Environment) sources(ctx context.Context, from string, flags installFlags) (sources []basemodel.Source, closeAll func(), err error) {
	isZIP := strings.HasSuffix(strings.ToLower(from), ".zip")
	switch {
	case strings.Contains(from, "://"):
		if flags.revision != "" {
			return nil, nil, errRevision
		}
		return env.fetched(ctx, from, flags.sha256)
	case flags.sha256 != "":
		return nil, nil, job.Permanent(errors.New("--sha256 is for the address of a ZIP file: leave it out"))
	case hubPattern.MatchString(from) && !isZIP:
		client, err := env.hub(flags)
		if err != nil {
			return nil, nil, err
		}
		return []basemodel.Source{&hubModel{client: client, id: from, revision: flags.revision}}, client.Close, nil
	case flags.revision != "":
		return nil, nil, errRevision
	case isZIP:
		archive, err := basemodel.OpenArchive(from)
		if err != nil {
			return nil, nil, err
		}
		return archive.Models(), func() { _ = archive.Close() }, nil
	default:
		folder, err := basemodel.OpenFolder(from)
		if err != nil {
			return nil, nil, err
		}
		return []basemodel.Source{folder}, func() { _ = folder.Close() }, nil
	}
}

// describe says what an installation would load.
func (env Environment) describe(p *basemodel.Plan) {
	say := func(name, value string) { _, _ = fmt.Fprintf(env.Stderr, "  %-12s %s\n", name, value) }
	from := p.Offer.Source
	if p.Offer.Endpoint != "" {
		from = p.Offer.Endpoint
	}
	_, _ = fmt.Fprintf(env.Stderr, "%s (from: %s)\n", p.ID, from)
	if p.Offer.Commit != "" {
		say("commit", p.Offer.Commit)
	}
	say("kind", kind(p.Facts))
	say("license", p.License)
	if p.Done {
		say("installed", "this model is installed already")
		return
	}
	say("size", fmt.Sprintf("%s in %s", text.Bytes(p.Bytes), text.Count(len(p.Files), "file")))
	if p.Loaded > 0 {
		say("loaded", text.Bytes(p.Loaded)+" by an earlier attempt")
	}
	say("room needed", text.Bytes(p.Room))
	if p.Installed != nil {
		say("replaces", fmt.Sprintf("%s, installed on %s", short(p.Installed.Commit), p.Installed.Installed.Format(time.DateOnly)))
	}
}

// kind names the kind of a model in words.
func kind(f basemodel.Facts) string {
	words := map[basemodel.Kind]string{
		basemodel.KindText: "text encoder", basemodel.KindImage: "image model", basemodel.KindLanguage: "language model",
		basemodel.KindPixels: "model of pixels", basemodel.KindObjects: "detector of objects",
		basemodel.KindSeries: "model of series",
	}[f.Kind]
	switch {
	case words == "":
		return "known when the weights are loaded"
	case f.Architecture == "":
		return words
	default:
		return words + " (" + f.Architecture + ")"
	}
}

// ask waits for the answer of the operator.
func (env Environment) ask() error {
	_, _ = fmt.Fprint(env.Stderr, "Install? [y/N] ")
	line, err := bufio.NewReader(io.LimitReader(env.Stdin, 100)).ReadString('\n')
	if errors.Is(err, io.EOF) && line == "" {
		_, _ = fmt.Fprintln(env.Stderr)
		return job.Permanent(errors.New("nobody answers: add --yes to install without a question"))
	}
	if answer := strings.ToLower(strings.TrimSpace(line)); answer != "y" && answer != "yes" {
		return job.Permanent(errors.New("nothing was installed"))
	}
	return nil
}

// progressEvery is the time between two lines about the progress of an installation.
const progressEvery = 2 * time.Second

// progress returns a function that prints a line for each step and, while files are loaded, every few seconds.
func (env Environment) progress(id string) func(basemodel.Progress) {
	var mu sync.Mutex
	var last time.Time
	var step basemodel.Step
	say := map[basemodel.Step]string{
		basemodel.StepWait:  "another program changes " + id + ": waiting",
		basemodel.StepCheck: "check and complete the model",
	}
	return func(p basemodel.Progress) {
		mu.Lock()
		defer mu.Unlock()
		switch {
		case p.Step != basemodel.StepLoad:
			if p.Step != step {
				_, _ = fmt.Fprintln(env.Stderr, say[p.Step])
			}
		case p.Total > 0 && (time.Since(last) >= progressEvery || p.Done == p.Total):
			last = time.Now()
			_, _ = fmt.Fprintf(env.Stderr, "%3d %%  %s of %s\n", p.Done*100/p.Total, text.Bytes(p.Done), text.Bytes(p.Total))
		}
		step = p.Step
	}
}

// maxToken is the size in bytes of the largest file with a token.
const maxToken = 4 << 10

// hub returns a client with the endpoint and the token of the flags or the environment.
func (env Environment) hub(flags installFlags) (*hub.Client, error) {
	cfg := hub.Config{Endpoint: flags.endpoint, Token: job.Secret(strings.TrimSpace(env.Getenv("HF_TOKEN")))}
	if cfg.Endpoint == "" {
		cfg.Endpoint = env.Getenv("HF_ENDPOINT")
	}
	if flags.tokenFile != "" {
		token, err := readToken(flags.tokenFile)
		if err != nil {
			return nil, job.Permanent(err)
		}
		cfg.Token = token
	}
	cfg.OnWait = func(wait time.Duration, reason error) {
		what, _, _ := strings.Cut(reason.Error(), " Try again later") // the remedy if there were no next attempt
		_, _ = fmt.Fprintf(env.Stderr, "%s Next attempt in %s.\n", what, text.Duration(wait))
	}
	return hub.New(cfg)
}

func readToken(name string) (job.Secret, error) {
	f, err := os.Open(name)
	if err != nil {
		return "", fmt.Errorf("--token-file: %w", err)
	}
	defer func() { _ = f.Close() }()
	doc, err := io.ReadAll(io.LimitReader(f, maxToken+1))
	if err != nil {
		return "", fmt.Errorf("--token-file: %w", err)
	}
	token := strings.TrimSpace(string(doc))
	if token == "" || len(doc) > maxToken || strings.ContainsAny(token, " \t\r\n") {
		return "", fmt.Errorf("--token-file: %s must hold a token and nothing else", name)
	}
	return job.Secret(token), nil
}
