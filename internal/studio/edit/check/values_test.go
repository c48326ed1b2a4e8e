package check

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/options"
)

func TestAValueThatTheTrainerTakesIsRight(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ file, text string }{
		"a truth where yes and no are choices":  {"finetune.yaml", "use_gpu: true\nlower_case: false\n"},
		"off and on where they are":             {"finetune.yaml", "use_gpu: off\nlower_case: On\n"},
		"a truth of JSON where they are":        {"finetune.json", `{"use_gpu": true, "lower_case": false}`},
		"a choice in capitals":                  {"finetune.yaml", "optimizer: ADAMW\n"},
		"a number in quotes":                    {"finetune.yaml", "epochs: \"5\"\nweight_decay: '1e-2'\n"},
		"a number of JSON in quotes":            {"finetune.json", `{"epochs": " 5 "}`},
		"a whole number with a point":           {"finetune.yaml", "epochs: 5.0\n"},
		"a number with lines between digits":    {"finetune.yaml", "batch_size: 1_000\n"},
		"a hexadecimal number":                  {"finetune.yaml", "epochs: 0x10\n"},
		"numbers with other bases":              {"finetune.yaml", "epochs: 0b101\nbatch_size: 010\n"},
		"both limits of a number":               {"finetune.yaml", "epochs: 200\nwarmup_ratio: 0\ntest_fraction: 0.5\nseed: 2147483647\n"},
		"each word for a truth":                 {"finetune.yaml", "dry_run: Yes\nfreeze_encoder: OFF\ndeterministic: 1\nmerge: \"no\"\n"},
		"an option without a value":             {"finetune.yaml", "epochs: ~\nmodel: ''\noptimizer:\n"},
		"an option of JSON without a value":     {"finetune.json", `{"epochs": null, "training": {"seed": null, "optimizer": ""}}`},
		"one value twice":                       {"finetune.yaml", "seed: 7\ntraining:\n  seed: 7\n"},
		"nothing and then a value":              {"finetune.yaml", "seed:\ntraining:\n  seed: 7\n"},
		"a name with dashes, capitals, blanks":  {"finetune.json", `{" Epochs ": 1, "Weight-Decay": 0.1}`},
		"options that are taken from elsewhere": {"finetune.yaml", "training: &a {seed: 7}\n<<: [{epochs: 4}, {epochs: 900}]\n"},
		"the line that the service reads":       {"finetune.yaml", "Automatic: [predict]\n"},
		"a value over several lines":            {"finetune.yaml", "run_name: >\n  one\n  two\nepochs: |\n  7\n"},
		"a document with its begin and its end": {"finetune.yaml", "---\nepochs: 1\n...\n"},
		"nothing but a null":                    {"finetune.yaml", "~\n"},
		"a mark of the byte order":              {"finetune.yaml", "\ufeffepochs: 1\n"},
		"the same before JSON":                  {"finetune.json", "\ufeff{\"epochs\": 1}"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Empty(t, new(Checker).Check(t.Context(), c.file, c.text).Findings)
		})
	}
}

func TestAValueThatTheTrainerRefusesIsAnError(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ file, text, want string }{
		"infinity":     {"finetune.yaml", "learning_rate: .inf\n", "1:16-20 error: learning_rate must be a number from 0 to 1, not .inf."},
		"not a number": {"finetune.yaml", "learning_rate: nan\n", "1:16-19 error: learning_rate must be a number from 0 to 1, not nan."},
		"a number too large for a word": {
			"finetune.json", `{"seed": 1e999}`, "1:10-15 error: seed must be a whole number from 0 to 2147483647, not 1e999.",
		},
		"a truth for a number of JSON": {"finetune.json", `{"epochs": false}`, "1:12-17 error: epochs must be a whole number from 1 to 200, not false."},
		"a truth for a number":         {"finetune.yaml", "epochs: on\n", "1:9-11 error: epochs must be a whole number from 1 to 200, not on."},
		"off in quotes for a choice":   {"finetune.yaml", "use_gpu: \"off\"\n", "1:10-15 error: use_gpu must be one of auto, yes, no, not off."},
		"an octal number of Python":    {"finetune.yaml", "epochs: 0o17\n", "1:9-13 error: epochs must be a whole number from 1 to 200, not 0o17."},
		"a fraction of base sixteen":   {"finetune.yaml", "warmup_ratio: 0x1p-2\n", "1:15-21 error: warmup_ratio must be a number from 0 to 0.5, not 0x1p-2."},
		"a number for a truth":         {"finetune.yaml", "dry_run: 2\n", "1:10-11 error: dry_run must be true or false, not 2."},
		"a truth for a word":           {"finetune.yaml", "optimizer: true\n", "1:12-16 error: optimizer must be one of adamw, sgd, adafactor, not true."},
		"a group for one value": {
			"finetune.yaml", "training:\n  seed:\n    a: 1\n", "3:5-6 error: seed must be a single value, not a group of options.",
		},
		"a group of JSON for one value": {
			"finetune.json", `{"training": {"seed": {"a": [1, {"b": 2}]}, "optimizer": "sgd"}}`,
			"1:23-24 error: seed must be a single value, not a group of options.",
		},
		"a list of JSON in a group": {
			"finetune.json", `{"training": {"seed": [[1], {}], "optimizer": "sgd"}}`, "1:23-24 error: seed must be a single value, not a list.",
		},
		"two values in two groups of JSON": {
			"finetune.json", "{\"seed\": 1,\n\"training\": {\"seed\": 2}}",
			"2:14-20 error: seed is set twice with different values, the first time in line 1: remove one of them.",
		},
		"a name twice in a group of JSON": {
			"finetune.json", `{"training": {"seed": 1, "seed": 1}}`, "1:26-32 error: seed appears twice: remove one of them.",
		},
		"a quoted name twice": {
			"finetune.yaml", "\"epochs\": 1\n'epochs': 1\n", "2:1-9 error: epochs appears twice, the first time in line 1: remove one of them.",
		},
		"a quoted value": {
			"finetune.yaml", "optimizer: 'adam'\n", "1:12-18 error: optimizer must be one of adamw, sgd, adafactor, not adam.",
		},
		"a value with a line end in it": {
			"finetune.json", `{"optimizer": "a\nb"}`, "1:15-21 error: optimizer must be one of adamw, sgd, adafactor, not a b.",
		},
		"a value that is long": {
			"finetune.yaml", "use_gpu: " + strings.Repeat("x", 90) + "\n",
			"1:10-100 error: use_gpu must be one of auto, yes, no, not " + strings.Repeat("x", 39) + "….",
		},
		"one word": {"finetune.yaml", "hello\n", "1:1-2 error: This is not an option: write lines like epochs: 5."},
		"a document that is empty": {
			"finetune.yaml", "---\nepochs: 1\n---\n", "3:1-2 error: The settings end here: a settings file holds one document.",
		},
		"a text of JSON": {"finetune.json", `"epochs"`, "1:1-2 error: This is not an object with options: write {\"epochs\": 5}."},
		"lines that end as on Windows": {
			"finetune.yaml", "seed: 1\r\nepochs: 900\r\n", "2:9-12 error: epochs must be a whole number from 1 to 200, not 900.",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := new(Checker).Check(t.Context(), c.file, c.text)
			require.Equal(t, []string{c.want}, lines(got.Findings))
		})
	}
}

func TestAFindingSaysWhatToWriteInstead(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ text, want string }{
		"the upper limit":                         {"epochs: 900", "200"},
		"the lower limit":                         {"epochs: -3", "1"},
		"a limit with a point":                    {"validation_fraction: 0", "0.01"},
		"a large limit without an exponent":       {"edges_per_epoch: 5e12", "1000000000"},
		"a choice with one letter less":           {"optimizer: adam", "adamw"},
		"a choice with two letters swapped":       {"optimizer: sdg", "sgd"},
		"a choice in other letters":               {"scheduler: COSINUS", "cosine"},
		"an option in capitals":                   {"SEDE: 1", "seed"},
		"an option in a group":                    {"training:\n  optimiser: sgd", "optimizer"},
		"an option whose group is wrong, too":     {"nothing:\n  optimiser: sgd", "optimizer"},
		"nothing near":                            {"optimizer: rhubarb", ""},
		"no number at all":                        {"epochs: many", ""},
		"half of a whole number":                  {"epochs: 2.5", ""},
		"a list":                                  {"optimizer: [adam]", ""},
		"an option in a wrong group":              {"data:\n  seed: 1", ""},
		"a word too long to compare":              {"optimizer: adamw" + strings.Repeat("w", 60), ""},
		"an option of which only the end differs": {"epoch: 1", "epochs"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := new(Checker).Check(t.Context(), "finetune.yaml", c.text)
			require.Len(t, got.Findings, 1)
			require.Equal(t, c.want, got.Findings[0].Instead, got.Findings[0].Message)
			if c.want != "" && got.Findings[0].Severity == options.Warning {
				require.Contains(t, got.Findings[0].Message, "do you mean "+c.want+"?")
			}
		})
	}
}
