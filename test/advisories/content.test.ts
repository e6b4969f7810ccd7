/** Attacks of published advisories by charts and kustomizations, replayed against the engines. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { utf8 } from '../../src/core/bytes.ts'
import { loadChart } from '../../src/render/helm/chart/load-chart.ts'
import { HelmError } from '../../src/render/helm/helm-error.ts'
import { HELM_3, HELM_4 } from '../../src/render/helm/profile.ts'
import { renderChart } from '../../src/render/helm/render-chart.ts'
import { buildKustomization } from '../../src/render/kustomize/build.ts'
import { KustomizeError } from '../../src/render/kustomize/kustomize-error.ts'
import { createFileTree } from '../../src/render/kustomize/loader.ts'

function build(files: Readonly<Record<string, string>>) {
  const entries = Object.entries(files).map(([path, text]) => [`/DIR/${path}`, utf8(text)] as const)
  return buildKustomization(createFileTree(new Map(entries)), '/DIR/in', {}).resources
}

test('CVE-2022-24877: a kustomization reads no file outside its directory', () => {
  const secret = { 'secret.yaml': 'apiVersion: v1\nkind: Secret\nmetadata: {name: s}\n', 'secret.txt': 'x' }
  for (const line of [
    'resources: [../secret.yaml]',
    'resources: [/DIR/secret.yaml]',
    'resources: [./a/../../secret.yaml]',
    'configMapGenerator: [{name: a, files: [../secret.txt]}]',
    'secretGenerator: [{name: a, envs: [../secret.txt]}]',
    'patches: [{path: ../secret.yaml}]',
    'openapi: {path: ../secret.yaml}',
    'configurations: [../secret.yaml]',
    'crds: [../secret.yaml]',
  ])
    assert.throws(() => build({ ...secret, 'in/kustomization.yaml': `${line}\n` }), KustomizeError, line)
})

test('CVE-2022-24878: kustomizations that contain themselves or one another end', () => {
  const cycles: Record<string, string>[] = [
    { 'in/kustomization.yaml': 'resources: [.]\n' },
    { 'in/kustomization.yaml': 'resources: [../in]\n' },
    { 'in/kustomization.yaml': 'resources: [a]\n', 'in/a/kustomization.yaml': 'resources: [..]\n' },
    { 'in/kustomization.yaml': 'components: [../in]\n' },
  ]
  for (const files of cycles) assert.throws(() => build(files), KustomizeError, JSON.stringify(files))
})

test('CVE-2025-32387, CVE-2025-55199: a schema of values that refers to itself is refused, and ends nothing', () => {
  const nested = (depth: number): string => (depth === 0 ? '{}' : `{"allOf":[${nested(depth - 1)}]}`)
  const doubling = Object.fromEntries(
    Array.from({ length: 40 }, (_, at) => [
      `d${at}`,
      { allOf: [{ $ref: `#/definitions/d${at + 1}` }, { $ref: `#/definitions/d${at + 1}` }] },
    ]),
  )
  const schemas = {
    itself: '{"$ref":"#"}',
    'each other':
      '{"$ref":"#/definitions/a","definitions":{"a":{"$ref":"#/definitions/b"},"b":{"$ref":"#/definitions/a"}}}',
    deep: nested(5_000),
    doubling: JSON.stringify({ $ref: '#/definitions/d0', definitions: { ...doubling, d40: { type: 'string' } } }),
  }
  for (const [name, schema] of Object.entries(schemas)) {
    for (const profile of [HELM_3, HELM_4]) {
      const files = { 'Chart.yaml': 'apiVersion: v2\nname: c\nversion: 1.0.0\n', 'values.schema.json': schema }
      const tree = new Map(Object.entries(files).map(([path, text]) => [path, utf8(text)]))
      const render = () =>
        renderChart({
          chart: loadChart(tree, { profile }),
          values: new Map(),
          release: { name: 'r', namespace: 'ns' },
          profile,
          entropy: { randomBytes: (length) => new Uint8Array(length), now: () => 0, generateKey: () => '' },
        })
      assert.throws(render, HelmError, `${name} ${profile.name}`)
    }
  }
})
