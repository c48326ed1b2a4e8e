package check

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/options"
)

func lines(findings []options.Finding) []string {
	out := make([]string, 0, len(findings))
	for _, f := range findings {
		out = append(out, fmt.Sprintf("%d:%d-%d %s: %s", f.Line, f.Column, f.EndColumn, f.Severity, f.Message))
	}
	return out
}

func TestAMistakeIsFoundAtItsLineAndColumn(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		file, text string
		want       []string
	}{
		"nothing is wrong":                           {"finetune.yaml", "# settings\nautomatic: predict\nepochs: 5\ntraining:\n  seed: 7\nuse_gpu: yes\nlearning_rate: 1e-4\nbatch_size:\n", nil},
		"an empty file is right":                     {"finetune.yaml", "\n# later\n", nil},
		"an unknown option with a near name":         {"finetune.yaml", "epochs: 5\ntraining:\n  sede: 7\n", []string{"3:3-7 warning: There is no option sede: do you mean seed?"}},
		"an unknown option without":                  {"finetune.yaml", "rhubarb: 5\n", []string{"1:1-8 warning: There is no option rhubarb: it is ignored."}},
		"an option in another group":                 {"finetune.yaml", "data:\n  seed: 7\n", []string{"2:3-7 warning: The option seed is in the group training, so it is ignored here."}},
		"a dotted name":                              {"finetune.yaml", "training.seed: 7\nTraining.Weight-Decay: 0.1\n", nil},
		"a number out of its limits":                 {"finetune.yaml", "epochs: 500\n", []string{"1:9-12 error: epochs must be a whole number from 1 to 200, not 500."}},
		"half an epoch":                              {"finetune.yaml", "epochs: 1.5\n", []string{"1:9-12 error: epochs must be a whole number from 1 to 200, not 1.5."}},
		"no number":                                  {"finetune.yaml", "seed: true\n", []string{"1:7-11 error: seed must be a whole number from 0 to 2147483647, not true."}},
		"a word that is no choice":                   {"finetune.yaml", "optimizer: adam\n", []string{"1:12-16 error: optimizer must be one of adamw, sgd, adafactor, not adam."}},
		"a list where one value belongs":             {"finetune.yaml", "model: [a, b]\n", []string{"1:8-9 error: model must be a single value, not a list."}},
		"any model can be installed":                 {"finetune.yaml", "model: my/own-model\n", nil},
		"no truth":                                   {"finetune.yaml", "dry_run: perhaps\n", []string{"1:10-17 error: dry_run must be true or false, not perhaps."}},
		"the same option twice":                      {"finetune.yaml", "seed: 1\ntraining:\n  seed: 2\n", []string{"3:3-7 error: seed is set twice with different values, the first time in line 1: remove one of them."}},
		"the same name twice":                        {"finetune.yaml", "epochs: 1\nepochs: 1\n", []string{"2:1-7 error: epochs appears twice, the first time in line 1: remove one of them."}},
		"a list instead of options":                  {"finetune.yaml", "- epochs\n", []string{"1:1-2 error: This is not an option: write lines like epochs: 5."}},
		"two documents":                              {"finetune.yml", "epochs: 1\n---\nseed: 2\n", []string{"2:1-2 error: The settings end here: a settings file holds one document."}},
		"broken YAML":                                {"notes.yaml", "a: 1\n\tb: 2\n", []string{"2:1-2 error: Found a tab character that violates indentation while scanning a plain scalar."}},
		"names of another file are free":             {"config.yaml", "sede: 7\n", nil},
		"a reference":                                {"finetune.yaml", "epochs: &n 900\nbatch_size: *n\n", []string{"1:9-12 error: epochs must be a whole number from 1 to 200, not 900."}},
		"an alias of itself":                         {"finetune.yaml", "training: &a\n  seed: *a\n", []string{"2:9-10 error: seed must be a single value, not a group of options."}},
		"signs beside the Latin letters are counted": {"finetune.yaml", "run_name: 数据\nepochs: ünf\n", []string{"2:9-12 error: epochs must be a whole number from 1 to 200, not ünf."}},
		"JSON that is right":                         {"finetune.json", `{"epochs": 5, "training": {"seed": 7}, "dry_run": false}`, nil},
		"JSON with an unknown option":                {"finetune.json", "{\n\t\"epochs\": 0,\n\t\"training\": {\"sede\": 7}\n}", []string{"2:12-13 error: epochs must be a whole number from 1 to 200, not 0.", "3:15-21 warning: There is no option sede: do you mean seed?"}},
		"JSON with a name twice":                     {"finetune.json", `{"epochs": 1, "epochs": 1}`, []string{"1:15-23 error: epochs appears twice: remove one of them."}},
		"JSON with a list":                           {"finetune.json", `{"epochs": [1, {"a": 2}], "seed": 1}`, []string{"1:12-13 error: epochs must be a single value, not a list."}},
		"JSON that is a list":                        {"finetune.json", `[1]`, []string{"1:1-2 error: This is not an object with options: write {\"epochs\": 5}."}},
		"broken JSON":                                {"a.json", "{\n \"a\": 1,\n}", []string{"3:1-2 error: Invalid character '}' looking for beginning of object key string."}},
		"JSON that ends early":                       {"a.json", "{\"a\":\n", []string{"2:1-2 error: Unexpected end of JSON input."}},
		"TOML that is right":                         {"a.toml", "[a]\nb = 1\n", nil},
		"broken TOML":                                {"a.toml", "a = 1\nb = = 2\n", []string{"2:5-6 error: Unexpected character U+003D '=' at start of value."}},
		"TOML of a million brackets":                 {"a.toml", "a = " + strings.Repeat("[", 100_000), []string{"1:205-206 error: This is nested too deeply."}},
		"YAML of a million brackets":                 {"finetune.yaml", "a: " + strings.Repeat("[", 100_000), []string{"1:10004-10005 error: Exceeded max depth of 10000 while increasing flow level."}},
		"a text":                                     {"README.md", "# [anything", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := new(Checker).Check(t.Context(), c.file, c.text)
			require.Empty(t, got.Skipped)
			require.Equal(t, append([]string{}, c.want...), lines(got.Findings))
		})
	}
}

func TestWhatCannotBeCheckedIsSaid(t *testing.T) {
	t.Parallel()
	checker := new(Checker)
	require.Equal(t, "It is larger than 1 MB.", checker.Check(t.Context(), "a.yaml", strings.Repeat("x", MaxBytes+1)).Skipped)
	require.Equal(t, "It is not UTF-8 text.", checker.Check(t.Context(), "a.yaml", "a: \xff").Skipped)
	require.Equal(t, "Python code is not checked here.", checker.Check(t.Context(), "a.py", "x = 1").Skipped)
	checker.Python = broken{}
	require.Equal(t, "The check of Python code did not answer.", checker.Check(t.Context(), "a.py", "x = 1").Skipped)
}

type broken struct{}

func (broken) Check(context.Context, string) ([]options.Finding, error) { return nil, errors.New("no") }

func TestPythonIsParsedAndNotRun(t *testing.T) {
	t.Parallel()
	path, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("this machine has no python3")
	}
	checker := &Checker{Python: NewInterpreter(path)}
	require.Empty(t, checker.Check(t.Context(), "a.py", "raise SystemExit(3)\n").Findings, "it would end the process if it ran")
	got := checker.Check(t.Context(), "a.py", "x = 1\ndef f(:\n    pass\n")
	require.Len(t, got.Findings, 1)
	require.Equal(t, 2, got.Findings[0].Line)
	require.Equal(t, 7, got.Findings[0].Column)
	for name, code := range map[string]string{"a zero byte": "x\x00", "deep brackets": strings.Repeat("(", 50_000), "deep calls": strings.Repeat("-", 900_000) + "1"} {
		got := checker.Check(t.Context(), "a.py", code)
		require.True(t, len(got.Findings) == 1 || got.Skipped != "", name)
	}
}

func TestAMegabyteOfMistakesIsCheckedInTime(t *testing.T) {
	t.Parallel()
	var object, mapping strings.Builder
	for i := range 40_000 {
		fmt.Fprintf(&object, ",\n%q: %d", fmt.Sprint("epoch", i), i)
		fmt.Fprintf(&mapping, "epoch%d: 1\n", i)
	}
	for name, text := range map[string]string{"finetune.json": "{\"seed\": 1" + object.String() + "}", "finetune.yaml": mapping.String()} {
		begin := time.Now()
		got := new(Checker).Check(t.Context(), name, text)
		require.Len(t, got.Findings, options.MostFindings, name)
		require.Less(t, time.Since(begin), 20*time.Second, name)
		t.Log(name, time.Since(begin))
	}
}

func FuzzCheck(f *testing.F) {
	for _, seed := range []string{"epochs: 5\n", "{\"a\": [1, {}]}", "a = [1]\n", "? [a]\n: &x *x\n", "<<: {a: 1}\n", "%YAML 1.1\n---\n!!binary x", "\ufeff{}"} {
		for i := range 4 {
			f.Add(i, seed)
		}
	}
	names := []string{"finetune.yaml", "finetune.json", "a.toml", "a.yaml"}
	f.Fuzz(func(t *testing.T, which int, text string) {
		got := new(Checker).Check(t.Context(), names[uint(which)%uint(len(names))], text)
		for _, finding := range got.Findings {
			require.Positive(t, finding.Line)
			require.Positive(t, finding.Column)
			require.Greater(t, finding.EndColumn, finding.Column)
			require.NotEmpty(t, finding.Message)
			require.LessOrEqual(t, finding.Line, strings.Count(text, "\n")+strings.Count(text, "\r")+strings.Count(text, "\u0085")+strings.Count(text, "\u2028")+strings.Count(text, "\u2029")+2)
		}
	})
}
