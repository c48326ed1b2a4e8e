package check

import (
	"bytes"
	"context"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/options"
)

// interpreter returns a Python of this machine, or ends the test where there is none.
func interpreter(t *testing.T) *Interpreter {
	t.Helper()
	path, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("this machine has no python3")
	}
	return NewInterpreter(path)
}

func TestMistakesInPythonAreShownWhereTheyAre(t *testing.T) {
	t.Parallel()
	python := interpreter(t)
	for name, c := range map[string]struct {
		code string
		want string // the place and a word of the message, which Python chooses
	}{
		"nothing is wrong":                          {"async def f():\n    return [x async for x in y]\n", ""},
		"no code":                                   {"", ""},
		"lines that end as on Windows":              {"x = 1\r\ny = (\r\n", "2:5 '(' was never closed"},
		"a column behind letters of two bytes":      {"größe = = 1\n", "1:9 Invalid syntax"},
		"a block without its lines":                 {"if x:\npass\n", "2:1 indented block"},
		"an encoding that nobody knows":             {"# -*- coding: rhubarb -*-\n", "1:1 rhubarb"},
		"a text without its end":                    {"x = 1\ny = 'a\n", "2:5 string literal"},
		"a name that does not exist is no mistake":  {"rhubarb(1)\n", ""},
		"a module that is not there is no mistake":  {"import rhubarb\n", ""},
		"a mark of the byte order before the code":  {"\ufeffx = 1\n", ""},
		"code that would end the process if it ran": {"import os\nos._exit(7)\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			findings, err := python.Check(t.Context(), c.code)
			require.NoError(t, err)
			if c.want == "" {
				require.Empty(t, findings)
				return
			}
			require.Len(t, findings, 1)
			require.Equal(t, options.Error, findings[0].Severity)
			at, word, _ := strings.Cut(c.want, " ")
			said := lines(findings)[0]
			require.True(t, strings.HasPrefix(said, at+"-"), said)
			require.Contains(t, findings[0].Message, word)
			require.True(t, strings.HasSuffix(findings[0].Message, "."), "a sentence")
			require.NotContains(t, findings[0].Message, "\n")
		})
	}
}

func TestAPythonThatDoesNotAnswerIsAnErrorOfTheCheck(t *testing.T) {
	t.Parallel()
	program := func(name string) string {
		path, err := exec.LookPath(name)
		require.NoError(t, err)
		return path
	}
	for name, c := range map[string]struct{ path, want string }{
		"there is none":                  {filepath.Join(t.TempDir(), "python3"), "check Python code: "},
		"it ends with an error":          {program("false"), "check Python code: exit status 1"},
		"it answers something else":      {program("echo"), "read the answer about Python code: "},
		"it answers nothing":             {program("true"), "read the answer about Python code: unexpected end of JSON input"},
		"it is a folder and no program":  {t.TempDir(), "check Python code: "},
		"it is a path without a program": {"", "check Python code: exec: no command"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			python := NewInterpreter(c.path)
			findings, err := python.Check(t.Context(), "password = 'hunter2'\n")
			require.ErrorContains(t, err, c.want)
			require.NotContains(t, err.Error(), "hunter2", "the error goes to a log, the code does not")
			require.Empty(t, findings)
			require.Empty(t, python.turns, "the turn is given back")
			got := (&Checker{Python: python}).Check(t.Context(), "a.py", "x = 1\n")
			require.Equal(t, Report{Findings: []options.Finding{}, Skipped: "The check of Python code did not answer."}, got)
		})
	}
}

func TestACheckOfPythonWaitsForItsTurn(t *testing.T) {
	t.Parallel()
	python := interpreter(t)
	for range cap(python.turns) {
		python.turns <- struct{}{} // other checks run
	}
	gone, leave := context.WithCancel(t.Context())
	leave()
	_, err := python.Check(gone, "x = (\n")
	require.ErrorIs(t, err, context.Canceled, "who goes away waits no longer")
	require.Len(t, python.turns, 2, "and takes no turn of others")

	done := make(chan []options.Finding)
	go func() {
		findings, _ := python.Check(t.Context(), "x = (\n")
		done <- findings
	}()
	<-python.turns // another check ends
	require.Len(t, <-done, 1)
	require.Len(t, python.turns, 1)
}

func TestALongAnswerOfPythonIsNotKept(t *testing.T) {
	t.Parallel()
	var kept bytes.Buffer
	l := &limited{to: &kept, left: 5}
	n, err := l.Write([]byte("abc"))
	require.Equal(t, 3, n)
	require.NoError(t, err)
	n, err = l.Write([]byte("de"))
	require.Equal(t, 2, n)
	require.NoError(t, err, "the limit itself is allowed")
	_, err = l.Write([]byte("f"))
	require.ErrorIs(t, err, io.ErrShortWrite)
	_, err = l.Write([]byte("g"))
	require.ErrorIs(t, err, io.ErrShortWrite)
	require.Equal(t, "abcde", kept.String())
}
