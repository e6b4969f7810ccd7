{{- define "flotilla-hub.selector" -}}
app.kubernetes.io/name: flotilla-hub
{{- end }}

{{- define "flotilla-hub.labels" -}}
{{ include "flotilla-hub.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end }}

{{- define "flotilla-hub.metadata" -}}
namespace: {{ .Release.Namespace }}
labels:
  {{- include "flotilla-hub.labels" . | nindent 2 }}
{{- end }}

{{/* An image of a repository: dict "context" . "image" .Values.image */}}
{{- define "flotilla-hub.imageOf" -}}
{{- $registry := required "image.registry is missing: give registry and path of the images, for example --set image.registry=registry.example.com/platform" .context.Values.image.registry -}}
{{- if .image.digest -}}
{{ printf "%s/%s@%s" $registry .image.repository .image.digest }}
{{- else -}}
{{ printf "%s/%s:%s" $registry .image.repository (.image.tag | default .context.Chart.AppVersion) }}
{{- end -}}
{{- end }}

{{- define "flotilla-hub.subjects" -}}
- kind: ServiceAccount
  name: flotilla-hub
  namespace: {{ .Release.Namespace }}
{{- end }}

{{/* What the values contradict in. */}}
{{- define "flotilla-hub.check" -}}
{{- if ne .Release.Namespace "flotilla-system" -}}
{{- fail (printf "hubs keep Leases and ConfigMaps in namespace flotilla-system and cannot be installed in namespace %s: use helm install --namespace flotilla-system --create-namespace" .Release.Namespace) -}}
{{- end -}}
{{- $url := required "gateway.url is missing: give the address by which agents reach the gateway, as in \"flotilla trust init\", for example --set gateway.url=https://hub.example.com:7444" .Values.gateway.url -}}
{{- if not .Values.blobs.s3.url -}}
{{- if or (gt (int .Values.gateways.replicas) 0) (gt (int .Values.renderers.replicas) 0) -}}
{{- fail "gateways and renderers of their own need one place for blobs: give blobs.s3.url, or set their replicas to 0" -}}
{{- end -}}
{{- if gt (int .Values.replicas) 1 -}}
{{- fail "several replicas need one place for blobs: give blobs.s3.url, or set replicas to 1 and persistence.enabled to true" -}}
{{- end -}}
{{- if not .Values.persistence.enabled -}}
{{- fail "without blobs.s3.url, blobs are files of the pod: set persistence.enabled to true" -}}
{{- end -}}
{{- end -}}
{{- if .Values.console.enabled -}}
{{- if or (not .Values.console.url) (not .Values.console.tlsSecret) (not .Values.oidc.issuer) (not .Values.oidc.clientId) -}}
{{- fail "a console that other machines reach needs console.url, console.tlsSecret, oidc.issuer and oidc.clientId" -}}
{{- end -}}
{{- end -}}
{{- $grace := add 20 .Values.gateway.drainSeconds -}}
{{- if lt (int .Values.terminationGracePeriodSeconds) (int $grace) -}}
{{- fail (printf "terminationGracePeriodSeconds must be at least %d: gateway.drainSeconds and 20 seconds for the rest" $grace) -}}
{{- end -}}
{{- if and .Values.gateway.tlsRoute.enabled (empty .Values.gateway.tlsRoute.parentRefs) -}}
{{- fail "gateway.tlsRoute.enabled needs gateway.tlsRoute.parentRefs: name the Gateway whose listener has mode Passthrough" -}}
{{- end -}}
{{- end }}

{{/*
The sets of pods, as JSON {"sets": [...]}: one that does everything, and on demand gateways and renderers of their own.
*/}}
{{- define "flotilla-hub.sets" -}}
{{- $gateways := gt (int .Values.gateways.replicas) 0 -}}
{{- $renderers := gt (int .Values.renderers.replicas) 0 -}}
{{- $roles := list "controllers" -}}
{{- if not $renderers }}{{ $roles = append $roles "renderers" }}{{ end -}}
{{- if not $gateways }}{{ $roles = append $roles "gateway" }}{{ end -}}
{{- $roles = concat $roles (list "views" "console") -}}
{{- $sets := list (dict "name" "flotilla-hub" "component" "hub" "replicas" (int .Values.replicas) "roles" $roles "resources" .Values.resources) -}}
{{- if $gateways -}}
{{- $sets = append $sets (dict "name" "flotilla-hub-gateways" "component" "gateways" "replicas" (int .Values.gateways.replicas) "roles" (list "gateway") "resources" .Values.gateways.resources) -}}
{{- end -}}
{{- if $renderers -}}
{{- $sets = append $sets (dict "name" "flotilla-hub-renderers" "component" "renderers" "replicas" (int .Values.renderers.replicas) "roles" (list "renderers") "resources" .Values.renderers.resources) -}}
{{- end -}}
{{- dict "sets" $sets | toJson -}}
{{- end }}

{{/* The host of gateway.url, without port. */}}
{{- define "flotilla-hub.gatewayHost" -}}
{{- regexReplaceAll ":[0-9]+$" (trimPrefix "https://" .Values.gateway.url) "" -}}
{{- end }}
