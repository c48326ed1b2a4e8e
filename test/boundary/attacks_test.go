//go:build integration

package boundary

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/ncsa/clowder-ray/internal/rayjob/raytest"
	"github.com/ncsa/clowder-ray/internal/results"
	"github.com/ncsa/clowder-ray/test/stack"
)

// pod is a hostile training at work.
type pod struct {
	// folder is its run folder, attempt the number of its attempt.
	folder  string
	attempt int
	run     string
	// outside is a folder that no run may reach, with a file jobs.db and a file victim in it; environ is the environment of the
	// service, which holds a mark, and store its job store.
	outside, environ, store string
	// job ends when the job is stopped, life with the test: what an attack leaves at work goes on as a process in the pod would.
	job, life context.Context //nolint:containedctx // they are the pod's
	work      interface{ Go(func()) }
}

// path is a path below the run folder.
func (p pod) path(name string) string { return filepath.Join(p.folder, filepath.FromSlash(name)) }

// put writes a file below the run folder, in place of whatever is there.
func (p pod) put(name string, body []byte) {
	_ = os.MkdirAll(filepath.Dir(p.path(name)), 0o755)
	_ = os.RemoveAll(p.path(name))
	_ = os.WriteFile(p.path(name), body, 0o644)
}

// link puts a link in the place of what is there.
func (p pod) link(target, name string) {
	_ = os.RemoveAll(p.path(name))
	_ = os.Symlink(target, p.path(name))
}

// pipe puts a pipe that nobody feeds in the place of what is there.
func (p pod) pipe(name string) {
	_ = os.RemoveAll(p.path(name))
	_ = syscall.Mkfifo(p.path(name), 0o666)
}

// alternate runs the steps in turn until the test ends. Pauses of up to a millisecond let the service meet each state at each of its own
// steps, and leave the other attacks their share of the processor.
func (p pod) alternate(steps ...func()) {
	p.work.Go(func() {
		for i := 0; p.life.Err() == nil; i++ {
			steps[i%len(steps)]()
			time.Sleep(rand.N(time.Millisecond))
		}
	})
}

// succeed plays a training that ends well.
func (p pod) succeed() int { return stack.Play(p.life, p.folder, raytest.Driver{}) }

// result reads the result that succeed has written, changes it and writes it.
func (p pod) result(change func(*results.Result)) {
	var r results.Result
	doc, err := os.ReadFile(p.path(results.ResultFile))
	if err == nil {
		err = json.Unmarshal(doc, &r)
	}
	if err != nil {
		return
	}
	change(&r)
	doc, _ = json.Marshal(r)
	p.put(results.ResultFile, doc)
}

// list adds a file to the result, with the sha256 of body, whatever the file holds.
func (p pod) list(name string, body []byte) {
	sum := sha256.Sum256(body)
	p.result(func(r *results.Result) {
		r.Outputs = append(r.Outputs, results.Output{Path: name, Size: int64(len(body)), SHA256: hex.EncodeToString(sum[:])})
	})
}

// fail leaves a failure of the training.
func (p pod) fail(what string) int {
	doc, _ := json.Marshal(results.Failure{
		Schema: 1, Run: p.run, Attempt: p.attempt, Code: "x", What: what, Do: "Do something.", User: true,
	})
	p.put(results.FailureFile, doc)
	return 2
}

// attack is what a hostile training does. Its exit code is the training's.
type attack struct {
	play func(p pod) int
	// ends is how its own job may end; empty is either way. A job of an attack may fail, but it must end.
	ends string
	// says is a part of the last sentence that its user reads, empty for any.
	says string
}

// attacks are all that a program with the run folder in its hands may do.
func attacks() map[string]attack {
	secretLinks := func(target func(p pod) string, names ...string) func(p pod) int {
		return func(p pod) int {
			code := p.succeed()
			for _, name := range names {
				p.link(target(p), name)
			}
			return code
		}
	}
	environ := func(p pod) string { return p.environ }
	store := func(p pod) string { return p.store }
	all := map[string]attack{
		"an output is a link to the environment of the service": {secretLinks(environ, "out/predictions.csv"), "ERROR", "instead of a file"},
		"an output is a link to the job store":                  {secretLinks(store, "out/predictions.csv"), "ERROR", "instead of a file"},
		"the weights are a link to a device":                    {secretLinks(func(pod) string { return "/dev/zero" }, "out/model/model.safetensors"), "ERROR", ""},
		"the log is a link to the job store":                    {secretLinks(store, "log.txt", "logs"), "", ""},
		"the events are a link to the environment":              {secretLinks(environ, "events.jsonl"), "", ""},
		"the result is a link to a file of another run":         {secretLinks(store, "result.json"), "ERROR", ""},
		"the folder of outputs is a link": {func(p pod) int {
			code := p.succeed()
			_ = os.Rename(p.path("out"), p.path("real"))
			p.link(p.outside, "out")
			return code
		}, "ERROR", ""},
		"the run folder is swapped for a link": {func(p pod) int {
			code := p.succeed()
			_ = os.Rename(p.folder, p.folder+"-away")
			_ = os.Symlink(p.outside, p.folder)
			return code
		}, "ERROR", ""},
		"an output is swapped between a good file and a secret": {func(p pod) int {
			code := p.succeed()
			good, _ := os.ReadFile(p.path("out/predictions.csv"))
			p.alternate(
				func() { p.put("out/predictions.csv", good) },
				func() { p.link(p.environ, "out/predictions.csv") },
				func() { p.put("out/predictions.csv", bytes.Repeat([]byte{'x'}, len(good))) },
			)
			return code
		}, "", ""},
		"the outputs are swapped between two folders": {func(p pod) int {
			code := p.succeed()
			_ = os.CopyFS(p.path("copy"), os.DirFS(p.path("out")))
			p.alternate(
				func() { _ = os.Rename(p.path("out"), p.path("real")) },
				func() { _ = os.Symlink(p.outside, p.path("out")) },
				func() { _ = os.Remove(p.path("out")) },
				func() { _ = os.Rename(p.path("real"), p.path("out")) },
			)
			return code
		}, "", ""},
		"deliverables of its own making": {func(p pod) int {
			code := p.succeed()
			p.put("deliver/.built.json", []byte(`{"key":"","artifacts":[{"Name":"report.html","Size":1,"SHA256":"x"}]}`))
			p.alternate(
				func() { p.put("deliver/report.html", []byte("<p>"+mark+"</p>")) },
				func() { p.link(p.environ, "deliver/report.html") },
				func() { p.link(p.outside, "deliver") },
				func() { _ = os.Remove(p.path("deliver")) },
			)
			return code
		}, "SUCCEEDED", ""},
		"every file of the service is a pipe": {func(p pod) int {
			code := p.succeed()
			for _, name := range []string{"events.jsonl", "log.txt", "logs", "stop", "inputs.json", "spec.json", "error.json"} {
				p.pipe(name)
			}
			return code
		}, "", ""},
		"the result is a pipe":             {func(p pod) int { code := p.succeed(); p.pipe("result.json"); return code }, "ERROR", ""},
		"an output is a pipe":              {func(p pod) int { code := p.succeed(); p.pipe("out/predictions.csv"); return code }, "ERROR", ""},
		"an output and a pipe take turns":  {turns(func(p pod) { p.pipe("out/predictions.csv") }), "", ""},
		"the result is a sparse terabyte":  {func(p pod) int { code := p.succeed(); _ = os.Truncate(p.path("result.json"), 1<<40); return code }, "ERROR", "too large"},
		"the failure is a sparse terabyte": {func(p pod) int { p.put("error.json", nil); _ = os.Truncate(p.path("error.json"), 1<<40); return 2 }, "ERROR", ""},
		"the log is a sparse terabyte":     {func(p pod) int { code := p.succeed(); _ = os.Truncate(p.path("log.txt"), 1<<40); return code }, "SUCCEEDED", ""},
		"an output is a sparse terabyte":   {sparse, "ERROR", "more than 64 GiB"},
		"the result is thirty megabytes of empty objects": {func(p pod) int {
			code := p.succeed()
			p.put("result.json", []byte(`{"schema":2,"mistakes":[`+strings.Repeat("{},", 10<<20)+`{}]}`))
			return code
		}, "ERROR", "objects and lists"},
		"the result is nested without end": {func(p pod) int {
			code := p.succeed()
			p.put("result.json", []byte(strings.Repeat("[", 1<<20)))
			return code
		}, "ERROR", ""},
		"weights with a header that fills the memory": {func(p pod) int {
			code := p.succeed()
			header := `{` + strings.Repeat(`"a":{"dtype":"F32","shape":[0],"data_offsets":[0,0]},`, 300_000) + `"b":1}`
			body := append([]byte{byte(len(header)), byte(len(header) >> 8), byte(len(header) >> 16), byte(len(header) >> 24), 0, 0, 0, 0}, header...)
			p.put("out/model/more.safetensors", body)
			p.list("out/model/more.safetensors", body)
			return code
		}, "ERROR", ""},
		"ids of files that are not its own": {func(p pod) int {
			code := p.succeed()
			p.result(func(r *results.Result) {
				r.Prediction = &results.Prediction{PerFile: []results.FileAnswer{{File: "x", ID: "000000000000000000000000", Predicted: mark}}}
			})
			return code
		}, "", ""},
		"a line without an end": {func(p pod) int {
			p.put("events.jsonl", bytes.Repeat([]byte("x"), 64<<20))
			return p.succeed()
		}, "", ""},
		"a log with a hundred thousand workers": {func(p pod) int {
			_ = os.Mkdir(p.path("logs"), 0o755)
			for i := range 20_000 {
				_ = os.WriteFile(p.path("logs/rank-"+strconv.Itoa(i)+".txt"), []byte("x"), 0o600)
			}
			return p.succeed()
		}, "", ""},
		"a failure with a text of a megabyte": {func(p pod) int { return p.fail(strings.Repeat("\x1b[2J"+mark[:4]+" ", 150_000)) }, "ERROR", ""},
		"its folder is gone":                  {func(p pod) int { _ = os.RemoveAll(p.folder); return 0 }, "ERROR", ""},
		"it ends well and leaves nothing":     {func(pod) int { return 0 }, "ERROR", ""},
		"its list of inputs names other files": {func(p pod) int {
			code := p.succeed()
			p.put("inputs.json", []byte(`[{"id":"000000000000000000000000","name":"`+mark+`","path":"x","size":1,"sha256":"x"}]`))
			return code
		}, "ERROR", "changed the list of staged files"},
	}
	all["the second attempt is written through links"] = attack{func(p pod) int {
		if p.attempt > 1 {
			return p.succeed()
		}
		for _, name := range []string{"spec.json", "stop"} {
			p.link(filepath.Join(p.outside, "victim"), name)
		}
		return 1 // without a word: the service begins another attempt, for which it writes spec.json
	}, "SUCCEEDED", ""}
	all["the files of a retry are staged through links"] = attack{func(p pod) int {
		_ = os.RemoveAll(p.path("inputs"))
		_ = os.Symlink(p.outside, p.path("inputs"))
		return p.fail("Submit me once more.")
	}, "ERROR", "once more"}
	return all
}

// turns swaps a good output with what else does.
func turns(with func(p pod)) func(p pod) int {
	return func(p pod) int {
		code := p.succeed()
		good, _ := os.ReadFile(p.path("out/predictions.csv"))
		p.alternate(func() { p.put("out/predictions.csv", good) }, func() { with(p) })
		return code
	}
}

// sparse hands over a terabyte that takes no room.
func sparse(p pod) int {
	code := p.succeed()
	p.put("out/large.csv", nil)
	_ = os.Truncate(p.path("out/large.csv"), 1<<40)
	p.result(func(r *results.Result) {
		r.Outputs = append(r.Outputs, results.Output{Path: "out/large.csv", Size: 1 << 40, SHA256: strings.Repeat("0", 64)})
	})
	return code
}

// snapshot is what lies in a folder, by path: the size and sha256 of files, the target of links.
func snapshot(dir string) map[string]string {
	seen := map[string]string{}
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil //nolint:nilerr // what is gone is missing in the snapshot
		}
		rel, _ := filepath.Rel(dir, path)
		switch {
		case d.Type()&fs.ModeSymlink != 0:
			seen[rel], _ = os.Readlink(path)
		case d.Type().IsRegular():
			body, _ := os.ReadFile(path)
			sum := sha256.Sum256(body)
			seen[rel] = hex.EncodeToString(sum[:])
		default:
			seen[rel] = d.Type().String()
		}
		return nil
	})
	return seen
}
