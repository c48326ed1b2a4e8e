package scripts

import (
	"fmt"

	"go.uber.org/zap"

	"github.com/ncsa/clowder-ray/internal/cache"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/pipeline/objects"
	"github.com/ncsa/clowder-ray/internal/s3"
)

// Objects returns the object stores of S3_SOURCES; nil if it is not set. Downloads go through the cache.
func (s *Settings) Objects(limits s3.Limits, c *cache.Cache, log *zap.Logger) (objects.Store, error) {
	if s.S3Sources == "" {
		return nil, nil //nolint:nilnil // no store
	}
	cfg, err := s3.ReadConfig(s.S3Sources)
	if err != nil {
		return nil, job.Permanent(fmt.Errorf("S3_SOURCES: %w", err))
	}
	return s3.New(cfg, limits, c, log), nil
}
