package results

import "errors"

// Entities is how well a model of tagged words finds entities in the test sentences. An entity is right if its words and its type are.
type Entities struct {
	Overall EntityScores `json:"overall"`
	// Baseline is the model that gives each word its most frequent tag.
	Baseline *EntityScores `json:"baseline,omitempty"`
	Types    []EntityType  `json:"types"`
	// Confusion counts the entities by their true and their predicted type. An empty type stands for no entity.
	Confusion []EntityConfusion `json:"confusion"`
	Examples  []EntityExample   `json:"examples"`
}

// EntityScores are the scores of entities, with 95 % intervals over sentences.
type EntityScores struct {
	True      int    `json:"true"`
	Predicted int    `json:"predicted"`
	Right     int    `json:"right"`
	Precision Ranged `json:"precision"`
	Recall    Ranged `json:"recall"`
	F1        Ranged `json:"f1"`
}

// Ranged is a share with its interval, nil where a single sentence says nothing of it.
type Ranged struct {
	Value float64  `json:"value"`
	Low   *float64 `json:"low,omitempty"`
	High  *float64 `json:"high,omitempty"`
}

// EntityType is the scores of the entities of one type.
type EntityType struct {
	Type string `json:"type"`
	EntityScores
}

// EntityConfusion says how often entities of one type were predicted as of another.
type EntityConfusion struct {
	True      string `json:"true"`
	Predicted string `json:"predicted"`
	Count     int    `json:"count"`
}

// EntityExample is a sentence in parts.
type EntityExample struct {
	File  string       `json:"file"`
	Row   int          `json:"row"`
	Parts []EntityPart `json:"parts"`
}

// EntityPart is some words with the types of the true and the predicted entity that they belong to, empty for none.
type EntityPart struct {
	Text      string `json:"text"`
	True      string `json:"true,omitempty"`
	Predicted string `json:"predicted,omitempty"`
}

// checkSizes bounds the lists.
func (e *Entities) checkSizes() error {
	if e == nil {
		return nil
	}
	err := errors.Join(atMost("types of entities", len(e.Types), maxLabels), atMost("confused types", len(e.Confusion), maxList),
		atMost("sentences", len(e.Examples), maxShown))
	for _, s := range e.Examples {
		err = errors.Join(err, atMost("parts of a sentence", len(s.Parts), maxList))
	}
	return err
}

// LabelSets is how well a model of several labels for each row finds the labels of the test rows.
type LabelSets struct {
	Overall EntityScores `json:"overall"`
	// Baseline is the bag of words.
	Baseline *EntityScores `json:"baseline,omitempty"`
	Labels   []LabelScores `json:"labels"`
}

// LabelScores is the scores of one label, which is predicted from the probability Threshold on.
type LabelScores struct {
	Label     string  `json:"label"`
	Threshold float64 `json:"threshold"`
	EntityScores
}

// checkSizes bounds the list.
func (s *LabelSets) checkSizes() error {
	if s == nil {
		return nil
	}
	return atMost("labels", len(s.Labels), maxLabels)
}
