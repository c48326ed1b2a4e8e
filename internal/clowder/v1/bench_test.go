package v1_test

import (
	"context"
	"fmt"
	"io"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/clowder"
	"github.com/ncsa/clowder-ray/internal/clowder/clienttest"
	"github.com/ncsa/clowder-ray/internal/clowder/clowdertest"
	"github.com/ncsa/clowder-ray/internal/disk"
	"github.com/ncsa/clowder-ray/internal/job"
)

// reader is a session of either version of Clowder.
type reader interface {
	Files(ctx context.Context, dataset string) ([]clowder.File, error)
	Stage(ctx context.Context, files []clowder.File, dir disk.Folder, progress func(clowder.Progress)) ([]job.Input, error)
}

// compareVersions lists and stages a dataset of a double of each version in turn, with an empty cache, and reports the median rates.
func compareVersions(b *testing.B, files int, size int64) {
	b.Helper()
	var servers []*clowdertest.Server
	var datasets []string
	for version := 1; version <= 2; version++ {
		server, err := clowdertest.New(clowdertest.Options{Version: version, Dir: b.TempDir()})
		require.NoError(b, err)
		b.Cleanup(func() { require.NoError(b, server.Close()) })
		ds := server.AddDataset(alice, "d")
		for i := range files {
			_, err := server.AddFile(ds, fmt.Sprintf("%d/%d.bin", i%20, i), io.LimitReader(zeros{}, size))
			require.NoError(b, err)
		}
		servers, datasets = append(servers, server), append(datasets, ds)
	}
	took := map[int][]float64{}
	for b.Loop() {
		for i, server := range servers {
			client := clienttest.New(b, clowder.Config{URL: server.URL, Cache: disk.Folder{Volume: b.TempDir()}})
			key := server.Key(alice)
			var s reader = client.As(job.Secret(key))
			if i == 0 {
				s = session(b, client, key)
			}
			start := time.Now()
			list, err := s.Files(b.Context(), datasets[i])
			require.NoError(b, err)
			_, err = s.Stage(b.Context(), list, disk.Folder{Volume: b.TempDir()}, nil)
			require.NoError(b, err)
			took[i+1] = append(took[i+1], time.Since(start).Seconds())
		}
	}
	for version, seconds := range took {
		slices.Sort(seconds)
		median := seconds[len(seconds)/2]
		b.ReportMetric(float64(files)*float64(size)/1e6/median, fmt.Sprintf("v%d-MB/s", version))
		b.ReportMetric(float64(files)/median, fmt.Sprintf("v%d-files/s", version))
	}
}

// zeros is a body without an end that costs no memory.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

func BenchmarkDownloadOneGigabyteOfBothVersions(b *testing.B) { compareVersions(b, 1, 1<<30) }

func BenchmarkDownloadManySmallFilesOfBothVersions(b *testing.B) { compareVersions(b, 5000, 4096) }
