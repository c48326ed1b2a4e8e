package basemodel

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestALicenseForSomeUsesAloneIsNoDefault(t *testing.T) {
	t.Parallel()
	for license, suits := range map[string]bool{
		"apache-2.0": true, "mit": true, "bsd-3-clause": true, "other": true, "cc-by-4.0": true, "ncsa": true, "unlicense": true,
		"cc-by-nc-4.0": false, "CC BY-NC-SA 4.0": false, "for non-commercial use": false, "Noncommercial": false,
		"research-only": false, "nvidia-source-code-license": false,
	} {
		require.Equal(t, suits, suitsAll(license), license)
	}
}
