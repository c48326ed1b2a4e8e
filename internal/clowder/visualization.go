package clowder

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"unicode"

	"github.com/ncsa/clowder-ray/internal/clowder/jsonscan"
)

// The components of Clowder's page that show a visualization.
const (
	ComponentImage = "basic-image-component"
	ComponentHTML  = "basic-iframe-component" // a fragment of the page itself: no scripts, styles bound to an id
	ComponentVega  = "vega-spec"              // a Vega-Lite specification with its data
)

// Preview is a picture or another small file that the page of a file shows, in a Clowder that has previews.
type Preview struct {
	ID   string `json:"id"`
	Name string `json:"filename"`
}

// Visualization is one card of the Visualizations tab.
type Visualization struct {
	// ConfigID and DataIDs are set by Clowder. A card without data is left by a crash between two calls.
	ConfigID string
	DataIDs  []string
	// Client is the name of the program that made the card, so that a later run finds its own cards.
	Client    string
	Component string
	MimeType  string
	// Parameters are stored by Clowder unchanged, for data of the caller such as the run.
	Parameters map[string]any
	// Name and Description are shown below the card. Clowder sends the name in a header with the data, see headerName.
	Name, Description string
}

type visualizationRow struct {
	ID         string         `json:"id"`
	Client     string         `json:"client"`
	Component  string         `json:"visualization_component_id"`
	MimeType   string         `json:"visualization_mimetype"`
	Parameters map[string]any `json:"parameters"`
	Data       []struct {
		ID          string `json:"id"`
		Name        string `json:"name"`
		Description string `json:"description"`
	} `json:"visualization_data"`
}

// AddVisualization makes a card for a dataset: a configuration and then its data. The result has ConfigID and DataIDs also with an
// error, so that the caller can delete an incomplete card.
func (s *Session) AddVisualization(ctx context.Context, datasetID string, v Visualization, body Body) (Visualization, error) {
	if err := checkIDs("dataset", datasetID); err != nil {
		return v, err
	}
	if err := checkName("file", body.Name); err != nil {
		return v, err
	}
	if v.Parameters == nil {
		v.Parameters = map[string]any{}
	}
	var config visualizationRow
	err := s.do(ctx, post("add a visualization to the dataset", mayAdd, map[string]any{
		"resource": map[string]string{"collection": "datasets", "resource_id": datasetID},
		"client":   v.Client, "parameters": v.Parameters,
		"visualization_mimetype": v.MimeType, "visualization_component_id": v.Component,
	}, &config, "visualizations", "config"))
	if err != nil {
		return v, err
	}
	v.ConfigID, v.Name = config.ID, headerName(v.Name)
	query := url.Values{"name": {v.Name}, "description": {v.Description}, "config": {config.ID}}
	op := operation{what: "add a visualization to the dataset", right: mayAdd, once: true}
	var data struct {
		ID string `json:"id"`
	}
	if err := s.send(ctx, op, http.MethodPost, s.url("visualizations")+"?"+query.Encode(), "file", body, &data); err != nil {
		return v, err
	}
	v.DataIDs = []string{data.ID}
	return v, nil
}

// headerName replaces what a name of a card must not have: Clowder puts it unquoted into the header Content-Disposition of the data. A browser
// reads two headers where it has a comma, and shows an empty card; Clowder answers 500 where it has letters beyond Latin-1.
func headerName(name string) string {
	return strings.Map(func(r rune) rune {
		if r > unicode.MaxLatin1 || !unicode.IsPrint(r) || strings.ContainsRune(`,;"\`, r) {
			return '_'
		}
		return r
	}, name)
}

// Visualizations lists the cards of a dataset with their data. Very large cards of other programs are left out.
func (s *Session) Visualizations(ctx context.Context, datasetID string) ([]Visualization, error) {
	if err := checkIDs("dataset", datasetID); err != nil {
		return nil, err
	}
	var list jsonscan.Rows
	c := get("list the visualizations of the dataset", mayView, "visualizations", datasetID, "config")
	c.into = &list
	if err := s.do(ctx, c); err != nil {
		return nil, err
	}
	return visualizationsOf(list), nil
}

func visualizationsOf(list jsonscan.Rows) []Visualization {
	out := make([]Visualization, 0, len(list))
	var decoder jsonscan.RowDecoder
	for _, raw := range list {
		var row visualizationRow
		if !decoder.Decode(raw, &row) {
			continue
		}
		v := Visualization{ConfigID: row.ID, Client: row.Client, Component: row.Component, MimeType: row.MimeType, Parameters: row.Parameters}
		for _, d := range row.Data {
			v.DataIDs = append(v.DataIDs, d.ID)
			v.Name, v.Description = d.Name, d.Description
		}
		out = append(out, v)
	}
	return out
}

// DeleteVisualization deletes a card and its data. It returns nil if the card does not exist. Clowder allows all users to delete all
// cards, so callers check Client first.
func (s *Session) DeleteVisualization(ctx context.Context, v Visualization) error {
	if err := checkIDs("visualization", v.ConfigID); err != nil {
		return err
	}
	c := get("delete a visualization", mayEdit, "visualizations", "config", v.ConfigID)
	c.method = http.MethodDelete
	if err := s.do(ctx, c); err != nil && StatusOf(err) != http.StatusNotFound {
		return err
	}
	return nil
}
