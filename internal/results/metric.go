package results

import (
	"math"
	"strconv"
	"strings"

	"github.com/ncsa/clowder-ray/internal/text"
)

// MetricName is a metric as people write it inside of a sentence, title the same at its beginning.
func MetricName(metric string) string {
	switch metric {
	case "f1", "f1_macro":
		return "F1"
	case "f1_micro":
		return "F1 over all labels"
	case "precision_micro":
		return "precision over all labels"
	case "recall_micro":
		return "recall over all labels"
	case "exact_rows":
		return "rows with exactly the right labels"
	case "f1_weighted":
		return "weighted F1"
	case "roc_auc":
		return "ROC AUC"
	case "hits_at_1", "hits_at_10", "hits_at_100":
		return "Hits@" + strings.TrimPrefix(metric, "hits_at_")
	case "mcc", "rmse", "mae", "mrr", "auc":
		return strings.ToUpper(metric)
	case "r2":
		return "R²"
	case "spearman":
		return "rank correlation"
	default:
		return text.Excerpt(strings.ReplaceAll(metric, "_", " "), 40)
	}
}

// Title is MetricName at the beginning of a sentence.
func Title(metric string) string { return text.Capital(MetricName(metric)) }

// Figure writes the value of a metric: shares with three digits behind the point, what has a unit with four digits in all.
func Figure(metric string, v float64) string {
	size := math.Abs(v)
	digits := 3
	if LowerIsBetter(metric) && metric != "loss" && metric != "bits_per_byte" || size >= 1000 {
		if size == 0 {
			return "0"
		}
		if size < 1e-3 || size >= 1e9 {
			return strconv.FormatFloat(v, 'g', 4, 64)
		}
		digits = max(0, 3-int(math.Floor(math.Log10(size))))
	}
	if digits == 0 {
		return text.Number(int64(math.Round(v)))
	}
	words := strconv.FormatFloat(v, 'f', digits, 64)
	if strings.Trim(words, "-0.") == "" {
		return strings.TrimPrefix(words, "-") // nothing is below nothing
	}
	return words
}

// Interval writes an interval.
func Interval(metric string, low, high float64) string {
	if low < 0 {
		return Figure(metric, low) + " to " + Figure(metric, high) // a dash would read as one more minus
	}
	return Figure(metric, low) + "–" + Figure(metric, high)
}

// LowerIsBetter tells errors from shares.
func LowerIsBetter(metric string) bool {
	switch metric {
	case "loss", "rmse", "mae", "perplexity", "bits_per_byte":
		return true
	}
	return false
}

// IsBetter reports whether a is a better value of the metric than b.
func IsBetter(metric string, a, b float64) bool {
	if LowerIsBetter(metric) {
		return a < b
	}
	return a > b
}

// FirstScore is the score that a person asks for first.
func FirstScore(scores Scores, task string) (string, Score, bool) {
	names := []string{"accuracy", "f1_macro"}
	if task == TaskLinks {
		names = []string{"mrr", "auc"}
	}
	if strings.HasSuffix(task, "-regression") {
		names = []string{"rmse", "mae"}
	}
	if strings.HasSuffix(task, "-generation") {
		names = []string{"exact_match", "bits_per_byte"}
	}
	for _, metric := range names {
		if s, ok := scores[metric]; ok && s.N > 0 {
			return metric, s, true
		}
	}
	return "", Score{}, false
}
