{{/* Labels that select the pod. They equal those of "flotilla cluster add -o manifest". */}}
{{- define "flotilla-agent.selector" -}}
app.kubernetes.io/name: flotilla-agent
{{- end }}

{{- define "flotilla-agent.labels" -}}
{{ include "flotilla-agent.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end }}

{{- define "flotilla-agent.image" -}}
{{- $registry := required "image.registry is missing: give registry and path of the images, for example --set image.registry=registry.example.com/platform" .Values.image.registry -}}
{{- if .Values.image.digest -}}
{{ printf "%s/%s@%s" $registry .Values.image.repository .Values.image.digest }}
{{- else -}}
{{ printf "%s/%s:%s" $registry .Values.image.repository (.Values.image.tag | default .Chart.AppVersion) }}
{{- end -}}
{{- end }}

{{- define "flotilla-agent.joinSecret" -}}
{{ .Values.join.existingSecret | default "flotilla-join" }}
{{- end }}

{{/* What the values contradict in. */}}
{{- define "flotilla-agent.check" -}}
{{- if ne .Release.Namespace "flotilla-agent" -}}
{{- fail (printf "the agent keeps its state in namespace flotilla-agent and cannot be installed in namespace %s: use helm install --namespace flotilla-agent --create-namespace" .Release.Namespace) -}}
{{- end -}}
{{- if and (not .Values.join.code) (not .Values.join.existingSecret) -}}
{{- fail "the join code is missing: give join.code, or join.existingSecret with the name of a Secret that has it in the key \"code\"; \"flotilla cluster add NAME\" on the hub prints a code" -}}
{{- end -}}
{{- if and .Values.join.code .Values.join.existingSecret -}}
{{- fail "join.code and join.existingSecret exclude each other" -}}
{{- end -}}
{{- if and (eq .Values.profile "namespaced") (empty .Values.namespaces) -}}
{{- fail "profile namespaced needs namespaces: give the existing namespaces that the agent may change" -}}
{{- end -}}
{{- if has .Release.Namespace .Values.namespaces -}}
{{- fail (printf "namespaces must not contain %s, the namespace of the agent" .Release.Namespace) -}}
{{- end -}}
{{- if and (ne .Values.profile "namespaced") .Values.namespaces -}}
{{- fail (printf "namespaces has no effect with profile %s: use profile namespaced, or remove namespaces" .Values.profile) -}}
{{- end -}}
{{- end }}
