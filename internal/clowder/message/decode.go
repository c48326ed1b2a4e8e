package message

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/ncsa/clowder-ray/internal/clowder/jsonscan"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/text"
)

// Properties is what the broker knows about a message beside its body.
type Properties struct {
	// ReplyTo and CorrelationID are the message properties of the same name.
	ReplyTo       string
	CorrelationID string
	// APIVersion overrides the version that the body shows: 1 or 2; 0 looks at the body.
	APIVersion int
	// Received is when the delivery came.
	Received time.Time
}

// jobIDForm admits what Clowder gives out as job ids and what people type when they publish by hand; a job id is only
// echoed in statuses and used as a key, the client checks it again before it enters a path.
var jobIDForm = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$`)

// keyForm admits what may stand in a request header.
var keyForm = regexp.MustCompile(`^[\x21-\x7e]+$`)

// maxKey is the longest key that is put into a header; v2's are about 100 characters.
const maxKey = 4096

// maxHost is the longest host that is kept, in bytes: that of an address in a browser.
const maxHost = 2048

// maxProperty is the longest property that AMQP has, in bytes.
const maxProperty = 255

// property returns a message property; one that no message can have counts as none, since a part of it means something else.
func property(value string) string {
	if len(value) > maxProperty {
		return ""
	}
	return value
}

// Decode reads an extraction message of Clowder v1 or v2 as tolerantly as both write it, and never panics.
//
// Errors are permanent and their text tells what is wrong with the message. Whatever could be read comes back beside the
// error, in any case Key, BodyHash, ReplyTo and CorrelationID, so that an error status can be sent where JobID is known.
//
// It takes memory of about twice the body and a constant, whatever the body holds. What it returns is bounded, too: texts of
// the message by maxText or less, parameters by maxParameters.
func Decode(body []byte, p Properties) (job.Request, job.Secret, error) {
	req := job.Request{
		APIVersion: p.APIVersion, Kind: job.Dataset,
		ReplyTo: property(p.ReplyTo), CorrelationID: property(p.CorrelationID), Received: p.Received.UTC(),
	}
	f, err := parseObject(body)
	if err != nil {
		sum := sha256.Sum256(body)
		req.BodyHash = hex.EncodeToString(sum[:])
		req.Key = req.BodyHash
		return req, "", job.Permanent(fmt.Errorf("the extraction message %w", err))
	}
	key := job.Secret(f.text("secretKey"))
	fill(&req, f)
	if f.fault == nil && (len(key) > maxKey || !keyForm.MatchString(key.Reveal())) {
		f.failf("it carries no usable key, so nothing can be read from Clowder")
	}
	if f.fault != nil {
		return req, key, job.Permanent(fmt.Errorf("the extraction message cannot be used: %w", f.fault))
	}
	return req, key, nil
}

// fill puts the parts of the message into req in the order in which later parts need earlier ones.
func fill(req *job.Request, f *fields) {
	req.BodyHash = bodyHash(f.object)
	req.Key = req.BodyHash
	if id := f.text(jobIDNames...); id != "" {
		if jobIDForm.MatchString(id) {
			req.JobID, req.Key = id, id
		} else {
			f.failf("its job id %q has characters that no job id has", text.Excerpt(id, 40))
		}
	}
	if req.APIVersion == 0 {
		req.APIVersion = apiVersion(f)
	}
	req.Host = strings.TrimRight(f.text("host"), "/")
	switch {
	case req.Host == "":
		f.failf("it names no host, so it is not known which Clowder sent it")
	case len(req.Host) > maxHost:
		f.failf("it names a host of %d characters, at most %d are read", len(req.Host), maxHost)
		req.Host = ""
	}
	fillResource(req, f)
	req.Name = text.Excerpt(f.text("datasetName", "datasetname", "filename"), 255)
	var err error
	if req.Parameters, err = parameters(f.object["parameters"]); err != nil {
		f.failf("its parameters %w", err)
	}
	req.RetryCount = f.count("retry_count")
	req.Notifies = f.addresses("notifies")
}

// fillResource decides what was submitted. It goes by resource_type and by exact parts of v1's routing key. pyclowder
// guesses from any "dataset" in the queue name instead, which makes a dataset of every file where the queue is named so.
func fillResource(req *job.Request, f *fields) {
	id, dataset := f.text("id"), f.text("datasetId")
	kind := f.text("resource_type")
	if kind == "" {
		kind = kindByRoutingKey(f.text("routing_key"))
	}
	if kind == "" && (dataset == "" || dataset != id) && !f.has("datasetname", "datasetName") {
		kind = string(job.File)
	}
	switch kind {
	case "", string(job.Dataset):
		req.Kind = job.Dataset
		if dataset == "" {
			dataset = id
		}
		id = dataset
	case string(job.File):
		req.Kind = job.File
	default:
		f.failf("it is about a %s; this extractor works on datasets", text.Excerpt(kind, 40))
	}
	if !ValidID(id) {
		f.failf("its %s id %q is not an id that Clowder gives out", req.Kind, text.Excerpt(id, 60))
		return
	}
	req.ResourceID = id
	if dataset != "" && !ValidID(dataset) {
		f.failf("its dataset id %q is not an id that Clowder gives out", text.Excerpt(dataset, 60))
		return
	}
	req.DatasetID = dataset
}

// kindByRoutingKey reads v1's <exchange>.<kind>.…; a manual submission has extractors.<queue> there, which tells nothing.
func kindByRoutingKey(key string) string {
	_, rest, _ := strings.Cut(key, ".")
	kind, _, more := strings.Cut(rest, ".")
	if !more || strings.HasPrefix(key, "extractors.") {
		return ""
	}
	switch kind {
	case string(job.Dataset), string(job.File), "metadata":
		return kind
	default:
		return ""
	}
}

func apiVersion(f *fields) int {
	switch {
	case strings.HasPrefix(f.text("clowderVersion"), "1"):
		return 1
	case f.has("clowderVersion", "resource_type", "job_id"):
		return 2
	case f.has("jobid", "msgid", "intermediateId"):
		return 1
	default:
		return 2
	}
}

const (
	// maxParameters is how long the parameters of a message may be, in bytes as they are written. The fields of the longest form,
	// filled to their limits, take less.
	maxParameters = 64 << 10
	// maxParameterDepth is how deep they may be nested, and maxParameterValues how many values they may hold, those inside of
	// others among them. A form has groups of fields and no more than that.
	maxParameterDepth  = 8
	maxParameterValues = 500
)

// parameters returns the object that v2 sends as such and v1 sends as text, sometimes encoded twice. Nothing is nil.
func parameters(raw json.RawMessage) (map[string]any, error) {
	for range 3 {
		if len(raw) > maxParameters {
			return nil, fmt.Errorf("have %d bytes, at most %d are read: shorten them, then submit again", len(raw), maxParameters)
		}
		switch {
		case raw == nil || raw[0] == 'n':
			return nil, nil
		case raw[0] == '{':
			return parameterObject(raw)
		case raw[0] != '"':
			return nil, fmt.Errorf("are %s and not an object", jsonscan.Kind(raw))
		}
		var text string
		_ = json.Unmarshal(raw, &text) // it was checked before
		if strings.TrimSpace(text) == "" {
			return nil, nil
		}
		var err error
		if raw, err = jsonscan.Document([]byte(text)); err != nil {
			return nil, fmt.Errorf("are a text that %w", err)
		}
	}
	return nil, errors.New("are a text inside a text inside a text")
}

func parameterObject(raw json.RawMessage) (map[string]any, error) {
	depth, values := jsonscan.Measure(raw)
	if depth > maxParameterDepth {
		return nil, fmt.Errorf("are nested %d levels deep, at most %d are read: send the fields of the form, then submit again", depth, maxParameterDepth)
	}
	if values > maxParameterValues {
		return nil, fmt.Errorf("hold about %d values, at most %d are read: send the fields of the form, then submit again", values, maxParameterValues)
	}
	object, _ := jsonscan.Decode(raw).(map[string]any)
	return object, nil
}
