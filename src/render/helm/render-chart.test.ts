import assert from 'node:assert/strict'
import test from 'node:test'
import { HelmError } from './helm-error.ts'
import { loadChart } from './chart/load-chart.ts'
import { HELM_3, HELM_4 } from './profile.ts'
import type { HelmProfile } from './profile.ts'
import { Provenance } from './provenance.ts'
import { renderChart } from './render-chart.ts'
import type { RenderInput } from './render-chart.ts'
import { templateOutput } from './template-output.ts'

const CHART = { 'Chart.yaml': 'apiVersion: v2\nname: c\nversion: 1.0.0\n' }

let drawn = 0
const entropy = {
  randomBytes: (length: number) => new Uint8Array(length).map(() => (drawn = (drawn * 31 + 7) % 251)),
  now: () => 0,
  generateKey: () => '',
}

function load(files: Readonly<Record<string, string>>, profile: HelmProfile = HELM_4) {
  const tree = new Map(
    Object.entries({ ...CHART, ...files }).map(([name, text]) => [name, new TextEncoder().encode(text)]),
  )
  return loadChart(tree, { profile })
}

function render(files: Readonly<Record<string, string>>, more: Partial<RenderInput> = {}) {
  const profile = more.profile ?? HELM_4
  return renderChart({
    chart: load(files, profile),
    values: new Map(),
    release: { name: 'r', namespace: 'ns' },
    profile,
    entropy,
    ...more,
  })
}

const value = (template: string) => ({ 'templates/a.yaml': `v: ${template}\n` })
const printed = (files: Readonly<Record<string, string>>, more: Partial<RenderInput> = {}) =>
  templateOutput(render(files, more))

test('a random value is drawn once and replayed', () => {
  const files = value('{{ randAlphaNum 20 }}')
  const first = render(files)
  assert.equal(first.read.drewRandom, true)
  assert.notEqual(templateOutput(first), printed(files))
  const second = render(files, { frozen: JSON.parse(JSON.stringify(first.frozen)) as typeof first.frozen })
  assert.equal(templateOutput(second), templateOutput(first))
})

test('a render says which inputs it read', () => {
  const quiet = render(value('x'))
  assert.deepEqual(quiet.read, { drewRandom: false, lookedUp: [], kubeVersion: false, apiVersions: [] })
  const asked = render(
    value(
      '{{ .Capabilities.APIVersions.Has "a/v1" }}{{ .Capabilities.KubeVersion.Minor }}{{ lookup "v1" "Secret" "n" "s" }}',
    ),
  )
  assert.equal(asked.read.kubeVersion, true)
  assert.deepEqual(asked.read.apiVersions, ['a/v1'])
  assert.deepEqual(asked.read.lookedUp, [{ apiVersion: 'v1', kind: 'Secret', namespace: 'n', name: 's' }])
  assert.equal(render(value('{{ len .Capabilities.APIVersions }}')).read.apiVersions, 'all')
})

test('lookup is answered from outside', () => {
  const files = value('{{ (lookup "v1" "Secret" "n" "s").data.k }}')
  assert.match(printed(files, { lookUp: () => new Map([['data', new Map([['k', 'answer']])]]) }), /^v: answer$/m)
})

test('a chart is not changed by rendering it', () => {
  const chart = load({
    'Chart.yaml': 'apiVersion: v2\nname: c\nversion: 1.0.0\ndependencies: [{name: s, version: "*", alias: t}]\n',
    'charts/s/Chart.yaml': 'apiVersion: v2\nname: s\nversion: 1.0.0\n',
    'charts/s/values.yaml': 'k: 1\n',
    'charts/s/templates/a.yaml': 'v: {{ set .Values "k" 2 | toJson }}\n',
  })
  const input = { chart, values: new Map(), release: { name: 'r', namespace: 'n' }, profile: HELM_4, entropy }
  const first = templateOutput(renderChart(input))
  assert.match(first, /# Source: c\/charts\/t\/templates\/a.yaml/)
  assert.equal(templateOutput(renderChart(input)), first)
})

test('null removes a default; what is left differs between Helm 3 and 4', () => {
  const files = { 'values.yaml': 'a: {x: 1, z: null}\n', ...value('{{ .Values.a | toJson }}') }
  const values = new Map([['a', new Map([['x', null]])]])
  assert.match(printed(files, { values }), /^v: {}$/m)
  assert.match(printed(files, { values, profile: HELM_3 }), /^v: {"z":null}$/m)
})

test('subcharts: conditions, globals, import-values, library templates', () => {
  const files = {
    'Chart.yaml': `apiVersion: v2
name: c
version: 1.0.0
dependencies:
  - {name: out, version: "1", condition: out.enabled}
  - {name: sub, version: "1", import-values: [{child: out, parent: imported}]}
  - {name: lib, version: "1"}
`,
    'values.yaml': 'global: {g: top}\nout: {enabled: false}\nsub: {own: given}\n',
    'templates/a.yaml': 'v: {{ .Values.imported.x }} {{ include "lib.say" . }}\n',
    'charts/out/Chart.yaml': 'apiVersion: v2\nname: out\nversion: 1.0.0\n',
    'charts/out/templates/a.yaml': 'left: out\n',
    'charts/sub/Chart.yaml': 'apiVersion: v2\nname: sub\nversion: 1.0.0\n',
    'charts/sub/values.yaml': 'out: {x: exported}\nown: default\n',
    'charts/sub/templates/a.yaml': 'got: {{ .Values.own }} {{ .Values.global.g }}\n',
    'charts/lib/Chart.yaml': 'apiVersion: v2\nname: lib\nversion: 1.0.0\ntype: library\n',
    'charts/lib/templates/_l.tpl': '{{ define "lib.say" }}said{{ end }}',
    'charts/lib/templates/never.yaml': 'never: true\n',
  }
  const text = printed(files)
  assert.match(text, /^v: exported said$/m)
  assert.match(text, /^got: given top$/m)
  assert.doesNotMatch(text, /left: out|never/)
})

test('hooks are data, and known kinds come in install order', () => {
  const rendered = render({
    'templates/a.yaml': `kind: Service
---
kind: Zebra
---
kind: Namespace
---
kind: Job
metadata:
  name: h
  annotations: {helm.sh/hook: "pre-install, test", helm.sh/hook-weight: "-5", helm.sh/hook-delete-policy: hook-succeeded}
---
kind: Dropped
metadata: {annotations: {helm.sh/hook: crd-install}}
`,
  })
  assert.deepEqual(
    rendered.manifests.map(({ kind }) => kind),
    ['Namespace', 'Service', 'Zebra'],
  )
  const [hook] = rendered.hooks
  assert.deepEqual(
    [hook?.name, hook?.events, hook?.weight, hook?.deletePolicies],
    ['h', ['pre-install', 'test'], -5, ['hook-succeeded']],
  )
  assert.equal(rendered.hooks.length, 1)
})

function refused(files: Readonly<Record<string, string>>, more: Partial<RenderInput> = {}): string {
  let message = ''
  assert.throws(
    () => render(files, more),
    (error) => {
      assert.ok(error instanceof HelmError, String(error))
      message = error.message
      return true
    },
  )
  return message
}

test('a hostile chart fails itself, with its name and line', () => {
  const limits = { steps: 10_000, output: 100_000 }
  assert.match(
    refused(value('{{ range until 900000 }}x{{ end }}'), { limits }),
    /^c\/templates\/a.yaml: .*steps.*a\.yaml:1/,
  )
  assert.match(refused(value('{{ range 1000000000 }}{{ end }}'), { limits }), /steps/)
  assert.match(refused(value('{{ until 1000000000 }}'), { limits }), /more than 1000000 items/)
  assert.match(refused(value('{{ repeat 1000000000 "xxxxxxxxxx" }}'), { limits }), /more than 50000000 characters/)
  assert.match(
    refused(value('{{ range until 9 }}{{ repeat 20000 "x" }}{{ end }}'), { limits }),
    /wrote more than 100000/,
  )
  const endless = {
    'templates/_l.tpl': '{{ define "l" }}{{ include "l" . }}{{ end }}',
    ...value('{{ include "l" . }}'),
  }
  assert.match(refused(endless, { limits: { steps: 10_000_000 } }), /nested/)
})

test('a schema names the places that are wrong', () => {
  const files = {
    'values.schema.json':
      '{"type":"object","required":["r"],"properties":{"count":{"type":"integer"}},"additionalProperties":false}',
    'values.yaml': 'count: x\nzz: 1\n',
  }
  const message = refused(files)
  for (const part of [
    "at '': missing property 'r'",
    "at '/count': got string, want integer",
    "additional properties 'zz' not allowed",
  ]) {
    assert.ok(message.includes(part), message)
  }
  assert.doesNotThrow(() => render(files, { skipSchemaValidation: true }))
})

test('provenance: each line knows its template and line', () => {
  const provenance = new Provenance()
  const rendered = render(
    { 'templates/a.yaml': 'a: 1\n{{ if true }}\nb: {{ "x" }}\n{{- end }}\nc: 3\n' },
    { trace: provenance.trace },
  )
  const lines = provenance.explain(rendered.manifests[0]!)
  assert.deepEqual(
    lines.filter(({ text }) => text.trim() !== '').map(({ origin, text }) => `${origin} ${text}`),
    ['c/templates/a.yaml:1 a: 1', 'c/templates/a.yaml:3 b: x', 'c/templates/a.yaml:5 c: 3'],
  )
})

test('.helmignore hides files, also from .Files', () => {
  const files = {
    '.helmignore': '*.bak\n/secret/\n',
    'x.bak': 'hidden',
    'secret/a': 'hidden',
    'y.txt': 'seen',
    ...value('{{ .Files.Get "x.bak" }}{{ .Files.Get "secret/a" }}{{ .Files.Get "y.txt" }}'),
  }
  assert.match(printed(files), /^v: seen$/m)
})

test('import-values that would never end are refused', () => {
  const files = {
    'Chart.yaml':
      'apiVersion: v2\nname: c\nversion: 1.0.0\ndependencies: [{name: s, version: "*", import-values: [{child: a, parent: .}, {child: a, parent: b}]}]\n',
    'charts/s/Chart.yaml': 'apiVersion: v2\nname: s\nversion: 1.0.0\n',
    'charts/s/values.yaml': 'a: {b: {c: 1}}\n',
  }
  assert.throws(
    () => render(files),
    new HelmError('chart dependencies processing failed: import-values make values that contain themselves'),
  )
})
