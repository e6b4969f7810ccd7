// Whole charts against both real helms: coalescing, aliases, conditions, tags, imports, hooks, order, files, flags.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import test from 'node:test'
import { renderLikeHelm } from '../../testing/helm/render.ts'
import { findBinary } from '../../testing/testenv.ts'

const DUMP = 'v: {{ toJson .Values | quote }}\n'

const FILES: Readonly<Record<string, string>> = {
  '.helmignore': '*.bak\n',
  'Chart.yaml': `apiVersion: v2
name: parent
version: 1.2.3
appVersion: 1.10
keywords: [a, b]
annotations: {n: 5}
dependencies:
  - {name: leaf, version: ">=1.0.0-0"}
  - {name: leaf, version: "*", alias: second, condition: second.enabled}
  - {name: leaf, version: "*", alias: third, tags: [extra]}
  - {name: exporter, version: "^1", import-values: [data, {child: inner, parent: taken.here}]}
  - {name: lib, version: "1.x"}
`,
  'values.yaml': `global: {g: parent, table: {a: 1, b: null}, nothing: null}
tags: {extra: false}
leaf: {own: from-parent, gone: null, nested: {x: 1, y: null}}
second: {enabled: true}
taken: {here: {kept: mine}}
nulls: {a: null, b: {c: null}}
scalar: 5
`,
  'x.bak': 'hidden',
  'conf/a.ini': '[a]\nb=c\n',
  'crds/crd.yaml': 'kind: CustomResourceDefinition\n',
  'templates/_helpers.tpl': '{{ define "name" }}parent-name{{ end }}{{ define "leaf.name" }}overridden{{ end }}',
  'templates/a.yaml': `${DUMP}name: {{ include "name" . }} {{ include "lib.x" . }}\nchart: {{ .Chart.AppVersion }}\n`,
  'templates/b.yaml': `kind: Service
metadata: {name: s}
---
kind: Namespace
--- # comment
kind: MutatingWebhookConfiguration
---
kind: Unknown
---
apiVersion: v1
kind: Secret
data: {{ (.Files.Glob "**.ini").AsSecrets | quote }}
hidden: {{ .Files.Get "x.bak" | quote }}


`,
  'templates/hook.yaml': `kind: Job
metadata:
  name: {{ .Release.Name }}-{{ .Release.Revision }}
  annotations:
    helm.sh/hook: post-install,TEST
    helm.sh/hook-weight: 3
---
kind: Pod
metadata: {name: t, annotations: {helm.sh/hook: pre-install}}
`,
  'templates/NOTES.txt': 'notes',
  'templates/empty.yaml': '{{- /* nothing */ -}}\n\n',
  'charts/leaf/Chart.yaml': 'apiVersion: v1\nname: leaf\nversion: 1.0.0-beta\n',
  'charts/leaf/values.yaml':
    'own: default\ngone: here\nnested: {x: 0, y: 2, z: 3}\nglobal: {g: leaf, only: leaf}\nnil: null\n',
  'charts/leaf/templates/a.yaml': `${DUMP}name: {{ include "leaf.name" . }}\nchart: {{ .Chart.Name }} {{ .Template.Name }}\n`,
  'charts/leaf/templates/_h.tpl': '{{ define "leaf.name" }}own{{ end }}',
  'charts/leaf/charts/deep/Chart.yaml': 'apiVersion: v2\nname: deep\nversion: 0.1.0\n',
  'charts/leaf/charts/deep/values.yaml': 'd: 1\n',
  'charts/leaf/charts/deep/templates/d.yaml': DUMP,
  'charts/exporter/Chart.yaml': 'apiVersion: v2\nname: exporter\nversion: 1.5.0\n',
  'charts/exporter/values.yaml':
    'exports: {data: {imported: yes, table: {p: 1}}}\ninner: {kept: theirs, more: 2, nil: null}\n',
  'charts/exporter/templates/e.yaml': DUMP,
  'charts/lib/Chart.yaml': 'apiVersion: v2\nname: lib\nversion: 1.9.9\ntype: library\n',
  'charts/lib/templates/_x.tpl': '{{ define "lib.x" }}from-lib{{ end }}',
  'charts/_off/Chart.yaml': 'name: nope\n',
}

/** A chart that imports, used twice under aliases: Helm 3's second alias finds the import used up. */
const ALIASED: Readonly<Record<string, string>> = {
  'Chart.yaml':
    'apiVersion: v2\nname: top\nversion: 1.0.0\ndependencies: [{name: child, version: "*", alias: foo}, {name: child, version: "*", alias: bar}]\n',
  'templates/a.yaml': DUMP,
  'charts/child/Chart.yaml':
    'apiVersion: v2\nname: child\nversion: 1.0.0\ndependencies: [{name: grand, version: "*", import-values: [{child: data, parent: .}]}]\n',
  'charts/child/templates/b.yaml': DUMP,
  'charts/child/charts/grand/Chart.yaml': 'apiVersion: v2\nname: grand\nversion: 1.0.0\n',
  'charts/child/charts/grand/values.yaml': 'data: {given: "42"}\n',
}

/**
 * Two imports into one place: a table that is empty stays so where it came from, one that is not takes what the next
 * one brings.
 */
const IMPORTED: Readonly<Record<string, string>> = {
  'Chart.yaml':
    'apiVersion: v2\nname: top\nversion: 1.0.0\ndependencies: [{name: one, version: "*", import-values: [{child: empty, parent: a}, {child: full, parent: b}]}, {name: two, version: "*", import-values: [{child: data, parent: a}, {child: data, parent: b}]}]\n',
  'templates/a.yaml': DUMP,
  'charts/one/Chart.yaml': 'apiVersion: v2\nname: one\nversion: 1.0.0\n',
  'charts/one/values.yaml': 'empty: {}\nfull: {own: 1}\n',
  'charts/one/templates/a.yaml': DUMP,
  'charts/two/Chart.yaml': 'apiVersion: v2\nname: two\nversion: 1.0.0\n',
  'charts/two/values.yaml': 'data: {given: "42"}\n',
  'charts/two/templates/a.yaml': DUMP,
}

/** Charts of the version after Helm 4's, each with one subchart: they are refused, for different reasons. */
const NEXT = (more: string, sub: string): Readonly<Record<string, string>> => ({
  'Chart.yaml': `apiVersion: v3\nname: next\nversion: 1.0.0\n${more}`,
  'templates/a.yaml': DUMP,
  [`charts/${sub}/Chart.yaml`]: `apiVersion: v3\nname: ${sub}\nversion: 1.0.0\n`,
})

const VALUES: readonly string[] = [
  '',
  'leaf: {nested: null, own: null}\nglobal: {g: null, table: {a: null, c: 3}}\n',
  'tags: {extra: true}\nsecond: {enabled: false}\nscalar: null\nnulls: {a: 1, zz: null}\n',
  'exporter: {inner: {more: given, added: null}}\ntaken: null\nglobal: 5\n',
  'leaf: 5\n',
  'second: {own: [1, {a: null}]}\nthird: {x: 1}\nnulls: null\nunknown: {a: null}\n',
]

for (const version of ['helm4', 'helm3'] as const) {
  const binary = findBinary(version === 'helm4' ? 'helm' : 'helm3')
  const skip = binary === undefined ? `no binary for ${version}` : false
  for (const [what, files] of [
    ['a chart with subcharts of every kind', FILES],
    ['an aliased chart that imports', ALIASED],
    ['a chart that imports twice into one place', IMPORTED],
    ['a v3 library', NEXT('type: library\n', 'sub')],
    ['a v3 chart with a subchart it does not name', NEXT('', 'sub')],
    ['a v3 chart with a subchart it names', NEXT('dependencies: [{name: sub, version: "*"}]\n', 'sub')],
    ['a v3 chart without the subchart it names', NEXT('dependencies: [{name: sub, version: "*"}]\n', 'other')],
  ] as const)
    test(`${version}: ${what}`, { skip }, async () => {
      const dir = mkdtempSync(join(tmpdir(), 'helm-charts-'))
      try {
        for (const [name, text] of Object.entries(files)) {
          mkdirSync(dirname(join(dir, name)), { recursive: true })
          writeFileSync(join(dir, name), text)
        }
        const tree = new Map(Object.entries(files).map(([name, text]) => [name, new TextEncoder().encode(text)]))
        for (const [at, values] of VALUES.entries()) {
          const file = join(dir, `values-${at}.txt`)
          writeFileSync(file, values)
          tree.set(`values-${at}.txt`, new TextEncoder().encode(values))
          const real = await new Promise<string>((resolve) => {
            execFile(binary!, ['template', 'release-name', dir, '-f', file], (_error, stdout, stderr) => {
              resolve(stdout || stderr.slice(stderr.indexOf('Error: ')).replaceAll(file, 'values'))
            })
          })
          const mine = renderLikeHelm(tree, {
            version,
            files: [{ name: 'values', data: new TextEncoder().encode(values) }],
          })
          assert.equal(mine.failed ? mine.stderr : new TextDecoder().decode(mine.bytes), real, values)
        }
      } finally {
        rmSync(dir, { recursive: true, force: true })
      }
    })
}
