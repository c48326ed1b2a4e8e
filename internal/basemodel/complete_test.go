package basemodel_test

import (
	"encoding/binary"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/basemodel"
	"github.com/ncsa/clowder-ray/internal/job"
)

// weights is a safetensors file of tensors with these names, of two values each.
func weights(t *testing.T, names ...string) []byte {
	t.Helper()
	header := map[string]any{}
	for i, name := range names {
		header[name] = map[string]any{"dtype": "F32", "shape": []int{2}, "data_offsets": []int{8 * i, 8 * (i + 1)}}
	}
	text, err := json.Marshal(header)
	require.NoError(t, err)
	whole := append(binary.LittleEndian.AppendUint64(nil, uint64(len(text))), text...)
	return append(whole, make([]byte, 8*len(names))...)
}

// tree makes a folder of files and opens it.
func tree(t *testing.T, files map[string][]byte) *os.Root {
	t.Helper()
	dir := t.TempDir()
	for name, doc := range files {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), doc, 0o600))
	}
	root, err := os.OpenRoot(dir)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, root.Close()) })
	return root
}

func read(t *testing.T, root *os.Root, name string) string {
	t.Helper()
	doc, err := root.ReadFile(name)
	require.NoError(t, err)
	return string(doc)
}

func TestAModelIsWhatTheTrainerTakesItFor(t *testing.T) {
	t.Parallel()
	doc, err := os.ReadFile("../../trainer/tests/model_kinds.json")
	require.NoError(t, err)
	var cases [][3]string
	require.NoError(t, json.Unmarshal(doc, &cases))
	require.Greater(t, len(cases), 25)
	for _, c := range cases {
		config, err := json.Marshal(map[string]any{"model_type": c[0], "architectures": []string{c[1]}})
		require.NoError(t, err)
		facts, err := basemodel.Inspect(config, []string{"tokenizer.json", "preprocessor_config.json"}, basemodel.Hints{})
		switch {
		case c[0] == "":
			require.NoError(t, err)
			require.Empty(t, facts.Kind)
		case c[2] == "":
			require.Error(t, err, "%v", c)
		default:
			require.NoError(t, err, "%v", c)
			require.Equal(t, c[2], string(facts.Kind), "%v", c)
		}
	}
}

func TestAModelThatCannotBeUsedIsRefusedBeforeItIsLoaded(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ config, files, want string }{
		"no JSON":               {`{`, "", "no JSON object"},
		"null":                  {`null`, "", "no JSON object"},
		"an unknown type":       {`{"model_type": "funnel-x"}`, "tokenizer.json", "is of type funnel-x, which transformers 5."},
		"a type for speech":     {`{"model_type": "wav2vec2"}`, "tokenizer.json", "neither for texts nor for images"},
		"code of its own":       {`{"model_type": "x", "auto_map": {"AutoModel": "modeling_x.XModel", "AutoConfig": "a/b--configuration_x.C"}}`, "tokenizer.json", "(auto_map: configuration_x.py and modeling_x.py), which is never run"},
		"sentencepiece alone":   {`{"model_type": "xlm-roberta"}`, "sentencepiece.bpe.model", "a sentencepiece file alone is not read"},
		"words of another kind": {`{"model_type": "roberta"}`, "vocab.txt", "no tokenizer.json or vocab.txt"},
		"words of a language":   {`{"model_type": "llama"}`, "vocab.txt", "no tokenizer.json or vocab.txt"},
		"an image model":        {`{"model_type": "vit"}`, "tokenizer.json", "no preprocessor_config.json"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := basemodel.Inspect([]byte(c.config), []string{c.files}, basemodel.Hints{})
			require.ErrorContains(t, err, c.want)
			kind, _ := job.Classify(err)
			require.Equal(t, job.KindPermanent, kind)
		})
	}
}

func TestWhatConfigLacksIsCompletedFromTheNamesOfTheWeights(t *testing.T) {
	t.Parallel()
	const layer = "encoder.layer.0.attention.self.query.weight"
	for name, c := range map[string]struct {
		config, hint string
		files        []string
		tensors      []string
		want         basemodel.Facts
	}{
		"BERT with heads of its pretraining": {
			`{"hidden_size": 128}`, "",
			[]string{"vocab.txt"},
			[]string{"bert.embeddings.token_type_embeddings.weight", "bert." + layer, "cls.predictions.bias"},
			basemodel.Facts{Kind: basemodel.KindText, ModelType: "bert", Architecture: "BertModel", Parameters: 6},
		},
		"BERT without a head": {
			`{}`, "",
			[]string{"vocab.txt"},
			[]string{"embeddings.token_type_embeddings.weight", layer, "pooler.dense.weight"},
			basemodel.Facts{Kind: basemodel.KindText, ModelType: "bert", Architecture: "BertModel", Parameters: 6},
		},
		"DistilBERT": {
			`{}`, "",
			[]string{"vocab.txt"},
			[]string{"distilbert.embeddings.word_embeddings.weight", "distilbert.transformer.layer.0.attention.q_lin.weight"},
			basemodel.Facts{Kind: basemodel.KindText, ModelType: "distilbert", Architecture: "DistilBertModel", Parameters: 4},
		},
		"GPT-2": {
			`{}`, "",
			[]string{"tokenizer.json"},
			[]string{"wte.weight", "wpe.weight", "h.0.attn.c_attn.weight"},
			basemodel.Facts{Kind: basemodel.KindLanguage, ModelType: "gpt2", Architecture: "GPT2LMHeadModel", Parameters: 6},
		},
		"a type that the operator gives": {
			`{"architectures": ["LlamaForCausalLM"]}`, "llama",
			[]string{"tokenizer.json"},
			[]string{"model.layers.0.self_attn.q_proj.weight"},
			basemodel.Facts{Kind: basemodel.KindLanguage, ModelType: "llama", Architecture: "LlamaForCausalLM", Parameters: 2},
		},
		"a type that has code beside a built-in one": {
			`{"model_type": "bert", "architectures": ["BertModel"], "auto_map": {"AutoModel": "modeling_bert.BertModel"}}`, "",
			[]string{"vocab.txt"},
			[]string{"x"},
			basemodel.Facts{Kind: basemodel.KindText, ModelType: "bert", Architecture: "BertModel", Parameters: 2},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files := map[string][]byte{"config.json": []byte(c.config), "model.safetensors": weights(t, c.tensors...)}
			for _, f := range c.files {
				files[f] = nil
			}
			root := tree(t, files)
			facts, err := basemodel.Complete(t.Context(), root, basemodel.Hints{ModelType: c.hint})
			require.NoError(t, err)
			require.Equal(t, c.want, facts)
			var config map[string]any
			require.NoError(t, json.Unmarshal([]byte(read(t, root, "config.json")), &config))
			require.Equal(t, c.want.ModelType, config["model_type"])
			require.Equal(t, []any{c.want.Architecture}, config["architectures"])
			require.NotContains(t, config, "auto_map")
			again, err := basemodel.Complete(t.Context(), root, basemodel.Hints{})
			require.NoError(t, err)
			require.Equal(t, facts, again)
		})
	}
}

func TestACompleteConfigKeepsItsBytes(t *testing.T) {
	t.Parallel()
	const config = `{"model_type":"bert",  "architectures":["BertForMaskedLM"], "layer_norm_eps": 1e-12}`
	root := tree(t, map[string][]byte{"config.json": []byte(config), "vocab.txt": nil, "model.safetensors": weights(t, "a")})
	_, err := basemodel.Complete(t.Context(), root, basemodel.Hints{})
	require.NoError(t, err)
	require.True(t, config == read(t, root, "config.json"), "not a byte is changed") //nolint:testifylint // The spelling counts.
}

func TestNumbersKeepTheirSpellingWhereAConfigIsCompleted(t *testing.T) {
	t.Parallel()
	root := tree(t, map[string][]byte{"config.json": []byte(`{"layer_norm_eps": 1e-12, "big": 12345678901234567890}`), "vocab.txt": nil, "model.safetensors": weights(t, "a")})
	_, err := basemodel.Complete(t.Context(), root, basemodel.Hints{ModelType: "bert"})
	require.NoError(t, err)
	require.Contains(t, read(t, root, "config.json"), "1e-12")
	require.Contains(t, read(t, root, "config.json"), "12345678901234567890")
}

func TestWeightsThatAreNotWholeAreRefused(t *testing.T) {
	t.Parallel()
	const bert = `{"model_type": "bert"}`
	whole := weights(t, "a")
	for name, c := range map[string]struct {
		files map[string][]byte
		want  string
	}{
		"no weights":          {map[string][]byte{}, "no weights as safetensors"},
		"a file that is cut":  {map[string][]byte{"model.safetensors": whole[:len(whole)-1]}, "model.safetensors is damaged"},
		"a part that is gone": {map[string][]byte{"model-1.safetensors": whole, "model.safetensors.index.json": []byte(`{"weight_map": {"a": "model-1.safetensors", "b": "model-2.safetensors"}}`)}, `lacks "model-2.safetensors"`},
		"a damaged index":     {map[string][]byte{"model-1.safetensors": whole, "model.safetensors.index.json": []byte(`[]`)}, "model.safetensors.index.json is damaged"},
		"nothing that tells the type": {
			map[string][]byte{"model.safetensors": whole, "config.json": []byte(`{}`)}, "Give it with --model-type",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if c.files["config.json"] == nil {
				c.files["config.json"] = []byte(bert)
			}
			c.files["vocab.txt"] = nil
			_, err := basemodel.Complete(t.Context(), tree(t, c.files), basemodel.Hints{})
			require.ErrorContains(t, err, c.want)
			kind, _ := job.Classify(err)
			require.Equal(t, job.KindPermanent, kind)
		})
	}
}
