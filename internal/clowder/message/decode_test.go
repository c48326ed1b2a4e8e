package message_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/clowder/message"
	"github.com/ncsa/clowder-ray/internal/job"
)

const (
	datasetID = "6b0197f2c3a1d2e4f5061728"
	fileID    = "6b0197f2c3a1d2e4f5061729"
	jobID     = "6b0197f2c3a1d2e4f506172a"
	v1Dataset = "11111111-2222-3333-4444-555555555555"
)

const v2Body = `{"host":"http://backend:8000","secretKey":"KEY","retry_count":0,"resource_type":"dataset","flags":"","datasetName":"d1",
"id":"` + datasetID + `","datasetId":"` + datasetID + `","job_id":"` + jobID + `","parameters":{"epochs":3}}`

const v1Body = `{"notifies":["a@example.org"],"msgid":"99999999-2222-3333-4444-555555555555","id":"` + v1Dataset + `","jobid":"22222222-2222-3333-4444-555555555555",
"intermediateId":"` + v1Dataset + `","fileSize":"12","host":"https://clowder.example.org/clowder/","datasetId":"` + v1Dataset + `","flags":"","secretKey":"KEY",
"routing_key":"extractors.ncsa.ray.finetune","activity":"submitted","target":"{}","parameters":"{\"epochs\":\"3\"}","datasetname":"d1","retry_count":"2"}`

// v1Submitted is the same after a person has submitted it.
var v1Submitted = strings.Replace(v1Body, "{", `{"action":"manual-submission",`, 1)

func TestMissingParametersAreTold(t *testing.T) {
	for name, tc := range map[string]struct {
		parameters any
		want       bool
	}{
		"null":                    {nil, true},
		"an empty text":           {" ", true},
		"null in a text":          {"null", true},
		"an empty object":         {map[string]any{}, false},
		"an empty object in text": {"{}", false},
		"an object":               {map[string]any{"epochs": 3}, false},
	} {
		t.Run(name, func(t *testing.T) {
			req, _, err := decode(t, with(t, map[string]any{"parameters": tc.parameters}))
			require.NoError(t, err)
			require.Equal(t, tc.want, req.NoParameters)
		})
	}
}

func decode(t *testing.T, body string) (job.Request, job.Secret, error) {
	t.Helper()
	return message.Decode([]byte(body), message.Properties{ReplyTo: "clowder.abc", CorrelationID: "c1", Received: time.Unix(1, 0)})
}

func TestDecodeV2Dataset(t *testing.T) {
	t.Parallel()
	req, key, err := decode(t, v2Body)
	require.NoError(t, err)
	require.Equal(t, "KEY", key.Reveal())
	require.Len(t, req.BodyHash, 64)
	req.BodyHash = ""
	require.Equal(t, job.Request{
		Key: jobID, JobID: jobID, APIVersion: 2, Host: "http://backend:8000", Kind: job.Dataset, ResourceID: datasetID, DatasetID: datasetID,
		Name: "d1", Parameters: map[string]any{"epochs": json.Number("3")}, ReplyTo: "clowder.abc", CorrelationID: "c1", Received: time.Unix(1, 0).UTC(),
	}, req)
}

func TestDecodeV1Dataset(t *testing.T) {
	t.Parallel()
	req, _, err := decode(t, v1Submitted)
	require.NoError(t, err)
	require.Equal(t, 1, req.APIVersion)
	require.Equal(t, job.Dataset, req.Kind)
	require.Equal(t, "22222222-2222-3333-4444-555555555555", req.JobID)
	require.Equal(t, "https://clowder.example.org/clowder", req.Host)
	require.Equal(t, map[string]any{"epochs": "3"}, req.Parameters)
	require.Equal(t, 2, req.RetryCount)
	require.Equal(t, []string{"a@example.org"}, req.Notifies)
}

// with returns the v2 body with some members replaced; a nil value removes one.
func with(t *testing.T, changes map[string]any) string {
	t.Helper()
	var object map[string]any
	require.NoError(t, json.Unmarshal([]byte(v2Body), &object))
	for name, value := range changes {
		if object[name] = value; value == nil {
			delete(object, name)
		}
	}
	out, err := json.Marshal(object)
	require.NoError(t, err)
	return string(out)
}

func TestDecodeVariants(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		change map[string]any
		want   func(t *testing.T, r job.Request)
	}{
		"a file submission keeps both ids": {
			map[string]any{"resource_type": "file", "id": fileID, "filename": "a.csv", "datasetName": nil},
			func(t *testing.T, r job.Request) {
				t.Helper()
				require.Equal(t, job.File, r.Kind)
				require.Equal(t, []string{fileID, datasetID, "a.csv"}, []string{r.ResourceID, r.DatasetID, r.Name})
			},
		},
		"the routing key of v1 names the kind": {
			map[string]any{"resource_type": nil, "routing_key": "clowder.dataset.file.added", "id": fileID, "action": "manual-submission"},
			func(t *testing.T, r job.Request) {
				t.Helper()
				require.Equal(t, job.Dataset, r.Kind)
				require.Equal(t, datasetID, r.ResourceID)
			},
		},
		"a queue whose name holds .dataset. does not make a dataset of a file": {
			map[string]any{"resource_type": nil, "routing_key": "extractors.my.dataset.thing", "id": fileID, "datasetName": nil},
			func(t *testing.T, r job.Request) { t.Helper(); require.Equal(t, job.File, r.Kind) },
		},
		"equal ids mean a dataset": {
			map[string]any{"resource_type": nil, "datasetName": nil},
			func(t *testing.T, r job.Request) { t.Helper(); require.Equal(t, job.Dataset, r.Kind) },
		},
		"parameters may be encoded twice": {
			map[string]any{"parameters": `"{\"epochs\": 3}"`},
			func(t *testing.T, r job.Request) {
				t.Helper()
				require.Equal(t, map[string]any{"epochs": json.Number("3")}, r.Parameters)
			},
		},
		"parameters may be an empty text": {
			map[string]any{"parameters": " "},
			func(t *testing.T, r job.Request) { t.Helper(); require.Nil(t, r.Parameters) },
		},
		"a message without a job id goes by its hash": {
			map[string]any{"job_id": nil},
			func(t *testing.T, r job.Request) {
				t.Helper()
				require.Empty(t, r.JobID)
				require.Equal(t, r.BodyHash, r.Key)
			},
		},
		"an explicit version wins": {
			map[string]any{"clowderVersion": 1, "action": "manual-submission"},
			func(t *testing.T, r job.Request) { t.Helper(); require.Equal(t, 1, r.APIVersion) },
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, _, err := decode(t, with(t, tc.change))
			require.NoError(t, err)
			tc.want(t, r)
		})
	}
}

func TestDecodeReadsLatin1(t *testing.T) {
	t.Parallel()
	req, _, err := decode(t, strings.Replace(v2Body, `"d1"`, "\"Stra\xdfe\"", 1))
	require.NoError(t, err)
	require.Equal(t, "Straße", req.Name)
}

func TestDecodeFaults(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		body     string
		want     string
		wantJob  bool
		wantHash bool
	}{
		"not JSON":                     {"epochs: 3", "is not valid JSON", false, true},
		"nothing at all":               {"", "is not valid JSON", false, true},
		"a list":                       {"[1]", "is a list and not a JSON object", false, true},
		"two documents":                {"{} {}", "more text after", false, true},
		"a tower of brackets":          {strings.Repeat("[", 1<<20), "nested deeper", false, true},
		"too large":                    {with(t, map[string]any{"parameters": strings.Repeat("a", 5<<20)}), "the limit is 4194304", true, true},
		"far too large":                {`"` + strings.Repeat("a", 32<<20) + `"`, "is larger than", false, true},
		"no host":                      {with(t, map[string]any{"host": nil}), "has no host", true, true},
		"host of a wrong type":         {with(t, map[string]any{"host": []int{1}}), "its host is a list", true, true},
		"no key":                       {with(t, map[string]any{"secretKey": nil}), "no valid API key", true, true},
		"a key with a line break":      {with(t, map[string]any{"secretKey": "a\nb"}), "no valid API key", true, true},
		"an id that climbs":            {with(t, map[string]any{"datasetId": "../../users/keys"}), "is not a valid Clowder id", true, true},
		"no id":                        {with(t, map[string]any{"id": nil, "datasetId": nil}), "is not a valid Clowder id", true, true},
		"parameters of a wrong type":   {with(t, map[string]any{"parameters": []int{1}}), "its parameters are a list", true, true},
		"parameters that are no JSON":  {with(t, map[string]any{"parameters": "epochs=3"}), "its parameters are a text that is not valid JSON", true, true},
		"parameters encoded too often": {with(t, map[string]any{"parameters": `"\"\\\"{}\\\"\""`}), "encoded as text more than twice", true, true},
		"a job id that is an object":   {with(t, map[string]any{"job_id": map[string]any{}}), "its job_id is an object", false, true},
		"a job id with blanks":         {with(t, map[string]any{"job_id": "a b"}), "its job id", false, true},
		"a metadata event":             {with(t, map[string]any{"resource_type": "metadata"}), "it is about a metadata", true, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			req, key, err := decode(t, tc.body)
			require.ErrorContains(t, err, tc.want)
			kind, _ := job.Classify(err)
			require.Equal(t, job.KindPermanent, kind)
			require.NotContains(t, err.Error(), "\n")
			require.Equal(t, "clowder.abc", req.ReplyTo)
			require.Equal(t, tc.wantJob, req.JobID == jobID)
			require.Equal(t, tc.wantHash, len(req.BodyHash) == 64 && req.Key != "")
			if key != "" {
				require.NotContains(t, err.Error(), key.Reveal())
			}
		})
	}
}

func TestBodyHashForgetsKeyAndRetryCount(t *testing.T) {
	t.Parallel()
	first, _, _ := decode(t, v2Body)
	again, _, _ := decode(t, with(t, map[string]any{"secretKey": "OTHER", "retry_count": 7}))
	other, _, _ := decode(t, with(t, map[string]any{"parameters": map[string]any{"epochs": 4}}))
	require.Equal(t, first.BodyHash, again.BodyHash)
	require.NotEqual(t, first.BodyHash, other.BodyHash)
}

func TestARetryCountOfAnyForm(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		count any
		want  int
	}{
		"none":               {nil, 0},
		"a number":           {3, 3},
		"a text":             {"3", 3},
		"a word":             {"many", 0},
		"an empty text":      {"", 0},
		"a negative number":  {-1, 0},
		"a fraction":         {1.5, 0},
		"beyond 64 bits":     {"99999999999999999999", 0},
		"true":               {true, 0},
		"a list":             {[]int{1}, 0},
		"an object":          {map[string]any{"n": 1}, 0},
		"a very long number": {strings.Repeat("9", 100_000), 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			req, _, err := decode(t, with(t, map[string]any{"retry_count": tc.count}))
			require.NoError(t, err, "the number decides nothing, so none of them ends a job")
			require.Equal(t, tc.want, req.RetryCount)
		})
	}
}

func FuzzDecode(f *testing.F) {
	for _, seed := range []string{v2Body, v1Body, v1Submitted, `{}`, `{"parameters":"\"{}\""}`, "\xff\xfe{", `{"id":1e400}`, `{"notifies":[1,null]}`, "\xef\xbb\xbf{}"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		req, _, err := message.Decode(body, message.Properties{ReplyTo: "r"})
		require.NotEmpty(t, req.Key)
		require.Len(t, req.BodyHash, 64)
		if err != nil {
			kind, _ := job.Classify(err)
			require.Equal(t, job.KindPermanent, kind)
			require.NotContains(t, err.Error(), "\n")
			return
		}
		require.Regexp(t, `^[0-9A-Fa-f-]{24,36}$`, req.ResourceID)
		require.NotEmpty(t, req.Host)
		_, err = json.Marshal(req)
		require.NoError(t, err)
	})
}
