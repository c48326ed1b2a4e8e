package form

import (
	"encoding/json"
	"regexp"
	"strings"
)

// faultFunc takes one fault of extractor_info.json.
type faultFunc func(format string, args ...any)

var (
	// infoName keeps the name usable as a queue, a routing key and a part of a URL.
	infoName = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{0,199}$`)
	// pep440 is the version grammar of packaging.version. v2 parses the version from the second heartbeat on: a version that
	// it cannot parse registers once and is then offline for ever.
	pep440 = regexp.MustCompile(`(?i)^v?(\d+!)?\d+(\.\d+)*([-_.]?(alpha|beta|preview|pre|a|b|c|rc)[-_.]?\d*)?` +
		`(-\d+|[-_.]?(post|rev|r)[-_.]?\d*)?([-_.]?dev[-_.]?\d*)?(\+[a-z0-9]+([-_.][a-z0-9]+)*)?$`)
)

// checkDocument applies the rules for everything but the form.
func checkDocument(document ordered, report faultFunc) {
	for _, key := range []string{"name", "version", "description", "author"} {
		if text, ok := asText(document.get(key)); !ok || strings.TrimSpace(text) == "" {
			report("%s must be a text that is not empty: v1 ignores the extractor without it", key)
		}
	}
	checkInfoName(document, report)
	if version, ok := asText(document.get("version")); ok && !pep440.MatchString(version) {
		report("version %q is not one that Python's packaging reads (PEP 440), for example 1.2.3 or 1.2.3+abc", version)
	}
	if raw := document.get("maturity"); raw != nil {
		if _, ok := asText(raw); !ok {
			report("maturity must be a text")
		}
	}
	for _, key := range []string{"contributors", "bibtex", "external_services", "libraries", "categories", "default_labels", "labels"} {
		if raw := document.get(key); raw != nil && !asListOf(raw, func(m json.RawMessage) bool { _, ok := asText(m); return ok }) {
			report("%s must be a list of texts", key)
		}
	}
	checkContexts(document, report)
	checkRepository(document, report)
	checkProcess(document, report)
	for _, key := range []string{"properties", "id", "creator", "created", "modified", "lastAlive", "alive", "access"} {
		if document.get(key) != nil {
			report("%s must not be there: v2 takes it for a field of its own record and drops the heartbeat", key)
		}
	}
	if raw := document.get("active"); raw != nil && string(raw) != "true" && string(raw) != "false" {
		report("active must be true or false")
	}
}

func checkInfoName(document ordered, report faultFunc) {
	name, ok := asText(document.get("name"))
	if !ok || name == "" {
		return
	}
	if !infoName.MatchString(name) {
		report("name %q must be lower case letters, digits, dots, dashes and underscores", name)
	}
	if strings.Contains(name+".", ".file.") || strings.Contains(name+".", ".dataset.") {
		report("name %q must not hold .file. or .dataset.: pyclowder's tools take that for the kind of the resource", name)
	}
}

// checkContexts keeps v1's admin page alive, which reads every context as a map of texts; v2 would take URLs too.
func checkContexts(document ordered, report faultFunc) {
	if !asListOf(document.get("contexts"), func(m json.RawMessage) bool {
		var context map[string]string
		return json.Unmarshal(m, &context) == nil && context != nil
	}) {
		report("contexts must be a list of objects whose values are texts")
	}
}

func checkRepository(document ordered, report faultFunc) {
	if !asListOf(document.get("repository"), func(m json.RawMessage) bool {
		var object ordered
		if json.Unmarshal(m, &object) != nil {
			return false
		}
		for _, key := range []string{"repType", "repUrl", "repository_type", "repository_url"} {
			if _, ok := asText(object.get(key)); !ok {
				return false
			}
		}
		return true
	}) {
		report("repository must be a list of objects with repType and repUrl (v1 needs them) and repository_type and repository_url (v2 shows them)")
	}
}

// checkProcess keeps trainings from starting by themselves: any file key, even an empty one, makes v2 create a feed that
// submits every upload, our own results included. v1 triggers on entries of exactly two tokens such as file.added or *.*.
func checkProcess(document ordered, report faultFunc) {
	var process map[string][]string
	if json.Unmarshal(document.get("process"), &process) != nil || process == nil {
		report(`process must be an object of lists of texts, for example {"dataset": ["*"]}`)
		return
	}
	if len(process["dataset"]) == 0 {
		report(`process needs the key dataset with a list that is not empty, or no submit page offers the extractor`)
	}
	if _, ok := process["file"]; ok {
		report("process must not have the key file: v2 would start a training for every upload")
	}
	for _, entry := range process["dataset"] {
		parts := strings.FieldsFunc(entry, func(r rune) bool { return r == '.' || r == '/' })
		if len(parts) == 2 && entry != "manual.submission" {
			report("process.dataset must not hold %q: v1 would start a training for every such event", entry)
		}
	}
}

// asText reports whether raw is a JSON text and returns it.
func asText(raw json.RawMessage) (string, bool) {
	var text *string
	if raw == nil || json.Unmarshal(raw, &text) != nil || text == nil {
		return "", false
	}
	return *text, true
}

// asListOf reports whether raw is a JSON list all of whose members pass ok.
func asListOf(raw json.RawMessage, ok func(json.RawMessage) bool) bool {
	var list []json.RawMessage
	if raw == nil || json.Unmarshal(raw, &list) != nil || list == nil {
		return false
	}
	for _, m := range list {
		if !ok(m) {
			return false
		}
	}
	return true
}
