package model

import "github.com/ncsa/clowder-ray/internal/registry"

// NotNotedError says that a version is the champion, but that its dataset does not say so. Promoting it again adds what is missing.
type NotNotedError struct {
	Ref   string
	Cause error
}

func (e *NotNotedError) Error() string {
	return e.Ref + " is the champion now, but the note on the dataset was not made: " + e.Cause.Error()
}

// Unwrap returns why the note was not made, which also says whether it is worth another try.
func (e *NotNotedError) Unwrap() error { return e.Cause }

// Promote makes a version the champion of its name, and then lets note say so where people see it. Requests, the command line and the studio
// promote by it. It may be repeated: note must look for what an earlier try has said. If note fails, the error is a NotNotedError.
func Promote(models *registry.Registry, of registry.Dataset, v registry.Version, note func(content map[string]any) error) error {
	if _, err := models.Promote(of, v.Name, v.Version); err != nil {
		return err
	}
	content := Note(&v, "promotion")
	content["champion"] = v.Ref()
	if err := note(content); err != nil {
		return &NotNotedError{v.Ref(), err}
	}
	return nil
}

// Note is what the metadata of a dataset says of a version; kind says what happened to the version.
func Note(v *registry.Version, kind string) map[string]any {
	content := map[string]any{"kind": kind, "name": v.Name, "name_version": v.Version, "model_run": v.Run}
	if v.Test != nil {
		content["metric"], content["test_value"] = v.Metric, v.Test.Value
	}
	return content
}
