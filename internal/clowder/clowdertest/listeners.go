package clowdertest

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"
)

// aliveFor is how long a listener counts as alive after a heartbeat.
const aliveFor = 300 * time.Second

// handleHeartbeat is v2's heartbeat listener. An error means that the heartbeat is dropped silently.
func (s *Server) handleHeartbeat(body []byte) error {
	var in struct {
		Queue string         `json:"queue"`
		Owner string         `json:"owner"`
		Info  map[string]any `json:"extractor_info"`
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return err
	}
	if err := checkInfo(in.Info); err != nil {
		return err
	}
	name, _ := in.Info["name"].(string)
	if in.Owner != "" {
		name = in.Queue
	}
	version := "1.0"
	if v, ok := in.Info["version"]; ok {
		version = fmt.Sprint(v)
	}
	description, _ := in.Info["description"].(string)
	active, _ := in.Info["active"].(bool)
	s.state.mu.Lock()
	defer s.state.mu.Unlock()
	next := &listener{
		Name: name, Version: version, Description: description, ID: newID(), Created: now(), Modified: now(), LastAlive: now(),
		Alive: true, Active: active, Properties: in.Info, owner: in.Owner,
	}
	for _, known := range s.state.listeners {
		if known.Name != name || known.owner != in.Owner {
			continue
		}
		// The version is parsed from the second heartbeat on. After an invalid one the listener stays offline.
		if !pep440(version) || !pep440(known.Version) {
			return fmt.Errorf("version %q cannot be parsed", version)
		}
		next.ID, next.Created, next.Active = known.ID, known.Created, known.Active
	}
	s.state.listeners[next.ID] = next
	return nil
}

// pep440 is a simplified version grammar, which catches the usual mistakes.
func pep440(version string) bool {
	return regexp.MustCompile(`(?i)^v?\d+(\.\d+)*([-_.]?(a|b|c|rc|alpha|beta|pre|preview)[-_.]?\d*)?(-\d+|[-_.]?(post|rev|r)[-_.]?\d*)?([-_.]?dev\d*)?(\+[a-z0-9.]+)?$`).
		MatchString(version)
}

// checkInfo applies v2's types to extractor_info.
func checkInfo(info map[string]any) error {
	if info == nil {
		return errors.New("extractor_info is missing")
	}
	if _, ok := info["name"].(string); !ok {
		return errors.New("name is not a text")
	}
	for _, key := range []string{"properties", "id", "creator"} {
		if _, there := info[key]; there {
			return fmt.Errorf("%s is a field of the record", key)
		}
	}
	return errors.Join(checkInfoFields(info), checkInfoLists(info))
}

func checkInfoFields(info map[string]any) error {
	for _, key := range []string{"version", "description", "maturity"} {
		if v, there := info[key]; there && v == nil {
			return fmt.Errorf("%s is null", key)
		}
	}
	if v := info["author"]; v != nil && !isText(v) {
		return errors.New("author is not a text")
	}
	for _, key := range []string{"process", "parameters"} {
		if v := info[key]; v != nil && !isObject(v) {
			return fmt.Errorf("%s is not an object", key)
		}
	}
	return nil
}

func checkInfoLists(info map[string]any) error {
	for _, key := range []string{"contributors", "bibtex", "external_services", "libraries", "categories", "default_labels"} {
		if !listOf(info[key], isText) {
			return fmt.Errorf("%s is not a list of texts", key)
		}
	}
	if !listOf(info["repository"], isObject) {
		return errors.New("repository is not a list of objects")
	}
	if !listOf(info["contexts"], func(v any) bool {
		text, _ := v.(string)
		u, err := url.Parse(text)
		return isObject(v) || isText(v) && err == nil && u.IsAbs()
	}) {
		return errors.New("contexts is not a list of objects and URLs")
	}
	return nil
}

func isText(v any) bool   { _, ok := v.(string); return ok }
func isObject(v any) bool { _, ok := v.(map[string]any); return ok }

func listOf(v any, ok func(any) bool) bool {
	list, isList := v.([]any)
	return v == nil || isList && !slices.ContainsFunc(list, func(m any) bool { return !ok(m) })
}

func (s *Server) listListeners(_ http.ResponseWriter, r *http.Request, u user) (any, *refusal) {
	query := r.URL.Query()
	s.state.mu.Lock()
	defer s.state.mu.Unlock()
	rows := []listener{}
	for _, l := range s.state.listeners {
		row := *l
		row.Alive = time.Since(time.Time(l.LastAlive)) < aliveFor
		hidden := !row.Active && query.Get("all") != "true" && (!u.Admin || query.Get("enable_admin") != "true")
		private := l.owner != "" && l.owner != u.Email && !u.Admin
		if !hidden && !private && runsOn(l.Properties, query.Get("process")) {
			rows = append(rows, row)
		}
	}
	slices.SortFunc(rows, func(a, b listener) int { return strings.Compare(a.Name, b.Name) })
	return paged(r, rows, 2)
}

// runsOn is the filter of the submit pages: the key must be there, or process must be empty.
func runsOn(properties map[string]any, kind string) bool {
	process, _ := properties["process"].(map[string]any)
	_, there := process[kind]
	return kind == "" || there || process != nil && len(process) == 0
}

func (s *Server) enableListener(_ http.ResponseWriter, r *http.Request, u user) (any, *refusal) {
	s.state.mu.Lock()
	defer s.state.mu.Unlock()
	l := s.state.listeners[r.PathValue("id")]
	switch {
	case !u.Admin:
		return nil, refuse(http.StatusForbidden, "User %s doesn't have permission to edit listener %s", u.Email, r.PathValue("id"))
	case l == nil:
		return nil, refuse(http.StatusNotFound, "listener %s not found", r.PathValue("id"))
	}
	l.Active = true
	return *l, nil
}
