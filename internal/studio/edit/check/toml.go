package check

import (
	"errors"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"github.com/ncsa/clowder-ray/internal/options"
	"github.com/ncsa/clowder-ray/internal/text"
)

// checkTOML reads a text as TOML.
func checkTOML(source string) []options.Finding {
	if at := tooDeep(source); at >= 0 {
		return options.Fault(options.PlaceOf(source, at), "This is nested too deeply.")
	}
	var whole map[string]any
	err := toml.Unmarshal([]byte(source), &whole)
	if err == nil {
		return nil
	}
	at := options.Place{Line: 1, Column: 1}
	if e, ok := errors.AsType[*toml.DecodeError](err); ok {
		at.Line, at.Column = e.Position()
	}
	return options.Fault(at, text.Capital(text.Excerpt(strings.TrimPrefix(err.Error(), "toml: "), 200))+".")
}

// tooDeep returns where brackets or the parts of a name are nested too deeply, or -1. Brackets in texts count, too, and so do the dots of a
// text that looks like a name. Dots that follow each other are of no name.
func tooDeep(source string) int {
	open, parts := 0, 0
	for i := range len(source) {
		switch source[i] {
		case '[', '{':
			open++
		case ']', '}':
			open = max(0, open-1)
		case '.':
			if i > 0 && source[i-1] != '.' {
				parts++
			}
		case '\n', '"', '\'':
			parts = 0
		}
		if open > options.MaxDepth || parts > options.MaxDepth {
			return i
		}
	}
	return -1
}
