package options

import "strings"

// nearest returns the choice that a wrong value is nearest to, or the nearer limit of a number; empty where nothing is near.
func (o *Option) nearest(v Value) string {
	if v.Shape == List || v.Shape == Group {
		return ""
	}
	if len(o.Choices) > 0 {
		return Nearest(strings.ToLower(v.Text), o.Choices)
	}
	n, ok := number(v)
	switch {
	case !ok || o.Minimum == nil || o.Maximum == nil:
		return ""
	case n < *o.Minimum:
		return written(*o.Minimum)
	case n > *o.Maximum:
		return written(*o.Maximum)
	}
	return ""
}

// Nearest returns the word with the fewest changed letters, if they are few; two letters that changed places count as one.
func Nearest(word string, words []string) string {
	best, least := "", len(word)/3+1
	if len(word) > 64 {
		return ""
	}
	for _, other := range words {
		if d := distance(word, other); d < least || d == least && (best == "" || other < best) {
			best, least = other, d
		}
	}
	return best
}

// distance counts the letters to insert, remove, replace or swap with their neighbour.
func distance(a, b string) int {
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			rows[i][j] = min(rows[i-1][j]+1, rows[i][j-1]+1, rows[i-1][j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				rows[i][j] = min(rows[i][j], rows[i-2][j-2]+1)
			}
		}
	}
	return rows[len(a)][len(b)]
}
