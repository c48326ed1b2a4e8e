package resultstest

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/ncsa/clowder-ray/internal/results"
)

// PlayScript writes what a script leaves that has succeeded: events.jsonl, log.txt, out/ and, last, result.json. For one that has failed
// it writes error.json and partial.json.
func PlayScript(dir, run string, attempt int, failed bool) error {
	code, zero := 0, strings.Repeat("0", 64)
	if failed {
		code = 3
	}
	body := "weights\n"
	sum := sha256.Sum256([]byte(body))
	exit := results.ScriptExit{Code: &code}
	result := results.Result{
		Schema: 2, Kind: results.ResultScript, Run: run, Attempt: attempt, Task: "script", Partial: failed, Seconds: 2,
		Settings: []results.Setting{}, Checks: []results.Check{},
		Script: &results.Script{
			Entry: "train.py", Launcher: "python", Command: []string{"python", "-u", "train.py"}, Processes: 1, Nodes: 1,
			Sandbox: results.Sandbox{Name: results.SandboxBubblewrap, Version: "0.8.0"}, Seconds: 1, Exit: exit,
			Starts: []results.ScriptStart{{Attempt: attempt, Start: 1, Seconds: 1, Exit: exit}},
			Code:   []results.CodeFile{}, CodeSHA256: zero, Findings: []results.Finding{}, Requirements: []string{},
			Numbers: map[string]results.ScriptNumber{}, Series: map[string][][]float64{}, LeftOut: []results.LeftOut{}, Lines: 1,
		},
		Outputs: []results.Output{{Path: "out/ckpt.pt", Size: int64(len(body)), SHA256: hex.EncodeToString(sum[:])}},
	}
	doc, err := json.Marshal(result)
	if err != nil {
		return err
	}
	now := time.Now().UTC().Format(time.RFC3339Nano)
	files := []struct{ path, body string }{
		{"out/ckpt.pt", body},
		{"log.txt", "saved out/ckpt.pt\n"},
		{results.EventsFile, fmt.Sprintf(`{"time":%q,"attempt":%d,"kind":"started","start":1}`+"\n", now, attempt)},
		{results.ResultFile, string(doc)},
	}
	if failed {
		why := fmt.Sprintf(`{"schema":1,"run":%q,"attempt":%d,"code":"script_failed","what":"The script ended with exit code 3","do":"Look at the end of the log","user":true}`, run, attempt)
		files[len(files)-1].path = results.PartialFile
		files = append(files, struct{ path, body string }{results.FailureFile, why})
	}
	for _, file := range files {
		if err := write(filepath.Join(dir, file.path), file.body); err != nil {
			return err
		}
	}
	return nil
}
