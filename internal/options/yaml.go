package options

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"

	"github.com/ncsa/clowder-ray/internal/text"
)

// ReadYAML reads a text as YAML. Without settings only its syntax is checked, and it may have several documents.
func ReadYAML(source string, settings bool) ([]Entry, []Finding) {
	source = strings.TrimPrefix(source, "\ufeff")
	decoder := yaml.NewDecoder(bytes.NewReader([]byte(source)))
	var document yaml.Node
	switch err := decode(decoder, &document); {
	case errors.Is(err, io.EOF):
		return nil, nil // nothing, or comments
	case err != nil:
		return nil, Fault(markOf(err))
	}
	var second yaml.Node
	if err := decode(decoder, &second); settings && err == nil {
		return nil, Fault(Place{second.Line, second.Column}, "The settings end here: a settings file holds one document.")
	} else if err != nil && !errors.Is(err, io.EOF) {
		return nil, Fault(markOf(err))
	}
	findings := repeated(&document, 0)
	if !settings || len(document.Content) == 0 {
		return nil, findings
	}
	root := document.Content[0]
	if root.Kind == yaml.ScalarNode && root.Tag == "!!null" {
		return nil, findings
	}
	if root.Kind != yaml.MappingNode {
		return nil, append(findings, Fault(placeOf(root), "This is not an option: write lines like epochs: 5.")...)
	}
	r := reader{left: mostEntries}
	entries := r.mapping(root, "", 0)
	return entries, append(findings, r.findings...)
}

// decode reads one document. The library panics for some texts that are not YAML.
func decode(decoder *yaml.Decoder, into *yaml.Node) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("the text cannot be read: %v", r)
		}
	}()
	return decoder.Decode(into)
}

// markOf returns the place and the sentence of an error of the parser.
func markOf(err error) (Place, string) {
	if e, ok := errors.AsType[*yaml.LoadError](err); ok {
		said := e.Message
		if e.ContextMsg != "" {
			said += " " + e.ContextMsg
		}
		return Place{e.Mark.Line, e.Mark.Column}, text.Capital(text.Excerpt(said, 200)) + "."
	}
	return Place{1, 1}, text.Capital(text.Excerpt(err.Error(), 200)) + "."
}

const (
	// MaxDepth is how deep lists, groups, brackets and conditions may be nested in any format: parsers use memory for each level. Options are in
	// two levels.
	MaxDepth = 200
	// mostEntries limits the entries of a file: groups that are lent to others can mean many more than were written.
	mostEntries = 200_000
	// mostLent is how deep groups may be lent to each other.
	mostLent = 20
)

// repeated finds names that appear twice in one group, of which YAML would use the last.
func repeated(node *yaml.Node, depth int) []Finding {
	if depth > MaxDepth {
		return Fault(placeOf(node), "This is nested too deeply.")
	}
	var findings []Finding
	seen := make(map[string]int)
	for i, child := range node.Content {
		if node.Kind == yaml.MappingNode && i%2 == 0 && child.Kind == yaml.ScalarNode && !isMerge(child) {
			if line, twice := seen[child.Value]; twice {
				findings = append(findings, mistake(placeOf(child), widthOf(child),
					fmt.Sprintf("%s appears twice, the first time in line %d: remove one of them.", text.Excerpt(child.Value, 60), line)))
			} else {
				seen[child.Value] = child.Line
			}
		}
		findings = append(findings, repeated(child, depth+1)...)
		if len(findings) > MostFindings {
			break
		}
	}
	return findings
}

func isMerge(name *yaml.Node) bool {
	return name.Kind == yaml.ScalarNode && name.Value == "<<" && name.Style == 0
}

// reader lists the entries of a document.
type reader struct {
	left     int // entries that may still follow
	findings []Finding
}

// mapping lists the options of a mapping; groups are nested one level deep. What the mapping takes from others (<<) counts where it does not
// have the name itself.
func (r *reader) mapping(node *yaml.Node, outer string, lent int) []Entry {
	var entries, others []Entry
	for i := 0; i+1 < len(node.Content); i += 2 {
		name, content := node.Content[i], resolved(node.Content[i+1])
		if r.left--; r.left < 0 {
			r.findings = Fault(placeOf(name), "These groups are lent to each other too often.")
			return nil
		}
		if isMerge(name) {
			others = append(others, r.merged(content, outer, lent+1)...)
			continue
		}
		if content.Kind == yaml.MappingNode && outer == "" {
			entries = append(entries, r.mapping(content, name.Value, 0)...)
			continue
		}
		e := Entry{
			Name: name.Value, At: placeOf(name), Width: widthOf(name),
			Value: r.value(content), ValueAt: placeOf(node.Content[i+1]), ValueWidth: widthOf(node.Content[i+1]),
		}
		if outer != "" {
			e.Name = outer + "." + e.Name
		}
		entries = append(entries, e)
	}
	if len(others) == 0 {
		return entries
	}
	names := make(map[string]bool, len(entries))
	for _, e := range entries {
		names[e.Name] = true
	}
	for _, e := range others {
		if !names[e.Name] {
			entries, names[e.Name] = append(entries, e), true
		}
	}
	return entries
}

// merged lists what << takes from one mapping or from several.
func (r *reader) merged(node *yaml.Node, outer string, lent int) []Entry {
	if lent > mostLent {
		r.findings = Fault(placeOf(node), "This is nested too deeply.")
		return nil
	}
	switch node.Kind {
	case yaml.MappingNode:
		return r.mapping(node, outer, lent)
	case yaml.SequenceNode:
		var entries []Entry
		for _, item := range node.Content {
			if item = resolved(item); item.Kind == yaml.MappingNode && len(r.findings) == 0 {
				entries = append(entries, r.mapping(item, outer, lent)...)
			}
		}
		return entries
	default:
		r.findings = append(r.findings, Fault(placeOf(node), "<< takes the options of another group: write <<: *name.")...)
		return nil
	}
}

// resolved follows a reference to another place of the text, once: references of references do not exist.
func resolved(node *yaml.Node) *yaml.Node {
	if node.Kind == yaml.AliasNode && node.Alias != nil {
		return node.Alias
	}
	return node
}

// tags are the types of YAML that an option may name; others mean objects of a program.
var tags = []string{"", "!", "!!str", "!!int", "!!float", "!!bool", "!!null", "!!map", "!!seq", "!!timestamp", "!!merge"}

func (r *reader) value(node *yaml.Node) Value {
	if !slices.Contains(tags, node.Tag) && len(r.findings) < MostFindings {
		r.findings = append(r.findings, Fault(placeOf(node), "The tag "+text.Excerpt(node.Tag, 40)+" is not read: write a plain value.")...)
	}
	v := Value{Text: strings.TrimSpace(node.Value), Bare: node.Style&^yaml.TaggedStyle == 0}
	switch {
	case node.Kind == yaml.MappingNode:
		v = Value{Shape: Group}
	case node.Kind == yaml.SequenceNode:
		v = Value{Shape: List}
	case node.Tag == "!!null":
		v = Value{Shape: Nothing}
	}
	return v
}

func placeOf(node *yaml.Node) Place { return Place{max(1, node.Line), max(1, node.Column)} }

// widthOf returns the characters that a name or a value takes in its line.
func widthOf(node *yaml.Node) int {
	first, _, _ := strings.Cut(node.Value, "\n")
	width := utf8.RuneCountInString(first)
	if node.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle) != 0 {
		width += 2
	}
	return width
}
