import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { BundleFacts } from './decide.ts'
import {
  allowedSets,
  bundleRefusals,
  contentRefusals,
  placementRefusals,
  refusalMessage,
  refusedBy,
  sourceRefusals,
} from './decide.ts'
import type { ProjectFacts } from './limits.ts'
import { everythingAllowed } from './project-of.ts'

const project = (spec: ProjectFacts['spec']): ProjectFacts => ({ metadata: { name: 'team-a' }, spec })
const all = everythingAllowed(['team-a'])
const bundle = (spec: object, metadata: object = {}): BundleFacts => ({
  metadata: { name: 'b', namespace: 'team-a', ...metadata },
  spec: { placement: 'p', templating: 'Disabled', secrets: 'Refuse', variantMode: 'All', ...spec },
})

const SPEC = { interval: '1m', timeout: '1m', suspend: false }

test('sources', () => {
  const git = { ...SPEC, git: { url: 'https://git.example.com/team-b/x' } }
  assert.deepEqual(sourceRefusals(project(all), git), [])
  assert.deepEqual(sourceRefusals(project({}), git), [
    'Project team-a: spec.sources does not list https://git.example.com/team-b/x',
  ])
  const chart = { ...SPEC, helm: { url: 'https://charts.example.com/team-a' } }
  assert.deepEqual(sourceRefusals(project({ sources: ['https://charts.example.com/*'] }), chart), [])
  const image = { ...SPEC, oci: { url: 'oci://registry.example.com/team-a/x' } }
  assert.deepEqual(sourceRefusals(project({ sources: ['oci://registry.example.com/team-a/*'] }), image), [])
  assert.equal(sourceRefusals(project({ sources: ['inline'] }), image).length, 1)
})

test('bundles', () => {
  const inline = { manifests: 'x' }
  const cases: [string, Partial<ProjectFacts['spec']>, BundleFacts, readonly string[]][] = [
    ['everything', {}, bundle(inline), []],
    ['inline content', { sources: ['inline'] }, bundle(inline), []],
    [
      'inline content that is not listed',
      { sources: ['https://x/*'] },
      bundle(inline),
      ['Project team-a: spec.sources does not list inline, and the Bundle has spec.manifests'],
    ],
    [
      'content of ConfigMaps',
      { sources: [] },
      bundle({ manifestsFrom: [{ configMap: 'x' }] }),
      ['Project team-a: spec.sources does not list inline, and the Bundle has spec.manifestsFrom'],
    ],
    ['a Source is a question of its own', { sources: [] }, bundle({ source: { name: 'x' } }), []],
    [
      "the agent's own rights",
      { executors: {} },
      bundle(inline),
      [
        'Project team-a: spec.executors.ownRights is not true and spec.executors.default is not set, so the Bundle must name spec.executor',
      ],
    ],
    [
      'the executor of a variant',
      { executors: { allowed: ['team-a/*'] } },
      bundle({
        ...inline,
        executor: { namespace: 'team-a', name: 'x' },
        variants: [{ name: 'v', options: { executor: { namespace: 'kube-system', name: 'root' } } }],
      }),
      ['Project team-a: spec.executors.allowed does not list kube-system/root'],
    ],
    [
      'a plan that is not listed',
      { plans: ['slow'] },
      bundle({ ...inline, rollout: { plan: 'fast' } }),
      ['Project team-a: spec.plans does not list fast'],
    ],
    [
      'no plan where plans are listed',
      { plans: ['slow'] },
      bundle(inline),
      ['Project team-a: spec.plans lists slow, and the Bundle names no spec.rollout.plan'],
    ],
    ['no plan where none is listed', { plans: [] }, bundle(inline), []],
    [
      'a plan where none is listed',
      { plans: [] },
      bundle({ ...inline, rollout: { plan: 'fast' } }),
      ['Project team-a: spec.plans does not list fast'],
    ],
    [
      'a missing label',
      { requiredLabels: ['team', 'cost-centre'] },
      bundle(inline, { labels: { team: 'a' } }),
      ['Project team-a: spec.requiredLabels lists cost-centre, and the Bundle has no label cost-centre'],
    ],
    [
      'no ticket',
      { ticket: { pattern: 'CHG-[0-9]+' } },
      bundle(inline),
      ['Project team-a: spec.ticket requires the annotation flotilla.dev/ticket, and the Bundle has none'],
    ],
    [
      'a part of a ticket',
      { ticket: { pattern: 'CHG-[0-9]+' } },
      bundle(inline, { annotations: { 'flotilla.dev/ticket': 'CHG-1 or so' } }),
      ['Project team-a: spec.ticket.pattern CHG-[0-9]+ does not match the annotation flotilla.dev/ticket'],
    ],
    [
      'a ticket',
      { ticket: { pattern: 'CHG-[0-9]+|NONE' } },
      bundle(inline, { annotations: { 'flotilla.dev/ticket': 'CHG-12' } }),
      [],
    ],
  ]
  for (const [name, spec, given, expected] of cases) {
    assert.deepEqual(bundleRefusals(project({ ...all, ...spec }), given), expected, name)
  }
  const broken = bundle(inline, { annotations: { 'flotilla.dev/ticket': 'x' } })
  assert.match(
    bundleRefusals(project({ ...all, ticket: { pattern: '(' } }), broken)[0] ?? '',
    /spec\.ticket\.pattern \( is not a regular expression: error parsing regexp/,
  )
})

test('content: each line once, and at most five', () => {
  const objects = Array.from({ length: 20 }, (_, index) => ({
    apiVersion: 'v1',
    kind: index < 10 ? 'Secret' : `Kind${index}`,
    namespace: 'x',
    name: `${index}`,
  }))
  const lines = contentRefusals(project({ ...all, kinds: ['ConfigMap'] }), objects)
  assert.equal(lines[0], 'Project team-a: spec.kinds does not list Secret')
  assert.equal(lines.length, 6)
  assert.equal(lines[5], 'Project team-a: and 6 more lines')
  assert.deepEqual(contentRefusals(project(all), objects), [])
})

test('placements', () => {
  assert.deepEqual(placementRefusals(project(all), ['x']), [])
  assert.deepEqual(placementRefusals(project({}), []), ['Project team-a: spec.clusterSets lists no ClusterSet'])
  assert.deepEqual(placementRefusals(project({ clusterSets: ['stores'] }), ['stores', 'edge']), [
    'Project team-a: spec.clusterSets does not list edge',
  ])
  assert.deepEqual(placementRefusals(project({ clusterSets: ['stores'] })), [])
  assert.deepEqual(allowedSets(project({ clusterSets: ['stores'] })), ['stores'])
  assert.equal(allowedSets(project(all)), undefined)
})

test('the message of a condition', () => {
  assert.equal(refusedBy([]), undefined)
  assert.equal(refusalMessage(refusedBy(['Project a: no', 'Project a: not'])!), 'Project a: no. Project a: not.')
})
