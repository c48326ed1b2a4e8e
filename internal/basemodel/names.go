package basemodel

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/ncsa/clowder-ray/internal/job"
)

// idPattern is how models are named. A file system refuses longer names. No part begins with a dot, so no model lies in a folder of the
// store itself.
var idPattern = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]{0,95}/[A-Za-z0-9_][A-Za-z0-9_.-]{0,95}$`)

// CheckID refuses a name that no installed model can have.
func CheckID(id string) error {
	if !idPattern.MatchString(id) {
		return job.Permanent(sentence("%q cannot be the name of a model. It is written owner/name, in Latin letters, digits, dots, dashes and underscores.", clip(id)))
	}
	return nil
}

// flat is a name of a model that fits into one part of a path.
func flat(id string) string { return strings.Replace(id, "/", "--", 1) }

const (
	configFile    = "config.json"
	weightsFile   = "model.safetensors"
	weightsIndex  = "model.safetensors.index.json"
	weightsSuffix = ".safetensors"
	pickleFile    = "pytorch_model.bin"
	pickleIndex   = "pytorch_model.bin.index.json"
	cardFile      = "README.md"
)

// allowed are the patterns of the files that are loaded, besides the weights. Nothing else is: no code, no weights of other programs, no
// folders.
var allowed = []string{
	configFile, "generation_config.json", "tokenizer*.json", "tokenizer.model", "spiece.model", "sentencepiece*.model", "vocab.txt", "vocab.json",
	"merges.txt", "special_tokens_map.json", "added_tokens.json", "chat_template.json", "chat_template.jinja", "preprocessor_config.json",
	cardFile, "LICENSE*", "NOTICE*",
}

func isAllowed(name string) bool {
	return !strings.HasSuffix(name, ".py") && matches(name, allowed...)
}

func matches(name string, patterns ...string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool {
		ok, err := path.Match(p, name)
		return err == nil && ok
	})
}

// choose picks the files of an offer that are loaded. Weights in one file are taken before weights in several parts. Weights in pickled form
// are refused, since a pickle can run code.
func choose(offer Offer) ([]File, error) {
	there := map[string]bool{}
	for _, f := range offer.Files {
		if there[f.Path] {
			return nil, job.Permanent(sentence("The model has two files with the name %q.", clip(f.Path)))
		}
		there[f.Path] = true
	}
	var weights []string
	switch {
	case !there[configFile]:
		return nil, job.Permanent(sentence("The model has no config.json. Only models in the form of transformers can be installed."))
	case there[weightsFile]:
		weights = []string{weightsFile}
	case there[weightsIndex]:
		weights = []string{weightsIndex, "model-*-of-*.safetensors"}
	case there[pickleFile] || there[pickleIndex]:
		return nil, job.Permanent(pickledWeights(offer))
	default:
		return nil, job.Permanent(sentence("The model has no weights that can be read: there is no model.safetensors."))
	}
	var files []File
	for _, f := range offer.Files {
		if isAllowed(f.Path) || matches(f.Path, weights...) {
			files = append(files, f)
		}
	}
	slices.SortFunc(files, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	return files, nil
}

// pickledWeights says how a model gets weights in a form that is read.
func pickledWeights(offer Offer) error {
	const convert = "convert the weights in a container without network, as docs/models.md says under \"Weights in a pickle\", and install the folder"
	if offer.Source != SourceHub {
		return sentence("The model has its weights only as a pickle (pytorch_model.bin), which can run code when it is read. To use the model, %s.", convert)
	}
	return sentence("The model has its weights only as a pickle (pytorch_model.bin), which can run code when it is read. "+
		"Look among the pull requests of the model on the Hub for one by SFconvertbot that adds model.safetensors, and install it with --revision refs/pr/NUMBER. If there is none, %s.", convert)
}
