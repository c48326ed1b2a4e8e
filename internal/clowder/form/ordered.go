package form

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// member is one name of an object with its value.
type member struct {
	name  string
	value json.RawMessage
}

// ordered is a JSON object that keeps the order of its members, because Clowder's form shows the parameters in the order of
// extractor_info.json. It is not a map library, because it must refuse an object that has a name twice.
type ordered []member

// get returns the value of a member, or nil.
func (o ordered) get(name string) json.RawMessage {
	for _, m := range o {
		if m.name == name {
			return m.value
		}
	}
	return nil
}

// with returns a copy with the value of the member replaced, or with a new member at the end.
func (o ordered) with(name string, value json.RawMessage) ordered {
	out := append(ordered(nil), o...)
	for i := range out {
		if out[i].name == name {
			out[i].value = value
			return out
		}
	}
	return append(out, member{name, value})
}

// edit returns a copy with the value of the member name replaced in the object at path.
func (o ordered) edit(path []string, name string, value json.RawMessage) (ordered, error) {
	if len(path) == 0 {
		return o.with(name, value), nil
	}
	var inner ordered
	if err := json.Unmarshal(o.get(path[0]), &inner); err != nil {
		return nil, fmt.Errorf("%s: %w", path[0], err)
	}
	inner, err := inner.edit(path[1:], name, value)
	if err != nil {
		return nil, err
	}
	raw, err := json.Marshal(inner)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path[0], err)
	}
	return o.with(path[0], raw), nil
}

// UnmarshalJSON reads an object. It refuses a name that occurs twice, because readers differ in which value they use.
func (o *ordered) UnmarshalJSON(data []byte) error {
	dec := json.NewDecoder(bytes.NewReader(data))
	open, err := dec.Token()
	if err != nil {
		return err
	}
	if open != json.Delim('{') {
		return errors.New("is not an object")
	}
	*o = ordered{}
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return err
		}
		var m member
		m.name, _ = name.(string) // names in JSON are always texts
		if err := dec.Decode(&m.value); err != nil {
			return err
		}
		if o.get(m.name) != nil {
			return errors.New("has " + m.name + " twice")
		}
		*o = append(*o, m)
	}
	return nil
}

// MarshalJSON writes the members in their order.
func (o ordered) MarshalJSON() ([]byte, error) {
	out := []byte{'{'}
	for i, m := range o {
		if i > 0 {
			out = append(out, ',')
		}
		name, err := json.Marshal(m.name)
		if err != nil {
			return nil, err
		}
		out = append(append(append(out, name...), ':'), m.value...)
	}
	return append(out, '}'), nil
}
