package form

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

// Info is extractor_info.json: what Clowder shows of the extractor and the form that it draws. It is read once at start
// and never changed; With… methods return copies.
type Info struct {
	// Name is what Clowder registers, also the name of the queue unless the operator renames it.
	Name string
	// Version is a PEP 440 version. Metadata must carry it exactly as registered.
	Version     string
	Description string

	document ordered
	form     []field
}

// Parse reads extractor_info.json and checks it by every rule whose breach makes v1 or v2 drop a heartbeat without a
// word, start trainings by itself, or break the page that draws the form. The error lists all faults, one per line.
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

// heartbeat is pyclowder's message to the fanout exchange extractors.
type heartbeat struct {
	ID            string  `json:"id"`
	Queue         string  `json:"queue"`
	Owner         string  `json:"owner"`
	ExtractorInfo ordered `json:"extractor_info"`
}

// Heartbeat returns the message that registers the extractor and keeps it alive; Clowder v2 calls it offline 300 s after
// the last one. instance identifies this process. With an owner (an e-mail address) the extractor is private and v2 names
// it by its queue. Without one v2 publishes jobs to the name in extractor_info, so the queue becomes that name.
func (i *Info) Heartbeat(queue, owner, instance string) []byte {
	// Texts and checked JSON cannot fail to encode.
	body, _ := json.Marshal(heartbeat{ID: instance, Queue: queue, Owner: owner, ExtractorInfo: i.registered(queue, owner)})
	return body
}

func (i *Info) registered(queue, owner string) ordered {
	if owner != "" || queue == i.Name {
		return i.document
	}
	name, _ := json.Marshal(queue)
	return i.document.with("name", name)
}

// RegisteredName returns the name under which Clowder v2 knows an extractor that announces itself with this queue. Metadata
// and statuses must carry it.
func (i *Info) RegisteredName(queue string) string {
	if queue == "" {
		return i.Name
	}
	return queue
}

// Profile is the parameter by which a user chooses the kind of machines.
const Profile = "profile"

// WithProfiles returns a copy whose form ends with a choice of the given kinds of machines, the default first. Where there is
// nothing to choose it stays as it is.
func (i *Info) WithProfiles(names []string) (*Info, error) {
	if len(names) < 2 {
		return i, nil
	}
	raw, err := json.Marshal(map[string]any{
		"type": "string", "title": "Machines", "enum": append([]string{"auto"}, names...), "default": "auto",
		"description": "Kind of machines for the job. auto takes " + names[0] + ", or the first with a GPU where GPU is yes.",
	})
	if err != nil {
		return nil, fmt.Errorf("write the choice of machines: %w", err)
	}
	document, err := i.document.edit([]string{"parameters", "schema"}, Profile, raw)
	if err != nil {
		return nil, fmt.Errorf("write the choice of machines: %w", err)
	}
	doc, err := json.Marshal(document)
	if err != nil {
		return nil, fmt.Errorf("write the choice of machines: %w", err)
	}
	return Parse(doc)
}

// WithModels returns a copy whose parameter model offers the installed models, in the given order, behind the choices that it
// has anyway. The form shows the first entry whatever the default says, so auto stays first. A form whose model is no choice
// stays as it is.
func (i *Info) WithModels(models []string) (*Info, error) {
	at := slices.IndexFunc(i.form, func(f field) bool { return f.Name == "model" && len(f.Enum) > 0 })
	if at < 0 {
		return i, nil
	}
	choices := slices.Clone(i.form[at].Enum)
	for _, model := range models {
		if !plainText(model) {
			return nil, fmt.Errorf("model %q cannot be offered: its name has characters that break Clowder's form", model)
		}
		if !slices.Contains(choices, model) {
			choices = append(choices, model)
		}
	}
	enum, err := json.Marshal(choices)
	if err != nil {
		return nil, fmt.Errorf("write the choices of model: %w", err)
	}
	document, err := i.document.edit([]string{"parameters", "schema", "model"}, "enum", enum)
	if err != nil {
		return nil, fmt.Errorf("write the choices of model: %w", err)
	}
	out := *i
	out.document, out.form = document, slices.Clone(i.form)
	out.form[at].Enum = choices
	return &out, nil
}
