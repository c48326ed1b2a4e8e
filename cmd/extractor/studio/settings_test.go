package studio

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"github.com/ncsa/clowder-ray/internal/studio/login"
)

// served are valid settings of a studio.
func served() Settings {
	return Settings{URL: "https://studio.example.org/ray", Listen: "127.0.0.1:0", AnswersPerMinute: 60}
}

// faults returns what Validate reports beside this Clowder.
func faults(s Settings, clowder string) (all []string) {
	s.Validate(clowder, func(format string, args ...any) { all = append(all, fmt.Errorf(format, args...).Error()) })
	return all
}

// TestEverySettingHasARow: a field without a row cannot be set, and a row without a field is refused when the settings are read.
func TestEverySettingHasARow(t *testing.T) {
	t.Parallel()
	fields, rows := map[string]reflect.Type{}, map[string]bool{}
	for f := range reflect.TypeFor[Settings]().Fields() {
		fields[f.Tag.Get("mapstructure")] = f.Type
	}
	for _, r := range Rows() {
		require.False(t, rows[r.Key], "%s is named twice", r.Key)
		rows[r.Key] = true
		require.Contains(t, fields, r.Key)
		require.Equal(t, fields[r.Key], reflect.TypeOf(r.Value), "the default of %s has the type of its field", r.Key)
		require.Equal(t, strings.ToUpper(r.Key), r.Env)
		require.NotContains(t, r.Help, "|", "%s: it would break the table of the documentation", r.Key)
	}
	require.Len(t, rows, len(fields))
}

func TestAStudioThatCannotBeServedIsNamed(t *testing.T) {
	t.Parallel()
	const (
		clowder = "https://clowder.example.org"
		alone   = "STUDIO_URL: the studio asks Clowder who a visitor is, so it needs CLOWDER_URL"
	)
	address := func(name, value string) string {
		return fmt.Sprintf("%s: %q must be an address such as https://studio.example.org/path", name, value)
	}
	for name, tc := range map[string]struct {
		change  func(*Settings)
		clowder string
		want    []string
	}{
		"a valid one":            {func(*Settings) {}, clowder, nil},
		"a path and a port":      {func(s *Settings) { s.URL = "http://[::1]:8781/a/b/" }, clowder, nil},
		"no studio at all":       {func(s *Settings) { *s = Settings{Login: []string{"nonsense"}, Issuer: "nonsense"} }, "", nil},
		"no Clowder to ask":      {func(*Settings) {}, "", []string{alone}},
		"no address to serve on": {func(s *Settings) { s.Listen = "" }, clowder, []string{"STUDIO_LISTEN: set the address on which the studio listens"}},
		"no questions to models": {func(s *Settings) { s.AnswersPerMinute = 0 }, clowder, []string{"STUDIO_ANSWERS_PER_MINUTE: it must be at least 1"}},
		"a way that nobody knows": {
			func(s *Settings) { s.Login = []string{"key", "password"} }, clowder, []string{`STUDIO_LOGIN: "password" must be oidc, key or cookie`},
		},
		"a way in capitals": {func(s *Settings) { s.Login = []string{"Key"} }, clowder, []string{`STUDIO_LOGIN: "Key" must be oidc, key or cookie`}},
		"a login at no Keycloak": {
			func(s *Settings) { s.Login = []string{"oidc"} }, clowder, []string{"STUDIO_LOGIN: oidc needs OIDC_ISSUER, the realm of Clowder's Keycloak"},
		},
		"a way between two commas": {
			func(s *Settings) { s.Login = []string{"key", ""} }, clowder, []string{`STUDIO_LOGIN: "" must be oidc, key or cookie`},
		},
		"an address without a scheme": {
			func(s *Settings) { s.URL = "studio.example.org" }, clowder, []string{address("STUDIO_URL", "studio.example.org")},
		},
		"an address without a host": {func(s *Settings) { s.URL = "https:///ray" }, clowder, []string{address("STUDIO_URL", "https:///ray")}},
		"another protocol": {
			func(s *Settings) { s.PublicURL = "ftp://clowder.example.org" }, clowder, []string{address("CLOWDER_PUBLIC_URL", "ftp://clowder.example.org")},
		},
		"a query in the realm": {
			func(s *Settings) { s.Issuer = "https://k.example.org/x?a=b" }, clowder, []string{address("OIDC_ISSUER", "https://k.example.org/x?a=b")},
		},
		"a fragment": {
			func(s *Settings) { s.Predictor = "http://predictor:8000#top" }, clowder, []string{address("PREDICTOR_URL", "http://predictor:8000#top")},
		},
		"a user in an address": {
			func(s *Settings) { s.TensorBoardURL = "http://me@boards:6006" }, clowder, []string{address("TENSORBOARD_URL", "http://me@boards:6006")},
		},
		"what is no address": {func(s *Settings) { s.URL = "https://s:port" }, clowder, []string{address("STUDIO_URL", "https://s:port")}},
		"several faults at once": {
			func(s *Settings) { s.Listen, s.AnswersPerMinute, s.URL = "", -1, "studio" }, "",
			[]string{
				alone, "STUDIO_LISTEN: set the address on which the studio listens",
				"STUDIO_ANSWERS_PER_MINUTE: it must be at least 1", address("STUDIO_URL", "studio"),
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			set := served()
			tc.change(&set)
			require.Equal(t, tc.want, faults(set, tc.clowder))
		})
	}
}

func TestTheWaysToLogInFollowFromTheSettings(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		set  Settings
		want []login.Method
	}{
		"nothing is set":                         {Settings{}, []login.Method{login.ByKey}},
		"a realm is set":                         {Settings{Issuer: "https://k.example.org"}, []login.Method{login.ByOIDC, login.ByKey}},
		"the order of the operator":              {Settings{Login: []string{"key", "oidc"}, Issuer: "https://k"}, []login.Method{login.ByKey, login.ByOIDC}},
		"the operator leaves Keycloak out":       {Settings{Login: []string{"key"}, Issuer: "https://k.example.org"}, []login.Method{login.ByKey}},
		"blanks beside the commas of a variable": {Settings{Login: []string{" cookie", "key "}}, []login.Method{login.ByCookie, login.ByKey}},
	} {
		require.Equal(t, tc.want, tc.set.methods(), name)
	}
}

func TestLinksOfTheStudioStartAtItsAddress(t *testing.T) {
	t.Parallel()
	for _, given := range []string{"https://studio.example.org/ray", "https://studio.example.org/ray/", "https://studio.example.org/ray//"} {
		set := served()
		set.URL = given
		site, err := set.site("https://clowder.example.org", zap.NewNop())
		require.NoError(t, err)
		require.Equal(t, "https://studio.example.org/ray/runs/a%20b", site.Absolute("runs", "a b"), given)
		require.Equal(t, "https://clowder.example.org", site.Clowder, "without CLOWDER_PUBLIC_URL")
		set.PublicURL = "https://data.example.org"
		site, err = set.site("http://clowder:8000", zap.NewNop())
		require.NoError(t, err)
		require.Equal(t, "https://data.example.org", site.Clowder, "people do not reach the address of the service")
	}
	set := served()
	set.URL = "https://studio example"
	_, err := set.site("", zap.NewNop())
	require.ErrorContains(t, err, "STUDIO_URL: ")
}
