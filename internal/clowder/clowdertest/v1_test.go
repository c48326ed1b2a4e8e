package clowdertest_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/clowder/clowdertest"
)

func TestStatusesAsClowderV1ReadsThem(t *testing.T) {
	t.Parallel()
	const id = "6b0317000000000000000001"
	line := func(file, job, status, start string) string {
		return fmt.Sprintf(`{"file_id":%q,"extractor_id":"x","job_id":%s,"status":%q,"start":%q}`, file, job, status, start)
	}
	for name, tc := range map[string]struct{ body, want string }{
		"a line":                         {line(id, `"`+id+`"`, "StatusMessage.processing: Epoch 1", at), "StatusMessage.processing: Epoch 1"},
		"done takes the text away":       {line(id, `"`+id+`"`, "StatusMessage.done: Accuracy 0.83", at), "DONE"},
		"so does a word that has it":     {line(id, `"`+id+`"`, "StatusMessage.processing: abandoned.csv", at), "DONE"},
		"a line of no job":               {line(id, `null`, "StatusMessage.start: a", at), "StatusMessage.start: a"},
		"a number is no job":             {line(id, `7`, "StatusMessage.start: a", at), "StatusMessage.start: a"},
		"a job that is no id is lost":    {line(id, `"abc"`, "StatusMessage.start: a", at), ""},
		"a line of no file is lost":      {line("", `"`+id+`"`, "StatusMessage.start: a", at), ""},
		"a line without a start is lost": {line(id, `"`+id+`"`, "StatusMessage.start: a", ""), ""},
		"garbage is lost":                {"garbage", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := start(t, clowdertest.Options{Version: 1})
			err := server.Status([]byte(tc.body))
			if tc.want == "" {
				require.Error(t, err)
				require.Empty(t, server.Events(id))
				return
			}
			require.NoError(t, err)
			require.Equal(t, tc.want, server.Events(id)[0].Text)
		})
	}
}

func TestHeartbeatsThatClowderV1Drops(t *testing.T) {
	t.Parallel()
	const whole = `"name":"x","version":"1","description":"d","author":"a","contexts":[],"repository":[]`
	for name, tc := range map[string]struct{ info, owner, fault string }{
		"a whole one":                      {whole, "", ""},
		"one with keys that are not known": {whole + `,"other":1`, "", ""},
		"one without an author":            {`"name":"x","version":"1","description":"d","contexts":[],"repository":[]`, "", "obj.author"},
		"one with an id":                   {whole + `,"id":"x"`, "", "obj.id"},
		"one with permissions":             {whole + `,"permissions":["x"]`, "", "obj.permissions"},
		"a repository that is an object":   {`"name":"x","version":"1","description":"d","author":"a","contexts":[],"repository":{}`, "", "obj.repository"},
		"a repository without an address":  {`"name":"x","version":"1","description":"d","author":"a","contexts":[],"repository":[{"repType":"git"}]`, "", "repType"},
		"a private one":                    {whole + `,"unique_key":"k"`, alice, ""},
		"a private one of nobody":          {whole + `,"unique_key":"k"`, "", "owner"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := start(t, clowdertest.Options{Version: 1})
			err := server.Heartbeat(fmt.Appendf(nil, `{"id":"i","queue":"q","owner":%q,"extractor_info":{%s}}`, tc.owner, tc.info))
			if tc.fault == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, tc.fault)
		})
	}
}
