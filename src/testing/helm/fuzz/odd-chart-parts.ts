// What odd charts are made of: one line per text, `\n` in it a new line.
import { mixed, texts } from './texts.ts'

/** Kinds that helm sorts by, and others. */
export const KINDS =
  'Namespace Secret ConfigMap CustomResourceDefinition ServiceAccount Service Deployment Job Ingress Zebra Alpha alpha MutatingWebhookConfiguration ValidatingWebhookConfiguration PriorityClass RoleBindingList Pod List "" null APIService Widget'.split(
    ' ',
  )

/** Annotations that make a document a hook, or nearly. */
export const HOOK_ANNOTATIONS = texts(String.raw`
helm.sh/hook: pre-install
helm.sh/hook: post-install
helm.sh/hook: test
helm.sh/hook: test-success
helm.sh/hook: test-failure
helm.sh/hook: "pre-install, post-upgrade"
helm.sh/hook: "pre-install,,test"
helm.sh/hook: PRE-DELETE
helm.sh/hook: crd-install
helm.sh/hook: nonsense
helm.sh/hook: ""
helm.sh/hook: null
helm.sh/hook: true
helm.sh/hook-weight: "5"
helm.sh/hook-weight: "-5"
helm.sh/hook-weight: 5
helm.sh/hook-weight: "1e3"
helm.sh/hook-weight: "99999999999999999999"
helm.sh/hook-delete-policy: before-hook-creation
helm.sh/hook-delete-policy: "hook-succeeded,nonsense"
helm.sh/hook-output-log-policy: hook-failed
helm.sh/resource-policy: keep
other: x
n: 5
`)

/** Names below `templates/` and `crds/`. */
export const TEMPLATE_NAMES = texts(String.raw`
a.yaml
b.yaml
c.yml
z.json
_partial.tpl
_also.yaml
plain.tpl
noext
.hidden.yaml
NOTES.txt
sub/NOTES.txt
myNOTES.txt
notes.txt
sub/a.yaml
sub/_x.tpl
sub/deep/er/b.yaml
_sub/a.yaml
tests/t.yaml
tests/_t.yaml
with space.yaml
über.yaml
a:b.yaml
{{x}}.yaml
a'b.yaml
-dash.yaml
#hash.yaml
a"b.yaml
[x].yaml
a*.yaml
a\\b.yaml
a\nb.yaml
UPPER.YAML
a.yaml.bak
x.txt
~.yaml
a..b.yaml
`)

/** Other files of a chart. */
export const FILE_NAMES = texts(String.raw`
README.md
LICENSE
files/a.txt
files/b.ini
files/.hidden
files/sub/c.txt
files/ü.txt
Chart.lock
requirements.yaml
requirements.lock
values.schema.json
values.yml
Values.yaml
chart.yaml
templates
charts
crds/a.yaml
crds/sub/b.yaml
crds/README.md
crds/_x.yaml
.helmignore
ci/test-values.yaml
x.bak
`)

/** Contents of these. */
export const CHART_FILES = texts(String.raw`
(nothing)
one\ntwo\n
one\r\ntwo
kind: CustomResourceDefinition\nmetadata: {name: x}\n
kind: CustomResourceDefinition\n---\nkind: Other\n{{ .nope }}\n
dependencies: []\n
not: [yaml
\u0000\u0001
é日😀
{"type":"object"}
\ufeffbom\n
---\n---\n
`)

/** Templates: each prints something of its own, or fails in its own way. */
export const TEMPLATES = mixed(String.raw`
v: {{ toJson .Values | quote }}\n
kind: ConfigMap\nname: {{ .Release.Name }}\nns: {{ .Release.Namespace }}\nup: {{ .Release.IsUpgrade }} {{ .Release.IsInstall }} {{ .Release.Revision }} {{ .Release.Service }}\n
c: {{ toJson .Chart | quote }}\n
c: {{ .Chart.Name }} {{ .Chart.Version }} {{ .Chart.AppVersion }} {{ .Chart.Type }} {{ .Chart.IsRoot }} {{ .Chart.Deprecated }}\n
d: {{ range .Chart.Dependencies }}{{ .Name }}={{ .Alias }}={{ .Version }}={{ .Enabled }}={{ .Condition }}={{ .Tags }},{{ end }}\n
k: {{ .Capabilities.KubeVersion }} {{ .Capabilities.KubeVersion.Major }} {{ .Capabilities.KubeVersion.Minor }} {{ .Capabilities.KubeVersion.GitVersion }}\n
h: {{ .Capabilities.HelmVersion }}\n
a: {{ .Capabilities.APIVersions.Has "x/v1" }} {{ .Capabilities.APIVersions.Has "v1" }} {{ .Capabilities.APIVersions | len }}\n
a: {{ .Capabilities.APIVersions | toJson | quote }}\n
s: {{ range $k, $v := .Subcharts }}{{ $k }}:{{ $v.Chart.Name }}:{{ $v.Values | toJson | quote }} {{ end }}\n
f: {{ range $p, $_ := .Files.Glob "**" }}{{ $p | quote }},{{ end }}\n
f: {{ range $p, $_ := .Files.Glob "*/*" }}{{ $p | quote }},{{ end }}\n
f:\n{{ (.Files.Glob "files/*").AsConfig | indent 2 }}\n
f:\n{{ (.Files.Glob "**.txt").AsSecrets | indent 2 }}\n
g: {{ .Values.global | toJson }}\n
{{- $_ := set .Values "mark" .Template.Name }}x: {{ .Values.mark }}\n
{{- $_ := set .Values.global "mark" .Chart.Name }}x: {{ .Values.global }}\n
{{- $_ := unset .Values "a" }}x: {{ .Values | toJson | quote }}\n
n: {{ include "name" . }}\n
{{ define "name" }}other{{ end }}x: 1\n
{{ define "name" }}{{ .Values.a.b.c.d }}{{ end }}\n
{{ template "name" . }}: 1\n
{{ block "blk" . }}b: {{ .Release.Name }}{{ end }}\n
{{ define "blk" }}b: overridden{{ end }}
x: {{ .nope }}\n
x: {{ toYaml .Values | nindent 2 }}\n
x: {{ lookup "v1" "Pod" "" "" }}\n
x: {{ printf "%d" .Values.a }}\n
x: {{ add1 .Values.list }}\n
x: {{ (index .Values "x.y") }}\n
(nothing)
\n \n
---\n
---\n---\n
--- \n# only\n
# only a comment\n
# Source: fake/path.yaml\nkind: A\n
kind: A\n---\n# Source: top/templates/other.yaml\nkind: B\n
---\n# c\n---\nkind: A\n---\n
--- kind: A\n
---kind: A\n
kind: A\n---b: 1\n
kind: A\n ---\nkind: B\n
kind: A\n...\nkind: B\n
kind: A\n...\n---\nkind: B\n
kind: A\nx: |\n  ---\n  y\n
kind: A\nx: |\n---\n
kind: A\r\n---\r\nkind: B\r\n
\ta: 1\n
a: 1\na: 2\n
null\n
~\n
{}\n
a: &x 1\nb: *x\n
a: &x {b: 1}\nc: {<<: *x}\n
? a\n: b\n
kind: 5\n
kind: true\n
Kind: A\nKIND: B\n
apiVersion: 5\nkind: A\n
kind: A\nmetadata: null\n
kind: A\nmetadata: {name: 5}\n
kind: A\nmetadata: {annotations: {a: 5}}\n
kind: A\nmetadata: {annotations: {a: null, helm.sh/hook: test}}\n
kind: A\nmetadata: {Annotations: {helm.sh/hook: test}}\n
kind: List\nitems: [{kind: A}]\n
é: 日😀\n
a: "\\u0041\\x41"\n
\u0085a: 1\n
\u00a0\n
\u2028\n
\ufeffkind: A\n
kind: A\n---\n\ufeffkind: B\n
a: {{ "\ufeff" }}\n
{{- range until 60 }}{{ repeat (mul . 2 | int) " " }}a:\n{{ end }}\n
a: {{ repeat 900 "[" }}{{ repeat 900 "]" }}\n
a: {{ repeat 20000 "x" }}\n
a: {{ now | kindOf }} {{ uuidv4 | len }}\n
{{/* c */}}\n{{- /* d */ -}}\nx: 1
{{ $x := 1 }}{{ $x = 2 }}x: {{ $x }}\n
{{ range $i, $e := .Values.list }}---\nkind: K{{ $i }}\nv: {{ $e }}\n{{ end }}
{{ range $k, $v := .Values }}# {{ $k }}\n{{ end }}x: 1\n
{{ with .Values.a }}x: {{ .b }} {{ $.Release.Name }}\n{{ end }}
x: {{\n  .Release.Name\n}}\n
x: {{ .Values | toYaml | b64enc }}\n
x: {{ .Values.a.b | default "d" | int }} {{ .Values.AsMap }}\n
x: {{ .Files }}\n
x: {{ .Release }} {{ .Template }}\n
x: {{ .Release.Nope }}\n
x: {{ toToml .Values | quote }}\n
(refused)
m: {{ .Chart.Maintainers }} {{ .Chart.Keywords }} {{ .Chart.Sources }} {{ .Chart.Annotations | toJson }}\n
t: {{ .Template.Name | quote }} {{ .Template.BasePath | quote }}\n
f: {{ .Files.Get "files/a.txt" | quote }} {{ .Files.Get "README.md" | quote }} {{ .Files.Get "nope" | quote }}\n
f: {{ .Files.Lines "files/a.txt" }} {{ .Files.GetBytes "files/b.ini" }}\n
f: {{ .Files.Get "Chart.yaml" | quote }} {{ .Files.Get "values.yaml" | quote }} {{ .Files.Get "requirements.yaml" | quote }} {{ .Files.Get "templates/a.yaml" | quote }} {{ .Files.Get "Chart.lock" | quote }}\n
{{ template "absent" . }}\n
{{ include "absent" . }}\n
{{ include "name" }}\n
{{ define "name" }}\n
x: {{ .Values.none.deeper }}\n
x: {{ .Values.a.b.c }}\n
x: {{ .Nope.x }}\n
x: {{ required "is needed" .Values.none }}\n
x: {{ fail "told so" }}\n
{{ fail "two\nlines" }}\n
x: {{ nope }}\n
x: {{ end }}\n
x: {{ if }}\n
{{ if true }}\n
x: {{ "unclosed }}\n
x: {{ .Values.a | nope }}\n
x: {{ index .Values.list 9 }}\n
x: {{ tpl "{{ .Values.a.b.c }}" . }}\n
x: {{ tpl "{{ nope }}" . }}\n
x: {{ tpl .Values.list . }}\n
x: {{ .Values.list.x }}\n
x: {{ 1 | 2 }}\n
%YAML 1.2\n---\nkind: A\n
kind: A\n--- |\n text\n
a: b: c\n
a: [1, 2\n
a: "unclosed\n
a:\n\tb: 1\n
a: 1\nb\n
- a\n- b\n
just text\n
"text"\n
5\n
[]\n
!!str x\n
a: *none\n
kind: [A]\n
kind: {a: 1}\n
kind: A\nmetadata: 5\n
kind: A\nmetadata: []\n
kind: A\nmetadata: {name: [x]}\n
kind: A\nmetadata: {annotations: 5}\n
kind: A\nmetadata: {annotations: {a: [1]}}\n
kind: A\nmetadata: {annotations: [a]}\n
a: \u0000\n
a: \u0001\n
a: \u007f\n
a: {{ printf "%c" 0 }}\n
a: {{ "\\xff" }}\n
{{ repeat 2000 "k: v\n---\n" }}
{{ $y = 2 }}x: 1\n
x: {{ .Values.a.b | quote }}{{ "{{" }}\n
x: {{ .Chart.Nope }}\n
x: {{ .Chart.nope.x }}\n
x: {{ .Capabilities.Nope }}\n
x: {{ .Values.global.a.b }}\n
`)

/** Fields of Chart.yaml, behind those that are there. */
export const CHART_FIELDS = mixed(String.raw`
type: application
type: ""
deprecated: true
kubeVersion: ">=1.30.0"
appVersion: 1.10
appVersion: null
version: "1"
version: v1.2
version: "1.2.3+x"
version: 5
name: other
name: a b
name: UPPER
name: 5
name: "é"
apiVersion: v1
apiVersion: v2
apiVersion: ""
keywords: [a, null, 5]
sources: [x]
home: "x"
icon: 5
description: "multi\\nline"
maintainers: [{name: n, email: e, url: u}]
maintainers: [{name: 5}]
annotations: {a: b}
annotations: {a: 5}
condition: a.b
tags: t1
engine: gotpl
unknown: 1
dependencies: []
dependencies: null
(refused)
type: library
type: other
type: 5
deprecated: "yes"
kubeVersion: ">=1.99.0"
kubeVersion: "<1.30.0-0"
kubeVersion: nonsense
kubeVersion: 1.20
appVersion: [1]
version: 1.2.3.4
version: ""
name: a/b
name: ".."
name: "."
name: ""
apiVersion: v3
apiVersion: 2
keywords: a
maintainers: [null]
maintainers: {}
annotations: []
`)

/** Fields of a dependency. */
export const REQUIREMENT_FIELDS = mixed(String.raw`
alias: again
alias: two
alias: one
alias: ""
alias: 5
alias: global
condition: one.enabled
condition: "no.such,one.enabled"
condition: " one.enabled , a.b"
condition: a.b
condition: a
condition: global.on
condition: again.enabled
condition: ""
condition: 5
tags: [t1]
tags: [t1, t2]
tags: [""]
tags: []
tags: [5]
enabled: false
repository: "https://example.com"
repository: "file://../one"
repository: "@x"
repository: 5
version: ">=1.0.0"
version: 9.9.9
version: "1.x"
version: ""
version: nonsense
version: 1
unknown: 1
(refused)
alias: a.b
alias: "a b"
alias: ü
tags: t1
`)

/** What `import-values` can be. */
export const IMPORTS = mixed(String.raw`
[data]
[data, data]
[nothing]
[a.c]
[""]
[5]
[null]
[[data]]
null
[{child: a, parent: taken}]
[{child: a, parent: .}]
[{child: a, parent: a}]
[{child: ., parent: all}]
[{child: "", parent: x}]
[{child: a, parent: ""}]
[{child: a.c, parent: x}]
[{child: a, parent: x.y.z}]
[{child: a, parent: list}]
[{child: a, parent: a.b}]
[{child: exports.data, parent: global}]
[{child: global, parent: global}]
[{child: a, parent: one}]
[{child: one.a, parent: up}]
(refused)
data
[{child: a}]
[{parent: x}]
[{child: 5, parent: x}]
[{child: a, parent: null}]
[data, {child: a, parent: taken}, {child: nothing, parent: n}]
[{Child: a, PARENT: x, more: 1}]
`)
