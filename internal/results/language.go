package results

import "errors"

// maxSample is how long one text of a language model may be, in bytes.
const maxSample = 64 << 10

// Language is what a language model learnt, and what it answers.
type Language struct {
	// Method is lora where only an adapter was trained, else full.
	Method            string         `json:"method"`
	TrainedParameters int            `json:"trained_parameters"`
	Ways              map[string]int `json:"ways,omitempty"`
	LearntTokens      int            `json:"learnt_tokens"`
	TokensSeen        int            `json:"tokens_seen"`
	// Example is one training example in parts that are learnt or not.
	Example      []LearntPart `json:"example,omitempty"`
	Sampled      bool         `json:"sampled,omitempty"`
	MaxNewTokens int          `json:"max_new_tokens,omitempty"`
	Samples      []Answered   `json:"samples"`
}

// LearntPart is a part of a training example.
type LearntPart struct {
	Text   string `json:"text"`
	Learnt bool   `json:"learnt"`
}

// Answered is a prompt with what the model wrote before and after the training. Before is nil for a model that began with random weights.
type Answered struct {
	Prompt string  `json:"prompt"`
	Wanted string  `json:"wanted,omitempty"`
	Before *string `json:"before,omitempty"`
	After  string  `json:"after"`
}

// MethodLoRA is the method of a model whose delivered weights are an adapter.
const MethodLoRA = "lora"

func (l *Language) check() error {
	if l == nil {
		return nil
	}
	err := errors.Join(atMost("answers", len(l.Samples), maxShown), atMost("parts of an example", len(l.Example), maxList),
		atMost("ways", len(l.Ways), maxList))
	for _, p := range l.Example {
		err = errors.Join(err, atMost("bytes of an example", len(p.Text), maxSample))
	}
	for _, a := range l.Samples {
		size := len(a.Prompt) + len(a.Wanted) + len(a.After)
		if a.Before != nil {
			size += len(*a.Before)
		}
		err = errors.Join(err, atMost("bytes of an answer", size, maxSample))
	}
	return err
}
