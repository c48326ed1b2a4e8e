package results

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
