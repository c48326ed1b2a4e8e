package jobsapi

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
)

// version is the version of Ray and the session of the cluster.
type version struct {
	Ray     string `json:"ray_version"`
	Session string `json:"session_name"`
}

func (c *Client) readVersion(ctx context.Context) (v version, err error) {
	err = c.do(ctx, call{method: http.MethodGet, path: "/api/version", what: "read the version"}, func(r io.Reader) error {
		v, err = decodeVersion(r)
		return err
	})
	return v, err
}

func decodeVersion(r io.Reader) (version, error) {
	var v version
	if err := json.NewDecoder(io.LimitReader(r, maxAnswer)).Decode(&v); err != nil {
		return version{}, fmt.Errorf("%w: %w", errNotRay, err)
	}
	if v.Ray == "" || v.Session == "" {
		return version{}, errNotRay
	}
	return v, nil
}
