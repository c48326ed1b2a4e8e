package clowder

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/ncsa/clowder-ray/internal/clowder/message"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/text"
)

const (
	// searchPage is how many results of a search are read at once.
	searchPage = 500
	// maxOfMoment is how many results of one millisecond can be read; Elasticsearch skips no more than 10,000.
	maxOfMoment = 9_000
)

// feed is a saved search as v2 sends it.
type feed struct {
	Search struct {
		Criteria []struct {
			Field string `json:"field"`
			Value string `json:"value"`
		} `json:"criteria"`
		Mode string `json:"mode"`
	} `json:"search"`
}

// query is what Clowder asks Elasticsearch for a feed: each criterion matches, or one of them.
func (f feed) query() map[string]any {
	matches := make([]any, 0, len(f.Search.Criteria))
	for _, c := range f.Search.Criteria {
		matches = append(matches, map[string]any{"match": map[string]any{c.Field: c.Value}})
	}
	if strings.EqualFold(f.Search.Mode, "or") {
		return map[string]any{"bool": map[string]any{"should": matches, "minimum_should_match": 1}}
	}
	return map[string]any{"bool": map[string]any{"must": matches}}
}

// Selected lists the datasets of a search or of a feed: those that it finds, and those of the files that it finds, the oldest first. Clowder
// leaves out what the user may not see. The datasets of other holders are a permanent error.
func (s *Session) Selected(ctx context.Context, one Selection) ([]Ref, error) {
	switch one.Holder {
	case Search:
		words := map[string]any{"query": one.Value, "fields": []string{"name", "description", "metadata.*"}, "default_operator": "and", "lenient": true}
		return s.search(ctx, map[string]any{"simple_query_string": words})
	case Feed:
		if err := checkIDs("feed", one.Value); err != nil {
			return nil, err
		}
		var saved feed
		c := get("read the feed", "use Clowder", "feeds", one.Value)
		c.into = &saved
		if err := s.do(ctx, c); err != nil {
			return nil, err
		}
		if len(saved.Search.Criteria) == 0 {
			return nil, job.Permanent(fmt.Errorf("the feed %s has no criteria, so it names no datasets: choose another one in data.datasets", one.Value))
		}
		return s.search(ctx, saved.query())
	default:
		return nil, NoSuchHolder(one, "ids of datasets, search:WORDS or feed:ID")
	}
}

// found is one result of a search.
type found struct {
	ID     string `json:"_id"`
	Source struct {
		Type    string `json:"resource_type"`
		Name    string `json:"name"`
		Dataset string `json:"dataset_id"`
	} `json:"_source"`
	// Sort has the time of its creation, in ms since 1970.
	Sort []int64 `json:"sort"`
}

func (f found) ref() Ref {
	if f.Source.Type == "dataset" {
		return Ref{ID: f.ID, Name: text.Shorten(f.Source.Name, maxLabel)}
	}
	return Ref{ID: f.Source.Dataset}
}

// search reads all results, in the order in which they were made. Each page begins at the last moment of the page before, so that results that
// come or go meanwhile move no others out of sight.
func (s *Session) search(ctx context.Context, query map[string]any) ([]Ref, error) {
	var refs []Ref
	seen := map[string]bool{}
	since, skip := int64(0), 0
	for {
		page, err := s.searchOnce(ctx, query, since, skip)
		if err != nil {
			return nil, err
		}
		for _, f := range page {
			if ref := f.ref(); message.ValidID(ref.ID) {
				if refs, err = s.c.cfg.AddRef(refs, seen, ref); err != nil {
					return nil, err
				}
			}
			if len(f.Sort) != 1 {
				return nil, job.Permanent(errors.New("Clowder's search does not tell when its results were made: name the datasets by their ids in data.datasets")) //nolint:staticcheck // a name
			}
			if f.Sort[0] != since {
				since, skip = f.Sort[0], 0
			}
			skip++
		}
		if len(page) < searchPage {
			return refs, nil
		}
		if skip > maxOfMoment {
			return nil, job.Permanent(fmt.Errorf("more than %d results of the search in data.datasets were made at the same moment: narrow the search", maxOfMoment))
		}
	}
}

// searchOnce reads one page of the results that were made at since or later, in ms, and leaves out the first skip of them.
func (s *Session) searchOnce(ctx context.Context, query map[string]any, since int64, skip int) ([]found, error) {
	from := map[string]any{"range": map[string]any{"created": map[string]any{"gte": since, "format": "epoch_millis"}}}
	var body bytes.Buffer
	body.WriteString(`{"preference":"results"}` + "\n")
	err := json.NewEncoder(&body).Encode(map[string]any{
		"query": map[string]any{"bool": map[string]any{"must": []any{query}, "filter": []any{from}}},
		"from":  skip, "size": searchPage, "sort": []any{map[string]any{"created": "asc"}}, "_source": []string{"resource_type", "name", "dataset_id"},
	})
	if err != nil {
		return nil, fmt.Errorf("encode a search: %w", err)
	}
	var answer struct {
		Responses []struct {
			Error json.RawMessage `json:"error"`
			Hits  struct {
				Hits []found `json:"hits"`
			} `json:"hits"`
		} `json:"responses"`
	}
	c := call{
		operation: operation{what: "search for datasets", right: "use Clowder"}, method: http.MethodPost,
		path: []string{"elasticsearch", "all", "_msearch"}, lines: body.Bytes(), into: &answer,
	}
	if err := s.do(ctx, c); err != nil {
		return nil, err
	}
	if len(answer.Responses) != 1 || answer.Responses[0].Error != nil {
		return nil, job.Permanent(errors.New("Clowder's search did not accept the words in data.datasets: use plain words, or name the datasets by their ids")) //nolint:staticcheck // a name
	}
	return answer.Responses[0].Hits.Hits, nil
}
