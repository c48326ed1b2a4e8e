package basemodel

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/job"
)

func TestSafetensorsAreTakenAndOneFileBeforeParts(t *testing.T) {
	t.Parallel()
	const part = "model-00001-of-00002.safetensors"
	for name, tc := range map[string]struct {
		offered, want []string
		refusal       string
	}{
		"safetensors": {[]string{weightsFile, part, weightsIndex, pickleFile, configFile}, []string{configFile, weightsFile}, ""},
		"their parts": {[]string{weightsIndex, part, "model-x.safetensors", pickleFile, configFile}, []string{configFile, part, weightsIndex}, ""},
		"a pickle":    {[]string{pickleFile, configFile}, nil, "The model has its weights only as a pickle (pytorch_model.bin), which can run code when it is read."},
		"its parts":   {[]string{pickleIndex, "pytorch_model-00001-of-00002.bin", configFile}, nil, "has its weights only as a pickle"},
		"no code and no folders": {
			[]string{weightsFile, configFile, "modeling.py", "LICENSE.py", "tokenizer_x.json", "NOTICE", "a/vocab.txt", "vocab.txt", "flax_model.msgpack", "LICENSE/x"},
			[]string{"NOTICE", configFile, weightsFile, "tokenizer_x.json", "vocab.txt"},
			"",
		},
		"parts without their index": {[]string{part, configFile}, nil, "The model has no weights that can be read: there is no model.safetensors."},
		"weights of other programs": {[]string{"tf_model.h5", "model.onnx", configFile}, nil, "has no weights that can be read"},
		"weights without a config":  {[]string{weightsFile}, nil, "The model has no config.json. Only models in the form of transformers can be installed."},
		"nothing":                   {nil, nil, "The model has no config.json."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var offer Offer
			for _, path := range tc.offered {
				offer.Files = append(offer.Files, File{Path: path})
			}
			files, err := choose(offer)
			if tc.refusal != "" {
				require.ErrorContains(t, err, tc.refusal)
				kind, _ := job.Classify(err)
				require.Equal(t, job.KindPermanent, kind)
				return
			}
			require.NoError(t, err)
			var chosen []string
			for _, f := range files {
				chosen = append(chosen, f.Path)
			}
			require.Equal(t, tc.want, chosen)
		})
	}
}

func TestARefusedPickleSaysWhereSafetensorsAre(t *testing.T) {
	t.Parallel()
	for source, parts := range map[string][]string{
		SourceHub:    {"--revision refs/pr/NUMBER", "SFconvertbot", "docs/models.md"},
		SourceFolder: {"docs/models.md"},
	} {
		_, err := choose(Offer{Source: source, Files: []File{{Path: configFile}, {Path: pickleFile}}})
		for _, part := range parts {
			require.ErrorContains(t, err, part)
		}
		require.Equal(t, source == SourceHub, strings.Contains(err.Error(), "refs/pr"), "only the Hub has pull requests")
	}
}

func TestATypeAndAnArchitectureTellWhatAModelIsABaseFor(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		modelType, architecture string
		want                    Kind
	}{
		"an encoder":                       {"bert", "BertForMaskedLM", KindText},
		"an encoder without architecture":  {"bert", "", KindText},
		"an encoder that continues texts":  {"bert", "BertForCausalLM", KindLanguage},
		"a decoder":                        {"gpt2", "GPT2LMHeadModel", KindLanguage},
		"a decoder that classifies":        {"llama", "LlamaForSequenceClassification", KindText},
		"a decoder that answers questions": {"llama", "LlamaForQuestionAnswering", KindText},
		"a decoder without architecture":   {"llama", "", KindLanguage},
		"images":                           {"vit", "ViTForImageClassification", KindImage},
		"images and texts":                 {"clip", "CLIPModel", KindImage},
		"speech":                           {"whisper", "WhisperForConditionalGeneration", ""},
		"a type that nobody knows":         {"mystery", "MysteryForCausalLM", ""},
		"no type":                          {"", "", ""},
	} {
		require.Equal(t, tc.want, kindOf(tc.modelType, tc.architecture), name)
	}
	for _, tc := range []struct {
		modelType string
		kind      Kind
		want      string
	}{
		{"bert", KindText, "BertModel"},
		{"bert", KindLanguage, "BertLMHeadModel"},
		{"vit", KindImage, "ViTModel"},
		{"vit", KindLanguage, "ViTModel"},
		{"mystery", KindText, ""},
	} {
		require.Equal(t, tc.want, class(tc.modelType, tc.kind), "%s for %s", tc.modelType, tc.kind)
	}
}

func TestTheNamesOfTheTensorsTellTheType(t *testing.T) {
	t.Parallel()
	const roberta = "roberta.encoder.layer.0.attention.self.query.weight"
	bare := []string{"encoder.layer.0.attention.self.query.weight", "embeddings.token_type_embeddings.weight", "pooler.dense.weight"}
	for name, tc := range map[string]struct {
		tensors []string
		files   []string
		want    string
	}{
		"a model":                        {[]string{"wpe.weight", "wte.weight", "h.0.attn.c_attn.weight"}, nil, "gpt2"},
		"the same with a head":           {[]string{"transformer.h.0.attn.c_attn.weight", "transformer.wte.weight", "transformer.wpe.weight", "lm_head.weight"}, nil, "gpt2"},
		"a tensor is missing":            {[]string{"wte.weight", "h.0.attn.c_attn.weight"}, nil, ""},
		"an end of a word is no name":    {[]string{"xwpe.weight", "wte.weight", "h.0.attn.c_attn.weight"}, nil, ""},
		"a name with more at its end":    {[]string{"wpe.weight.lora", "wte.weight", "h.0.attn.c_attn.weight"}, nil, ""},
		"a bare encoder":                 {bare, []string{"vocab.txt"}, "bert"},
		"a bare encoder of other pieces": {bare, []string{"merges.txt"}, ""},
		"merged pairs of characters":     {[]string{roberta, "roberta.embeddings.word_embeddings.weight"}, []string{"merges.txt"}, "roberta"},
		"pieces of many languages":       {[]string{roberta, "roberta.embeddings.word_embeddings.weight"}, []string{"sentencepiece.bpe.model"}, "xlm-roberta"},
		"no vocabulary":                  {[]string{roberta, "roberta.embeddings.word_embeddings.weight"}, nil, ""},
		"no tensors":                     {nil, []string{"vocab.txt", "merges.txt"}, ""},
	} {
		got := typeOf(tc.tensors, func(file string) bool { return slices.Contains(tc.files, file) })
		require.Equal(t, tc.want, got, name)
	}
	for _, p := range patterns {
		require.NotEmpty(t, kindOf(p.modelType, ""), "%s is a base for something", p.modelType)
	}
}
