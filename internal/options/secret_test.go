package options_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/options"
)

func TestNamesOfSecrets(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{
		"WANDB_API_KEY": true, "HF_TOKEN": true, "hf-token": true, "api_key": true, "apikey": true, "password": true, "aws_secret_access_key": true,
		"client_secret": true, "output.token": true, "HUGGINGFACE_TOKEN": true,
		"max_tokens": false, "tokenization": false, "id_column": false, "tokenizer": false, "secretary": false, "keyboard": false, "top_k": false,
	} {
		require.Equal(t, want, options.IsSecret(name), name)
	}
	for _, kind := range []string{"train", "predict", "script"} {
		for _, o := range options.Of(kind).All() {
			require.False(t, options.IsSecret(o.Name), o.Name)
		}
	}
}

func TestTextsLoseTheirKeysAndNothingElse(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"seed: 7\nWANDB_API_KEY: 0123456789abcdef": "seed: 7\nWANDB_API_KEY: ***",
		`{"hf_token": "a b", "epochs": 3}`:         `{"hf_token": ***, "epochs": 3}`,
		"hf_abcdefghijklmnopqrstuvwxyz":            "***",
		"sk-proj-abcdefghijklmnopqrstuvwx here":    "*** here",
		"text_column: token":                       "text_column: token",
		"max_length = 128":                         "max_length = 128",
		"model: bert-base-uncased":                 "model: bert-base-uncased",
		"hf_transfer is a package":                 "hf_transfer is a package",
		"s3://bucket/task-list":                    "s3://bucket/task-list",
	} {
		require.Equal(t, want, options.WithoutSecrets(text))
	}
}

func TestAKeyInASettingsFileIsNotRepeated(t *testing.T) {
	t.Parallel()
	r, err := options.Of("train").Resolve(options.FileLayer(options.OfDatasetFile, "finetune.yaml", "hf_token: s3cret\nstrange: hf_abcdefghijklmnopqrstuvwxyz\n"))
	require.NoError(t, err)
	require.Len(t, r.Notes, 2)
	for _, n := range r.Notes {
		require.NotContains(t, n.Text+n.Value, "s3cret")
		require.NotContains(t, n.Text+n.Value, "hf_abc")
	}
	_, err = options.Of("train").Resolve(options.LinesLayer("HF_TOKEN s3cret\nhf_abcdefghijklmnopqrstuvwxyz"))
	require.Error(t, err)
	require.NotContains(t, err.Error(), "hf_abc")
}
