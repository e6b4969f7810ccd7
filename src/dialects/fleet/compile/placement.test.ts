import assert from 'node:assert/strict'
import { test } from 'node:test'
import { matchesSelector } from '../../../core/text/label-selector.ts'
import type { FleetTarget } from '../files/fleet-yaml.ts'
import { placementOf, WORKSPACE_LABEL } from './placement.ts'
import type { Workspace } from './targets.ts'

const WORKSPACE: Workspace = { groups: [], aliases: () => [] }

function compiled(targets: readonly FleetTarget[], namespace = 'stores', mapped: readonly string[] = []) {
  const problems: string[] = []
  const wrong = (text: string) => void problems.push(text)
  const placement = placementOf(targets, { namespace, mapped, workspace: WORKSPACE, wrong })
  return { placement, problems }
}

test('targets that select no cluster never become a Placement of all clusters', () => {
  for (const targets of [[], [{}]]) {
    const { clusterSelector, predicates } = compiled(targets).placement
    assert.equal(predicates, undefined)
    for (const labels of [{}, { [WORKSPACE_LABEL]: 'stores' }] as Record<string, string>[]) {
      assert.equal(matchesSelector(labels, clusterSelector ?? {}), false)
    }
  }
})

test('one target of labels is one cluster selector that keeps to its workspace', () => {
  const { placement, problems } = compiled([{ clusterSelector: { matchLabels: { env: 'prod' } } }])
  assert.deepEqual(problems, [])
  assert.equal(placement.predicates, undefined)
  const matches = (labels: Record<string, string>) => matchesSelector(labels, placement.clusterSelector ?? {})
  assert.equal(matches({ env: 'prod', [WORKSPACE_LABEL]: 'stores' }), true)
  assert.equal(matches({ env: 'prod', [WORKSPACE_LABEL]: 'offices' }), false)
  assert.equal(matches({ env: 'dev', [WORKSPACE_LABEL]: 'stores' }), false)
})

test('the default workspace also has the clusters without the label', () => {
  const { placement } = compiled([{ clusterName: 'paris' }], 'fleet-default')
  assert.deepEqual(placement.clusterSelector, {})
  assert.deepEqual(placement.predicates?.[0]?.cel, [
    `!("${WORKSPACE_LABEL}" in cluster.metadata.labels) || cluster.metadata.labels["${WORKSPACE_LABEL}"] == "fleet-default"`,
    'cluster.metadata.name in ["paris"]',
  ])
})

test('workspaces that are mapped count, too', () => {
  const one = [{ clusterSelector: { matchLabels: { env: 'prod' } } }]
  const { placement } = compiled(one, 'apps', ['stores'])
  const matches = (labels: Record<string, string>) => matchesSelector(labels, placement.clusterSelector ?? {})
  assert.equal(matches({ env: 'prod', [WORKSPACE_LABEL]: 'stores' }), true)
  assert.equal(matches({ env: 'prod', [WORKSPACE_LABEL]: 'apps' }), true)
  assert.equal(matches({ env: 'prod', [WORKSPACE_LABEL]: 'offices' }), false)
  assert.equal(matches({ env: 'dev', [WORKSPACE_LABEL]: 'stores' }), false)
  assert.deepEqual(compiled([{ clusterSelector: {} }], 'apps', ['fleet-default']).placement.predicates?.[0]?.cel, [
    `!("${WORKSPACE_LABEL}" in cluster.metadata.labels) || cluster.metadata.labels["${WORKSPACE_LABEL}"] in ["apps", "fleet-default"]`,
  ])
})

test('more alternatives than a Placement can hold are a problem', () => {
  const targets = Array.from({ length: 33 }, (_, index) => ({
    clusterSelector: { matchLabels: { store: `${index}` } },
  }))
  assert.equal(compiled(targets.slice(1)).problems.length, 0)
  assert.match(compiled(targets).problems[0] ?? '', /33 selectors/)
})
