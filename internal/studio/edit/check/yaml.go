package check

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"

	"github.com/ncsa/clowder-ray/internal/text"
)

// checkYAML reads a text as YAML; settings says that it holds options.
func checkYAML(source string, settings bool) []Finding {
	source = strings.TrimPrefix(source, "\ufeff")
	decoder := yaml.NewDecoder(bytes.NewReader([]byte(source)))
	var document yaml.Node
	switch err := decode(decoder, &document); {
	case errors.Is(err, io.EOF):
		return nil // nothing, or comments
	case err != nil:
		return fault(markOf(err))
	}
	var second yaml.Node
	if err := decode(decoder, &second); settings && err == nil {
		return fault(place{second.Line, second.Column}, "The settings end here: a settings file holds one document.")
	} else if err != nil && !errors.Is(err, io.EOF) {
		return fault(markOf(err))
	}
	findings := repeated(&document, 0)
	if !settings || len(document.Content) == 0 {
		return findings
	}
	root := document.Content[0]
	if root.Kind == yaml.ScalarNode && root.Tag == "!!null" {
		return findings
	}
	if root.Kind != yaml.MappingNode {
		return append(findings, fault(placeOfNode(root), "This is not an option: write lines like epochs: 5.")...)
	}
	return append(findings, checkOptions(yamlEntries(root, ""))...)
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
func markOf(err error) (place, string) {
	if e, ok := errors.AsType[*yaml.LoadError](err); ok {
		said := e.Message
		if e.ContextMsg != "" {
			said += " " + e.ContextMsg
		}
		return place{e.Mark.Line, e.Mark.Column}, text.Capital(text.Excerpt(said, 200)) + "."
	}
	return place{1, 1}, text.Capital(text.Excerpt(err.Error(), 200)) + "."
}

// maxDepth is how deep lists and groups may be nested; the trainer reads two levels.
const maxDepth = 200

// repeated finds names that appear twice in one group. YAML would use the last of them; the trainer refuses them.
func repeated(node *yaml.Node, depth int) []Finding {
	if depth > maxDepth {
		return fault(placeOfNode(node), "This is nested too deeply.")
	}
	var findings []Finding
	seen := make(map[string]int)
	for i, child := range node.Content {
		if node.Kind == yaml.MappingNode && i%2 == 0 && child.Kind == yaml.ScalarNode && child.Value != "<<" {
			if line, twice := seen[child.Value]; twice {
				findings = append(findings, Finding{
					Line: child.Line, Column: child.Column, EndColumn: child.Column + widthOf(child), Severity: Error,
					Message: fmt.Sprintf("%s appears twice, the first time in line %d: remove one of them.", text.Excerpt(child.Value, 60), line),
				})
			} else {
				seen[child.Value] = child.Line
			}
		}
		findings = append(findings, repeated(child, depth+1)...)
		if len(findings) > maxFindings {
			break
		}
	}
	return findings
}

// yamlEntries lists the options of a mapping; groups are nested one level deep.
func yamlEntries(mapping *yaml.Node, outer string) []entry {
	var entries []entry
	for i := 0; i+1 < len(mapping.Content); i += 2 {
		name, content := mapping.Content[i], resolved(mapping.Content[i+1])
		if name.Value == "<<" && name.Kind == yaml.ScalarNode {
			continue
		}
		if content.Kind == yaml.MappingNode && outer == "" {
			entries = append(entries, yamlEntries(content, name.Value)...)
			continue
		}
		e := entry{name: name.Value, at: placeOfNode(name), width: widthOf(name), value: yamlValue(mapping.Content[i+1], content)}
		if outer != "" {
			e.name = outer + "." + e.name
		}
		entries = append(entries, e)
	}
	return entries
}

// resolved follows a reference to another place of the text, once: references of references do not exist.
func resolved(node *yaml.Node) *yaml.Node {
	if node.Kind == yaml.AliasNode && node.Alias != nil {
		return node.Alias
	}
	return node
}

func yamlValue(written, content *yaml.Node) value {
	v := value{kind: textual, text: strings.TrimSpace(content.Value), at: placeOfNode(written), width: widthOf(written)}
	switch {
	case content.Kind == yaml.MappingNode:
		v.kind = group
	case content.Kind == yaml.SequenceNode:
		v.kind = list
	case content.Tag == "!!null":
		v.kind = nothing
	case content.Tag == "!!bool" || content.Style == 0 && truthYAML[content.Value]:
		v.kind = truth
	}
	return v
}

// truthYAML has the words that YAML 1.1, which the trainer reads, takes for a truth where no quotes are around them.
var truthYAML = func() map[string]bool {
	words := make(map[string]bool)
	for _, word := range []string{"yes", "no", "true", "false", "on", "off"} {
		words[word], words[strings.ToUpper(word)], words[text.Capital(word)] = true, true, true
	}
	return words
}()

func placeOfNode(node *yaml.Node) place { return place{max(1, node.Line), max(1, node.Column)} }

// widthOf returns the characters that a name or a value takes in its line.
func widthOf(node *yaml.Node) int {
	first, _, _ := strings.Cut(node.Value, "\n")
	width := utf8.RuneCountInString(first)
	if node.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle) != 0 {
		width += 2
	}
	return width
}
