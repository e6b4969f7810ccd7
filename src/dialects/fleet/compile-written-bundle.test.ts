import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hex, sha256 } from '../../core/bytes.ts'
import { findingText } from '../read-fields.ts'
import type { Finding } from '../read-fields.ts'
import { compileWrittenBundle, madeByFleet } from './compile-written-bundle.ts'

const WORKSPACE = { groups: [], aliases: () => [], clusters: [], bundles: [] }
const FILE = { name: 'cm.yaml', content: 'kind: ConfigMap\napiVersion: v1\nmetadata: {name: a}\n' }
const ALL = [{ clusterSelector: {} }]

function compile(spec: Record<string, unknown>, labels: Record<string, string> = {}) {
  const findings: Finding[] = []
  const bundle = { metadata: { name: 'web', namespace: 'ws', labels }, spec: spec as never }
  return { written: compileWrittenBundle(bundle, WORKSPACE, findings), said: findings.map(findingText).join('; ') }
}

test('files, options and targets become a Bundle of its own', () => {
  const { written, said } = compile(
    {
      resources: [FILE, { content: 'kind: Namespace' }],
      targets: ALL,
      keepResources: true,
      correctDrift: { enabled: true },
      defaultNamespace: 'dn',
    },
    { team: 'x', 'fleet.cattle.io/commit': 'c' },
  )
  assert.equal(said, '')
  const { compiled, files } = written!
  assert.deepEqual(
    files.map(({ path }) => path),
    ['cm.yaml', 'manifest001.yaml'],
  )
  assert.deepEqual(compiled.labels, { team: 'x' }, 'labels of Fleet say who made a Bundle')
  assert.deepEqual(
    [compiled.spec.source, compiled.spec.defaultNamespace, compiled.spec.drift, compiled.spec.delete],
    [{ name: 'web' }, 'dn', { mode: 'Correct' }, { unplaced: 'Orphan', bundleDeleted: 'Orphan' }],
  )
})

test('a chart that fleet apply put into the files is used as it is; another is fetched', () => {
  const helm = { repo: 'https://charts.example.com', chart: 'web', version: '^1' }
  const sum = hex(sha256(`web:${helm.repo}:^1`))
  const inside = compile({ helm, resources: [{ name: `.chart/${sum}/web/Chart.yaml`, content: 'name: web' }] })
  assert.equal(inside.written?.compiled.spec.helm?.chart, `.chart/${sum}/web`)
  assert.deepEqual(inside.written?.compiled.charts, [])
  const outside = compile({ helm, targets: ALL }).written!
  assert.deepEqual(outside.compiled.charts[0]?.spec.helm, { url: helm.repo, chart: 'web', version: '^1' })
  assert.deepEqual([outside.files, outside.compiled.spec.source?.name], [[], outside.compiled.charts[0]?.source])
})

test('what cannot be delivered is refused by name', () => {
  const table: readonly (readonly [Record<string, unknown>, RegExp])[] = [
    [{ resources: [{ name: '../x', content: '' }] }, /^spec\.resources\[0\]\.name: "\.\.\/x" is not a relative path/],
    [{ resources: [{ name: '/etc/x', content: '' }] }, /"\/etc\/x" is not a relative path/],
    [{ resources: [FILE, FILE] }, /resources\[1\]\.name: "cm\.yaml" is there twice/],
    [{ resources: [{ ...FILE, encoding: 'zip' }] }, /resources\[0\]\.encoding: "zip" is not known; use base64\+gz/],
    [{ resources: [FILE], targetRestrictions: ALL }, /targetRestrictions has 1 entries, and targets 0/],
    [{ resources: [FILE], targetCustomizationMode: 'Bogus' }, /must be FirstMatch or AllMatches, found "Bogus"/],
    [{ resources: [FILE], contentsId: 's-1' }, /contentsId names content in a registry/],
    [{ helmOpOptions: { x: 1 } }, /create the HelmOp instead/],
    [{ resources: [FILE], downstreamResources: [{ kind: 'Secret', name: 'a' }] }, /downstreamResources/],
    [{ resources: [FILE], dependsOn: [{}] }, /dependsOn\[0\] must have a name or a selector/],
    [{ resources: 'x' }, /resources must be a list/],
    [{}, /resources has no file with an object, a chart or a kustomization, and helm\.chart names no chart/],
  ]
  for (const [spec, wanted] of table) {
    const { written, said } = compile(spec)
    assert.equal(written, undefined, said)
    assert.match(said, wanted)
  }
})

test('Bundles that Fleet made are told from those of people', () => {
  const made = (name: string, labels = {}) => madeByFleet({ metadata: { name, labels } })
  assert.equal(made('web'), undefined)
  assert.match(made('web', { 'fleet.cattle.io/repo-name': 'apps' }) ?? '', /for GitRepo apps/)
  assert.match(made('web', { 'fleet.cattle.io/fleet-helm-name': 'op' }) ?? '', /for HelmOp op/)
  assert.match(made('fleet-agent-c1') ?? '', /the agent of Fleet/)
})
