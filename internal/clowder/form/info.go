package form

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

// Info is extractor_info.json: the description of the extractor in Clowder, and its form. It is read once at the start and never
// changed; the With methods return copies.
type Info struct {
	// Name is the name that Clowder registers. It is also the name of the queue, unless the operator sets another one.
	Name string
	// Version is a PEP 440 version. Metadata must have the registered version exactly.
	Version     string
	Description string

	document ordered
	form     []field
}

// Parse reads extractor_info.json and checks it. A file that breaks one of the rules makes v1 or v2 drop heartbeats silently, start
// trainings without a user, or break the page with the form. The error lists all problems, one per line.
func Parse(data []byte) (*Info, error) {
	var document ordered
	if err := json.Unmarshal(data, &document); err != nil {
		return nil, fmt.Errorf("extractor_info.json: %w", err)
	}
	var faults []error
	report := func(format string, args ...any) { faults = append(faults, fmt.Errorf(format, args...)) }
	checkDocument(document, report)
	form := parseForm(document.get("parameters"), report)
	if len(faults) > 0 {
		return nil, fmt.Errorf("extractor_info.json: %w", errors.Join(faults...))
	}
	info := &Info{document: document, form: form}
	info.Name, _ = asText(document.get("name"))
	info.Version, _ = asText(document.get("version"))
	info.Description, _ = asText(document.get("description"))
	return info, nil
}

// heartbeat is pyclowder's message to the fanout exchange named extractors.
type heartbeat struct {
	ID            string  `json:"id"`
	Queue         string  `json:"queue"`
	Owner         string  `json:"owner"`
	ExtractorInfo ordered `json:"extractor_info"`
}

// Owner is the user of Clowder who alone sees a private extractor. The zero value is for an extractor that all users see.
type Owner struct {
	// Email is the address of the user.
	Email string
	// Key distinguishes the extractors of this owner from others with the same name.
	Key string
}

// Heartbeat returns the message that registers the extractor and keeps it online: Clowder v2 shows it as offline 300 s after the last
// one. instance identifies this process. v1, and v2 for an extractor without an owner, publish jobs to the name in extractor_info, so that
// name becomes the name of the queue. v2 names the extractor of an owner after its queue in any case.
func (i *Info) Heartbeat(queue string, owner Owner, instance string) []byte {
	// To encode texts and valid JSON cannot fail.
	body, _ := json.Marshal(heartbeat{ID: instance, Queue: queue, Owner: owner.Email, ExtractorInfo: i.registered(queue, owner)})
	return body
}

func (i *Info) registered(queue string, owner Owner) ordered {
	document := withLayout(withFolders(i.document))
	if queue != i.Name {
		name, _ := json.Marshal(queue)
		document = document.with("name", name)
	}
	if owner.Email != "" && owner.Key != "" { // without it, v1 shows the extractor to everybody
		key, _ := json.Marshal(owner.Key)
		document = document.with("unique_key", key)
	}
	return document
}

// RegisteredName returns the name that Clowder uses for an extractor with this queue. Metadata and statuses must have it.
func (i *Info) RegisteredName(queue string) string {
	if queue == "" {
		return i.Name
	}
	return queue
}

// Profile is the name of the parameter with which a user chooses the kind of machines.
const Profile = "profile"

// ForFiles returns a copy that the page of a file in Clowder v1 offers, too. v2 would start a job for each upload, so it must not get
// the copy.
func (i *Info) ForFiles() (*Info, error) {
	document, err := i.document.edit([]string{"process"}, "file", json.RawMessage(`["*"]`))
	if err != nil {
		return nil, fmt.Errorf("offer the extractor for files: %w", err)
	}
	out := *i
	out.document = document
	return &out, nil
}

// NewFiles is the name of the extractor to which Clowder announces the files that are added to datasets.
const NewFiles = "ncsa.ray.automatic"

// ForNewFiles returns a copy, called NewFiles, to which Clowder announces each file that is added to a dataset: v1 by its two kinds of
// events, v2 by the feed that it makes for an extractor with a list of file types; an empty list means all. Nobody submits anything to it,
// so it has no form, and the page of v1 does not offer it.
func (i *Info) ForNewFiles() *Info {
	out := *i
	out.Name = NewFiles
	out.Description = "Applies the best model of a dataset to files that are added to it, in datasets whose finetune.yaml has the line automatic: predict."
	// To encode a text cannot fail.
	name, _ := json.Marshal(out.Name)
	description, _ := json.Marshal(out.Description)
	out.document = i.document.with("name", name).with("description", description).with("categories", json.RawMessage(`["WORKFLOW"]`)).
		with("process", json.RawMessage(`{"dataset":["file.added","files.added"],"file":[]}`)).with("parameters", json.RawMessage(`{"schema":{}}`))
	return &out
}

// WithProfiles returns a copy whose form ends with a choice of the given kinds of machines, the default first. With fewer than two
// kinds there is no choice, and it returns i.
func (i *Info) WithProfiles(names []string) (*Info, error) {
	if len(names) < 2 {
		return i, nil
	}
	raw, err := json.Marshal(map[string]any{
		"type": "string", "title": "Machines", "enum": append([]string{"auto"}, names...), "default": "auto",
		"description": "Kind of machines for the job. auto uses " + names[0] + ", or the first kind with a GPU if GPU is yes.",
	})
	if err != nil {
		return nil, fmt.Errorf("add the choice of machines to the form: %w", err)
	}
	document, err := i.document.edit([]string{"parameters", "schema"}, Profile, raw)
	if err != nil {
		return nil, fmt.Errorf("add the choice of machines to the form: %w", err)
	}
	doc, err := json.Marshal(document)
	if err != nil {
		return nil, fmt.Errorf("add the choice of machines to the form: %w", err)
	}
	return Parse(doc)
}

// WithModels returns a copy whose parameter model offers the installed models, in the given order, after its own choices. The form
// preselects the first entry and ignores the default, so auto stays first. If model is not a choice, it returns i.
func (i *Info) WithModels(models []string) (*Info, error) {
	at := slices.IndexFunc(i.form, func(f field) bool { return f.Name == "model" && len(f.Enum) > 0 })
	if at < 0 {
		return i, nil
	}
	choices := slices.Clone(i.form[at].Enum)
	for _, model := range models {
		if !plainText(model) {
			return nil, fmt.Errorf("cannot offer model %q: its name has characters that break Clowder's form", model)
		}
		if !slices.Contains(choices, model) {
			choices = append(choices, model)
		}
	}
	enum, err := json.Marshal(choices)
	if err != nil {
		return nil, fmt.Errorf("add the installed models to the form: %w", err)
	}
	document, err := i.document.edit([]string{"parameters", "schema", "model"}, "enum", enum)
	if err != nil {
		return nil, fmt.Errorf("add the installed models to the form: %w", err)
	}
	out := *i
	out.document, out.form = document, slices.Clone(i.form)
	out.form[at].Enum = choices
	return &out, nil
}
