package mail

import (
	"context"
	"fmt"
	"net"
	netmail "net/mail"
	"strconv"
	"strings"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	gomail "github.com/wneessen/go-mail"
	"go.uber.org/zap"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/text"
)

const (
	// waiting is how many ends of jobs wait for the server; tries and pause say how often one is sent.
	waiting = 1000
	tries   = 3
	pause   = 10 * time.Second
	// sendTime is how long the server may take for one message.
	sendTime = 30 * time.Second
	// smtp is the port of a server that names none.
	smtp = 25
	// remembered is how many ends are known to be told, because the end of a job can be announced again.
	remembered = 10_000
	// maxName is the length of the name of a dataset in a subject, in characters.
	maxName = 100
)

// Records has the records of jobs.
type Records interface {
	Get(ctx context.Context, run string) (job.Record, error)
}

// Config says where messages go through and which jobs have one.
type Config struct {
	// Server is host or host:port of an SMTP server that takes messages without a password. TLS is used where the server offers it.
	Server string
	// Sender is the address of the sender.
	Sender string
	// Wanted reports whether users are told of the end of a job of this kind; nil is always.
	Wanted func(rec job.Record) bool
	Log    *zap.Logger
}

// Notifier sends a message for each job that is done or has failed, to the user whose key came with it. A message is sent once or, if the
// service is killed in that moment, never: Clowder shows the end of the job in any case.
type Notifier struct {
	cfg     Config
	client  *gomail.Client
	records Records
	over    chan string
	told    *lru.Cache[string, struct{}]
	pause   time.Duration
}

// New checks the configuration. It does not connect to the server.
func New(cfg Config, records Records) (*Notifier, error) {
	host, port := cfg.Server, smtp
	if h, p, err := net.SplitHostPort(cfg.Server); err == nil {
		host = h
		if port, err = strconv.Atoi(p); err != nil {
			return nil, job.Permanent(fmt.Errorf("EMAIL_SERVER: %q is no port: write host or host:port", p))
		}
	}
	if strings.Contains(host, ":") && !strings.HasPrefix(host, "[") {
		host = "[" + host + "]" // the client puts the port behind it
	}
	if _, err := netmail.ParseAddress(cfg.Sender); err != nil {
		return nil, job.Permanent(fmt.Errorf("EMAIL_SENDER: %q is no e-mail address: write one such as clowder@example.org", text.Excerpt(cfg.Sender, 60)))
	}
	client, err := gomail.NewClient(host, gomail.WithPort(port), gomail.WithTLSPolicy(gomail.TLSOpportunistic), gomail.WithTimeout(sendTime))
	if err != nil {
		return nil, job.Permanent(fmt.Errorf("EMAIL_SERVER: %w", err))
	}
	told, err := lru.New[string, struct{}](remembered)
	if err != nil {
		return nil, err
	}
	return &Notifier{cfg: cfg, client: client, records: records, over: make(chan string, waiting), told: told, pause: pause}, nil
}

// Over takes note of a job that has ended. It never waits.
func (n *Notifier) Over(run string) {
	select {
	case n.over <- run:
	default:
		n.cfg.Log.Warn("an e-mail is left out, because too many wait", zap.String("run", run))
	}
}

// Run sends messages until ctx ends.
func (n *Notifier) Run(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case run := <-n.over:
			n.tell(ctx, run)
		}
	}
}

// tell sends the message about a job. Errors are for the operator: the job is over.
func (n *Notifier) tell(ctx context.Context, run string) {
	rec, err := n.records.Get(ctx, run)
	if err == nil {
		var m *gomail.Msg
		if m, err = n.message(rec); err == nil && m != nil {
			end := run + " " + rec.Updated.String() // a job that is retried has another end
			if known, _ := n.told.ContainsOrAdd(end, struct{}{}); known {
				return
			}
			err = n.send(ctx, m)
		}
	}
	if err != nil && ctx.Err() == nil {
		n.cfg.Log.Warn("an e-mail could not be sent", zap.String("run", run), zap.Error(err))
	}
}

// message is what the user reads, nil if nobody is to be told.
func (n *Notifier) message(rec job.Record) (*gomail.Msg, error) {
	if rec.Ending == nil || rec.User == "" || n.cfg.Wanted != nil && !n.cfg.Wanted(rec) {
		return nil, nil
	}
	end := map[job.State]string{job.Done: "done", job.Failed: "failed"}[rec.State]
	if end == "" {
		return nil, nil // the user cancelled it, or nothing was to be done
	}
	name := text.Shorten(text.OneLine(rec.Request.Name), maxName)
	if name == "" {
		name = "dataset " + rec.Request.DatasetID
	}
	m := gomail.NewMsg()
	if err := m.From(n.cfg.Sender); err != nil {
		return nil, err
	}
	if err := m.To(rec.User); err != nil {
		return nil, err
	}
	m.Subject(fmt.Sprintf("%s: job %s", name, end))
	var body strings.Builder
	fmt.Fprintf(&body, "Your job for %s is %s.\n\n%s\n\nRun: %s\n", name, map[string]string{"done": "done", "failed": "over: it failed"}[end], rec.Ending.Text, rec.Run)
	body.WriteString("Clowder shows all its statuses on the page of the dataset.\n")
	m.SetBodyString(gomail.TypeTextPlain, body.String())
	return m, nil
}

func (n *Notifier) send(ctx context.Context, m *gomail.Msg) (err error) {
	for try := range tries {
		if try > 0 {
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(n.pause):
			}
		}
		if err = n.client.DialAndSendWithContext(ctx, m); err == nil {
			return nil
		}
	}
	return err
}
