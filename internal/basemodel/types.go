package basemodel

import (
	"cmp"
	"encoding/json"
	"strings"
	"sync"

	"github.com/ncsa/clowder-ray/trainer/schema"
)

// modelTypes are the types of models that the trainer's transformers knows. The trainer reads the same file.
type modelTypes struct {
	Transformers string               `json:"transformers"`
	Types        map[string]modelType `json:"types"`
	// Other are types that can be no base: for speech, documents and others.
	Other []string `json:"other"`
}

// modelType has the classes of a type: without a head, and for each kind of data.
type modelType struct {
	Model    string `json:"model"`
	Text     string `json:"text"`
	Image    string `json:"image"`
	Language string `json:"language"`
	Pixels   string `json:"pixels"`
	Objects  string `json:"objects"`
	Series   string `json:"series"`
	// Decoder is true if the type only continues texts.
	Decoder bool `json:"decoder"`
}

var knownTypes = sync.OnceValue(func() modelTypes {
	doc, err := schema.Files.ReadFile("model_types.json")
	if err != nil {
		panic(err) // it is part of the program
	}
	var types modelTypes
	if err := json.Unmarshal(doc, &types); err != nil {
		panic(err)
	}
	return types
})

// kindOf is what a model is a base for; empty if it is one for nothing. The trainer has the same rule (trainer/models/model_types.py), which
// it uses for models that somebody has put into the folder by hand.
func kindOf(name, architecture string) Kind {
	t := knownTypes().Types[name]
	others := t.Text + t.Image + t.Language
	readsTexts := strings.HasSuffix(architecture, "Classification") || strings.HasSuffix(architecture, "ForQuestionAnswering") ||
		strings.HasSuffix(architecture, "ForMultipleChoice")
	switch {
	case t.Series != "":
		return KindSeries
	case t.Pixels != "" && (strings.HasSuffix(architecture, "ForSemanticSegmentation") || others+t.Objects == ""):
		return KindPixels
	case t.Objects != "" && (strings.HasSuffix(architecture, "ForObjectDetection") || others+t.Pixels == ""):
		return KindObjects
	case t.Language != "" && strings.HasSuffix(architecture, "ForCausalLM"):
		return KindLanguage
	case t.Text != "" && !strings.Contains(architecture, "Image") && (readsTexts || !t.Decoder):
		return KindText
	case t.Decoder:
		return KindLanguage
	case t.Image != "":
		return KindImage
	default:
		return ""
	}
}

// class is the architecture of a model of the given type and kind whose config.json names none.
func class(name string, kind Kind) string {
	t := knownTypes().Types[name]
	if kind == KindLanguage {
		return cmp.Or(t.Language, t.Model, t.Text)
	}
	withHead := map[Kind]string{KindText: t.Text, KindImage: t.Image, KindPixels: t.Pixels, KindObjects: t.Objects}
	return cmp.Or(t.Series, t.Model, withHead[kind])
}

// patterns tell the type of a model by the names of its tensors. The first pattern of which all parts occur decides. Types that share their
// names with others, such as the relatives of LLaMA, are not here.
var patterns = []struct {
	modelType string
	parts     []string
	// vocabulary is a file that the model must have, where others have the same tensors.
	vocabulary string
}{
	{"distilbert", []string{"transformer.layer.0.attention.q_lin.weight", "embeddings.word_embeddings.weight"}, ""},
	{"electra", []string{"electra.encoder.layer.0.attention.self.query.weight"}, ""},
	{"mpnet", []string{"encoder.relative_attention_bias.weight", "encoder.layer.0.attention.attn.q.weight"}, ""},
	{"albert", []string{"encoder.albert_layer_groups.0.albert_layers.0.attention.query.weight"}, ""},
	{"bert", []string{"bert.encoder.layer.0.attention.self.query.weight", "bert.embeddings.token_type_embeddings.weight"}, ""},
	{"roberta", []string{"roberta.encoder.layer.0.attention.self.query.weight", "roberta.embeddings.word_embeddings.weight"}, "merges.txt"},
	{"xlm-roberta", []string{"roberta.encoder.layer.0.attention.self.query.weight"}, "sentencepiece.bpe.model"},
	{"bert", []string{"encoder.layer.0.attention.self.query.weight", "embeddings.token_type_embeddings.weight", "pooler.dense.weight"}, "vocab.txt"},
	{"modernbert", []string{"layers.0.attn.Wqkv.weight", "embeddings.tok_embeddings.weight"}, ""},
	{"vit", []string{"vit.encoder.layer.0.attention.attention.query.weight", "vit.embeddings.cls_token"}, ""},
	{"resnet", []string{"resnet.embedder.embedder.convolution.weight", "resnet.encoder.stages.0.layers.0.layer.0.convolution.weight"}, ""},
	{"gpt2", []string{"h.0.attn.c_attn.weight", "wte.weight", "wpe.weight"}, ""},
	{"gpt_neox", []string{"gpt_neox.layers.0.attention.query_key_value.weight"}, ""},
}

// typeOf is the type that the names of the tensors tell, or empty. A name may have a prefix, such as that of a class with a head.
func typeOf(tensors []string, has func(file string) bool) string {
	for _, p := range patterns {
		if p.vocabulary != "" && !has(p.vocabulary) {
			continue
		}
		all := true
		for _, part := range p.parts {
			found := false
			for _, name := range tensors {
				found = found || name == part || strings.HasSuffix(name, "."+part)
			}
			all = all && found
		}
		if all {
			return p.modelType
		}
	}
	return ""
}
