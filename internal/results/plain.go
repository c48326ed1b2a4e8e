package results

import (
	"github.com/ncsa/clowder-ray/internal/text"
)

// MaxText bounds every text of strangers that is shown, in characters.
const MaxText = 400

// Plain makes a text of strangers short and one line, and puts instead where nothing is left of it.
func Plain(s, instead string) string {
	if s = text.Excerpt(s, MaxText); s == "" {
		return instead
	}
	return s
}
