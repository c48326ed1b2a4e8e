package v1

import (
	"bytes"
	"context"
	"encoding/json"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/ncsa/clowder-ray/internal/clowder"
	"github.com/ncsa/clowder-ray/internal/clowder/jsonscan"
	"github.com/ncsa/clowder-ray/internal/text"
)

// agent is the author of an entry as v1 sends and takes it. ExtractorID must be an address; its end names the extractor and its version.
type agent struct {
	Type        string `json:"@type"`
	Name        string `json:"name"`
	Version     string `json:"version,omitempty"`
	ExtractorID string `json:"extractor_id"`
	// UserID is the address of the person who wrote the entry, empty for an extractor.
	UserID string `json:"user_id,omitempty"`
}

// extractorPath stands before the name of an extractor in the address that identifies it.
const extractorPath = "/extractors/"

// extractor returns the name and the version in the address of an agent.
func (a agent) extractor() (name, version string) {
	_, after, _ := strings.Cut(a.ExtractorID, extractorPath)
	name, version, _ = strings.Cut(after, "/")
	return name, version
}

// entryRow is one entry. The context is a text, an object or a list, or is missing.
type entryRow struct {
	ID      string          `json:"id"`
	Content map[string]any  `json:"content"`
	Context json.RawMessage `json:"@context"`
	Created string          `json:"created_at"`
	Agent   agent           `json:"agent"`
}

func (r entryRow) metadata() clowder.Metadata {
	m := clowder.Metadata{ID: r.ID, Content: r.Content}
	m.Listener, m.Version = r.Agent.extractor()
	if json.Unmarshal(r.Context, &m.Contexts) != nil {
		var one any
		if json.Unmarshal(r.Context, &one) == nil {
			m.Contexts = []any{one}
		}
	}
	// Java writes the zone of its server as a name, which is right for UTC only.
	if at, err := time.Parse("Mon Jan 02 15:04:05 MST 2006", r.Created); err == nil {
		m.Created = at.UTC()
	}
	return m
}

// AddMetadata adds an entry to a dataset. Each successful call adds one. v1 returns no id, so the id is always empty. After an error of kind
// unknown check with Metadata.
func (s *Session) AddMetadata(ctx context.Context, dataset string, m clowder.Metadata) (string, error) {
	return "", s.addMetadata(ctx, "dataset", dataset, m)
}

// Metadata lists the entries that extractors added to a dataset. Very large entries are left out.
func (s *Session) Metadata(ctx context.Context, dataset string) ([]clowder.Metadata, error) {
	if err := clowder.CheckIDs("dataset", dataset); err != nil {
		return nil, err
	}
	var out []clowder.Metadata
	var decoder jsonscan.RowDecoder
	c := listOfMetadata("dataset", dataset)
	err := s.explained(ctx, c, func() error {
		return s.wire.Rows(ctx, c, func() { out, decoder = nil, jsonscan.RowDecoder{} }, func(raw json.RawMessage) error {
			var row entryRow
			if ofExtractor(raw) && decoder.Decode(raw, &row) {
				out = append(out, row.metadata())
			}
			return nil
		})
	})
	return out, err
}

// AddFileMetadata is AddMetadata for a file. If the file does not exist, StatusOf returns 403, as for a file that the user may not change.
func (s *Session) AddFileMetadata(ctx context.Context, file string, m clowder.Metadata) (string, error) {
	return "", s.addMetadata(ctx, "file", file, m)
}

// FindMetadata returns the first entry of an extractor on a dataset that matches, however many there are.
func (s *Session) FindMetadata(ctx context.Context, dataset string, match func(clowder.Metadata) bool) (clowder.Metadata, bool, error) {
	return s.find(ctx, "dataset", dataset, match)
}

// FindFileMetadata is FindMetadata for a file. If the file does not exist, StatusOf returns 404.
func (s *Session) FindFileMetadata(ctx context.Context, file string, match func(clowder.Metadata) bool) (clowder.Metadata, bool, error) {
	return s.find(ctx, "file", file, match)
}

// FileNotes lists all entries of a file, those of persons first, the newest of each first. Files of v1 have one version. A file with too many
// has clowder.ErrManyNotes.
func (s *Session) FileNotes(ctx context.Context, file string) ([]clowder.Note, error) {
	return s.notes(ctx, "file", file)
}

// DatasetNotes is FileNotes for a dataset.
func (s *Session) DatasetNotes(ctx context.Context, dataset string) ([]clowder.Note, error) {
	return s.notes(ctx, "dataset", dataset)
}

func (s *Session) notes(ctx context.Context, kind, id string) (out []clowder.Note, err error) {
	if err := clowder.CheckIDs(kind, id); err != nil {
		return nil, err
	}
	c := listOfMetadata(kind, id)
	err = s.explained(ctx, c, func() (err error) {
		out, err = s.wire.Notes(ctx, c, func(raw json.RawMessage) (clowder.Note, bool) {
			var row entryRow
			if json.Unmarshal(raw, &row) != nil { // entries of other programs may have any form
				return clowder.Note{}, false
			}
			name, _ := row.Agent.extractor()
			return clowder.Note{
				ID: row.ID, Content: row.Content, ByPerson: row.Agent.ExtractorID == "", Extractor: name, Author: text.Shorten(row.Agent.author(), maxLabel),
				Name: text.Excerpt(row.Agent.Name, maxLabel), Created: row.metadata().Created,
			}, true
		})
		return err
	})
	clowder.SortNotes(out)
	return out, err
}

// FileTags lists the tags of a file.
func (s *Session) FileTags(ctx context.Context, file string) ([]string, error) {
	if err := clowder.CheckIDs("file", file); err != nil {
		return nil, err
	}
	var row struct {
		Tags []string `json:"tags"`
	}
	err := s.do(ctx, get("read the tags of the file", mayView, &row, "files", file, "tags"))
	return row.Tags, err
}

// maxSections is how many sections of a file are asked for their tags, each with a call.
const maxSections = 1000

// SectionTags lists the tags of all sections of a file, in the order of the sections. A file with too many has clowder.ErrManyNotes.
func (s *Session) SectionTags(ctx context.Context, file string) ([]string, error) {
	if err := clowder.CheckIDs("file", file); err != nil {
		return nil, err
	}
	var ids []string
	if err := s.do(ctx, get("list the sections of the file", mayView, &ids, "files", file, "sections")); err != nil {
		return nil, err
	}
	if len(ids) > maxSections {
		return nil, clowder.ErrManyNotes
	}
	var tags []string
	for _, id := range ids {
		if err := clowder.CheckIDs("section", id); err != nil {
			return nil, err
		}
		var row struct {
			Tags []string `json:"tags"`
		}
		err := s.do(ctx, get("read the tags of the section", mayView, &row, "sections", id, "tags"))
		if err != nil && clowder.StatusOf(err) != http.StatusNotFound { // it was deleted meanwhile
			return nil, err
		}
		tags = append(tags, row.Tags...)
	}
	return tags, nil
}

func (s *Session) addMetadata(ctx context.Context, kind, id string, m clowder.Metadata) error {
	if err := clowder.CheckIDs(kind, id); err != nil {
		return err
	}
	body := map[string]any{
		"content": storable(m.Content),
		"agent": agent{
			Type: "cat:extractor", Name: m.Listener, Version: m.Version,
			ExtractorID: s.Address() + extractorPath + m.Listener + "/" + m.Version,
		},
	}
	switch {
	case len(m.Contexts) == 1: // a list is dropped for datasets
		body["@context"] = m.Contexts[0]
	case len(m.Contexts) > 1:
		body["@context"] = m.Contexts
	}
	return s.do(ctx, post("add metadata to the "+kind, mayAdd, body, nil, kind+"s", id, "metadata.jsonld"))
}

func (s *Session) find(ctx context.Context, kind, id string, match func(clowder.Metadata) bool) (found clowder.Metadata, ok bool, err error) {
	if err := clowder.CheckIDs(kind, id); err != nil {
		return found, false, err
	}
	c := listOfMetadata(kind, id)
	err = s.explained(ctx, c, func() (err error) {
		found, ok, err = s.wire.FindEntry(ctx, c, func(raw json.RawMessage) (clowder.Metadata, bool) {
			var row entryRow
			if !ofExtractor(raw) || json.Unmarshal(raw, &row) != nil {
				return clowder.Metadata{}, false
			}
			return row.metadata(), true
		}, match)
		return err
	})
	return found, ok, err
}

// ofExtractor reports whether an extractor made an entry. Entries of people have none, and those of other programs may have any form.
func ofExtractor(raw json.RawMessage) bool {
	var from struct{ Agent agent }
	return json.Unmarshal(raw, &from) == nil && from.Agent.ExtractorID != ""
}

func listOfMetadata(kind, id string) clowder.Call {
	return clowder.Call{What: "read the metadata of the " + kind, Right: mayView, Method: http.MethodGet, Path: []string{kind + "s", id, "metadata.jsonld"}}
}

// storable is content as MongoDB takes it. v1 answers 500 for a key that has a dot or begins with a dollar sign, and for a whole number beyond
// 64 bits.
func storable(value any) any {
	switch v := value.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, member := range v {
			key = strings.ReplaceAll(key, ".", "_")
			if strings.HasPrefix(key, "$") {
				key = "_" + key[1:]
			}
			out[key] = storable(member)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, member := range v {
			out[i] = storable(member)
		}
		return out
	case float64:
		if math.Abs(v) >= math.MaxInt64 {
			return json.Number(strconv.FormatFloat(v, 'e', -1, 64))
		}
		return v
	case json.Number:
		if _, err := v.Int64(); err != nil {
			if f, err := v.Float64(); err == nil {
				return storable(f)
			}
		}
		return v
	case nil, bool, string, int, int64:
		return v
	default:
		return plain(v)
	}
}

// plain turns structures into objects and lists, so that their keys can be seen.
func plain(value any) any {
	raw, err := json.Marshal(value)
	if err != nil {
		return value // the call fails with the same error
	}
	var out any
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	if decoder.Decode(&out) != nil {
		return value
	}
	return storable(out)
}
