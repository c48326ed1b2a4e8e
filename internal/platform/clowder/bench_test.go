package clowder

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/clowder/clowdertest"
	"github.com/ncsa/clowder-ray/internal/platform"
	"github.com/ncsa/clowder-ray/internal/results/delivery"
)

// BenchmarkResults delivers the twelve files of a training, with their charts and their metadata, to a Clowder that takes a second for
// each upload. Clowder v2 answers after that second; Clowder v1 answers at once and shows the file after it.
func BenchmarkResults(b *testing.B) {
	for _, options := range []clowdertest.Options{{Version: 1, StoreDelay: time.Second}, {Version: 2, UploadDelay: time.Second}} {
		b.Run(fmt.Sprintf("v%d", options.Version), func(b *testing.B) {
			files, calls := 0, 0
			for b.Loop() {
				b.StopTimer()
				d := newDeliveryWith(b, options, alice)
				made := d.assemble(b, "1")
				addCopy(b, &made)
				b.StartTimer()
				require.NoError(b, d.handOver(b, made, 0))
				b.StopTimer()
				files = strings.Count(string(d.last), `"kind":"file"`)
				calls = d.server.Requests("", "")
				d.requireOneOfEach(b)
				b.StartTimer()
			}
			b.ReportMetric(float64(files), "files")
			b.ReportMetric(float64(calls), "calls")
		})
	}
}

// addCopy adds a twelfth file to the eleven of the training.
func addCopy(b *testing.B, d *platform.Delivery) {
	b.Helper()
	a := d.Artifacts[slices.IndexFunc(d.Artifacts, func(a delivery.Artifact) bool { return a.Name == "metrics.json" })]
	a.Name = "copy.json"
	d.Artifacts = append(d.Artifacts, a)
}
