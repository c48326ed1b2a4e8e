//go:build integration

package answer_test

import (
	"bytes"
	"encoding/base64"
	"encoding/csv"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"github.com/ncsa/clowder-ray/internal/answer"
	"github.com/ncsa/clowder-ray/internal/answer/answertest"
	"github.com/ncsa/clowder-ray/internal/registry"
	"github.com/ncsa/clowder-ray/internal/sidecar"
)

var dataset = registry.Dataset{Clowder: "https://clowder.example.org", ID: "655fd7c3e4b0a1b2c3d4e5f6"}

func client(tb testing.TB, s *answertest.Volume, python string, sleep time.Duration) *answer.Client {
	tb.Helper()
	c := answer.NewClient(local(s, python, sleep))
	tb.Cleanup(func() { require.NoError(tb, c.Close()) })
	return c
}

func local(s *answertest.Volume, python string, sleep time.Duration) sidecar.Process {
	return answer.NewLocal(answer.LocalConfig{
		Python: python, Trainer: s.Trainer, Registry: filepath.Join(s.Volume, "registry"), Sleep: sleep, Log: zap.NewNop(),
	})
}

func model(v registry.Version) answer.Model {
	return answer.Model{Folder: v.Folder(), Name: v.Name, Version: v.Version}
}

func texts(cells ...any) answer.Tensor {
	return answer.Tensor{Name: "text", Datatype: "BYTES", Shape: []int{len(cells)}, Data: cells}
}

// reviews returns the bundled reviews, and their texts by line.
func reviews(tb testing.TB) (files map[string][]byte, lines []string) {
	tb.Helper()
	doc, err := os.ReadFile(filepath.Join("..", "..", "test", "dataset", "reviews", "train.csv"))
	require.NoError(tb, err)
	rows, err := csv.NewReader(bytes.NewReader(doc)).ReadAll()
	require.NoError(tb, err)
	for _, row := range rows {
		lines = append(lines, row[1])
	}
	return map[string][]byte{"train.csv": doc}, lines
}

func TestAnswersOfTextsAreThoseOfTheTraining(t *testing.T) {
	t.Parallel()
	python := answertest.Python(t)
	s := answertest.NewVolume(t, python)
	files, lines := reviews(t)
	words := s.Train(t, dataset, "reviews", "ft-words", files, map[string]any{"model": "words"})
	network := s.Train(t, dataset, "reviews", "ft-network", files, map[string]any{"model": "bert-tiny", "epochs": 1, "max_length": 64})
	c := client(t, s, python, 0)
	for _, trained := range []answertest.Trained{words, network} {
		described, err := c.Describe(t.Context(), model(trained.Version))
		require.NoError(t, err)
		require.Equal(t, []string{"negative", "positive"}, described.Parameters.Labels)
		for _, row := range trained.Rows[:20] {
			line, err := strconv.Atoi(row["row"])
			require.NoError(t, err)
			found, err := c.Infer(t.Context(), model(trained.Version), []answer.Tensor{texts(lines[line-1])})
			require.NoError(t, err)
			require.Equal(t, row["predicted"], found.Outputs[0].Data[0])
			want, err := strconv.ParseFloat(row["confidence"], 64)
			require.NoError(t, err)
			require.InDelta(t, want, slices.MaxFunc(found.Outputs[1].Data, compare), 1e-3)
		}
	}
}

func compare(a, b any) int { return int(1e9 * (a.(float64) - b.(float64))) }

func TestAnImageAndARowOfATableAreAnswered(t *testing.T) {
	t.Parallel()
	python := answertest.Python(t)
	s := answertest.NewVolume(t, python)
	pictures := pictures(t)
	var table strings.Builder
	table.WriteString("size,colour,kind\n")
	for i := range 120 {
		fmt.Fprintf(&table, "%d,%s,%s\n", i%7+10*(i%2), []string{"red", "blue"}[i%2], []string{"a", "b"}[i%2])
	}
	images := s.Train(t, dataset, "pictures", "ft-images", pictures, map[string]any{"epochs": 1})
	rows := s.Train(t, dataset, "table", "ft-table", map[string][]byte{"rows.csv": []byte(table.String())}, map[string]any{})
	c := client(t, s, python, 0)
	for _, row := range images.Rows[:4] {
		picture := base64.StdEncoding.EncodeToString(pictures[row["file"]])
		found, err := c.Infer(t.Context(), model(images.Version), []answer.Tensor{{Name: "image", Datatype: "BYTES", Shape: []int{1}, Data: []any{picture}}})
		require.NoError(t, err)
		require.Equal(t, row["predicted"], found.Outputs[0].Data[0])
	}
	found, err := c.Infer(t.Context(), model(rows.Version), []answer.Tensor{
		{Name: "size", Datatype: "FP64", Shape: []int{2}, Data: []any{1, 13.5}}, {Name: "colour", Datatype: "BYTES", Shape: []int{2}, Data: []any{"red", "blue"}},
	})
	require.NoError(t, err)
	require.Equal(t, []any{"a", "b"}, found.Outputs[0].Data)
	_, err = c.Infer(t.Context(), model(rows.Version), []answer.Tensor{{Name: "size", Datatype: "BYTES", Shape: []int{1}, Data: []any{"big"}}})
	require.EqualError(t, err, "size must be a number, not big.")
	_, err = c.Describe(t.Context(), answer.Model{Folder: rows.Version.Folder(), Name: "table", Version: 9})
	require.EqualError(t, err, "There is no such model or version.")
}

func pictures(t *testing.T) map[string][]byte {
	t.Helper()
	found := map[string][]byte{}
	for i := range 40 {
		side := []string{"left", "right"}[i%2]
		picture := image.NewRGBA(image.Rect(0, 0, 24, 24))
		for x := range 24 {
			for y := range 24 {
				light := uint8((x*i + y) % 80)
				if x < 12 == (side == "left") {
					light += 120
				}
				picture.Set(x, y, color.RGBA{light, light, light, 255})
			}
		}
		var doc bytes.Buffer
		require.NoError(t, png.Encode(&doc, picture))
		found[fmt.Sprintf("%s/%s-%02d.png", side, side, i)] = doc.Bytes()
	}
	return found
}

func TestAfterSleepAQuestionWakesTheProcess(t *testing.T) {
	t.Parallel()
	python := answertest.Python(t)
	s := answertest.NewVolume(t, python)
	files, lines := reviews(t)
	trained := s.Train(t, dataset, "reviews", "ft-words", files, map[string]any{"model": "words"})
	process := local(s, python, 300*time.Millisecond)
	c := answer.NewClient(process)
	t.Cleanup(func() { require.NoError(t, c.Close()) })
	for range 3 {
		found, err := c.Infer(t.Context(), model(trained.Version), []answer.Tensor{texts(lines[1])})
		require.NoError(t, err)
		require.True(t, found.Woken)
		place, err := process.At(t.Context(), "")
		require.NoError(t, err)
		require.Eventually(t, func() bool {
			conn, err := net.Dial("tcp", strings.TrimPrefix(place.URL, "http://"))
			return err != nil || conn.Close() != nil
		}, time.Minute, 20*time.Millisecond, "the process ends without questions")
	}
}
