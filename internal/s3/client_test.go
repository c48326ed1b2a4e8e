package s3

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/minio/minio-go/v7/pkg/credentials"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"github.com/ncsa/clowder-ray/internal/job"
)

func TestKeysComeFromVariablesWithThePrefix(t *testing.T) {
	t.Setenv("LAB_ACCESS_KEY_ID", "key")
	t.Setenv("LAB_SECRET_ACCESS_KEY", "hidden")
	t.Setenv("LAB_SESSION_TOKEN", "token")
	t.Setenv("HALF_ACCESS_KEY_ID", "key")
	source := Credentials{Environment: "LAB"}.source()
	value, err := source.GetWithContext(nil)
	require.NoError(t, err)
	require.Equal(t, credentials.Value{AccessKeyID: "key", SecretAccessKey: "hidden", SessionToken: "token", SignerType: credentials.SignatureV4}, value)
	for _, prefix := range []string{"HALF", "UNSET"} {
		_, err := Credentials{Environment: prefix}.source().GetWithContext(nil)
		require.EqualError(t, err, prefix+"_ACCESS_KEY_ID or "+prefix+"_SECRET_ACCESS_KEY is not set")
	}
}

func TestKeysComeFromASectionOfAFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "credentials")
	require.NoError(t, os.WriteFile(path, []byte("[default]\naws_access_key_id = one\naws_secret_access_key = x\n[lab]\naws_access_key_id = two\naws_secret_access_key = y\n"), 0o600))
	for profile, want := range map[string]string{"": "one", "lab": "two"} {
		value, err := Credentials{File: path, Profile: profile}.source().GetWithContext(nil)
		require.NoError(t, err, profile)
		require.Equal(t, want, value.AccessKeyID)
	}
	_, err := Credentials{File: path, Profile: "other"}.source().GetWithContext(nil)
	require.Error(t, err)
}

func TestWithoutASourceRequestsAreNotSigned(t *testing.T) {
	t.Parallel()
	value, err := Credentials{}.source().GetWithContext(nil)
	require.NoError(t, err)
	require.True(t, value.SignerType.IsAnonymous())
}

func TestPlacesWithTheSameStoreShareAClient(t *testing.T) {
	t.Parallel()
	s := New(Config{}, Limits{}, nil, zap.NewNop())
	base := Place{Bucket: "data", Endpoint: "https://s3.example.org", Region: "r", Access: read, Credentials: Credentials{Environment: "LAB"}}
	first, err := s.client(base)
	require.NoError(t, err)
	for name, tc := range map[string]struct {
		change func(*Place)
		shared bool
	}{
		"another folder":    {func(p *Place) { p.Prefix = "runs" }, true},
		"other users":       {func(p *Place) { p.Users = []string{"ada@example.org"} }, true},
		"another bucket":    {func(p *Place) { p.Bucket = "other" }, false},
		"another endpoint":  {func(p *Place) { p.Endpoint = "https://s4.example.org" }, false},
		"another region":    {func(p *Place) { p.Region = "q" }, false},
		"a private network": {func(p *Place) { p.Private = true }, false},
		"other keys":        {func(p *Place) { p.Credentials.Environment = "OTHER" }, false},
		"a file of keys":    {func(p *Place) { p.Credentials = Credentials{File: "LAB"} }, false},
	} {
		p := base
		tc.change(&p)
		got, err := s.client(p)
		require.NoError(t, err, name)
		require.Equal(t, tc.shared, got == first, name)
	}
	for _, endpoint := range []string{"https://bad host", "https://s3.example.org:port", "https://"} {
		p := base
		p.Endpoint = endpoint
		_, err := s.client(p)
		kind, _ := job.Classify(err)
		require.Equal(t, job.KindPermanent, kind, endpoint)
		require.ErrorContains(t, err, "S3_SOURCES: ")
	}
}

func TestOnlyAPrivatePlaceMayHaveAPrivateAddress(t *testing.T) {
	t.Parallel()
	for _, address := range []string{
		"127.0.0.1:9", "[::1]:9", "10.0.0.1:9", "172.16.3.4:9", "192.168.1.1:9", "[fd00::1]:9", "169.254.169.254:80", "[fe80::1]:9",
		"100.64.0.1:9", "100.127.255.255:9", "[::ffff:10.0.0.1]:9", "[::ffff:169.254.169.254]:80", "0.0.0.0:9", "[::]:9", "224.0.0.1:9",
	} {
		conn, err := newTransport(false).DialContext(t.Context(), "tcp", address)
		require.ErrorIs(t, err, errPrivate, address)
		require.Nil(t, conn)
	}
	d := newDouble(t, map[string]string{"a": "1"})
	_, _, err := d.stage(t, "s3://data/a")
	require.NoError(t, err, "private: true")
	for i := range d.cfg.Places {
		d.cfg.Places[i].Private = false
	}
	_, _, err = d.stage(t, "s3://data/a")
	require.EqualError(t, err, "S3_SOURCES: the bucket data has an endpoint with a private address: set private: true for it")
	kind, _ := job.Classify(err)
	require.Equal(t, job.KindRetryable, kind, "the job waits for the administrator")
}
