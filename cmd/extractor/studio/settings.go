package studio

import (
	"cmp"
	"fmt"
	"net/url"
	"strings"

	"go.uber.org/zap"

	"github.com/ncsa/clowder-ray/internal/studio/ui"
	"github.com/ncsa/clowder-ray/internal/studio/web"
)

// Settings are the settings of the studio. Its zero value serves none.
type Settings struct {
	URL       string `mapstructure:"studio_url"`
	Listen    string `mapstructure:"studio_listen"`
	PublicURL string `mapstructure:"clowder_public_url"`
	Embed     bool   `mapstructure:"studio_embed"`

	Login      []string `mapstructure:"studio_login"`
	Issuer     string   `mapstructure:"oidc_issuer"`
	Client     string   `mapstructure:"oidc_client_id"`
	SecretFile string   `mapstructure:"oidc_client_secret_file"`

	Predictor        string `mapstructure:"predictor_url"`
	PredictorToken   string `mapstructure:"predictor_token_file"`
	AnswersPerMinute int    `mapstructure:"studio_answers_per_minute"`

	TensorBoard      bool   `mapstructure:"tensorboard"`
	TensorBoardURL   string `mapstructure:"tensorboard_url"`
	TensorBoardToken string `mapstructure:"tensorboard_token_file"`
}

// Row describes one field of Settings: its key in the settings file, its environment variable, its default and its meaning.
type Row struct {
	Key, Env string
	Value    any
	Help     string
}

// Rows lists the settings in the order of the documentation.
func Rows() []Row {
	return []Row{
		{"studio_url", "STUDIO_URL", "", "Address at which people reach the studio, the web page of the service, with its path; empty serves none"},
		{"studio_listen", "STUDIO_LISTEN", "127.0.0.1:8781", "Address on which the studio listens, apart from LISTEN"},
		{"clowder_public_url", "CLOWDER_PUBLIC_URL", "", "Address at which people reach Clowder, for links; empty uses CLOWDER_URL"},
		{"studio_embed", "STUDIO_EMBED", true, "While a run goes on, show on its dataset in Clowder how far it is, without a login; false shows a link only"},
		{"studio_login", "STUDIO_LOGIN", []string{}, "How people log in to the studio: oidc, key, cookie. Empty means oidc,key where OIDC_ISSUER is set, else key. cookie takes the login of Clowder's own page, for a studio below a path of Clowder's host"},
		{"oidc_issuer", "OIDC_ISSUER", "", "Realm of Clowder's Keycloak, e.g. https://clowder.example.org/keycloak/realms/clowder"},
		{"oidc_client_id", "OIDC_CLIENT_ID", "clowder-ray", "Client of the studio in that realm"},
		{"oidc_client_secret_file", "OIDC_CLIENT_SECRET_FILE", "", "File with the secret of that client; empty for a public client"},
		{"predictor_url", "PREDICTOR_URL", "", "Address of the process that gives single answers of models. Empty: the service starts one where it has a Python (RAY_PYTHON)"},
		{"predictor_token_file", "PREDICTOR_TOKEN_FILE", "", "File with the bearer token of that process"},
		{"tensorboard", "TENSORBOARD", false, "Offer TensorBoard on the pages of runs and comparisons. It needs TENSORBOARD_URL, or the package tensorboard in the Python of RAY_PYTHON"},
		{"tensorboard_url", "TENSORBOARD_URL", "", "Address of the process that serves TensorBoard (python -m trainer board). Empty: the service starts one where it has a Python"},
		{"tensorboard_token_file", "TENSORBOARD_TOKEN_FILE", "", "File with the bearer token of that process"},
		{"studio_answers_per_minute", "STUDIO_ANSWERS_PER_MINUTE", defaultAnswers, "Questions to models that one person may ask in a minute"},
	}
}

// On reports whether there is a studio.
func (s *Settings) On() bool { return s.URL != "" }

// Validate reports invalid values. clowder is the setting CLOWDER_URL.
func (s *Settings) Validate(clowder string, report func(format string, args ...any)) {
	if !s.On() {
		return
	}
	if clowder == "" {
		report("STUDIO_URL: the studio asks Clowder who a visitor is, so it needs CLOWDER_URL")
	}
	if s.Listen == "" {
		report("STUDIO_LISTEN: set the address on which the studio listens")
	}
	if s.AnswersPerMinute < 1 {
		report("STUDIO_ANSWERS_PER_MINUTE: it must be at least 1")
	}
	s.validateLogin(report)
	for name, value := range map[string]string{"STUDIO_URL": s.URL, "CLOWDER_PUBLIC_URL": s.PublicURL, "OIDC_ISSUER": s.Issuer, "PREDICTOR_URL": s.Predictor, "TENSORBOARD_URL": s.TensorBoardURL} {
		if value == "" {
			continue
		}
		if u, err := url.Parse(value); err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
			report("%s: %q must be an address such as https://studio.example.org/path", name, value)
		}
	}
}

// site returns the pages at STUDIO_URL.
func (s *Settings) site(clowderURL string, log *zap.Logger) (*web.Site, error) {
	address, err := s.address()
	if err != nil {
		return nil, fmt.Errorf("STUDIO_URL: %w", err)
	}
	return web.NewSite(address, cmp.Or(s.PublicURL, clowderURL), ui.Embedded(), log.Named("studio")), nil
}

// address returns STUDIO_URL without a slash at the end.
func (s *Settings) address() (*url.URL, error) { return url.Parse(strings.TrimRight(s.URL, "/")) }
