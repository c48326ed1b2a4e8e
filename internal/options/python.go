package options

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"go.starlark.net/syntax"

	"github.com/ncsa/clowder-ray/internal/text"
)

// plainValue ends a sentence about a line of Python.
const plainValue = "only assignments of plain values are read, such as epochs = 5."

// readPython returns the assignments of literals in Python code, for example epochs = 5, and the entries of dictionaries that stand alone.
// No code is run.
func readPython(source string) ([]Entry, []Finding) {
	source = strings.TrimPrefix(source, "\ufeff")
	prepared, at := older(source)
	if at >= 0 {
		return nil, Fault(PlaceOf(source, at), "This is nested too deeply.")
	}
	file, err := parse(prepared)
	if err != nil {
		place, said := Place{1, 1}, err.Error()
		if e, ok := errors.AsType[syntax.Error](err); ok {
			place, said = Place{int(e.Pos.Line), int(e.Pos.Col)}, e.Msg
		}
		return nil, Fault(place, fmt.Sprintf("This is not read (%s): %s", text.Excerpt(said, 100), plainValue))
	}
	r := literals{seen: map[string]bool{}}
	for _, statement := range file.Stmts {
		r.statement(statement)
	}
	return r.entries, r.findings
}

// parse turns what the library panics with into an error.
func parse(source string) (file *syntax.File, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("the text cannot be read: %v", r)
		}
	}()
	return new(syntax.FileOptions).Parse("", source, 0)
}

// literals collects the entries of a file.
type literals struct {
	entries  []Entry
	findings []Finding
	seen     map[string]bool
}

func (r *literals) statement(statement syntax.Stmt) {
	switch s := statement.(type) {
	case *syntax.ExprStmt:
		if group, ok := s.X.(*syntax.DictExpr); ok {
			r.group(group, "")
			return
		}
		if _, ok := s.X.(*syntax.Literal); ok {
			return // a text that stands alone is a comment
		}
	case *syntax.AssignStmt:
		name, ok := s.LHS.(*syntax.Ident)
		if !ok || s.Op != syntax.EQ {
			break
		}
		if r.seen[name.Name] {
			r.add(mistake(placeIn(name), utf8.RuneCountInString(name.Name), text.Excerpt(name.Name, 60)+" appears twice: remove one of them."))
		}
		r.seen[name.Name] = true
		if group, ok := s.RHS.(*syntax.DictExpr); ok {
			r.group(group, name.Name+".")
			return
		}
		r.entry(name.Name, name, s.RHS)
		return
	}
	r.refuse(statement)
}

// group lists the entries of a dictionary; prefix is its name with a point.
func (r *literals) group(group *syntax.DictExpr, prefix string) {
	seen := map[string]bool{}
	for _, item := range group.List {
		pair, ok := item.(*syntax.DictEntry)
		if !ok {
			r.refuse(item)
			continue
		}
		key, ok := literal(pair.Key)
		if !ok || key.Shape != Text {
			r.refuse(pair.Key)
			continue
		}
		if seen[key.Text] {
			r.add(mistake(placeIn(pair.Key), widthIn(pair.Key), text.Excerpt(key.Text, 60)+" appears twice: remove one of them."))
		}
		seen[key.Text] = true
		if inner, ok := pair.Value.(*syntax.DictExpr); ok && prefix == "" {
			r.group(inner, key.Text+".")
			continue
		}
		r.entry(prefix+key.Text, pair.Key, pair.Value)
	}
}

func (r *literals) entry(name string, at, value syntax.Expr) {
	v, ok := literal(value)
	if !ok {
		r.refuse(value)
		return
	}
	r.entries = append(r.entries, Entry{Name: name, At: placeIn(at), Width: widthIn(at), Value: v, ValueAt: placeIn(value), ValueWidth: widthIn(value)})
}

func (r *literals) refuse(node syntax.Node) {
	r.add(mistake(placeIn(node), widthIn(node), "This is not a plain value: "+plainValue))
}

func (r *literals) add(f Finding) {
	if len(r.findings) < MostFindings {
		r.findings = append(r.findings, f)
	}
}

// literal returns a value that is written out; false for one that would have to be computed.
func literal(e syntax.Expr) (Value, bool) {
	switch x := e.(type) {
	case *syntax.ParenExpr:
		return literal(x.X)
	case *syntax.Literal:
		switch v := x.Value.(type) {
		case string: // bytes are one, too
			return Value{Text: strings.TrimSpace(v)}, x.Token == syntax.STRING && utf8.ValidString(v)
		case float64:
			return Value{Text: x.Raw}, true
		default: // a whole number of any size
			return Value{Text: fmt.Sprint(v)}, true
		}
	case *syntax.Ident:
		switch x.Name {
		case "True", "False":
			return Value{Shape: Truth, Text: strings.ToLower(x.Name)}, true
		case "None":
			return Value{Shape: Nothing}, true
		}
	case *syntax.UnaryExpr:
		v, ok := literal(x.X)
		if ok && v.Shape == Text && x.Op == syntax.MINUS && isNumber(x.X) {
			return Value{Text: "-" + v.Text}, true
		}
		return v, ok && x.Op == syntax.PLUS && isNumber(x.X)
	case *syntax.ListExpr:
		return Value{Shape: List}, all(x.List)
	case *syntax.TupleExpr:
		return Value{Shape: List}, all(x.List)
	case *syntax.DictExpr:
		for _, item := range x.List {
			if pair, ok := item.(*syntax.DictEntry); !ok || !all([]syntax.Expr{pair.Key, pair.Value}) {
				return Value{}, false
			}
		}
		return Value{Shape: Group}, true
	}
	return Value{}, false
}

func isNumber(e syntax.Expr) bool {
	l, ok := e.(*syntax.Literal)
	return ok && (l.Token == syntax.INT || l.Token == syntax.FLOAT)
}

func all(values []syntax.Expr) bool {
	for _, value := range values {
		if _, ok := literal(value); !ok {
			return false
		}
	}
	return true
}

func placeIn(node syntax.Node) Place {
	start, _ := node.Span()
	return Place{max(1, int(start.Line)), max(1, int(start.Col))}
}

func widthIn(node syntax.Node) int {
	start, end := node.Span()
	if end.Line != start.Line {
		return 1
	}
	return max(1, int(end.Col-start.Col))
}
