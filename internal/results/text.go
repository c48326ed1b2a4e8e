package results

import (
	"fmt"
	"iter"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// maxText bounds every text of strangers that is shown, in bytes.
const maxText = 400

// maxLineText is how much of a text is looked at, in bytes.
const maxLineText = 64 << 10

// oneLine makes a text of strangers fit for one line: control characters, line ends and the characters that turn the
// direction of writing become spaces, and several spaces one. What comes after maxLineText is left out: nobody shows so much.
func oneLine(s string) string {
	s = s[:min(len(s), maxLineText)]
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || unicode.IsSpace(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
	return strings.Join(strings.Fields(s), " ")
}

// shorten cuts s to at most limit bytes, at the border of a character, and shows that it did.
func shorten(s string, limit int) string {
	const mark = "…"
	if len(s) <= limit {
		return s
	}
	cut := max(0, limit-len(mark))
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + mark
}

// shortenRunes cuts s to at most limit characters, where width counts and not bytes.
func shortenRunes(s string, limit int) string {
	if runes := []rune(s); len(runes) > limit {
		return string(runes[:max(0, limit-1)]) + "…"
	}
	return s
}

// joinWords says a list as a person would: "a, b and c".
func joinWords(words []string) string { return joinWith(words, "and") }

// joinWith is joinWords with another word before the last.
func joinWith(words []string, word string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " " + word + " " + words[last]
}

// someWords lists at most limit of words and says how many more there are.
func someWords(words []string, limit int) string {
	short := make([]string, 0, min(len(words), limit+1))
	for i, w := range words {
		if i == limit {
			short = append(short, thousands(len(words)-limit)+" more")
			break
		}
		short = append(short, shorten(oneLine(w), 60))
	}
	return joinWords(short)
}

// capital begins a sentence with a capital letter.
func capital(s string) string {
	r, n := utf8.DecodeRuneInString(s)
	if n == 0 {
		return s
	}
	return string(unicode.ToUpper(r)) + s[n:]
}

// article puts an article before the title of a simple model.
func article(s string) string {
	s = shorten(oneLine(s), 60)
	switch {
	case s == "":
		return "a simple model"
	case strings.ContainsRune("aeiouAEIOU", rune(s[0])):
		return "an " + s
	default:
		return "a " + s
	}
}

// plain makes a text of strangers short and one line, and puts instead where nothing is left of it.
func plain(s, instead string) string {
	if s = shorten(oneLine(s), maxText); s == "" {
		return instead
	}
	return s
}

// metricName is a metric as people write it inside of a sentence, title the same at its beginning.
func metricName(metric string) string {
	switch metric {
	case "f1", "f1_macro":
		return "F1"
	case "f1_weighted":
		return "weighted F1"
	case "roc_auc":
		return "ROC AUC"
	case "mcc", "rmse", "mae":
		return strings.ToUpper(metric)
	case "r2":
		return "R²"
	case "spearman":
		return "rank correlation"
	default:
		return shorten(oneLine(strings.ReplaceAll(metric, "_", " ")), 40)
	}
}

func title(metric string) string { return capital(metricName(metric)) }

// figure writes the value of a metric: shares with three digits behind the point, what has a unit with four digits in all.
func figure(metric string, v float64) string {
	size := math.Abs(v)
	digits := 3
	if lowerIsBetter(metric) && metric != "loss" || size >= 1000 {
		if size == 0 {
			return "0"
		}
		if size < 1e-3 || size >= 1e9 {
			return strconv.FormatFloat(v, 'g', 4, 64)
		}
		digits = max(0, 3-int(math.Floor(math.Log10(size))))
	}
	if digits == 0 {
		return thousands(int64(math.Round(v)))
	}
	text := strconv.FormatFloat(v, 'f', digits, 64)
	if strings.Trim(text, "-0.") == "" {
		return strings.TrimPrefix(text, "-") // nothing is below nothing
	}
	return text
}

// figures writes an interval.
func figures(metric string, low, high float64) string {
	if low < 0 {
		return figure(metric, low) + " to " + figure(metric, high) // a dash would read as one more minus
	}
	return figure(metric, low) + "–" + figure(metric, high)
}

// thousands writes a count with commas: 12,345.
func thousands[T ~int | ~int64](n T) string {
	s := strconv.FormatInt(int64(n), 10)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// plural says a number of things, with the plural where it is due.
func plural(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return thousands(n) + " " + one + "s"
}

// times says how often: "once", "3 times".
func times(n int) string {
	if n == 1 {
		return "once"
	}
	return plural(n, "time")
}

// epochs says how many, which may end inside of one: "1 epoch", "4.17 epochs".
func epochs(v float64) string {
	if v == 1 {
		return "1 epoch"
	}
	return trim(v) + " epochs"
}

// number writes a setting as short as it is: 0.0002, 2e-05.
func number(v float64) string { return strconv.FormatFloat(v, 'g', 6, 64) }

// spellRoughly says an estimate: nobody knows its seconds.
func spellRoughly(d time.Duration) string {
	switch {
	case d < 90*time.Second:
		return fmt.Sprintf("%.0f s", d.Seconds())
	case d < 90*time.Minute:
		return fmt.Sprintf("%.0f min", d.Minutes())
	default:
		return spell(d.Round(10 * time.Minute))
	}
}

// bytesOf says a size: "734 MiB".
func bytesOf(n int64) string {
	const unit = 1 << 10
	value, units := float64(n), []string{"bytes", "KiB", "MiB", "GiB", "TiB"}
	i := 0
	for value >= unit && i < len(units)-1 {
		value /= unit
		i++
	}
	if i == 0 || value >= 100 {
		return fmt.Sprintf("%.0f %s", value, units[i])
	}
	return fmt.Sprintf("%.1f %s", value, units[i])
}

// spell says a duration as a person would: "under 0.1 s", "0.4 s", "35 s", "2 min 5 s", "1 h 20 min".
func spell(d time.Duration) string {
	switch {
	case d > 0 && d < 50*time.Millisecond:
		return "under 0.1 s"
	case d < 10*time.Second:
		return fmt.Sprintf("%.1f s", d.Seconds())
	case d < 90*time.Second:
		return fmt.Sprintf("%.0f s", d.Seconds())
	case d < 90*time.Minute:
		d = d.Round(time.Second)
		return fmt.Sprintf("%d min %d s", int(d.Minutes()), int(d.Seconds())%60)
	default:
		d = d.Round(time.Minute)
		return fmt.Sprintf("%d h %d min", int(d.Hours()), int(d.Minutes())%60)
	}
}

// sorted yields a map in the order of its keys.
func sorted[V any](m map[string]V) iter.Seq2[string, V] {
	return func(yield func(string, V) bool) {
		for _, k := range slices.Sorted(maps.Keys(m)) {
			if !yield(k, m[k]) {
				return
			}
		}
	}
}
