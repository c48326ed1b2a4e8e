package answer

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/ncsa/clowder-ray/internal/job"
)

// Model is a version of a registered model.
type Model struct {
	// Folder is the folder of the dataset in the registry.
	Folder, Name string
	Version      int
}

func (m Model) path(what string) string {
	path := "/v2/models/" + url.PathEscape(m.Folder+"."+m.Name) + "/versions/" + strconv.Itoa(m.Version)
	if what != "" {
		path += "/" + what
	}
	return path
}

// Tensor is an input or an output of the protocol. Data is a flat list.
type Tensor struct {
	Name       string         `json:"name"`
	Datatype   string         `json:"datatype"`
	Shape      []int          `json:"shape"`
	Parameters map[string]any `json:"parameters,omitempty"`
	Data       []any          `json:"data,omitempty"`
}

// Description says what a model reads and answers.
type Description struct {
	Inputs     []Tensor   `json:"inputs"`
	Outputs    []Tensor   `json:"outputs"`
	Parameters Parameters `json:"parameters"`
}

// Parameters is what the protocol has no field for.
type Parameters struct {
	// Kind is text, image or table.
	Kind    string   `json:"kind"`
	Task    string   `json:"task"`
	Labels  []string `json:"labels"`
	Columns []Column `json:"columns"`
}

// Column is one input. Type is text, image, number or category.
type Column struct {
	Name       string   `json:"name"`
	Type       string   `json:"type"`
	Categories []string `json:"categories,omitempty"`
}

// ErrNotSetUp says that no answer process can be reached or started here.
var ErrNotSetUp = errors.New("single answers are not set up on this service")

// RefusedError is what the process says about a request that it does not answer, as a sentence for its sender.
type RefusedError struct {
	// Status is the HTTP status of the answer, 400 to 499, or 500 for damaged files.
	Status  int
	Message string
}

func (e *RefusedError) Error() string { return e.Message }

// place is where the process is, now.
type place struct {
	url   string
	token job.Secret
}

// Process is where questions go: Local or Remote.
type Process interface {
	// at returns the address of a running process. gone is the address where the process no longer answers, or empty.
	at(ctx context.Context, gone string) (place, error)
	// Close ends the process if it is ours.
	Close() error
}

// Client asks a process. It is safe for concurrent use.
type Client struct {
	process Process
	http    *http.Client
}

const (
	// callTimeout is the longest wait for an answer, with the reading of a model that is not in memory.
	callTimeout = 60 * time.Second
	// maxConnections is fewer than the process serves at once.
	maxConnections = 16
	// MaxRequest is the largest request in bytes: an image of 10 MB in base64.
	MaxRequest = 16 << 20
	maxAnswer  = 8 << 20
)

// NewClient returns a client of the process. Close ends both.
func NewClient(process Process) *Client {
	dialer := &net.Dialer{Timeout: 5 * time.Second}
	return &Client{process: process, http: &http.Client{
		Timeout: callTimeout,
		Transport: &http.Transport{ // no proxy: the process is on this machine or in this cluster
			DialContext: dialer.DialContext, MaxConnsPerHost: maxConnections, MaxIdleConnsPerHost: maxConnections, IdleConnTimeout: 20 * time.Second,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// Close ends the connections, and the process if it is ours.
func (c *Client) Close() error {
	c.http.CloseIdleConnections()
	return c.process.Close()
}

// Describe returns what the model reads and answers. A model that cannot answer is a RefusedError that says why.
func (c *Client) Describe(ctx context.Context, m Model) (Description, error) {
	body, err := c.call(ctx, http.MethodGet, m.path(""), nil)
	if err != nil {
		return Description{}, err
	}
	var d Description
	if err := json.Unmarshal(body, &d); err != nil {
		return Description{}, fmt.Errorf("read the description of a model from the answer process: %w", err)
	}
	return d, nil
}

// Infer returns the outputs for the inputs.
func (c *Client) Infer(ctx context.Context, m Model, inputs []Tensor) ([]Tensor, error) {
	request, err := json.Marshal(map[string]any{"inputs": inputs})
	if err != nil {
		return nil, fmt.Errorf("encode the inputs of a model: %w", err)
	}
	body, err := c.Forward(ctx, m, request)
	if err != nil {
		return nil, err
	}
	var answer struct {
		Outputs []Tensor `json:"outputs"`
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		return nil, fmt.Errorf("read the outputs of a model from the answer process: %w", err)
	}
	return answer.Outputs, nil
}

// Forward sends an inference request of the protocol as it is, and returns the answer.
func (c *Client) Forward(ctx context.Context, m Model, request []byte) ([]byte, error) {
	return c.call(ctx, http.MethodPost, m.path("infer"), request)
}

// call asks the process. A process that has ended since the last question is started again, once: questions change nothing.
func (c *Client) call(ctx context.Context, method, path string, body []byte) ([]byte, error) {
	where, err := c.process.at(ctx, "")
	if err != nil {
		return nil, err
	}
	found, err := c.ask(ctx, where, method, path, body)
	if err == nil || !isGone(err) || ctx.Err() != nil {
		return found, err
	}
	if where, err = c.process.at(ctx, where.url); err != nil {
		return nil, err
	}
	return c.ask(ctx, where, method, path, body)
}

func (c *Client) ask(ctx context.Context, where place, method, path string, body []byte) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, method, where.url+path, bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("ask the answer process: %w", err)
	}
	if where.token != "" {
		req.Header.Set("Authorization", "Bearer "+where.token.Reveal())
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, fmt.Errorf("ask the answer process: %w", withoutURL(err))
	}
	defer func() { _ = resp.Body.Close() }()
	answer, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("read an answer of the answer process: %w", err)
	case len(answer) > maxAnswer:
		return nil, fmt.Errorf("an answer of the answer process has more than %d bytes", maxAnswer)
	case resp.StatusCode == http.StatusOK:
		return answer, nil
	}
	return nil, refused(resp.StatusCode, answer)
}

// refused turns an answer other than 200 into an error. The token is ours, so its refusal is no error of the sender.
func refused(status int, answer []byte) error {
	var said struct {
		Error string `json:"error"`
	}
	if json.Unmarshal(answer, &said) != nil || said.Error == "" || status == http.StatusUnauthorized || status < 400 || status > 500 {
		return fmt.Errorf("the answer process answered with HTTP status %d", status)
	}
	return &RefusedError{Status: status, Message: said.Error}
}

// isGone reports whether the process did not answer at all.
func isGone(err error) bool {
	var network net.Error
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.As(err, &network) && !network.Timeout()
}

// withoutURL removes the address from an error of the HTTP client: it says nothing to a visitor.
func withoutURL(err error) error {
	if e, ok := errors.AsType[*url.Error](err); ok {
		return e.Err
	}
	return err
}
