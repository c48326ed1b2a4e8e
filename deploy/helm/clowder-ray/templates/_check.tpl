{{/* Checks that the schema cannot express: values that depend on each other. All errors are reported at once. */}}
{{- define "clowder-ray.check" -}}
{{- $v := .Values -}}
{{- $faults := list -}}
{{- if not (or $v.clowderUrl $v.settings.CLOWDER_HOSTS) -}}
{{- $faults = append $faults "clowderUrl is empty: set it to the address of Clowder as seen from the cluster, e.g. https://clowder.example.org" -}}
{{- end -}}
{{- if ne 1 (list $v.secret.existing $v.secret.values | compact | len) -}}
{{- $faults = append $faults "secret: set either existing (a Secret with the key RABBITMQ_URI) or values" -}}
{{- else if and $v.secret.values (not $v.secret.values.RABBITMQ_URI) -}}
{{- $faults = append $faults "secret.values.RABBITMQ_URI is missing: set it to the URI of RabbitMQ, amqp://user:password@host/%2f" -}}
{{- end -}}
{{- if ne 1 (list $v.shared.existingClaim $v.shared.storageClass $v.shared.volume | compact | len) -}}
{{- $faults = append $faults "shared: set exactly one of existingClaim, storageClass (with ReadWriteMany) and volume" -}}
{{- end -}}
{{- if and (or $v.ca.rabbitmq $v.ca.clowder $v.ca.hub) (not $v.ca.configMap) -}}
{{- $faults = append $faults "ca.configMap is empty: set it to the ConfigMap with the certificates" -}}
{{- end -}}
{{- if and $v.runtimeClass.create (not (or $v.ray.runtimeClass (dig "script" "runtimeClass" "" $v.ray))) -}}
{{- $faults = append $faults "ray.runtimeClass and ray.script.runtimeClass are empty: set one to the name of the RuntimeClass to create, e.g. gvisor" -}}
{{- end -}}
{{- if and $v.studio.enabled (not $v.studio.url) -}}
{{- $faults = append $faults "studio.url is empty: set it to the address at which people reach the studio, e.g. https://studio.example.org" -}}
{{- end -}}
{{- if and $v.predictor.enabled (not $v.predictor.tokenSecret) -}}
{{- $faults = append $faults "predictor.tokenSecret is empty: create a Secret with a random text under the key token, and name it there" -}}
{{- end -}}
{{- if and $v.studio.enabled (not $v.clowderUrl) -}}
{{- $faults = append $faults "clowderUrl is empty: the studio asks Clowder who a visitor is" -}}
{{- end -}}
{{- if and (has "oidc" $v.studio.login) (not $v.studio.oidc.issuer) -}}
{{- $faults = append $faults "studio.oidc.issuer is empty: set it to the realm of Clowder's Keycloak" -}}
{{- end -}}
{{- if and $v.studio.oidc.secret.existing (not $v.studio.oidc.issuer) -}}
{{- $faults = append $faults "studio.oidc.secret is set, but studio.oidc.issuer is empty: set the issuer, or leave the secret out" -}}
{{- end -}}
{{- with $faults -}}
{{- fail (printf "\n  - %s\n" (join "\n  - " .)) -}}
{{- end -}}
{{- end }}
