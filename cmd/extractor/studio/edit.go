package studio

import (
	"os/exec"

	"github.com/ncsa/clowder-ray/internal/studio/edit/check"
)

// python returns what reads the syntax of Python code; nil where this machine has no such interpreter.
func (p *Parts) python() check.Python {
	path, err := exec.LookPath(p.Python)
	if err != nil {
		return nil
	}
	return check.NewInterpreter(path)
}
