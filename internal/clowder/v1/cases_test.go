package v1_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/clowder"
	"github.com/ncsa/clowder-ray/internal/clowder/clienttest"
)

// raw makes requests as any program does, to see what Clowder itself answers.
type raw struct {
	site
	key string
}

// call sends a request and returns the status and the start of the body.
func (r raw) call(t *testing.T, method, path, kind, body string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, r.url+path, strings.NewReader(body))
	require.NoError(t, err)
	req.Header.Set("Content-Type", kind)
	if r.key != "" {
		req.Header.Set("X-API-Key", r.key)
	}
	client := &http.Client{Timeout: 30 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	answer, err := client.Do(req)
	require.NoError(t, err)
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(io.LimitReader(answer.Body, 4<<10))
	require.NoError(t, err)
	return answer.StatusCode, string(text)
}

// form is a multipart body with the parts name=content.
func form(parts ...[2]string) (kind, body string) {
	var out bytes.Buffer
	for i, p := range parts {
		fmt.Fprintf(&out, "--b\r\nContent-Disposition: form-data; name=%q; filename=\"f%d.txt\"\r\nContent-Type: text/plain\r\n\r\n%s\r\n", p[0], i, p[1])
	}
	return "multipart/form-data; boundary=b", out.String() + "--b--\r\n"
}

// runCases compares what Clowder answers to wrong and unusual requests with what the client was written for. It passes against the double
// and against the real Clowder v1.
func runCases(t *testing.T, at site) {
	t.Helper()
	s := session(t, clienttest.New(t, clowder.Config{URLs: map[int]string{1: at.url}}), at.key)
	ds, err := s.CreateDataset(t.Context(), "cases", "")
	require.NoError(t, err)
	file, err := s.Upload(t.Context(), ds, "", text("x.csv", "text/csv", "abcdefgh"))
	require.NoError(t, err)
	const jsonKind = "application/json"
	agent := `"agent":{"@type":"cat:extractor","name":"x","version":"1","extractor_id":"http://example.org/extractors/x/1"}`
	oneKind, oneBody := form([2]string{"anything", "a"})
	twoKind, twoBody := form([2]string{"a", "a"}, [2]string{"b", "b"})
	noneKind, noneBody := form()
	wrongKind, wrongBody := form([2]string{"file", "a"})
	for name, tc := range map[string]struct {
		key                      string
		method, path, kind, body string
		status                   int
		answer                   string // a part of the body
	}{
		"a wrong key":                            {"wrong", "GET", "/api/me", "", "", 401, "Not authorized"},
		"no key":                                 {"none", "GET", "/api/me", "", "", 401, "Not authorized"},
		"the key of the site in the header":      {at.global, "GET", "/api/me", "", "", 401, "Not authorized"},
		"the key of the site in the query":       {"none", "GET", "/api/me?key=" + at.global, "", "", 200, `"email":null`},
		"an unknown dataset":                     {"", "GET", "/api/datasets/" + missingID, "", "", 401, "Not authorized"},
		"an unknown dataset for the site":        {"none", "GET", "/api/datasets/" + missingID + "?key=" + at.global, "", "", 404, "Could not find dataset with id"},
		"a malformed id":                         {"", "GET", "/api/datasets/xyz", "", "", 400, "Cannot parse parameter id"},
		"a method that is not there":             {"", "PATCH", "/api/datasets/" + ds, "", "", 404, `"not found"`},
		"another method that is not there":       {"", "HEAD", "/api/datasets/" + ds, "", "", 404, ""},
		"a path that is not there":               {"", "GET", "/api/nothing", "", "", 404, `"not found"`},
		"a slash at the end":                     {"", "GET", "/api/datasets/" + ds + "/", "", "", 200, `"id":"` + ds},
		"a dataset without a key":                {"none", "GET", "/api/datasets/" + ds, "", "", 401, "Not authorized"},
		"the folders for another user":           {at.key2, "GET", "/api/datasets/" + ds + "/folders", "", "", 401, "Not authorized"},
		"a file for another user":                {at.key2, "GET", "/api/files/" + file.ID, "", "", 401, "Not authorized"},
		"the size of a file is a text":           {"", "GET", "/api/files/" + file.ID + "/metadata", "", "", 200, `"size":"8"`},
		"an upload that is not multipart":        {"", "POST", "/api/uploadToDataset/" + ds + "?extract=false", jsonKind, `{}`, 400, ""},
		"an upload into a malformed folder":      {"", "POST", "/api/uploadToDataset/" + ds + "?extract=false&folder_id=zzz", oneKind, oneBody, 200, `{"id":"`},
		"a folder in a malformed folder":         {"", "POST", "/api/datasets/" + ds + "/newFolder", jsonKind, `{"name":"a","parentId":"zzz","parentType":"folder"}`, 500, "exception"},
		"a folder of nobody":                     {"none", "POST", "/api/datasets/" + ds + "/newFolder", jsonKind, `{"name":"a","parentId":"` + ds + `","parentType":"dataset"}`, 401, "Not authorized"},
		"metadata that is a text":                {"", "POST", "/api/datasets/" + ds + "/metadata.jsonld", jsonKind, `{"content":"a",` + agent + `}`, 500, "exception"},
		"metadata with a dollar sign first":      {"", "POST", "/api/datasets/" + ds + "/metadata.jsonld", jsonKind, `{"content":{"$a":1},` + agent + `}`, 500, "exception"},
		"a file that is not there, deleted":      {"", "DELETE", "/api/files/" + missingID, "", "", 401, "Not authorized"},
		"the same for the site":                  {"none", "DELETE", "/api/files/" + missingID + "?key=" + at.global, "", "", 200, "success"},
		"parameters that are a text":             {"", "POST", "/api/datasets/" + ds + "/extractions", jsonKind, `{"extractor":"nobody.here","parameters":"epochs"}`, 200, `"status":"OK"`},
		"a dataset without a name":               {"", "POST", "/api/datasets/createempty", jsonKind, `{"description":"d"}`, 400, "Missing parameter [name]"},
		"a folder without the type of parent":    {"", "POST", "/api/datasets/" + ds + "/newFolder", jsonKind, `{"name":"a","parentId":"` + ds + `"}`, 400, "Missing parameter [parentType]"},
		"a folder in an unknown folder":          {"", "POST", "/api/datasets/" + ds + "/newFolder", jsonKind, `{"name":"a","parentId":"` + missingID + `","parentType":"folder"}`, 500, "exception"},
		"an upload of one part":                  {"", "POST", "/api/uploadToDataset/" + ds + "?extract=false", oneKind, oneBody, 200, `{"id":"`},
		"an upload of two parts":                 {"", "POST", "/api/uploadToDataset/" + ds + "?extract=false", twoKind, twoBody, 200, `{"ids":[{`},
		"an upload into an unknown folder":       {"", "POST", "/api/uploadToDataset/" + ds + "?extract=false&folder_id=" + missingID, oneKind, oneBody, 200, `{"id":"`},
		"an upload without a file":               {"", "POST", "/api/uploadToDataset/" + ds + "?extract=false", noneKind, noneBody, 400, "No files uploaded"},
		"an upload with another word for false":  {"", "POST", "/api/uploadToDataset/" + ds + "?extract=no", oneKind, oneBody, 400, "Cannot parse parameter extract"},
		"an upload by another user":              {at.key2, "POST", "/api/uploadToDataset/" + ds + "?extract=false", oneKind, oneBody, 401, "Not authorized"},
		"a file":                                 {"", "GET", "/api/files/" + file.ID, "", "", 200, "abcdefgh"},
		"an unknown file":                        {"", "GET", "/api/files/" + missingID, "", "", 401, "Not authorized"},
		"metadata":                               {"", "POST", "/api/datasets/" + ds + "/metadata.jsonld", jsonKind, `{"content":{"a":1},` + agent + `}`, 200, "Metadata successfully added to db"},
		"metadata without the extractor":         {"", "POST", "/api/datasets/" + ds + "/metadata.jsonld", jsonKind, `{"content":{"a":1},"agent":{"@type":"cat:extractor","name":"x"}}`, 400, "Creator data is missing or incorrect."},
		"metadata without an agent":              {"", "POST", "/api/datasets/" + ds + "/metadata.jsonld", jsonKind, `{"content":{"a":1}}`, 500, "exception"},
		"metadata with a dot in a key":           {"", "POST", "/api/datasets/" + ds + "/metadata.jsonld", jsonKind, `{"content":{"a.b":1},` + agent + `}`, 500, "exception"},
		"metadata with a number beyond 64 bits":  {"", "POST", "/api/datasets/" + ds + "/metadata.jsonld", jsonKind, `{"content":{"a":100000000000000000000},` + agent + `}`, 500, "exception"},
		"metadata of an extractor without a URL": {"", "POST", "/api/datasets/" + ds + "/metadata.jsonld", jsonKind, `{"content":{"a":1},"agent":{"@type":"cat:extractor","name":"x","extractor_id":"x"}}`, 500, "exception"},
		"a preview in another field":             {"", "POST", "/api/previews", wrongKind, wrongBody, 400, "File not attached."},
		"an unknown preview":                     {"", "POST", "/api/files/" + file.ID + "/previews/" + missingID, jsonKind, `{}`, 404, "Preview not found"},
		"a preview with a list":                  {"", "POST", "/api/files/" + file.ID + "/previews/" + missingID, jsonKind, `[]`, 200, "received something else"},
		"a submission to nobody":                 {"", "POST", "/api/datasets/" + ds + "/extractions", jsonKind, `{"extractor":"nobody.here"}`, 200, `"status":"OK"`},
		"a file submitted to no extractor":       {"", "POST", "/api/files/" + file.ID + "/extractions", jsonKind, `{}`, 500, "No jobId found"},
		"extractors without a space":             {"", "GET", "/api/extractors", "", "", 500, "exception"},
		"extractors of any space":                {"", "GET", "/api/extractors?space=" + missingID, "", "", 200, "["},
		"an unknown extractor":                   {"", "GET", "/api/extractors/nobody.here", "", "", 404, ""},
		"a body that is no JSON":                 {"", "POST", "/api/datasets/createempty", jsonKind, `{`, 400, "nvalid"},
		"the version, without a key":             {"none", "GET", "/api/version", "", "", 200, `"number":"1.`},
	} {
		t.Run(name, func(t *testing.T) {
			r := raw{at, at.key}
			switch {
			case tc.key == "none":
				r.key = ""
			case tc.key != "":
				r.key = tc.key
			}
			status, body := r.call(t, tc.method, tc.path, tc.kind, tc.body)
			require.Equal(t, tc.status, status, body)
			require.Contains(t, body, tc.answer)
		})
	}
}

func TestCasesDouble(t *testing.T) {
	t.Parallel()
	runCases(t, doubleSite(t))
}
