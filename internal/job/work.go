package job

// Work says what a job does. It is set when the job is accepted and never changes; spec.json carries it.
type Work string

// The kinds of jobs. One of kind Runs is a request about another job or about a model, and never meets Ray.
const (
	Train   Work = "train"
	Predict Work = "predict"
	Script  Work = "script"
	Runs    Work = "runs"
)

// Noun is what such a job is to its user.
func (w Work) Noun() string {
	switch w {
	case Predict:
		return "prediction"
	case Script:
		return "script"
	case Runs:
		return "request"
	default:
		return "training"
	}
}

// Keeps is what a job of this kind keeps when it is asked to stop early, empty for nothing.
func (w Work) Keeps() string {
	switch w {
	case Train:
		return "the best model so far"
	case Script:
		return "everything that the script has saved"
	default:
		return ""
	}
}

// kindByExtractor has the kinds of the extractors that existed before records named their kind. All others trained.
var kindByExtractor = map[string]Work{
	"ncsa.ray.predict": Predict, "ncsa.ray.automatic": Predict, "ncsa.ray.script": Script, "ncsa.ray.runs": Runs,
}

// earlierKind is the kind of a job whose record was written before records named it.
func earlierKind(req Request) Work {
	if len(req.Announced) > 0 { // an automatic run
		return Predict
	}
	if kind, known := kindByExtractor[req.Extractor]; known {
		return kind
	}
	return Train
}
