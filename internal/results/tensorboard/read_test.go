package tensorboard_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"math"
	"os"
	"path"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/ncsa/clowder-ray/internal/results/tensorboard"
)

// testdata/write.py wrote the files with tensorboardX.

func TestAResumedTrainingOfTheTrainerIsOneCurve(t *testing.T) {
	t.Parallel()
	logs, limits := tensorboard.Read(files(t, "trainer"))
	require.Zero(t, limits)
	require.Len(t, logs, 1)
	require.Equal(t, "trainer", logs[0].Folder)
	accuracy, loss := logs[0].Curves[0], logs[0].Curves[1]
	require.Equal(t, "accuracy", accuracy.Tag)
	require.Len(t, accuracy.Points, 5)
	require.Equal(t, "loss", loss.Tag)
	require.Len(t, loss.Points, 50)
	for i, p := range loss.Points {
		step := i + 1
		want := 100 / float64(step)
		if step > 20 {
			want += 0.5 // written by the later start
		}
		require.Equal(t, int64(step), p.Step)
		require.InDelta(t, want, p.Value, 1e-5)
	}
}

func TestOnlyScalarsAreTakenFromWhatAUserWrites(t *testing.T) {
	t.Parallel()
	logs, limits := tensorboard.Read(files(t, "user"))
	require.Zero(t, limits)
	require.Len(t, logs, 1)
	require.Len(t, logs[0].Curves, 2)
	loss := logs[0].Curves[0]
	require.Equal(t, "train/loss", loss.Tag)
	require.Equal(t, []int64{0, 1, 2, 4}, steps(loss.Points))
	require.Equal(t, 1, loss.NotFinite)
	require.InDelta(t, 0.2, loss.Points[3].Value, 1e-6)
}

func TestTensorsOfOneNumberAreScalars(t *testing.T) {
	t.Parallel()
	logs, limits := tensorboard.Read(files(t, "tensors"))
	require.Zero(t, limits)
	last := map[string]float64{}
	for _, c := range logs[0].Curves {
		require.Len(t, c.Points, 3, c.Tag)
		last[c.Tag] = c.Points[2].Value
	}
	require.Equal(t, map[string]float64{"content": 1, "double content": 0.5, "floats": 4, "doubles": 6, "ints": -2, "one of one": 2}, last)
}

func TestAFileThatIsTornKeepsWhatCameBefore(t *testing.T) {
	t.Parallel()
	whole := written(scalar(1, 1, "loss", 3), scalar(2, 2, "loss", 2), scalar(3, 3, "loss", 1))
	record := len(whole) / 3
	for name, doc := range map[string][]byte{
		"cut off in the data":        whole[:2*record+20],
		"cut off in the length":      whole[:2*record+5],
		"a flipped bit in the data":  flipped(whole, 2*record+15),
		"a flipped bit in a length":  flipped(whole, 2*record),
		"a length beyond all limits": append(bytes.Clone(whole[:2*record]), header(1<<60)...),
		"a record that is no event":  append(bytes.Clone(whole[:2*record]), written([]byte{0xff, 0xff, 0xff})...),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			logs, limits := tensorboard.Read([]tensorboard.File{file("a/tfevents", doc)})
			require.Len(t, logs, 1)
			require.Equal(t, []int64{1, 2}, steps(logs[0].Curves[0].Points))
			require.Equal(t, []string{"a/tfevents"}, limits.Damaged)
		})
	}
}

func TestWhatCannotBeReadIsSaid(t *testing.T) {
	t.Parallel()
	logs, limits := tensorboard.Read([]tensorboard.File{
		file("a/tfevents.0", []byte("<html>this is a page</html>")),
		{Path: "a/tfevents.1", Open: func() (io.ReadCloser, error) { return nil, errors.New("gone") }},
		file("a/tfevents.2", nil),
		file("a/tfevents.3", written(scalar(1, 1, "loss", 3))),
	})
	require.Len(t, logs, 1)
	require.Equal(t, tensorboard.Limits{Damaged: []string{"a/tfevents.0", "a/tfevents.1"}}, limits)
}

func TestALongRecordIsSkipped(t *testing.T) {
	t.Parallel()
	picture := make([]byte, 2<<20)
	logs, limits := tensorboard.Read([]tensorboard.File{file("tfevents", written(scalar(1, 1, "loss", 3), picture, scalar(2, 2, "loss", 2)))})
	require.Zero(t, limits)
	require.Equal(t, []int64{1, 2}, steps(logs[0].Curves[0].Points))
}

func TestTheLimitsHold(t *testing.T) {
	t.Parallel()
	t.Run("a long curve is thinned out evenly", func(t *testing.T) {
		t.Parallel()
		var events [][]byte
		for step := range int64(30_001) {
			events = append(events, scalar(float64(step), step, "loss", float32(step)))
		}
		logs, limits := tensorboard.Read([]tensorboard.File{file("tfevents", written(events...))})
		require.Zero(t, limits)
		points := logs[0].Curves[0].Points
		require.LessOrEqual(t, len(points), tensorboard.MaxPoints)
		require.Greater(t, len(points), tensorboard.MaxPoints/2)
		require.Equal(t, int64(0), points[0].Step)
		require.Equal(t, int64(30_000), points[len(points)-1].Step)
		for i, p := range points[1:] {
			require.LessOrEqual(t, p.Step-points[i].Step, int64(32))
			require.InDelta(t, float64(p.Step), p.Value, 0)
		}
	})
	t.Run("tags", func(t *testing.T) {
		t.Parallel()
		var events [][]byte
		for i := range tensorboard.MaxTags + 10 {
			events = append(events, scalar(1, 1, "tag "+string(rune('a'+i)), 1))
		}
		again := file("a/tfevents.2", written(events...))
		logs, limits := tensorboard.Read([]tensorboard.File{file("a/tfevents.1", written(events...)), again})
		require.Len(t, logs[0].Curves, tensorboard.MaxTags)
		require.Equal(t, tensorboard.Limits{Tags: true}, limits)
	})
	t.Run("bytes", func(t *testing.T) {
		t.Parallel()
		first := append(written(scalar(1, 1, "loss", 3)), written(make([]byte, tensorboard.MaxBytes-100))...)
		logs, limits := tensorboard.Read([]tensorboard.File{file("tfevents.1", first), file("tfevents.2", written(scalar(2, 2, "loss", 2), scalar(3, 3, "loss", 2)))})
		require.Equal(t, []int64{1}, steps(logs[0].Curves[0].Points)[:1])
		require.Equal(t, tensorboard.Limits{Bytes: true}, limits)
	})
}

func TestFoldersAreLogsOfTheirOwn(t *testing.T) {
	t.Parallel()
	logs, _ := tensorboard.Read([]tensorboard.File{
		file("logs/version_1/tfevents", written(scalar(1, 1, "loss", 1))), file("logs/version_0/tfevents", written(scalar(2, 2, "loss", 2))),
		file("tfevents", written(scalar(2, 2, "loss", 2))),
	})
	require.Equal(t, []string{".", "logs/version_0", "logs/version_1"}, []string{logs[0].Folder, logs[1].Folder, logs[2].Folder})
}

func TestTheLaterStartWinsFromItsFirstStepOfEachTag(t *testing.T) {
	t.Parallel()
	logs, _ := tensorboard.Read([]tensorboard.File{
		file("z.tfevents", written(scalar(10, 1, "loss", 1), scalar(11, 2, "loss", 1), scalar(12, 3, "loss", 1), scalar(12, 3, "eval", 1))),
		file("a.tfevents", written(scalar(20, 2, "loss", 2))),
	})
	require.Equal(t, []tensorboard.Curve{
		{Tag: "eval", Points: []tensorboard.Point{{Step: 3, Value: 1, Wall: 12}}},
		{Tag: "loss", Points: []tensorboard.Point{{Step: 1, Value: 1, Wall: 10}, {Step: 2, Value: 2, Wall: 20}}},
	}, logs[0].Curves, "an evaluation that is written into a file of its own leaves the curve of the training alone")
}

func FuzzRead(f *testing.F) {
	for _, name := range []string{"trainer", "user", "tensors"} {
		paths, err := filepath.Glob(filepath.Join("testdata", name, "*"))
		require.NoError(f, err)
		for _, p := range paths {
			doc, err := os.ReadFile(p)
			require.NoError(f, err)
			f.Add(doc, []byte{})
		}
	}
	f.Add([]byte{}, []byte{0x0a})
	f.Fuzz(func(t *testing.T, doc, event []byte) {
		logs, _ := tensorboard.Read([]tensorboard.File{file("a/tfevents.1", doc), file("a/tfevents.2", written(event))})
		for _, l := range logs {
			require.LessOrEqual(t, len(l.Curves), tensorboard.MaxTags)
			for _, c := range l.Curves {
				require.LessOrEqual(t, len(c.Points), tensorboard.MaxPoints)
				for i, p := range c.Points {
					require.False(t, math.IsNaN(p.Value) || math.IsInf(p.Value, 0))
					require.True(t, i == 0 || c.Points[i-1].Step < p.Step)
				}
			}
		}
	})
}

func files(t *testing.T, folder string) []tensorboard.File {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join("testdata", folder, "*"))
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	var all []tensorboard.File
	for _, p := range paths {
		all = append(all, tensorboard.File{Path: path.Join(folder, filepath.Base(p)), Open: func() (io.ReadCloser, error) { return os.Open(p) }})
	}
	return all
}

func file(p string, doc []byte) tensorboard.File {
	return tensorboard.File{Path: p, Open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(doc)), nil }}
}

// scalar is an Event with one simple_value.
func scalar(wall float64, step int64, tag string, v float32) []byte {
	value := protowire.AppendString(protowire.AppendTag(nil, 1, protowire.BytesType), tag)
	value = protowire.AppendFixed32(protowire.AppendTag(value, 2, protowire.Fixed32Type), math.Float32bits(v))
	summary := protowire.AppendBytes(protowire.AppendTag(nil, 1, protowire.BytesType), value)
	doc := protowire.AppendFixed64(protowire.AppendTag(nil, 1, protowire.Fixed64Type), math.Float64bits(wall))
	doc = protowire.AppendVarint(protowire.AppendTag(doc, 2, protowire.VarintType), uint64(step))
	return protowire.AppendBytes(protowire.AppendTag(doc, 5, protowire.BytesType), summary)
}

// written is a file of records.
func written(records ...[]byte) []byte {
	var doc []byte
	for _, r := range records {
		doc = append(append(doc, header(uint64(len(r)))...), r...)
		doc = binary.LittleEndian.AppendUint32(doc, checksum(r))
	}
	return doc
}

func header(length uint64) []byte {
	doc := binary.LittleEndian.AppendUint64(nil, length)
	return binary.LittleEndian.AppendUint32(doc, checksum(doc))
}

func checksum(b []byte) uint32 {
	c := crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli))
	return (c>>15 | c<<17) + 0xa282ead8
}

func flipped(doc []byte, at int) []byte {
	doc = bytes.Clone(doc)
	doc[at] ^= 1
	return doc
}

func steps(points []tensorboard.Point) []int64 {
	var all []int64
	for _, p := range points {
		all = append(all, p.Step)
	}
	return all
}
