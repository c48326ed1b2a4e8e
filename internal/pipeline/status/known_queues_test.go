package status

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/clowder/ability"
	"github.com/ncsa/clowder-ray/internal/clowder/versions"
	"github.com/ncsa/clowder-ray/internal/job"
)

func TestAMessageWithoutAReplyQueueGetsThatOfItsClowder(t *testing.T) {
	t.Parallel()
	at := func(version int, host, replyTo string) job.Request {
		return job.Request{APIVersion: version, Host: host, ReplyTo: replyTo}
	}
	complete := func(queues *ReplyQueues, req *job.Request) { queues.Complete(req, versions.Of(req.APIVersion).Set) }
	for name, tc := range map[string]struct {
		before []job.Request
		next   job.Request
		want   string
	}{
		"none was seen":                    {nil, at(1, "http://a", ""), ""},
		"one was seen":                     {[]job.Request{at(1, "http://a", "clowder.A")}, at(1, "http://a", ""), "clowder.A"},
		"it named one itself":              {[]job.Request{at(1, "http://a", "clowder.A")}, at(1, "http://a", "clowder.B"), "clowder.B"},
		"the newest counts":                {[]job.Request{at(1, "http://a", "clowder.A"), at(1, "http://a", "clowder.B"), at(1, "http://a", "")}, at(1, "http://a", ""), "clowder.B"},
		"another Clowder":                  {[]job.Request{at(1, "http://a", "clowder.A")}, at(1, "http://b", ""), ""},
		"a Clowder v2 reads only its own":  {[]job.Request{at(1, "http://a", "clowder.A")}, at(2, "http://a", ""), ""},
		"a queue of v2 is not given to v1": {[]job.Request{at(2, "http://a", "clowder.A")}, at(1, "http://a", ""), ""},
		"a message without a host":         {[]job.Request{at(1, "", "clowder.A")}, at(1, "", ""), ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var queues ReplyQueues
			for _, req := range tc.before {
				complete(&queues, &req)
			}
			complete(&queues, &tc.next)
			require.Equal(t, tc.want, tc.next.ReplyTo)
		})
	}
}

func TestOnlySoManyClowdersAreRemembered(t *testing.T) {
	t.Parallel()
	var queues ReplyQueues
	drops := ability.Set{DropsReplyQueue: true}
	for i := range 3 * maxClowders {
		queues.Complete(&job.Request{Host: "http://" + strconv.Itoa(i), ReplyTo: "q"}, drops)
	}
	require.Len(t, queues.byHost, maxClowders)
	last := job.Request{Host: "http://0", ReplyTo: "newer"}
	queues.Complete(&last, drops)
	require.Equal(t, "newer", queues.byHost["http://0"], "one that is known is still kept up to date")
}
