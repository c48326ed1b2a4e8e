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

// Properties is what the broker knows of a message, apart from its body.
type Properties struct {
	// ReplyTo and CorrelationID are the message properties of the same name.
	ReplyTo       string
	CorrelationID string
	// APIVersion, 1 or 2, overrides the version that the body shows. 0 detects the version from the body.
	APIVersion int
	// Received is when the delivery arrived.
	Received time.Time
}

// jobIDForm matches the job ids of Clowder, and ids that people type when they publish by hand. A job id is only used in statuses and
// as a key. The client checks it again before it enters a path.
var jobIDForm = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$`)

// keyForm matches keys that a request header may contain.
var keyForm = regexp.MustCompile(`^[\x21-\x7e]+$`)

// maxKey is the length of the longest key that is used. Keys of v2 have about 100 characters.
const maxKey = 4096

// maxHost is the length in bytes of the longest host that is kept. Browsers have the same limit for an address.
const maxHost = 2048

// maxProperty is the length in bytes of the longest property in AMQP.
const maxProperty = 255

// property returns a message property. One that is too long counts as missing, since a part of it would mean something else.
func property(value string) string {
	if len(value) > maxProperty {
		return ""
	}
	return value
}

// ErrEvent is the error about a message of Clowder v1 that nobody asked for: v1 sends one for each file or metadata entry that is added
// or removed, if an administrator has enabled an extractor for such events. The request has the id that a status needs, and Announced if files were
// added to a dataset.
var ErrEvent = errors.New("a change in Clowder starts no job: submit the dataset or the file to start one")

// Decode reads an extraction message of Clowder v1 or v2. It accepts all their variants, and never panics.
//
// Errors are permanent, and their text says what is wrong with the message. All fields that could be read are returned with the error:
// Key, BodyHash, ReplyTo and CorrelationID always, so that an error status can be sent if JobID is known.
//
// It takes at most about twice the memory of the body and a constant. The result is limited, too: texts of the message by maxText or
// less, parameters by maxParameters.
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
	if req.APIVersion == 1 && f.text("action") != submission {
		if req = eventOf(req, f); len(req.Announced) == 0 || f.fault != nil || !validKey(key) {
			req.Announced = nil
		}
		return req, key, job.Permanent(ErrEvent)
	}
	if f.fault == nil && !validKey(key) {
		f.failf("it has no valid API key, so nothing can be read from Clowder")
	}
	if f.fault != nil {
		return req, key, job.Permanent(fmt.Errorf("the extraction message cannot be used: %w", f.fault))
	}
	return req, key, nil
}

func validKey(key job.Secret) bool { return len(key) <= maxKey && keyForm.MatchString(key.Reveal()) }

// submission is the action of a message of v1 that a person has asked for. All its other messages are events.
const submission = "manual-submission"

// eventOf completes the request of an event: v1 shows its statuses on the page of the resource in id, which is not always the dataset.
func eventOf(req job.Request, f *fields) job.Request {
	req.ResourceID, req.Parameters = "", nil
	if id := f.text("id"); ValidID(id) {
		req.ResourceID = id
	}
	req.Announced = announced(req, f)
	return req
}

// announced returns the files that an event says were added to a dataset. For several files v1 tells their names alone, in the notation of
// Scala. Names with a comma and a blank are not told apart; each file is announced by an event of its own as well.
func announced(req job.Request, f *fields) []job.Announced {
	key := f.text("routing_key")
	switch {
	case !ValidID(f.text("datasetId")) || !ValidID(req.ResourceID):
		return nil
	case strings.HasSuffix(key, ".dataset.file.added"):
		return []job.Announced{{File: req.ResourceID, JobID: req.JobID}}
	case strings.HasSuffix(key, ".dataset.files.added"):
		list, found := strings.CutPrefix(f.text("filenames"), "List(")
		list, closed := strings.CutSuffix(list, ")")
		if !found || !closed {
			return nil
		}
		var all []job.Announced
		for name := range strings.SplitSeq(list, ", ") {
			if name != "" && len(name) <= maxFieldName && len(all) < maxAnnounced {
				all = append(all, job.Announced{Name: name, JobID: req.JobID})
			}
		}
		return all
	default:
		return nil
	}
}

// maxAnnounced limits the names that are read from one event.
const maxAnnounced = 1000

// fill copies the fields of the message into req, in the order in which later fields need earlier ones.
func fill(req *job.Request, f *fields) {
	req.BodyHash = bodyHash(f.object)
	req.Key = req.BodyHash
	if id := f.text(jobIDNames...); id != "" {
		if jobIDForm.MatchString(id) {
			req.JobID, req.Key = id, id
		} else {
			f.failf("its job id %q has invalid characters", text.Excerpt(id, 40))
		}
	}
	if req.APIVersion == 0 {
		req.APIVersion = apiVersion(f)
	}
	req.Host = strings.TrimRight(f.text("host"), "/")
	switch {
	case req.Host == "":
		f.failf("it has no host, so its Clowder is not known")
	case len(req.Host) > maxHost:
		f.failf("its host has %d characters, the limit is %d", len(req.Host), maxHost)
		req.Host = ""
	}
	fillResource(req, f)
	req.Name = text.Excerpt(f.text("datasetName", "datasetname", "filename"), 255)
	var err error
	if req.Parameters, err = parameters(f.object["parameters"]); err != nil {
		f.failf("its parameters %w", err)
	}
	req.NoParameters = err == nil && req.Parameters == nil
	req.RetryCount = f.count("retry_count")
	req.Notifies = f.addresses("notifies")
}

// fillResource decides what was submitted, by resource_type and by exact parts of v1's routing key. pyclowder searches the queue name
// for "dataset" instead, so that with such a name each file counts as a dataset.
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
		f.failf("it is about a %s, and this extractor works on datasets", text.Excerpt(kind, 40))
	}
	if !ValidID(id) {
		f.failf("its %s id %q is not a valid Clowder id", req.Kind, text.Excerpt(id, 60))
		return
	}
	req.ResourceID = id
	if dataset != "" && !ValidID(dataset) {
		f.failf("its dataset id %q is not a valid Clowder id", text.Excerpt(dataset, 60))
		return
	}
	req.DatasetID = dataset
}

// kindByRoutingKey returns the kind in v1's routing key <exchange>.<kind>.…. A manual submission has extractors.<queue>, without a
// kind.
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
	// maxParameters limits the parameters of a message, in bytes of JSON. The longest form with all fields at their limits needs less.
	maxParameters = 64 << 10
	// maxParameterDepth limits how deep they are nested, and maxParameterValues the number of their values, nested ones included. A form
	// has one level of groups.
	maxParameterDepth  = 8
	maxParameterValues = 500
)

// parameters returns the object, which v2 sends as an object and v1 as text, sometimes encoded twice. No parameters are nil.
func parameters(raw json.RawMessage) (map[string]any, error) {
	for range 3 {
		if len(raw) > maxParameters {
			return nil, fmt.Errorf("have %d bytes, the limit is %d: shorten them, then submit again", len(raw), maxParameters)
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
	return nil, errors.New("are encoded as text more than twice")
}

func parameterObject(raw json.RawMessage) (map[string]any, error) {
	depth, values := jsonscan.Measure(raw)
	if depth > maxParameterDepth {
		return nil, fmt.Errorf("are nested %d levels deep, the limit is %d: send only the fields of the form, then submit again", depth, maxParameterDepth)
	}
	if values > maxParameterValues {
		return nil, fmt.Errorf("have about %d values, the limit is %d: send only the fields of the form, then submit again", values, maxParameterValues)
	}
	object, _ := jsonscan.Decode(raw).(map[string]any)
	return object, nil
}
