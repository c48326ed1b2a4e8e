package basemodel

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/ncsa/clowder-ray/internal/basemodel/safetensors"
	"github.com/ncsa/clowder-ray/internal/disk"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/text"
)

// wordPieces are the types whose vocab.txt alone makes a tokenizer: one word piece in a line.
var wordPieces = []string{"bert", "distilbert", "electra", "mobilebert", "convbert", "squeezebert", "layoutlm", "megatron-bert"}

// Hints is what the operator says about a model whose files do not say it.
type Hints struct {
	// ModelType is the family of the architecture, e.g. bert, or empty.
	ModelType string
}

// config is config.json of a model.
type config map[string]any

// readConfig reads the text of config.json. Numbers keep their spelling.
func readConfig(doc []byte) (config, error) {
	decoder := json.NewDecoder(bytes.NewReader(doc))
	decoder.UseNumber()
	var c config
	if err := decoder.Decode(&c); err != nil || c == nil {
		return nil, refuse("config.json of the model is no JSON object, so nothing says what the model is.")
	}
	return c, nil
}

func (c config) text(name string) string {
	value, _ := c[name].(string)
	return value
}

// architecture is the class that the weights were saved from, or empty.
func (c config) architecture() string {
	names, _ := c["architectures"].([]any)
	if len(names) == 0 {
		return ""
	}
	name, _ := names[0].(string)
	return name
}

// Inspect says what a model is before its weights are loaded, from config.json and the names of its files. Kind is empty if only the weights
// can tell. It refuses with a permanent error a model that this service cannot use: with code of its own, of an unknown type, without a
// tokenizer.
func Inspect(doc []byte, files []string, hints Hints) (Facts, error) {
	c, err := readConfig(doc)
	if err != nil {
		return Facts{}, err
	}
	facts := Facts{ModelType: c.text("model_type"), Architecture: c.architecture()}
	if facts.ModelType == "" {
		facts.ModelType = hints.ModelType
	}
	if facts.ModelType == "" {
		return facts, nil
	}
	if err := facts.judge(c, files); err != nil {
		return Facts{}, err
	}
	return facts, nil
}

// judge finds the kind of a model whose type is known, or refuses it.
func (f *Facts) judge(c config, files []string) error {
	types := knownTypes()
	_, usable := types.Types[f.ModelType]
	known := usable || slices.Contains(types.Other, f.ModelType)
	if modules := c.code(); len(modules) > 0 && !known {
		return refuse("The model brings its own code (auto_map: %s), which is never run. Choose one of a type that transformers has built in.", text.Excerpt(text.List(modules), 120))
	}
	if !known {
		return refuse("The model is of type %s, which transformers %s of this service does not know.", text.Excerpt(f.ModelType, 60), types.Transformers)
	}
	if f.Kind = kindOf(f.ModelType, f.Architecture); f.Kind == "" {
		return refuse("The model is of type %s. It can be finetuned neither for texts nor for images, and it continues neither texts nor series as it is.", f.ModelType)
	}
	if f.Architecture == "" {
		f.Architecture = class(f.ModelType, f.Kind)
	}
	return f.readable(files)
}

// code are the files with code of its own that the model names.
func (c config) code() []string {
	classes, _ := c["auto_map"].(map[string]any)
	var modules []string
	for _, value := range classes {
		name, _ := value.(string)
		if _, after, other := strings.Cut(name, "--"); other {
			name = after
		}
		module, _, _ := strings.Cut(name, ".")
		if module = text.OneLine(module) + ".py"; !slices.Contains(modules, module) {
			modules = append(modules, module)
		}
	}
	slices.Sort(modules)
	return modules
}

// readable checks that the trainer can turn data into what the model reads.
func (f *Facts) readable(files []string) error {
	has := func(name string) bool { return slices.Contains(files, name) }
	switch {
	case f.Kind.readsPictures() && !has("preprocessor_config.json"):
		return refuse("The model has no preprocessor_config.json, so nothing says which images it reads.")
	case f.Kind == KindSeries, f.Kind.readsPictures(), has("tokenizer.json"), f.Kind == KindText && has("vocab.txt") && slices.Contains(wordPieces, f.ModelType):
		return nil
	default:
		return refuse("The model has no tokenizer.json or vocab.txt; a sentencepiece file alone is not read. Choose a model that has one.")
	}
}

// Complete adds to config.json in folder what it lacks, and says what the model is. The folder holds safetensors, whose headers are checked.
// It refuses what Inspect refuses. It takes out the names of code of the model's own, which is never run.
func Complete(_ context.Context, folder *os.Root, hints Hints) (Facts, error) {
	doc, err := disk.ReadFile(folder, configFile, maxConfig)
	if err != nil {
		return Facts{}, err
	}
	c, err := readConfig(doc)
	if err != nil {
		return Facts{}, err
	}
	files, err := filesOf(folder)
	if err != nil {
		return Facts{}, err
	}
	tensors, parameters, err := readWeights(folder, files)
	if err != nil {
		return Facts{}, err
	}
	facts := Facts{ModelType: c.text("model_type"), Architecture: c.architecture(), Parameters: parameters}
	if facts.ModelType == "" {
		facts.ModelType = hints.ModelType
	}
	if facts.ModelType == "" {
		facts.ModelType = typeOf(tensors, func(name string) bool { return slices.Contains(files, name) })
	}
	if facts.ModelType == "" {
		return Facts{}, refuse("config.json names no model_type, and the names of the weights do not tell it. Give it with --model-type, for example --model-type bert.")
	}
	if err := facts.judge(c, files); err != nil {
		return Facts{}, err
	}
	return facts, c.complete(folder, facts)
}

// complete writes config.json if it lacks something.
func (c config) complete(folder *os.Root, facts Facts) error {
	_, code := c["auto_map"]
	if !code && c.text("model_type") != "" && c.architecture() != "" {
		return nil
	}
	delete(c, "auto_map")
	c["model_type"], c["architectures"] = facts.ModelType, []string{facts.Architecture}
	doc, err := json.MarshalIndent(c, "", "  ")
	if err != nil {
		return err
	}
	return disk.WriteFile(folder, configFile, append(doc, '\n'))
}

func filesOf(folder *os.Root) ([]string, error) {
	entries, err := disk.List(folder, ".", maxEntries)
	if err != nil {
		return nil, err
	}
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name()
	}
	return names, nil
}

// readIndex returns the part of each tensor. It returns nil if there is no index.
func readIndex(folder *os.Root) (map[string]string, error) {
	const maxIndex = 64 << 20
	doc, err := disk.ReadFile(folder, weightsIndex, maxIndex)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil //nolint:nilnil // A missing index is no error, and one without entries is another thing.
	}
	if err != nil {
		return nil, err
	}
	var index struct {
		Parts map[string]string `json:"weight_map"`
	}
	if err := json.Unmarshal(doc, &index); err != nil || index.Parts == nil {
		return nil, refuse("%s is damaged. Load the model again.", weightsIndex)
	}
	return index.Parts, nil
}

// readWeights returns the names of all tensors and the number of their values. The parts that an index names must be there.
func readWeights(folder *os.Root, files []string) (names []string, parameters int64, err error) {
	index, err := readIndex(folder)
	if err != nil {
		return nil, 0, err
	}
	for _, part := range index {
		if !slices.Contains(files, part) || !strings.HasSuffix(part, weightsSuffix) {
			return nil, 0, refuse("The model lacks %q, a part of its weights. Load the model again.", text.Excerpt(part, 120))
		}
	}
	for _, name := range files {
		if !strings.HasSuffix(name, weightsSuffix) {
			continue
		}
		f, info, err := disk.Open(folder, name)
		if err != nil {
			return nil, 0, err
		}
		tensors, err := safetensors.ReadHeader(f, info.Size())
		if err = errors.Join(err, f.Close()); errors.Is(err, safetensors.ErrDamaged) {
			return nil, 0, refuse("%s is damaged, or no safetensors file at all. Load the model again.", name)
		}
		if err != nil {
			return nil, 0, err
		}
		for _, t := range tensors {
			names = append(names, t.Name)
			parameters += t.Numbers()
		}
	}
	if len(names) == 0 {
		return nil, 0, refuse("The model has no weights as safetensors.")
	}
	return names, parameters, nil
}

// refuse is a permanent error of whole sentences about a model that is not installed.
func refuse(format string, args ...any) error { return job.Permanent(sentence(format, args...)) }
