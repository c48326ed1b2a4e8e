package requirements

import (
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/ncsa/clowder-ray/internal/disk"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestWithoutAnIndexTheUserLearnsWhatDiffers(t *testing.T) {
	t.Parallel()
	i := New(Config{Mode: Off, Image: map[string]string{"torch": "2.15.0", "transformers": "5.23.0"}}, disk.Folder{Volume: t.TempDir(), Name: "overlays"})
	for file, want := range map[string]string{
		"torch\ntransformers>=4\n": "",
		"transformers==4.46.3\nWandB\n-r more.txt": "The requirements file is not installed here, the script has the packages of the administrator: " +
			"transformers is 5.23.0 instead of 4.46.3, wandb is missing",
		"a\nb\nc\nd\ne\nf": "The requirements file is not installed here, the script has the packages of the administrator: " +
			"a is missing, b is missing, c is missing, d is missing, e is missing, and more",
	} {
		overlay, err := i.Install(t.Context(), []byte(file))
		require.NoError(t, err)
		require.Equal(t, Overlay{Note: want}, overlay)
	}
}
