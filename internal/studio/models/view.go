package models

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"time"

	"github.com/ncsa/clowder-ray/internal/clowder"
	"github.com/ncsa/clowder-ray/internal/registry"
	"github.com/ncsa/clowder-ray/internal/results"
	"github.com/ncsa/clowder-ray/internal/studio/web"
	"github.com/ncsa/clowder-ray/internal/text"
)

// ModelVersion is a version as pages and the API show it.
type ModelVersion struct {
	Name      string      `json:"name"`
	Version   int         `json:"version"`
	Ref       string      `json:"ref" doc:"How predictions name it: reviews/3"`
	Run       string      `json:"run"`
	DatasetID string      `json:"dataset"`
	Task      string      `json:"task"`
	Kind      string      `json:"kind"`
	Base      string      `json:"base"`
	Labels    []string    `json:"labels"`
	Metric    string      `json:"metric"`
	Score     *TestScore  `json:"score,omitempty" doc:"The metric on the test rows"`
	Made      time.Time   `json:"made"`
	Champion  bool        `json:"champion"`
	Why       string      `json:"why" doc:"Why it became the champion when it was made, or did not"`
	Size      int64       `json:"size" doc:"Bytes of its files"`
	Reads     *ModelReads `json:"reads,omitempty" doc:"What it reads, where one version is asked for"`
	// MayPromote is for the page.
	MayPromote bool `json:"-"`
	// Ago is when it was made, in words.
	Ago string `json:"-"`
	// described is the metric.
	described results.Metric
}

// TestScore is a metric with its 95 % interval.
type TestScore struct {
	Value float64  `json:"value"`
	Low   *float64 `json:"low,omitempty"`
	High  *float64 `json:"high,omitempty"`
	Rows  int      `json:"rows"`
}

// MetricTitle is the metric at the head of a column.
func (v ModelVersion) MetricTitle() string { return v.described.Head() }

// Figure is the score as people read it.
func (v ModelVersion) Figure() string {
	if v.Score == nil {
		return "no test rows"
	}
	return v.described.Figure(v.Score.Value)
}

// Interval is the 95 % interval as people read it, empty for none.
func (v ModelVersion) Interval() string {
	if v.Score == nil || v.Score.Low == nil || v.Score.High == nil {
		return ""
	}
	return v.described.Interval(*v.Score.Low, *v.Score.High)
}

// Bytes is the size as people read it.
func (v ModelVersion) Bytes() string { return text.Bytes(v.Size) }

// Number is the version in addresses.
func (v ModelVersion) Number() string { return strconv.Itoa(v.Version) }

// TrainedModel is a model with all its versions, newest first.
type TrainedModel struct {
	Name     string         `json:"name"`
	Dataset  string         `json:"dataset"`
	Task     string         `json:"task"`
	Labels   []string       `json:"labels"`
	Champion *ModelVersion  `json:"champion,omitempty"`
	Versions []ModelVersion `json:"versions"`
}

func (s *Section) view(v registry.Version, champion *registry.Version) ModelVersion {
	out := ModelVersion{
		Name: v.Name, Version: v.Version, Ref: v.Ref(), Run: v.Run, DatasetID: v.DatasetID, Task: v.Task, Kind: v.Kind, Base: v.Base, Labels: v.Labels,
		Metric: v.Metric, Made: v.Created, Champion: champion != nil && champion.Version == v.Version, Why: v.Why, Ago: web.Ago(s.now().Sub(v.Created)),
		described: results.Stored(v.Metric, v.MetricTitle, v.MetricDirection, v.MetricUnit),
	}
	if v.Test != nil {
		out.Score = &TestScore{Value: v.Test.Value, Low: v.Test.Low, High: v.Test.High, Rows: v.Test.N}
	}
	for _, f := range v.Files {
		out.Size += f.Size
	}
	return out
}

// detailed is a version with what it reads.
func (s *Section) detailed(v registry.Version, champion *registry.Version) ModelVersion {
	out, reads := s.view(v, champion), s.reads(v)
	out.Reads = &reads
	return out
}

// whole returns a model with all its versions for a visitor who may see it.
func (s *Section) whole(ctx context.Context, dataset, name string) (TrainedModel, []registry.Version, clowder.Role, error) {
	versions, champion, role, err := s.model(ctx, dataset, name)
	if err != nil {
		return TrainedModel{}, nil, role, err
	}
	return s.gathered(dataset, versions, champion), versions, role, nil
}

// gathered makes a model of its versions, newest first.
func (s *Section) gathered(dataset string, versions []registry.Version, champion *registry.Version) TrainedModel {
	m := TrainedModel{Name: versions[0].Name, Dataset: dataset, Task: versions[0].Task, Labels: versions[0].Labels}
	for _, v := range versions {
		m.Versions = append(m.Versions, s.view(v, champion))
	}
	if champion != nil && champion.Known() {
		best := s.view(*champion, champion)
		m.Champion, m.Task, m.Labels = &best, best.Task, best.Labels
	}
	return m
}

// list returns the models of a dataset, the newest first. The second value is the name of the dataset as the registry knows it.
func (s *Section) list(ctx context.Context, dataset string) ([]TrainedModel, string, clowder.Role, error) {
	role, err := web.CheckRole(ctx, s.Rights, dataset, clowder.RoleViewer)
	if err != nil {
		return nil, "", role, err
	}
	all, err := s.Registry.All(s.dataset(dataset))
	if err != nil {
		return nil, "", role, err
	}
	named := map[string][]registry.Version{}
	title := ""
	for _, v := range all {
		named[v.Name] = append(named[v.Name], v)
		title = v.DatasetName
	}
	models := make([]TrainedModel, 0, len(named))
	for name, versions := range named {
		slices.Reverse(versions)
		champion, err := s.Registry.Champion(s.dataset(dataset), name)
		if err != nil && !errors.Is(err, registry.ErrUnreadable) {
			return nil, "", role, err
		}
		models = append(models, s.gathered(dataset, versions, champion))
	}
	slices.SortFunc(models, func(a, b TrainedModel) int { return b.Versions[0].Made.Compare(a.Versions[0].Made) })
	return models, title, role, nil
}
