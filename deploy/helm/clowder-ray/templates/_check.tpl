{{/* What the schema cannot say: values that need each other. Every fault is told at once. */}}
{{- define "clowder-ray.check" -}}
{{- $v := .Values -}}
{{- $faults := list -}}
{{- if not (or $v.clowderUrl $v.settings.CLOWDER_HOSTS) -}}
{{- $faults = append $faults "clowderUrl is empty: set the address at which the cluster reaches Clowder, e.g. https://clowder.example.org" -}}
{{- end -}}
{{- if ne 1 (list $v.secret.existing $v.secret.values | compact | len) -}}
{{- $faults = append $faults "secret: set one of existing (a Secret with the key RABBITMQ_URI) and values" -}}
{{- else if and $v.secret.values (not $v.secret.values.RABBITMQ_URI) -}}
{{- $faults = append $faults "secret.values.RABBITMQ_URI is missing: set the address of the broker, amqp://user:password@host/%2f" -}}
{{- end -}}
{{- if ne 1 (list $v.shared.existingClaim $v.shared.storageClass $v.shared.volume | compact | len) -}}
{{- $faults = append $faults "shared: set one of existingClaim, storageClass (one with ReadWriteMany) and volume" -}}
{{- end -}}
{{- if and (or $v.ca.rabbitmq $v.ca.clowder) (not $v.ca.configMap) -}}
{{- $faults = append $faults "ca.configMap is empty: name the ConfigMap that holds the certificates" -}}
{{- end -}}
{{- if and $v.runtimeClass.create (not $v.ray.runtimeClass) -}}
{{- $faults = append $faults "ray.runtimeClass is empty: name the RuntimeClass that is to be made, e.g. gvisor" -}}
{{- end -}}
{{- with $faults -}}
{{- fail (printf "\n  - %s\n" (join "\n  - " .)) -}}
{{- end -}}
{{- end }}
