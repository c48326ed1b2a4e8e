package s3

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"

	"github.com/minio/minio-go/v7"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/text"
)

// errChanged is the error for an object that was replaced while it was read.
var errChanged = errors.New("changed while it was read")

// fault words what a store answered when it was asked to do what to a, and gives the error a kind. It never repeats headers or keys.
func fault(ctx context.Context, err error, what string, a Address) error {
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(err, errPrivate):
		return setting(a, "has an endpoint with a private address: set private: true for it")
	}
	answer := minio.ToErrorResponse(err)
	in := func(codes ...string) bool { return slices.Contains(codes, answer.Code) }
	switch {
	case in("NoSuchBucket"):
		return job.Permanent(fmt.Errorf("the bucket %s does not exist: check its name", a.Bucket))
	case in("NoSuchKey"):
		return job.Permanent(fmt.Errorf("%s does not exist: check its name", a))
	case in("PreconditionFailed") || answer.StatusCode == http.StatusPreconditionFailed:
		return job.Permanent(fmt.Errorf("%s %w: submit again when nobody writes to it", a, errChanged))
	case in("ExpiredToken", "ExpiredTokenException", "TokenRefreshRequired"):
		return setting(a, "has credentials that have expired: renew them")
	case in("InvalidAccessKeyId", "SignatureDoesNotMatch", "InvalidToken"):
		return setting(a, "has credentials that the store refuses: correct them")
	case in("AccessDenied", "AllAccessDisabled") || answer.StatusCode == http.StatusForbidden:
		return job.Permanent(fmt.Errorf("the store does not allow to %s %s: ask the administrator of the extractor to allow it in S3_SOURCES and in the store", what, a))
	case in("EntityTooLarge"):
		return job.Permanent(fmt.Errorf("an object is too large to %s %s", what, a))
	case answer.StatusCode >= 400 && answer.StatusCode < 500 && answer.StatusCode != http.StatusTooManyRequests && answer.StatusCode != http.StatusRequestTimeout:
		return job.Permanent(fmt.Errorf("the store refused to %s %s: %s", what, a, text.Excerpt(answer.Code+" "+answer.Message, 200)))
	}
	if dns, ok := errors.AsType[*net.DNSError](err); ok {
		return job.Retryable(fmt.Errorf("the store of %s cannot be found in the network (%s)", a, text.Excerpt(dns.Err, 80)))
	}
	return job.Retryable(fmt.Errorf("the store failed to %s %s: %s", what, a, text.Excerpt(err.Error(), 200)))
}

// setting is an error that lasts until the administrator corrects S3_SOURCES or the credentials. The job is not at fault and waits.
func setting(a Address, wrong string) error {
	return job.Retryable(fmt.Errorf("S3_SOURCES: the bucket %s %s", a.Bucket, wrong))
}
