{{/* Name of all objects in the namespace; short enough for the suffixes that Kubernetes appends. */}}
{{- define "clowder-ray.name" -}}
{{- $name := ternary .Release.Name (printf "%s-%s" .Release.Name .Chart.Name) (contains .Chart.Name .Release.Name) -}}
{{- $name | trunc 40 | trimSuffix "-" -}}
{{- end }}

{{/* Name of cluster-wide objects. */}}
{{- define "clowder-ray.clusterName" -}}
{{- printf "%s-%s" .Release.Namespace (include "clowder-ray.name" .) -}}
{{- end }}

{{/* Labels that select the pod of the service; they never change. */}}
{{- define "clowder-ray.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/component: extractor
{{- end }}

{{- define "clowder-ray.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name (.Chart.Version | replace "+" "_") }}
{{ include "clowder-ray.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}

{{/* Labels of the process that gives single answers. */}}
{{- define "clowder-ray.predictorLabels" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/component: predictor
{{- end }}

{{/* Labels that KubeRay sets on every Ray pod, including pods of standing clusters. */}}
{{- define "clowder-ray.rayPods" -}}
ray.io/is-ray-node: "yes"
{{- end }}

{{/* Selectors of the Ray pods that run our own trainer, and of those that run scripts of users. */}}
{{- define "clowder-ray.trainingPods" -}}
matchLabels:
  {{- include "clowder-ray.rayPods" . | nindent 2 }}
matchExpressions:
  - {key: clowder-ray.ncsa.illinois.edu/kind, operator: NotIn, values: [script]}
{{- end }}

{{- define "clowder-ray.scriptPods" -}}
{{ include "clowder-ray.rayPods" . }}
clowder-ray.ncsa.illinois.edu/kind: script
{{- end }}

{{- define "clowder-ray.secret" -}}
{{- .Values.secret.existing | default (include "clowder-ray.name" .) -}}
{{- end }}

{{- define "clowder-ray.claim" -}}
{{- .Values.shared.existingClaim | default (printf "%s-shared" (include "clowder-ray.name" .)) -}}
{{- end }}

{{/* Ports of Clowder as a JSON list: the configured ones, or else the port in its address or of its scheme. */}}
{{- define "clowder-ray.clowderPorts" -}}
{{- .Values.networkPolicy.clowder.ports | default (list (include "clowder-ray.portOf" .Values.clowderUrl | int)) | toJson -}}
{{- end }}

{{/* The port in an address, or that of its scheme. */}}
{{- define "clowder-ray.portOf" -}}
{{- $url := urlParse . -}}
{{- regexFind "[0-9]+$" (regexFind ":[0-9]+$" $url.host) | default (ternary "80" "443" (eq $url.scheme "http")) -}}
{{- end }}

{{/* An egress rule from {to, ports, protocols}; no peers means everywhere, no protocols means TCP. */}}
{{- define "clowder-ray.egress" -}}
{{- $ports := list -}}
{{- range $port := .ports -}}
{{- range $.protocols | default (list "TCP") -}}
{{- $ports = append $ports (dict "protocol" . "port" (int $port)) -}}
{{- end -}}
{{- end -}}
- ports:
    {{- toYaml $ports | nindent 4 }}
  {{- with .to }}
  to:
    {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end }}

{{- define "clowder-ray.dns" -}}
{{- include "clowder-ray.egress" (merge (dict "protocols" (list "UDP" "TCP")) .Values.networkPolicy.dns) -}}
{{- end }}
