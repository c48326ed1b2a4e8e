package basemodel

import (
	"errors"
	"fmt"
	"syscall"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/text"
)

// sentence makes an error of whole sentences, which an operator reads.
func sentence(format string, args ...any) error { return fmt.Errorf(format, args...) }

// clip makes a text of a source or of the command line fit into a sentence.
func clip(s string) string { return text.Excerpt(s, 120) }

// diskError explains an error of the shared volume.
func diskError(what string, err error) error {
	kind, _ := job.Classify(err)
	switch {
	case err == nil, kind == job.KindPermanent: // the latter is a sentence already
		return err
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return job.Permanent(sentence("The shared volume is full. Free some room and run the command again; it goes on where it stopped."))
	case errors.Is(err, syscall.EACCES), errors.Is(err, syscall.EPERM), errors.Is(err, syscall.EROFS):
		return job.Permanent(sentence("The folder of models cannot be changed: %w. Run the command as the user of the service.", err))
	default:
		return fmt.Errorf("%s: %w", what, err)
	}
}
