package form

import (
	"encoding/json"
	"regexp"
	"strings"
)

// reportFunc receives one problem of extractor_info.json.
type reportFunc func(format string, args ...any)

var (
	// infoName matches names that can be a queue, a routing key and a part of a URL.
	infoName = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{0,199}$`)
	// pep440 is the version grammar of packaging.version. v2 parses the version from the second heartbeat on: an extractor with an invalid
	// version registers once and then stays offline.
	pep440 = regexp.MustCompile(`(?i)^v?(\d+!)?\d+(\.\d+)*([-_.]?(alpha|beta|preview|pre|a|b|c|rc)[-_.]?\d*)?` +
		`(-\d+|[-_.]?(post|rev|r)[-_.]?\d*)?([-_.]?dev[-_.]?\d*)?(\+[a-z0-9]+([-_.][a-z0-9]+)*)?$`)
)

// checkDocument applies the rules for everything but the form.
func checkDocument(document ordered, report reportFunc) {
	checkTexts(document, report)
	checkInfoName(document, report)
	checkLists(document, report)
	checkContexts(document, report)
	checkRepository(document, report)
	checkProcess(document, report)
	for _, key := range []string{"permissions", "unique_key"} {
		if document.get(key) != nil {
			report("remove %s: v1 drops the heartbeat or hides the extractor; EXTRACTOR_KEY and CLOWDER_EMAIL make it private", key)
		}
	}
	for _, key := range []string{"properties", "id", "creator", "created", "modified", "lastAlive", "alive", "access"} {
		if document.get(key) != nil {
			report("remove %s: v2 reads it as a field of its own record and drops the heartbeat", key)
		}
	}
	if raw := document.get("active"); raw != nil && string(raw) != "true" && string(raw) != "false" {
		report("active must be true or false")
	}
}

func checkTexts(document ordered, report reportFunc) {
	for _, key := range []string{"name", "version", "description", "author"} {
		if text, _ := asText(document.get(key)); strings.TrimSpace(text) == "" {
			report("%s must be a non-empty text: v1 ignores the extractor without it", key)
		}
	}
	if version, ok := asText(document.get("version")); ok && !pep440.MatchString(version) {
		report("version %q must follow PEP 440, for example 1.2.3 or 1.2.3+abc", version)
	}
	if raw := document.get("maturity"); raw != nil && !isText(raw) {
		report("maturity must be a text")
	}
}

func checkLists(document ordered, report reportFunc) {
	for _, key := range []string{"contributors", "bibtex", "external_services", "libraries", "categories", "default_labels", "labels"} {
		if raw := document.get(key); raw != nil && !asListOf(raw, isText) {
			report("%s must be a list of texts", key)
		}
	}
}

func checkInfoName(document ordered, report reportFunc) {
	name, ok := asText(document.get("name"))
	if !ok || name == "" {
		return
	}
	if !infoName.MatchString(name) {
		report("name %q may only have lower case letters, digits, dots, dashes and underscores", name)
	}
	if strings.Contains(name+".", ".file.") || strings.Contains(name+".", ".dataset.") {
		report("name %q must not contain .file. or .dataset.: pyclowder's tools read that as the kind of the resource", name)
	}
}

// checkContexts checks what v1's admin page needs: it reads each context as a map of texts. v2 would accept URLs too.
func checkContexts(document ordered, report reportFunc) {
	if !asListOf(document.get("contexts"), func(m json.RawMessage) bool {
		var context map[string]string
		return json.Unmarshal(m, &context) == nil && context != nil
	}) {
		report("contexts must be a list of objects whose values are texts")
	}
}

func checkRepository(document ordered, report reportFunc) {
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
		report("repository must be a list of objects with repType and repUrl, which v1 needs, and repository_type and repository_url, which v2 shows")
	}
}

// checkProcess prevents trainings without a user: with a file key, even an empty one, v2 creates a feed that submits each upload,
// including the results of this extractor. v1 triggers on entries of exactly two tokens such as file.added or *.*, and for metadata
// nothing keeps that of this extractor from starting it again.
func checkProcess(document ordered, report reportFunc) {
	var process map[string][]string
	if json.Unmarshal(document.get("process"), &process) != nil || process == nil {
		report(`process must be an object of lists of texts, for example {"dataset": ["*"]}`)
		return
	}
	if len(process["dataset"]) == 0 {
		report(`process needs the key dataset with a non-empty list: without it no submit page offers the extractor`)
	}
	if _, ok := process["file"]; ok {
		report("process must not have the key file: v2 would start a training for each upload")
	}
	if _, ok := process["metadata"]; ok {
		report("process must not have the key metadata: v1 would start a training for each metadata entry, including those of its results")
	}
	for _, entry := range process["dataset"] {
		parts := strings.FieldsFunc(entry, func(r rune) bool { return r == '.' || r == '/' })
		if len(parts) == 2 && entry != "manual.submission" {
			report("process.dataset must not contain %q: v1 would start a training for each such event", entry)
		}
	}
}

// asText returns raw as a text, or false if it is not one.
func asText(raw json.RawMessage) (string, bool) {
	var text *string
	if raw == nil || json.Unmarshal(raw, &text) != nil || text == nil {
		return "", false
	}
	return *text, true
}

func isText(raw json.RawMessage) bool {
	_, ok := asText(raw)
	return ok
}

// asListOf reports whether raw is a JSON list and ok is true for all its members.
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
