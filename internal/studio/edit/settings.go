package edit

import (
	"context"
	"fmt"
	"net/http"
	"path"
	"slices"

	"github.com/ncsa/clowder-ray/internal/clowder"
	"github.com/ncsa/clowder-ray/internal/options"
	"github.com/ncsa/clowder-ray/internal/studio/edit/check"
	"github.com/ncsa/clowder-ray/internal/studio/web"
	"github.com/ncsa/clowder-ray/internal/text"
)

// Settings checks the settings file that a training is to use, before the training starts. The zero value is ready.
type Settings struct{ checker check.Checker }

// Check reads a file of the dataset, given by its id, its path or its name, with the credential of the visitor. The error is a *web.Problem
// with the first mistake that ends a training. What cannot be read here is not checked: the training itself says what is wrong with it.
func (s *Settings) Check(ctx context.Context, dataset, file string) error {
	if clowder.CheckIDs("file", file) != nil {
		if file = named(ctx, dataset, file); file == "" {
			return nil
		}
	}
	state, err := filesOf(ctx).FileState(ctx, file)
	if err != nil || state.DatasetID != dataset || !Editable(state.Name) {
		return nil //nolint:nilerr // the training says what is wrong with the file
	}
	body, err := filesOf(ctx).ReadFile(ctx, state.File, 0, maxText)
	if err != nil {
		return nil //nolint:nilerr // as above
	}
	if report := s.checker.Settings(ctx, state.Name, string(body)); len(report.Errors()) > 0 {
		return refusal(state.Name, state.Version, report.Errors())
	}
	return nil
}

// named returns the id of the file that a training finds by a path or a name, empty where there is none.
func named(ctx context.Context, dataset, name string) string {
	files, err := filesOf(ctx).FilesNow(ctx, dataset)
	if err != nil {
		return ""
	}
	for _, same := range []func(clowder.File) bool{
		func(f clowder.File) bool { return f.Path == name },
		func(f clowder.File) bool { return path.Base(f.Path) == name },
	} {
		if at := slices.IndexFunc(files, same); at >= 0 {
			return files[at].ID
		}
	}
	return ""
}

// refusal says why no training starts with a version of a settings file.
func refusal(name string, version int, errors []options.Finding) *web.Problem {
	first := errors[0]
	others := ""
	if n := len(errors) - 1; n > 0 {
		others = " The file has " + text.Count(n, "further error") + "."
	}
	return &web.Problem{
		Type: "settings", Title: "The settings have an error", Status: http.StatusUnprocessableEntity,
		Detail: fmt.Sprintf("%s, version %d, line %d, column %d: %s%s No run was started.", name, version, first.Line, first.Column, first.Message, others),
		Do:     "Correct the file, save it, then start the run again.",
	}
}

// showErrors shows the file that was saved, with the errors for which no training was started.
func (s *Section) showErrors(w http.ResponseWriter, req *http.Request, dataset, file string, out Outcome, report check.Report) error {
	view, err := s.editor(req.Context(), dataset, file)
	if err != nil {
		return err
	}
	saved := fmt.Sprintf("Saved as version %d. ", out.Number)
	if out.Unchanged {
		saved = ""
	}
	view.Report = &report
	view.Notice = &Notice{"failed", saved + fmt.Sprintf("No training was started: line %d has an error. Correct it, then press Save and train again.", report.Errors()[0].Line)}
	s.show(w, req, http.StatusUnprocessableEntity, view)
	return nil
}
