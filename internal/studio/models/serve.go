package models

import (
	"cmp"
	"net/http"

	"github.com/ncsa/clowder-ray/internal/studio/web"
)

// serveView is the page *Serve this model*.
type serveView struct {
	Version  ModelVersion
	As       string
	Forms    []serveForm
	Manifest string
}

type serveForm struct{ Name, Title, Text string }

var serveForms = []serveForm{
	{"deployment", "Deployment", "A Deployment, a Service and an autoscaler of the answer process, on any Kubernetes."},
	{"kserve", "KServe", "An InferenceService with the same process as custom predictor, where KServe is installed."},
	{"rayservice", "Ray Serve", "A RayService, where KubeRay is installed. Its image needs ray[serve]."},
}

func (s *Section) showServe(w http.ResponseWriter, req *http.Request) {
	v, _, err := s.version(req.Context(), req.PathValue("dataset"), req.PathValue("name"), req.PathValue("version"))
	if err != nil {
		s.site.Fail(w, req, err)
		return
	}
	view := serveView{Version: s.view(v, nil), As: cmp.Or(req.URL.Query().Get("as"), serveForms[0].Name), Forms: serveForms}
	if view.Manifest, err = s.Manifest(v, view.As); err != nil {
		s.site.Fail(w, req, web.NotFound)
		return
	}
	dataset := s.named(req, v.DatasetID, v.DatasetName)
	s.pages.serve.Show(w, req, http.StatusOK, web.View{Title: "Serve " + v.Ref(), Dataset: &dataset, Nav: "models", Data: view})
}
