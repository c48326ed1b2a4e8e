package options_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/options"
)

var train = options.Of("train")

func TestTheTableHasWhatTheServiceNeeds(t *testing.T) {
	t.Parallel()
	require.Greater(t, len(train.All()), 80)
	for _, kind := range []string{"train", "predict", "script"} {
		for _, o := range options.Of(kind).All() {
			if text, ok := o.Default.(string); ok && text == "" {
				continue
			}
			value, err := o.Parse(options.ValueOf(o.Default))
			require.NoError(t, err, o.Name)
			require.Equal(t, o.Default, value, "%s %s has its default among its values", kind, o.Name)
			require.NotEmpty(t, o.Help, o.Name)
		}
	}
	require.Nil(t, train.Named("epoch"))
	require.Empty(t, options.Of("runs").All())
}

func form(values map[string]any) options.Layer {
	return options.FormLayer(options.OfForm, "the form", values)
}

func TestAllSourcesLeadToTheSameSettings(t *testing.T) {
	t.Parallel()
	want := map[string]any{"epochs": int64(5), "learning_rate": 1e-5, "dry_run": true, "seed": int64(7), "long_text": "drop"}
	for name, layer := range map[string]options.Layer{
		"a form":       form(map[string]any{"epochs": int64(5), "learning_rate": 1e-5, "dry_run": true, "training.seed": json.Number("7"), "tokenization.long_text": "drop"}),
		"lines":        options.LinesLayer("# mine\nepochs = 5\ntraining.seed: 7\nLearning-Rate = 1e-5\r\ndry_run = yes # all\nlong_text: 'drop'\n"),
		"YAML":         options.FileLayer(options.OfChosenFile, "a.yml", "epochs: 5\nlearning_rate: 1e-5\ndry_run: yes\ntraining: {seed: 7}\ntokenization:\n  long_text: DROP\n"),
		"JSON":         options.FileLayer(options.OfChosenFile, "a.JSON", `{"epochs": 5.0, "learning_rate": "1e-5", "dry_run": true, "training": {"seed": "7"}, "tokenization.long_text": "drop"}`),
		"Python":       options.FileLayer(options.OfChosenFile, "a.py", "\"\"\"Mine.\"\"\"\nepochs: int = 5\nlearning_rate: float = 1e-5; dry_run: bool = True\ntraining = {\"seed\": 7}\nlong_text = 'drop'\n"),
		"a dictionary": options.FileLayer(options.OfChosenFile, "a.py", "{'epochs': +5, 'learning_rate': (0.000_01), 'dry_run': True, 'training': {'seed': 0x7}, 'tokenization.long_text': r'drop'}\n"),
		"some YAML":    options.FileLayer(options.OfDatasetFile, "finetune.yaml", "<<: [{epochs: 5}, {epochs: 6}]\nlearning_rate: 1e-5\ndry_run: on\ntraining:\n  seed: 7\nlong_text: drop\nautomatic: predict\nstride:\n"),
	} {
		got, err := train.Resolve(layer)
		require.NoError(t, err, name)
		require.Equal(t, want, got.Values, name)
		require.Empty(t, got.Notes, name)
		for option := range want {
			require.Equal(t, layer.Source, got.Sources[option], name)
		}
	}
}

func TestTheFirstSourceThatSetsAnOptionCounts(t *testing.T) {
	t.Parallel()
	layers := []options.Layer{
		form(map[string]any{"epochs": 11}), options.LinesLayer("epochs: 12"), options.FileLayer(options.OfChosenFile, "my.yaml", "epochs: 13"),
		options.FileLayer(options.OfDatasetFile, "finetune.yaml", "epochs: 14"), options.FormLayer(options.OfAdministrator, "the administrator's defaults", map[string]any{"epochs": 15}),
	}
	for first, layer := range layers {
		got, err := train.Resolve(layers[first:]...)
		require.NoError(t, err)
		require.EqualValues(t, 11+first, got.Values["epochs"])
		require.Equal(t, layer.Source, got.Sources["epochs"])
	}
	got, err := train.Resolve(options.FileLayer(options.OfDatasetFile, "finetune.yaml", "epochs:\nseed: ''\n"), options.FormLayer(options.OfAdministrator, "", map[string]any{"epochs": 9, "seed": 42}))
	require.NoError(t, err)
	require.Equal(t, map[string]options.Source{"epochs": options.OfAdministrator}, got.Sources, "an empty value and a default leave an option open")
	values, sources := train.Complete(got)
	require.Len(t, values, len(train.All()))
	require.Equal(t, []any{int64(9), int64(42)}, []any{values["epochs"], values["seed"]})
	require.Equal(t, options.OfTable, sources["seed"])
}

func TestTwoValuesOfOneOptionAreShownBoth(t *testing.T) {
	t.Parallel()
	file := options.FileLayer(options.OfDatasetFile, "finetune.yaml", "# mine\nepochs: 5\nseed: 7\nstride: 8\n")
	administrator := options.FormLayer(options.OfAdministrator, "the administrator's defaults", map[string]any{"epochs": 30, "stride": 16})
	got, err := train.Resolve(form(map[string]any{"epochs": 9, "training.seed": 7}), file, administrator)
	require.NoError(t, err)
	require.Equal(t, []options.Note{{Code: options.TwoValues, Text: "The option epochs is 9 in the form and 5 in finetune.yaml (line 2): the form counts."}}, got.Notes)
}

func TestUnknownOptionsAreNoted(t *testing.T) {
	t.Parallel()
	got, err := train.Resolve(options.LinesLayer("batchsize: 8"), options.FileLayer(options.OfDatasetFile, "finetune.yaml", "epoch: 9\ndata: {seed: 3}\nzzz: 1\n"))
	require.NoError(t, err)
	require.Empty(t, got.Values)
	var said []string
	for _, n := range got.Notes {
		require.Equal(t, options.UnknownOption, n.Code)
		said = append(said, n.Text)
	}
	require.Equal(t, []string{
		"In more_options (line 1): There is no option batchsize: do you mean batch_size?",
		"In finetune.yaml (line 1): There is no option epoch: do you mean epochs?",
		"In finetune.yaml (line 2): The option seed is in the group training, so it is ignored here.",
		"In finetune.yaml (line 3): There is no option zzz: it is ignored.",
	}, said)
	require.Equal(t, options.Note{
		Code: options.UnknownOption, Text: said[1], Option: "epoch", Value: "9", Source: options.OfDatasetFile,
	}, got.Notes[1], "a trainer that knows the option takes it")
	require.Empty(t, got.Notes[2].Option, "an option in another group is known")
	got, err = options.Of("predict").Resolve(form(map[string]any{"epochs": 5, "top_k": 5}))
	require.NoError(t, err)
	require.Len(t, got.Notes, 1, "an option of another kind of run is none")
	require.Equal(t, map[string]any{"top_k": int64(5)}, got.Values)
}

func TestManyUnknownNamesHideNoOption(t *testing.T) {
	t.Parallel()
	many := func(rest string) options.Layer {
		var b strings.Builder
		for i := range 2 * options.MostFindings {
			fmt.Fprintf(&b, "zzz%d: 1\n", i)
		}
		return options.FileLayer(options.OfDatasetFile, "finetune.yaml", b.String()+rest)
	}
	got, err := train.Resolve(many("epochs: 5\n"))
	require.NoError(t, err)
	require.Equal(t, map[string]any{"epochs": int64(5)}, got.Values)
	require.LessOrEqual(t, len(got.Notes), options.MostFindings)
	_, err = train.Resolve(many("seed: x\n"))
	require.ErrorContains(t, err, "finetune.yaml, line 201, column 7: seed must be")
}

func TestAnEmptyValueIsLeftToTheNextSource(t *testing.T) {
	t.Parallel()
	got, err := train.Resolve(options.LinesLayer("gain: ''"), options.FileLayer(options.OfDatasetFile, "finetune.yaml", "epochs: ''\n"))
	require.NoError(t, err)
	require.Empty(t, got.Values)
	require.Len(t, got.Notes, 1)
	require.Empty(t, got.Notes[0].Option, "a trainer that knows the option gets no value without one")
}

func TestEqualValuesAreNoMistake(t *testing.T) {
	t.Parallel()
	got, err := train.Resolve(options.FileLayer(options.OfDatasetFile, "finetune.yaml", "training:\n  seed: 1\nseed: '1'\n"))
	require.NoError(t, err)
	require.Equal(t, map[string]any{"seed": int64(1)}, got.Values)
	_, err = train.Resolve(options.FileLayer(options.OfDatasetFile, "finetune.yaml", "training:\n  seed: 1\nseed: 2\n"))
	require.ErrorContains(t, err, "seed is set twice with different values, the first time in line 2")
}

func TestAWrongValueNamesItsOptionSourceAndPlace(t *testing.T) {
	t.Parallel()
	chosen := func(name, content string) options.Layer {
		return options.FileLayer(options.OfChosenFile, name, content)
	}
	administrator := options.FormLayer(options.OfAdministrator, "the administrator's defaults", map[string]any{"epochs": 900})
	for _, c := range []struct {
		layer options.Layer
		want  string
	}{
		{form(map[string]any{"epochs": 0}), "the form: epochs must be a whole number from 1 to 200, not 0. Correct the form, then submit again"},
		{administrator, "the administrator's defaults: epochs must be a whole number from 1 to 200, not 900. Correct the administrator's defaults"},
		{options.LinesLayer("seed: 1\n scheduler: steep"), "more_options, line 2, column 12: scheduler must be one of linear, cosine, constant, not steep."},
		{options.LinesLayer("just words"), "more_options, line 1, column 1: just words is not an option: write one in each line"},
		{options.LinesLayer("seed: 1\n: 3"), "more_options, line 2, column 1: : 3 is not an option"},
		{options.LinesLayer("seed: 1\nseed: 2"), "more_options, line 2, column 1: seed is set twice with different values, the first time in line 1"},
		{chosen("a.yaml", "epochs: 1\ntraining:\n  seed: x\nstride: x\nlayers: x\n"), "a.yaml, line 3, column 9: seed must be a whole number from 0 to 2147483647, not x. There are 2 further errors. Correct a.yaml, then"},
		{chosen("a.json", `{"epochs": [1]}`), "a.json, line 1, column 12: epochs must be a single value, not a list."},
		{chosen("a.py", "seed = 1\nepochs = -1_000\n"), "a.py, line 2, column 10: epochs must be a whole number from 1 to 200, not -1000."},
		{chosen("a.py", "seed = 1\nepochs = int('5')\n"), "a.py, line 2, column 10: This is not a plain value: only assignments of plain values are read, such as epochs = 5."},
		{chosen("a.py", "import os\nepochs = 5\n"), "a.py, line 1, column 1: This is not read ("},
		{chosen("a.py", "seed = 1\nepochs: \"int\" = 5\n"), "a.py, line 2, column 8: This is not read ("},
		{chosen("a.yaml", "epochs: 5\xff"), "a.yaml, line 1, column 1: The file is not UTF-8 text: save it in UTF-8."},
		{chosen("a.yaml", strings.Repeat("#", options.MaxBytes+1)), "a.yaml, line 1, column 1: The file is larger than 1 MiB: shorten it."},
		{chosen("a.yaml", "training:\n\tseed: 7\n"), "a.yaml, line 2, column 1: Found character that cannot start any token"},
	} {
		_, err := train.Resolve(c.layer)
		require.ErrorContains(t, err, c.want)
	}
}

// bomb means a list of 43 million values.
func bomb() string {
	var text strings.Builder
	text.WriteString("a: &a [x, x, x, x, x, x, x, x, x]\n")
	for names, i := "abcdefgh", 1; i < len(names); i++ {
		fmt.Fprintf(&text, "%c: &%c [%s]\n", names[i], names[i], strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*%c, ", names[i-1]), 9), ", "))
	}
	return text.String()
}

func TestAHostileFileIsASentence(t *testing.T) {
	t.Parallel()
	var lent strings.Builder
	lent.WriteString("a0: &a0 {epochs: 1}\n")
	for i := 1; i <= 30; i++ {
		fmt.Fprintf(&lent, "a%d: &a%d {<<: [*a%d, *a%d], x%d: 1}\n", i, i, i-1, i-1, i)
	}
	for name, file := range map[string][2]string{
		"aliases that grow to a billion":    {"a.yaml", bomb() + "epochs: *h\n"},
		"the same in a text":                {"a.yaml", bomb() + "run_name: *h\n"},
		"groups that are lent to others":    {"a.yaml", lent.String() + "<<: *a30\n"},
		"an alias within itself":            {"a.yaml", "epochs: &a [*a]\n"},
		"a group that lends itself":         {"a.yaml", "training: &a\n  <<: *a\n  seed: x\n"},
		"an object of Python":               {"a.yaml", "epochs: !!python/object/apply:os.system ['true']\n"},
		"a truth that is none by its tag":   {"a.yaml", "epochs: !!bool nonsense\n"},
		"a number too long to be printed":   {"a.yaml", "epochs: 0x" + strings.Repeat("f", 9000) + "\n"},
		"deep YAML":                         {"a.yaml", strings.Repeat("[", 20000)},
		"YAML that does not end":            {"a.yaml", "epochs: [1, 2\n"},
		"two documents":                     {"a.yaml", "a: 1\n---\nb: 2\n"},
		"a list at the top":                 {"a.yaml", "- epochs\n- 5\n"},
		"a NUL":                             {"a.yaml", "epochs: 5\x00"},
		"deep JSON":                         {"a.json", strings.Repeat("[", 100_000)},
		"empty JSON":                        {"a.json", ""},
		"an infinite number":                {"a.json", `{"epochs": Infinity}`},
		"a number beyond all numbers":       {"a.json", `{"epochs": 1` + strings.Repeat("0", 400) + "}"},
		"a name twice":                      {"a.json", `{"epochs": 3, "epochs": 3}`},
		"a call of the system":              {"a.py", "epochs = __import__('os').system('true')\n"},
		"a call in a list":                  {"a.py", "epochs = 3\nother = [print()]\n"},
		"a list as a key":                   {"a.py", "epochs = {[]: 1}\n"},
		"a number that takes forever":       {"a.py", "epochs = 9 ** 9 ** 9\n"},
		"a sum":                             {"a.py", "epochs = 2 + 3\n"},
		"a name of Python twice":            {"a.py", "epochs = 3\nepochs = 3\n"},
		"a key of Python twice":             {"a.py", "training = {'seed': 3, 'seed': 3}\n"},
		"deep Python":                       {"a.py", strings.Repeat("(", 500_000)},
		"signs without end":                 {"a.py", "epochs = " + strings.Repeat("-", 900_000) + "1\n"},
		"conditions without end":            {"a.py", "epochs = " + strings.Repeat("1 if 1 else ", 80_000) + "1\n"},
		"negations without end":             {"a.py", "epochs = " + strings.Repeat("not ", 200_000) + "1\n"},
		"half a line of Python":             {"a.py", "epochs = "},
		"a text of Python that has no end":  {"a.py", "a = '''x\n"},
		"an assignment to two names":        {"a.py", "a, b = 1, 2\n"},
		"an addition to what was not there": {"a.py", "epochs += 1\n"},
		"a negative text":                   {"a.py", "run_name = -'a'\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := train.Resolve(options.FileLayer(options.OfChosenFile, file[0], file[1]))
			require.ErrorContains(t, err, file[0]+", line ")
			require.Less(t, len(err.Error()), 500)
		})
	}
}

func TestTextsOfPythonAreNoCode(t *testing.T) {
	t.Parallel()
	got, err := train.Resolve(options.FileLayer(options.OfChosenFile, "a.py", strings.Join([]string{
		`# epochs: int = 900`, `"""epochs = 900`, `seed: 1_0 """`, `run_name = "a_1_0 # ((((" ; seed = 1_000`, `arguments_of_others = ["x: y = 1", None, (1, 2), {"a": -1}]`,
	}, "\n")))
	require.NoError(t, err)
	require.Equal(t, map[string]any{"run_name": "a_1_0 # ((((", "seed": int64(1000)}, got.Values)
}

func TestNumbersOfAStoreAreWhatTheyWere(t *testing.T) {
	t.Parallel()
	r, err := train.Resolve(form(map[string]any{"epochs": 5, "learning_rate": 1e-5, "dry_run": true, "run_name": "a"}))
	require.NoError(t, err)
	doc, err := json.Marshal(r)
	require.NoError(t, err)
	var stored options.Resolved
	require.NoError(t, json.Unmarshal(doc, &stored))
	require.Equal(t, r, stored)
	require.Error(t, json.Unmarshal([]byte(`{"values": {"epochs": 1e999}}`), &stored))
	require.Error(t, json.Unmarshal([]byte(`{"values": []}`), &stored))
}

func TestASettingsFileAsksForAutomaticRuns(t *testing.T) {
	t.Parallel()
	for doc, want := range map[string]string{
		"epochs: 3\n": "", "": "", "# automatic: predict\n": "", "epochs: 3\nautomatic: predict\n": "yes", "automatic: no\n": "", "automatic:\n": "", "Automatic: Predict": "yes",
		"automatic: train\n": "a.yaml, line 1: automatic must be predict or no", "automatic: yes\n": "automatic must be predict or no", "automatic: [predict]\n": "automatic must be predict or no",
		"just a text": "a.yaml, line 1, column 1", "a: [": "a.yaml, line ", "automatic: no\nautomatic: predict\n": "automatic appears twice",
	} {
		asked, err := options.Automatic("a.yaml", doc)
		if want == "" || want == "yes" {
			require.NoError(t, err, doc)
			require.Equal(t, want == "yes", asked, doc)
			continue
		}
		require.ErrorContains(t, err, want, doc)
	}
	asked, err := options.Automatic("finetune.json", `{"automatic": "predict"}`)
	require.NoError(t, err)
	require.True(t, asked)
}

func TestTheSettingsFileNearestToTheTopCounts(t *testing.T) {
	t.Parallel()
	require.True(t, options.IsSettings("deep/FineTune.YML"))
	require.False(t, options.IsSettings("finetune.yaml/data.csv"))
	require.True(t, options.Better("finetune.yml", "a/finetune.yaml"))
	require.True(t, options.Better("a/finetune.yaml", "b/finetune.yaml"))
}

// megabytes are settings files of about a megabyte whose parts are small, with the place of the first error.
var megabytes = map[string]struct{ text, place string }{
	"a.py":   {strings.Repeat("a:;", 340_000), "line 1, column 3"},
	"b.py":   {strings.Repeat("a=1\n", 250_000), "line 2, column 1"},
	"c.py":   {strings.Repeat("1_", 500_000), "line 1, column 500002"},
	"a.json": {"{" + strings.Repeat(`"a":{"b":[1]},`, 70_000) + `"c":1}`, "line 1, column 16"},
}

func TestTheFirstErrorOfAMegabyteIsNamed(t *testing.T) {
	t.Parallel()
	for name, file := range megabytes {
		_, err := train.Resolve(options.FileLayer(options.OfChosenFile, name, file.text))
		require.ErrorContains(t, err, name+", "+file.place)
	}
}

func BenchmarkAMegabyte(b *testing.B) {
	for name, file := range megabytes {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				_, err := train.Resolve(options.FileLayer(options.OfChosenFile, name, file.text))
				require.Error(b, err)
			}
		})
	}
}

func FuzzFile(f *testing.F) {
	for _, doc := range []string{"epochs: 5\n", `{"a": [1, {}]}`, "epochs = 1_0\n", "? [a]\n: &x *x\n", "<<: {a: 1}\n", "a: int = (-1,)\n{'b': None}", "%YAML 1.1\n---\n!!binary x", "\ufeff{}", "a = '''\n"} {
		for i := range 3 {
			f.Add(i, doc)
		}
	}
	names := []string{"finetune.yaml", "a.json", "a.py"}
	f.Fuzz(func(t *testing.T, which int, doc string) {
		name := names[uint(which)%uint(len(names))]
		r, err := train.Resolve(options.FileLayer(options.OfChosenFile, name, doc))
		if err != nil {
			require.NotContains(t, err.Error(), "\n")
			return
		}
		_, err = json.Marshal(r)
		require.NoError(t, err)
		_, _ = options.Automatic(name, doc)
	})
}

func FuzzLines(f *testing.F) {
	f.Add("epochs: 5\n seed = x # y\n\r: 1")
	f.Fuzz(func(t *testing.T, text string) {
		r, err := train.Resolve(options.LinesLayer(text))
		if err != nil {
			require.NotContains(t, err.Error(), "\n")
			return
		}
		_, err = json.Marshal(r)
		require.NoError(t, err)
	})
}
