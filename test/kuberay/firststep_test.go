//go:build kuberay

package kuberay

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/test/stack"
)

// TestFirstStep measures how long it takes from a message to the first step of a training on a cluster of its own. Set FIRST_STEP_ROUNDS
// to the number of rounds. EARLIER_TAG is the tag of the image of an earlier version of the service, to compare with in the same rounds.
func TestFirstStep(t *testing.T) {
	rounds, err := strconv.Atoi(os.Getenv("FIRST_STEP_ROUNDS"))
	if err != nil {
		t.Skip("FIRST_STEP_ROUNDS is not set")
	}
	variants := map[string][]string{"nothing warm": {"image.tag=e2e", "settings.WARM_WORKERS=0"}, "warm": {"image.tag=e2e", "settings.WARM_WORKERS=4"}}
	order := []string{"nothing warm", "warm"}
	if tag := os.Getenv("EARLIER_TAG"); tag != "" {
		variants["earlier"], order = []string{"image.tag=" + tag, "settings.WARM_WORKERS=4"}, []string{"earlier", "warm"}
	}
	w := newFixtureOf(t, "1") // as by default: pods with less do not import beside Ray
	seconds := map[string][]float64{}
	for range rounds {
		for _, name := range order {
			w.upgrade(t, variants[name])
			for _, workers := range []int{1, 2} {
				title := fmt.Sprintf("%s, workers: %d", name, workers)
				done := w.train(t, title, map[string]any{"model": "bert-tiny", "num_workers": workers, "epochs": 1}, nil)
				seconds[title] = append(seconds[title], done.firstStep.Seconds())
				w.requireClean(t, done)
			}
		}
	}
	for title, all := range seconds {
		slices.Sort(all)
		t.Logf("first step, %s: median %.1f s of %.1f", title, all[len(all)/2], all)
	}
}

// upgrade changes values of the chart, each as NAME=VALUE, and waits for the new pod of the service.
func (w *fixture) upgrade(t *testing.T, values []string) {
	t.Helper()
	args := []string{"upgrade", release, filepath.Join(stack.Root(), "deploy", "helm", "clowder-ray"), "--namespace", w.namespace, "--reuse-values", "--wait"}
	for _, value := range values {
		args = append(args, "--set", value)
	}
	helm(t, args...)
	require.NotEmpty(t, w.log())
}
