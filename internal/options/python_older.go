package options

import "regexp"

var (
	// typed is a name with its type at the begin of a statement, up to the equal sign: learning_rate: float = 1e-4.
	typed = regexp.MustCompile(`^[ \t]*[A-Za-z_][A-Za-z0-9_]*([ \t]*:[^=\n;#'"]*)=`)
	// word is a name, and a number with what follows it.
	word = regexp.MustCompile(`^[A-Za-z0-9_.]+`)
)

// older returns Python code without what the parser does not know, which Starlark has not: underscores in numbers, and the types of names. All
// that is left stands where it stood. The second value is where the code is nested too deeply, or -1.
func older(source string) (prepared string, tooDeep int) {
	code := []byte(source)
	open, signs, begin := 0, 0, true
	for i := 0; i < len(code); {
		if begin && open == 0 {
			if m := typed.FindSubmatchIndex(code[i:]); m != nil {
				blank(code[i+m[2] : i+m[3]])
			}
		}
		begin = false
		switch c := code[i]; {
		case c == '#':
			for i < len(code) && code[i] != '\n' {
				i++
			}
			continue
		case c == '\'' || c == '"':
			i = afterText(code, i)
			continue
		case c == '(' || c == '[' || c == '{':
			open++
		case c == ')' || c == ']' || c == '}':
			open = max(0, open-1)
		case c == '-' || c == '+' || c == '~':
			signs++
		case c == ',' || c == ';':
			signs, begin = 0, c == ';'
		case c == '\n':
			begin = true
			if open == 0 {
				signs = 0
			}
		case word.Match(code[i:]):
			width := len(word.Find(code[i:]))
			switch token := code[i : i+width]; {
			case c >= '0' && c <= '9':
				squeeze(token)
			case isNesting(string(token)):
				signs++
			}
			i += width
			continue
		}
		if open > MaxDepth || signs > MaxDepth {
			return "", i
		}
		i++
	}
	return string(code), -1
}

// isNesting reports whether a word lets expressions be nested without brackets.
func isNesting(word string) bool {
	return word == "not" || word == "lambda" || word == "if" || word == "else"
}

// blank writes blanks over code.
func blank(code []byte) {
	for i := range code {
		code[i] = ' '
	}
}

// squeeze takes the underscores between digits out of a number and fills it up with blanks.
func squeeze(number []byte) {
	kept := 0
	for i, c := range number {
		if c == '_' && i > 0 && i+1 < len(number) && number[i-1] != '_' && number[i+1] != '_' {
			continue
		}
		number[kept] = c
		kept++
	}
	blank(number[kept:])
}

// afterText returns where the text ends that begins at i.
func afterText(code []byte, i int) int {
	quote, width := code[i], 1
	if i+2 < len(code) && code[i+1] == quote && code[i+2] == quote {
		width = 3
	}
	for i += width; i < len(code); i++ {
		switch {
		case code[i] == '\\':
			i++
		case code[i] == '\n' && width == 1:
			return i
		case code[i] == quote && (width == 1 || i+2 < len(code) && code[i+1] == quote && code[i+2] == quote):
			return i + width
		}
	}
	return len(code)
}
