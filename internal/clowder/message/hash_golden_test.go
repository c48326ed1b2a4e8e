package message_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/clowder/message"
)

// ordinaryBodies are messages as both versions of Clowder send them, by the hash that they have had since records hold one.
var ordinaryBodies = map[string]struct{ body, hash string }{
	"v2 dataset": {v2Body, "f3dbaf23f7d55aedf7316ad53a875b1053b293a42a6bf3ed5e7e1166325f483f"},
	"v1 dataset": {v1Body, "b578833f5d5e2ae747671198d6b35a27365c27cae1e7245f8b68c7518adf43d7"},
	"v2 file without parameters": {
		`{"host":"http://b","secretKey":"K","retry_count":0,"resource_type":"file","flags":"","filename":"a.csv","fileSize":8,"id":"` + fileID + `","datasetId":"` + datasetID + `","job_id":"` + jobID + `","parameters":null}`, "e69610080dc6406aee53feb3210d37f9dc6c1a133765ce6584dc07bfdee5cc43",
	},
	"characters that JSON may escape": {
		`{"host":"http:\/\/b","secretKey":"K","datasetName":"<Stra\u00dfe> & \ud83d\ude00 \ud800 \u2028 \"q\" \\ \t","id":"` + datasetID + `","datasetId":"` + datasetID + `","job_id":"` + jobID + `","parameters":{"b":[1,2.50,1e3,-0],"a":{"z":null,"y":true},"":"x"}}`, "6e3ae1abdddb4957e943cec7d62bf66a45893d40c4eaa7142d6918b447b5ebd9",
	},
	"Latin-1": {strings.Replace(v2Body, `"d1"`, "\"Stra\xdfe\"", 1), "21e216b3641c3e6737d4c4db875dbb07c2e7639aa0b5aaad25ea73070481a4e7"},
	"a name that occurs twice, blanks, a byte order mark": {
		"\xef\xbb\xbf { \"a\" : 1 , \"a\" : { \"x\" : 1 , \"x\" : 2 } , \"secretKey\":\"1\", \"parameters\" : \"{\\\"epochs\\\": \\\"3\\\"}\" } \n", "08d77af3b7e1b5b68fa7560f3bb941de5e2b183ce202cda3cf6b11bc916ee5d2",
	},
	"a v1 event": {
		`{"notifies":[],"msgid":"m","id":"` + v1Dataset + `","jobid":"j","intermediateId":"x","fileSize":"12","host":"https://c/","datasetId":"` + v1Dataset + `","flags":"","secretKey":"K","routing_key":"clowder.dataset.file.added","source":{"id":{"resourceType":"'dataset","id":"a"},"mimeType":null,"extra":{"n":[{},[],""]}},"activity":"added","target":{"id":1.0},"filenames":"[\"a\",\"b\"]"}`, "7ff3041e9f5797c86cbf1b4d65ef59ae9813a16143b73046d9735f7c8b15f065",
	},
	"an empty object": {`{}`, "ca3d163bab055381827226140568f3bef7eaac187cebd76878e0b63e9e442356"},
}

func TestOrdinaryMessagesKeepTheirHash(t *testing.T) {
	t.Parallel()
	for name, tc := range ordinaryBodies {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			req, _, _ := message.Decode([]byte(tc.body), message.Properties{})
			require.Equal(t, tc.hash, req.BodyHash)
		})
	}
}
