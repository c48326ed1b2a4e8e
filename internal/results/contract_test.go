package results_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/danielgtaylor/huma/v2"
	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/results"
	"github.com/ncsa/clowder-ray/internal/results/delivery"
	"github.com/ncsa/clowder-ray/internal/results/resultstest"
)

var update = flag.Bool("update", false, "write the schemas of results")

// TestTheSchemasAreWrittenFromTheTypes holds that the contract about results is said once, in the types: what a value may be is in the tag of
// its field, what it means is in the comment. The tests of the trainer hold its results against the schemas.
func TestTheSchemasAreWrittenFromTheTypes(t *testing.T) {
	t.Parallel()
	huma.DefaultArrayNullable = false // a list that is not there is left out, or it is empty
	for name, document := range writtenSchemas(t) {
		doc, err := json.Marshal(document)
		require.NoError(t, err)
		var indented bytes.Buffer
		require.NoError(t, json.Indent(&indented, append(doc, '\n'), "", "  "))
		if *update {
			require.NoError(t, os.WriteFile(filepath.Join(resultstest.SchemaDir(t), name), indented.Bytes(), 0o600))
		}
		require.Equal(t, indented.String(), string(schemaFile(t, name)), "make contract writes it")
	}
}

// TestEveryListOfAResultHasALimit: the limits bound what is validated and shown. Blocks of sections have none, since they are cut.
func TestEveryListOfAResultHasALimit(t *testing.T) {
	t.Parallel()
	var result map[string]any
	require.NoError(t, json.Unmarshal(schemaFile(t, "result.schema.json"), &result))
	seen := map[string]bool{"#/$defs/Section": true}
	var visit func(place string, s map[string]any)
	visit = func(place string, s map[string]any) {
		if ref, ok := s["$ref"].(string); ok && !seen[ref] {
			seen[ref] = true
			part, ok := result["$defs"].(map[string]any)[strings.TrimPrefix(ref, "#/$defs/")].(map[string]any)
			require.True(t, ok, ref)
			visit(ref, part)
		}
		if items, ok := s["items"].(map[string]any); ok {
			require.True(t, s["maxItems"] != nil || items["$ref"] == "#/$defs/Section", place)
			visit(place, items)
		}
		if values, ok := s["additionalProperties"].(map[string]any); ok {
			require.NotNil(t, s["maxProperties"], place)
			visit(place, values)
		}
		properties, _ := s["properties"].(map[string]any)
		for name, property := range properties {
			visit(place+"."+name, property.(map[string]any))
		}
	}
	visit("result", result)
	require.Greater(t, len(seen), 20)
}

func schemaFile(t *testing.T, name string) []byte {
	t.Helper()
	doc, err := os.ReadFile(filepath.Join(resultstest.SchemaDir(t), name))
	require.NoError(t, err)
	return doc
}

// writtenSchemas are the schemas by the names of their files. result.schema.json has the parts of all.
func writtenSchemas(t *testing.T) map[string]*huma.Schema {
	t.Helper()
	const inResult, namedByOthers = "#/$defs/", "result.schema.json#/$defs/"
	comments := fieldComments(t, ".", "section")
	document := func(root any, title, prefix string) (*huma.Schema, map[string]*huma.Schema) {
		registry := huma.NewMapRegistry(prefix, huma.DefaultSchemaNamer)
		registry.Schema(reflect.TypeOf(root), true, "")
		parts := registry.Map()
		for name, part := range parts {
			describe(part, name, comments)
		}
		name := reflect.TypeOf(root).Name()
		s := parts[name]
		delete(parts, name)
		s.Title = title + " Written by make contract from internal/results."
		if s.Extensions == nil {
			s.Extensions = map[string]any{}
		}
		s.Extensions["$schema"] = "https://json-schema.org/draft/2020-12/schema"
		return s, parts
	}
	result, parts := document(results.Result{},
		"result.json: written last and atomically when a run succeeded. partial.json has the same form: what a failed script left.", inResult)
	result.Extensions["$defs"] = parts
	failure, _ := document(results.Failure{}, "error.json: written last and atomically when a run failed.", inResult)
	metrics, _ := document(delivery.DeliveredMetrics{}, "out/metrics.json, delivered to the user as metrics.json.", namedByOthers)
	return map[string]*huma.Schema{"result.schema.json": result, "error.schema.json": failure, "metrics.schema.json": metrics}
}

// describe fills in what a type and its fields mean. The format of a number is Go's, and nothing that a document can be held to.
func describe(s *huma.Schema, name string, comments map[string]map[string]string) {
	s.Description = comments[name][""]
	for field, property := range s.Properties {
		property.Description = comments[name][field]
		for of := property; of != nil; of = of.Items {
			of.Format = ""
			if len(of.Properties) > 0 {
				describe(of, "Example", comments) // the other types are parts of their own
			}
		}
	}
}

// fieldComments are the comments of types and of their fields, by the names of the types and of the properties in JSON. That of a type itself has
// no name.
func fieldComments(t *testing.T, folders ...string) map[string]map[string]string {
	t.Helper()
	all := map[string]map[string]string{}
	for _, folder := range folders {
		files, err := filepath.Glob(filepath.Join(folder, "*.go"))
		require.NoError(t, err)
		for _, file := range files {
			tree, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments)
			require.NoError(t, err)
			ast.Inspect(tree, func(n ast.Node) bool {
				types, ok := n.(*ast.GenDecl)
				if !ok || types.Tok != token.TYPE || len(types.Specs) != 1 {
					return true
				}
				of := types.Specs[0].(*ast.TypeSpec)
				if fields, ok := of.Type.(*ast.StructType); ok {
					all[of.Name.Name] = commentsOf(fields)
					all[of.Name.Name][""] = words(types.Doc)
				}
				return true
			})
		}
	}
	return all
}

func commentsOf(fields *ast.StructType) map[string]string {
	comments := map[string]string{}
	for _, field := range fields.Fields.List {
		if field.Tag == nil || field.Doc == nil {
			continue
		}
		name, _, _ := strings.Cut(reflect.StructTag(strings.Trim(field.Tag.Value, "`")).Get("json"), ",")
		comments[name] = words(field.Doc)
	}
	return comments
}

func words(comment *ast.CommentGroup) string {
	return strings.Join(strings.Fields(comment.Text()), " ")
}
