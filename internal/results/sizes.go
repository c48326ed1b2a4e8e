package results

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/ncsa/clowder-ray/internal/text"
)

// checkSizes holds every list and map of a decoded value against the limits in a schema, before anything computes with them: the limits bound
// what is validated, and how many violations there can be. It also checks lists of numbers, of which a result can have millions: too many for
// a validator of documents. The error is one short line.
func checkSizes(name string, v any) error {
	schemas, err := compiledSchemas()
	if err != nil {
		return fmt.Errorf("compile the schemas of the trainer: %w", err)
	}
	if err := sizes(schemas[name], reflect.ValueOf(v)); err != nil {
		return errors.New(strings.TrimPrefix(err.Error(), "."))
	}
	return nil
}

// sizes finds the first list or map in v that is over its limit, or a list of numbers that is impossible. The error begins with its place.
func sizes(s *jsonschema.Schema, v reflect.Value) error {
	for s != nil && s.Ref != nil {
		s = s.Ref
	}
	if s == nil {
		return nil
	}
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			return sizes(s, v.Elem())
		}
	case reflect.Struct:
		return sizesOfFields(s, v)
	case reflect.Slice:
		return sizesOfList(s, v)
	case reflect.Map:
		return sizesOfMap(s, v)
	default:
	}
	return nil
}

func sizesOfFields(s *jsonschema.Schema, v reflect.Value) error {
	for field, value := range v.Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if err := sizes(s.Properties[name], value); err != nil {
			return fmt.Errorf(".%s%w", name, err)
		}
	}
	return nil
}

func sizesOfList(s *jsonschema.Schema, v reflect.Value) error {
	if err := within(s.MaxItems, v.Len()); err != nil {
		return err
	}
	if counts, ok := reflect.TypeAssert[[]int](v); ok {
		return numbersWithin(s, counts)
	}
	if numbers, ok := reflect.TypeAssert[[]float64](v); ok {
		return numbersWithin(s, numbers)
	}
	if !hasParts(v) {
		return nil
	}
	for i := range v.Len() {
		if err := sizes(s.Items2020, v.Index(i)); err != nil {
			return fmt.Errorf(".%d%w", i, err)
		}
	}
	return nil
}

func sizesOfMap(s *jsonschema.Schema, v reflect.Value) error {
	if err := within(s.MaxProperties, v.Len()); err != nil || !hasParts(v) {
		return err
	}
	values, _ := s.AdditionalProperties.(*jsonschema.Schema)
	for _, key := range slices.SortedFunc(v.Seq(), func(a, b reflect.Value) int { return cmp.Compare(a.String(), b.String()) }) {
		if err := sizes(values, v.MapIndex(key)); err != nil {
			return fmt.Errorf(".%s%w", text.Excerpt(key.String(), 60), err)
		}
	}
	return nil
}

func numbersWithin[T int | float64](s *jsonschema.Schema, list []T) error {
	if s.MinItems != nil && len(list) < *s.MinItems {
		return fmt.Errorf(": %d numbers are too few, there must be %d", len(list), *s.MinItems)
	}
	low, high := math.Inf(-1), math.Inf(1)
	if least := s.Items2020.Minimum; least != nil {
		low, _ = least.Float64()
	}
	if most := s.Items2020.Maximum; most != nil {
		high, _ = most.Float64()
	}
	for i, n := range list {
		if float64(n) < low || float64(n) > high {
			return fmt.Errorf(".%d: the number is impossible, it must be from %g to %g", i, low, high)
		}
	}
	return nil
}

// hasParts reports whether the elements of a list or map can have lists themselves.
func hasParts(v reflect.Value) bool {
	return slices.Contains([]reflect.Kind{reflect.Struct, reflect.Slice, reflect.Map}, v.Type().Elem().Kind())
}

func within(limit *int, n int) error {
	if limit == nil || n <= *limit {
		return nil
	}
	return fmt.Errorf(": %s are too many, at most %s are read", text.Number(n), text.Number(*limit))
}
