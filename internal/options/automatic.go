package options

import (
	"fmt"
	"strings"
)

// Automatic reports whether a settings file asks for predictions of files that are added later, with the line automatic: predict. The error is
// for the user.
func Automatic(name, content string) (bool, error) {
	entries, findings := Read(name, content)
	if err := (Layer{Where: name}).refusal(findings); err != nil {
		return false, err
	}
	for _, e := range entries {
		if strings.ToLower(strings.TrimSpace(e.Name)) != ofTheService || e.Value.IsEmpty() {
			continue
		}
		switch word := strings.ToLower(e.Value.Text); {
		case e.Value.Shape == List || e.Value.Shape == Group:
		case word == "predict":
			return true, nil
		case word == "no" || word == "false" || word == "off":
			return false, nil
		}
		return false, fmt.Errorf("%s, line %d: automatic must be predict or no: correct the line", name, e.At.Line)
	}
	return false, nil
}
