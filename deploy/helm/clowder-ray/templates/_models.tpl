{{- define "clowder-ray.modelPods" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/component: models
{{- end }}

{{/* Ports of the Hub as a JSON list: the configured ones, or else the port in its address or of its scheme. */}}
{{- define "clowder-ray.hubPorts" -}}
{{- $url := urlParse (.Values.models.endpoint | default "https://hub") -}}
{{- $port := regexFind "[0-9]+$" (regexFind ":[0-9]+$" $url.host) | default (ternary "80" "443" (eq $url.scheme "http")) -}}
{{- .Values.networkPolicy.hub.ports | default (list (int $port)) | toJson -}}
{{- end }}

{{/* The Job that installs .model, without its name. */}}
{{- define "clowder-ray.modelJob" -}}
{{- $v := .root.Values -}}
{{- $m := .model -}}
spec:
  backoffLimit: 5
  template:
    metadata:
      labels:
        {{- include "clowder-ray.modelPods" .root | nindent 8 }}
    spec:
      automountServiceAccountToken: false
      enableServiceLinks: false
      restartPolicy: OnFailure
      {{- with $v.pullSecrets }}
      imagePullSecrets:
        {{- range . }}
        - name: {{ . }}
        {{- end }}
      {{- end }}
      # The user of the service, which owns the folder of the models. The Ray pods only read it.
      securityContext:
        runAsUser: 1000
        runAsGroup: 1000
        fsGroup: 1000
        fsGroupChangePolicy: OnRootMismatch
        runAsNonRoot: true
        seccompProfile: {type: RuntimeDefault}
      containers:
        - name: install
          image: {{ $v.image.repository }}:{{ $v.image.tag | default .root.Chart.AppVersion }}
          imagePullPolicy: {{ $v.image.pullPolicy }}
          args:
            - models
            - install
            - {{ $m.name | quote }}
            - --yes
            {{- with $m.revision }}
            - --revision={{ . }}
            {{- end }}
            {{- with $m.license }}
            - {{ printf "--license=%s" . | quote }}
            {{- end }}
            {{- with $m.modelType }}
            - --model-type={{ . }}
            {{- end }}
            {{- if $m.default }}
            - --default
            {{- end }}
            {{- with $v.models.endpoint }}
            - --endpoint={{ . }}
            {{- end }}
            {{- if $v.models.token.secret }}
            - --token-file=/etc/clowder-ray-hub/token
            {{- end }}
          env:
            - {name: SHARED_DIR, value: /shared}
            {{- with $v.ca.hub }}
            - {name: SSL_CERT_FILE, value: /etc/clowder-ray-ca/{{ . }}}
            {{- end }}
            {{- range $name, $value := $v.models.env }}
            - {name: {{ $name }}, value: {{ $value | quote }}}
            {{- end }}
          resources:
            {{- toYaml $v.models.resources | nindent 12 }}
          securityContext:
            allowPrivilegeEscalation: false
            capabilities: {drop: [ALL]}
            readOnlyRootFilesystem: true
          volumeMounts:
            - {name: shared, mountPath: /shared}
            - {name: tmp, mountPath: /tmp}
            {{- if $v.models.token.secret }}
            - {name: token, mountPath: /etc/clowder-ray-hub, readOnly: true}
            {{- end }}
            {{- if $v.ca.hub }}
            - {name: ca, mountPath: /etc/clowder-ray-ca, readOnly: true}
            {{- end }}
      volumes:
        - name: shared
          persistentVolumeClaim: {claimName: {{ include "clowder-ray.claim" .root }}}
        - name: tmp
          emptyDir: {sizeLimit: 100Mi}
        {{- with $v.models.token.secret }}
        - name: token
          secret: {secretName: {{ . }}, defaultMode: 0440, items: [{key: {{ $v.models.token.key }}, path: token}]}
        {{- end }}
        {{- if $v.ca.hub }}
        - name: ca
          configMap: {name: {{ $v.ca.configMap }}}
        {{- end }}
      {{- with $v.priorityClassName }}
      priorityClassName: {{ . }}
      {{- end }}
      {{- with $v.nodeSelector }}
      nodeSelector:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- with $v.tolerations }}
      tolerations:
        {{- toYaml . | nindent 8 }}
      {{- end }}
{{- end }}
