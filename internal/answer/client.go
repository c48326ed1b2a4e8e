package answer

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/ncsa/clowder-ray/internal/sidecar"
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
	// Kind is text, tokens, image or table.
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
var ErrNotSetUp = sidecar.ErrNotSetUp

// RefusedError is what the process says about a request that it does not answer, as a sentence for its sender.
type RefusedError struct {
	// Status is the HTTP status of the answer, 400 to 499, or 500 for damaged files.
	Status  int
	Message string
}

func (e *RefusedError) Error() string { return e.Message }

// Client asks a process. It is safe for concurrent use.
type Client struct {
	process sidecar.Process
	http    *http.Client
}

const (
	// callTimeout is the longest wait for an answer, with the reading of a model that is not in memory.
	callTimeout = 60 * time.Second
	// maxConnections is fewer than the process serves at once.
	maxConnections = 16
	// MaxRequest is the largest request in bytes: an image of 10 MB in base64.
	MaxRequest = 16 << 20
	// maxAnswer is the largest answer in bytes: masks of 4 million pixels of 16 bits in base64, with drawings of them.
	maxAnswer = 16 << 20
)

// NewClient returns a client of the process. Close ends both.
func NewClient(process sidecar.Process) *Client {
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
	body, _, err := c.call(ctx, http.MethodGet, m.path(""), nil)
	if err != nil {
		return Description{}, err
	}
	var d Description
	if err := json.Unmarshal(body, &d); err != nil {
		return Description{}, fmt.Errorf("read the description of a model from the answer process: %w", err)
	}
	return d, nil
}

// Answer is what a model answered.
type Answer struct {
	Outputs []Tensor
	// Woken says that the process was not running, so that the answer took longer.
	Woken bool
}

// Infer returns the outputs for the inputs.
func (c *Client) Infer(ctx context.Context, m Model, inputs []Tensor) (Answer, error) {
	request, err := json.Marshal(map[string]any{"inputs": inputs})
	if err != nil {
		return Answer{}, fmt.Errorf("encode the inputs of a model: %w", err)
	}
	body, woken, err := c.call(ctx, http.MethodPost, m.path("infer"), request)
	if err != nil {
		return Answer{}, err
	}
	found := Answer{Woken: woken}
	if err := json.Unmarshal(body, &found); err != nil {
		return Answer{}, fmt.Errorf("read the outputs of a model from the answer process: %w", err)
	}
	return found, nil
}

// Forward sends an inference request of the protocol as it is, and returns the answer.
func (c *Client) Forward(ctx context.Context, m Model, request []byte) ([]byte, error) {
	body, _, err := c.call(ctx, http.MethodPost, m.path("infer"), request)
	return body, err
}

// call asks the process. A process that has ended since the last question is started again, once: questions change nothing.
func (c *Client) call(ctx context.Context, method, path string, body []byte) (answer []byte, woken bool, err error) {
	where, err := c.process.At(ctx, "")
	if err != nil {
		return nil, false, err
	}
	found, err := c.ask(ctx, where, method, path, body)
	if err == nil || !sidecar.IsGone(err) || ctx.Err() != nil {
		return found, where.Woken, err
	}
	if where, err = c.process.At(ctx, where.URL); err != nil {
		return nil, false, err
	}
	found, err = c.ask(ctx, where, method, path, body)
	return found, true, err
}

func (c *Client) ask(ctx context.Context, where sidecar.Endpoint, method, path string, body []byte) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, method, where.URL+path, bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("ask the answer process: %w", err)
	}
	if where.Token != "" {
		req.Header.Set("Authorization", "Bearer "+where.Token.Reveal())
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, fmt.Errorf("ask the answer process: %w", sidecar.WithoutURL(err))
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
