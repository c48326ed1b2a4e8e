package s3

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/minio/minio-go/v7"
	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/job"
)

func TestEachAnswerOfAStoreIsASentenceWithItsRemedy(t *testing.T) {
	t.Parallel()
	code := func(code string, status int) error {
		return minio.ErrorResponse{Code: code, StatusCode: status, Message: "so it is", Server: "secret server"}
	}
	for name, tc := range map[string]struct {
		err  error
		want string
		kind job.Kind
	}{
		"no bucket":           {code("NoSuchBucket", 404), "the bucket data does not exist: check its name", job.KindPermanent},
		"no object":           {code("NoSuchKey", 404), "s3://data/a does not exist: check its name", job.KindPermanent},
		"a condition":         {code("PreconditionFailed", 412), "s3://data/a changed while it was read: submit again when nobody writes to it", job.KindPermanent},
		"a condition, bare":   {code("", 412), "s3://data/a changed while it was read: submit again when nobody writes to it", job.KindPermanent},
		"an old token":        {code("ExpiredTokenException", 403), "S3_SOURCES: the bucket data has credentials that have expired: renew them", job.KindRetryable},
		"a token to refresh":  {code("TokenRefreshRequired", 400), "S3_SOURCES: the bucket data has credentials that have expired: renew them", job.KindRetryable},
		"an unknown key":      {code("InvalidAccessKeyId", 403), "S3_SOURCES: the bucket data has credentials that the store refuses: correct them", job.KindRetryable},
		"a wrong secret":      {code("SignatureDoesNotMatch", 403), "S3_SOURCES: the bucket data has credentials that the store refuses: correct them", job.KindRetryable},
		"no right":            {code("AccessDenied", 403), "the store does not allow to read s3://data/a: ask the administrator of the extractor to allow it in S3_SOURCES and in the store", job.KindPermanent},
		"no right, bare":      {code("", 403), "the store does not allow to read s3://data/a: ask the administrator of the extractor to allow it in S3_SOURCES and in the store", job.KindPermanent},
		"a large object":      {code("EntityTooLarge", 400), "an object is too large to read s3://data/a", job.KindPermanent},
		"another refusal":     {code("MethodNotAllowed", 405), "the store refused to read s3://data/a: MethodNotAllowed so it is", job.KindPermanent},
		"too many requests":   {code("TooManyRequests", 429), "the store failed to read s3://data/a: so it is", job.KindRetryable},
		"a slow request":      {code("RequestTimeout", 408), "the store failed to read s3://data/a: so it is", job.KindRetryable},
		"a busy store":        {code("SlowDown", 503), "the store failed to read s3://data/a: so it is", job.KindRetryable},
		"an inner error":      {code("InternalError", 500), "the store failed to read s3://data/a: so it is", job.KindRetryable},
		"no connection":       {errors.New("connection refused"), "the store failed to read s3://data/a: connection refused", job.KindRetryable},
		"an unknown host":     {&net.OpError{Op: "dial", Err: &net.DNSError{Err: "no such host", Name: "store"}}, "the store of s3://data/a cannot be found in the network (no such host)", job.KindRetryable},
		"a private address":   {fmt.Errorf("dial: %w", errPrivate), "S3_SOURCES: the bucket data has an endpoint with a private address: set private: true for it", job.KindRetryable},
		"a very long refusal": {code(strings.Repeat("x", 500), 400), "the store refused to read s3://data/a: " + strings.Repeat("x", 199) + "…", job.KindPermanent},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := fault(t.Context(), tc.err, "read", Address{Bucket: "data", Prefix: "a"})
			require.EqualError(t, err, tc.want)
			kind, _ := job.Classify(err)
			require.Equal(t, tc.kind, kind)
		})
	}
}

func TestACauseOfTheEndIsWorthMoreThanTheFault(t *testing.T) {
	t.Parallel()
	stopped := errors.New("the run was stopped")
	ctx, cancel := context.WithCancelCause(t.Context())
	require.NoError(t, fault(ctx, nil, "read", Address{Bucket: "data"}))
	cancel(stopped)
	require.Equal(t, stopped, fault(ctx, minio.ErrorResponse{Code: "AccessDenied", StatusCode: http.StatusForbidden}, "read", Address{Bucket: "data"}))
	require.NoError(t, fault(ctx, nil, "read", Address{Bucket: "data"}), "what succeeded stays so")
}
