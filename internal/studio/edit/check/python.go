package check

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"time"

	"github.com/ncsa/clowder-ray/internal/options"
	"github.com/ncsa/clowder-ray/internal/text"
)

//go:embed python_syntax.py
var pythonSyntax string

const (
	// pythonTime limits one check. The parser of Python reads 1 MB in less than a second.
	pythonTime = 5 * time.Second
	// maxPythonAnswer is the size in bytes of the largest answer that is read.
	maxPythonAnswer = 64 << 10
)

// Interpreter checks Python code with a Python of this machine, in a process with limits that parses the code and ends.
type Interpreter struct {
	path  string
	turns chan struct{}
}

// NewInterpreter returns the interpreter at path. At most two checks run at a time.
func NewInterpreter(path string) *Interpreter {
	return &Interpreter{path: path, turns: make(chan struct{}, 2)}
}

// Check returns the first mistake in the syntax of the code.
func (p *Interpreter) Check(ctx context.Context, code string) ([]options.Finding, error) {
	ctx, cancel := context.WithTimeout(ctx, pythonTime)
	defer cancel()
	select {
	case p.turns <- struct{}{}:
		defer func() { <-p.turns }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	// -I and -S: nothing of the environment or of a folder is imported.
	command := exec.CommandContext(ctx, p.path, "-I", "-S", "-B", "-c", pythonSyntax)
	command.Env, command.Dir = []string{}, "/"
	command.Stdin, command.WaitDelay = strings.NewReader(code), time.Second
	var answer bytes.Buffer
	command.Stdout = &limited{to: &answer, left: maxPythonAnswer}
	if err := command.Run(); err != nil {
		return nil, fmt.Errorf("check Python code: %w", err)
	}
	var fault struct {
		Line, Column, End int
		Message           string
	}
	if err := json.Unmarshal(answer.Bytes(), &fault); err != nil {
		return nil, fmt.Errorf("read the answer about Python code: %w", err)
	}
	if fault.Message == "" {
		return nil, nil
	}
	at := options.Fault(options.Place{Line: fault.Line, Column: fault.Column}, text.Capital(text.Excerpt(fault.Message, 200))+".")
	at[0].EndColumn = fault.End
	return at, nil
}

// limited refuses more than left bytes.
type limited struct {
	to   io.Writer
	left int
}

func (l *limited) Write(p []byte) (int, error) {
	if l.left -= len(p); l.left < 0 {
		return 0, io.ErrShortWrite
	}
	return l.to.Write(p)
}
