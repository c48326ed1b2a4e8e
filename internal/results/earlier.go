package results

import (
	"cmp"
	"path"
	"slices"
)

// Results of schema 2 do not describe their metrics, examples and simple models. This file completes them, so that their runs are shown and
// compared as before. Nothing else in Go knows kinds and tasks.

// earlierSchema is the schema of those results.
const earlierSchema = 2

// earlierMetrics are their metrics, the most important one first.
var earlierMetrics = MetricList{
	{Name: "mrr", Title: "MRR", Direction: Higher},
	{Name: "hits_at_1", Title: "Hits@1", Direction: Higher},
	{Name: "hits_at_10", Title: "Hits@10", Direction: Higher},
	{Name: "hits_at_100", Title: "Hits@100", Direction: Higher},
	{Name: "auc", Title: "AUC", Direction: Higher},
	{Name: "average_precision", Title: "average precision", Direction: Higher},
	{Name: "accuracy", Title: "accuracy", Direction: Higher},
	{Name: "f1_micro", Title: "F1 over all labels", Direction: Higher},
	{Name: "f1_macro", Title: "F1", Direction: Higher},
	{Name: "f1", Title: "F1", Direction: Higher},
	{Name: "precision_micro", Title: "precision over all labels", Direction: Higher},
	{Name: "recall_micro", Title: "recall over all labels", Direction: Higher},
	{Name: "exact_rows", Title: "rows with exactly the right labels", Direction: Higher},
	{Name: "f1_weighted", Title: "weighted F1", Direction: Higher},
	{Name: "mcc", Title: "MCC", Direction: Higher},
	{Name: "roc_auc", Title: "ROC AUC", Direction: Higher},
	{Name: "rmse", Title: "RMSE", Direction: Lower, Unit: targetUnit},
	{Name: "mae", Title: "MAE", Direction: Lower, Unit: targetUnit},
	{Name: "r2", Title: "R²", Direction: Higher},
	{Name: "spearman", Title: "rank correlation", Direction: Higher},
	{Name: "exact_match", Title: "exact match", Direction: Higher},
	{Name: "bits_per_byte", Title: "bits per byte", Direction: Lower},
	{Name: "perplexity", Title: "perplexity", Direction: Lower, Unit: "tokens"},
	{Name: "token_accuracy", Title: "token accuracy", Direction: Higher},
	{Name: "loss", Title: "loss", Direction: Lower},
}

const targetUnit = "the unit of the target"

// earlierTask is what such a result does not say of its task.
type earlierTask struct {
	// unit is the name of an example, empty for a row.
	unit string
	// label says what the label is, empty where it is a column.
	label string
	// snippet names the lines of Python, empty for those of the kind.
	snippet string
	// few says that few examples can be enough.
	few bool
}

var earlierTasks = map[string]earlierTask{
	"link-prediction":     {unit: "edge", label: "none: a pair of nodes has an edge or not"},
	"node-classification": {unit: "node", snippet: "graph/graph_nodes", few: true},
	"node-regression":     {unit: "node", snippet: "graph/graph_nodes", few: true},
	"text-generation":     {label: "none: a language model learns to continue the texts"},
	"text-regression":     {snippet: "text/text_regression"},
}

// earlierRoles are the roles of the simple models by their names.
var earlierRoles = map[string]Role{"constant": RoleConstant, "linear": RoleSimple, "base": RoleBefore, "ngram": RoleFloor}

// fromEarlier completes a result of schema 2.
func (r *Result) fromEarlier() {
	task := earlierTasks[r.Task]
	r.Described = earlierMetrics
	if r.Data.Rows.Train > 0 {
		r.UnitName, r.Data.LabelWords = task.unit, task.label
		if !task.few {
			r.Data.Enough = earlierEnough
		}
		r.Model.GainsByBase = task.unit == "" && r.Model.Kind != "" && len(r.Model.Columns) == 0
	}
	if r.UnitName != "" {
		r.graphFromEarlier()
	}
	for i := range r.Metrics.Baselines {
		b := &r.Metrics.Baselines[i]
		if b.Role = earlierRoles[b.Name]; b.Role == "" {
			b.Role = RoleSimple
		}
	}
	if auc, ok := r.Metrics.Test["auc"]; ok && r.Kind == ResultTraining { // of links alone
		r.Described = slices.Clone(earlierMetrics)
		r.Described[slices.IndexFunc(r.Described, func(m Metric) bool { return m.Name == "auc" })].Judges = true
		r.Metrics.Baselines = append(r.Metrics.Baselines, Baseline{
			Name: "random", Title: "random order", Role: RoleChance, Test: Scores{"auc": {Value: 0.5, N: auc.N}},
		})
	}
	if r.Kind == ResultTraining {
		snippet := EarlierSnippet(r.Model.Kind, r.Model.Base, r.Task, r.hasModelFile)
		r.Usage = Usage{Snippet: snippet, Baseline: r.Model.Kind + "/baseline_" + r.Model.Kind}
	}
	for i, o := range r.Outputs {
		if title, ok := earlierFiles[o.Path]; ok {
			r.Outputs[i].Title, r.Outputs[i].OfModel = title, path.Ext(o.Path) == ".parquet"
		}
	}
}

// hasModelFile reports whether the folder of the model has a file.
func (r *Result) hasModelFile(name string) bool {
	_, ok := r.Output(ModelDir + name)
	return ok
}

// earlierFiles are the titles of files that have no description.
var earlierFiles = map[string]string{OutDir + "predicted_links.csv": "Predicted links", OutDir + "embeddings.parquet": "Embeddings"}

// earlierSnippets name the lines of Python by kind, or by kind and base.
var earlierSnippets = map[string]string{
	"text": "text/text", "image": "image/image", "table": "table/table", "language": "language/language", "tokens": "tokens/tokens",
	"graph": "graph/graph", "text words": "text/words", "table linear": "table/linear", "table trees": "table/trees",
	"table perceptron": "table/perceptron",
}

// EarlierSnippet names the lines of Python for a model that was made before schema 3. has reports whether its folder has a file.
func EarlierSnippet(kind, base, task string, has func(file string) bool) string {
	ofFiles := ""
	switch {
	case has("words.json"): // a network and words, averaged
		ofFiles = "text/text_words"
	case has("head.safetensors"): // a linear model on the vectors of a network
		ofFiles = "text/text_mean"
	}
	return cmp.Or(earlierSnippets[kind+" "+base], ofFiles, earlierTasks[task].snippet, earlierSnippets[kind])
}

// graphFromEarlier completes a result of schema 2 about edges or nodes.
func (r *Result) graphFromEarlier() {
	r.ChosenBy = r.Metric
	r.Training.NetworkApart = slices.ContainsFunc(r.Candidates, func(c Candidate) bool { return c.Sort == SortNetwork && c.Trained() && !c.Chosen })
	for i := range r.Candidates {
		if r.Candidates[i].Name == earlierFusion {
			r.Candidates[i].Sort = SortCombination
		}
	}
}

// earlierFusion is the candidate that combines the scores of a network and of simple rules.
const earlierFusion = "fusion"

// earlierEnough is how many training rows are enough for a reliable training.
const earlierEnough = 500
