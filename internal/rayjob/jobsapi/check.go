package jobsapi

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"

	"github.com/ncsa/clowder-ray/internal/rayjob"
)

// Report is the result of Check.
type Report struct {
	Address, RayVersion, Session string
	// Jobs is the number of jobs that the cluster knows.
	Jobs int
	// Nodes is the number of living nodes; CPUs and GPUs are their sums. All are 0 if Ray does not report them.
	Nodes      int
	CPUs, GPUs float64
	// Warnings are sentences for the administrator about risks that do not keep trainings from running.
	Warnings []string
}

// Check tests that the cluster is reachable, accepts the token and lists its jobs. Its error says which setting to correct. It
// starts no job.
func (c *Client) Check(ctx context.Context) (Report, error) {
	v, err := c.readVersion(ctx)
	if err != nil {
		return Report{}, err
	}
	jobs, err := c.poll(ctx, nil)
	if err != nil {
		return Report{}, err
	}
	report := Report{Address: c.address, RayVersion: v.Ray, Session: v.Session, Jobs: len(jobs)}
	if old(v.Ray) {
		report.Warnings = append(report.Warnings, "Ray "+v.Ray+" allows unauthenticated users to start or delete jobs (CVE-2025-62593, CVE-2026-27482): upgrade to 2.54 or newer and enable token authentication")
	}
	if !onLoopback(c.address) {
		report.Warnings = append(report.Warnings, rayjob.StandingWarning)
	}
	// The state API reports the resources. It may be switched off, so its failure is only a warning.
	if err := c.addResources(ctx, &report); err != nil {
		report.Warnings = append(report.Warnings, "the CPUs and GPUs of the cluster are unknown: "+err.Error())
	}
	return report, nil
}

// old reports a version before 2.54, the first without known ways to run code without authentication.
func old(ray string) bool {
	var major, minor int
	if _, err := fmt.Sscanf(ray, "%d.%d", &major, &minor); err != nil {
		return false
	}
	return major < 2 || major == 2 && minor < 54
}

// onLoopback reports a Ray on this machine, which usually serves one person.
func onLoopback(address string) bool {
	u, err := url.Parse(address)
	if err != nil {
		return false
	}
	ip := net.ParseIP(u.Hostname())
	return u.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
}

func (c *Client) addResources(ctx context.Context, report *Report) error {
	return c.do(ctx, call{method: http.MethodGet, path: "/api/v0/nodes?detail=1", what: "list the nodes"}, func(r io.Reader) error {
		var reply struct {
			Data struct {
				Result struct {
					Result []struct {
						State     string             `json:"state"`
						Resources map[string]float64 `json:"resources_total"`
					} `json:"result"`
				} `json:"result"`
			} `json:"data"`
		}
		if err := json.NewDecoder(io.LimitReader(r, maxListing)).Decode(&reply); err != nil {
			return fmt.Errorf("%w: %w", errNotRay, err)
		}
		for _, node := range reply.Data.Result.Result {
			if node.State != "ALIVE" {
				continue
			}
			report.Nodes++
			report.CPUs += node.Resources["CPU"]
			report.GPUs += node.Resources["GPU"]
		}
		return nil
	})
}
