/** Rows M of what Fleet was seen to do. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { FleetTarget } from '../files/fleet-yaml.ts'
import { matchesAlternative, resolveTarget } from './targets.ts'
import type { Workspace } from './targets.ts'

const CLUSTERS: { name: string; labels: Record<string, string> }[] = [
  { name: 'c1', labels: { env: 'prod', region: 'eu' } },
  { name: 'c2', labels: { env: 'dev', region: 'eu' } },
  { name: 'c3', labels: { env: 'prod', region: 'us', 'management.cattle.io/cluster-display-name': 'paris' } },
  { name: 'c4', labels: {} },
]

const WORKSPACE: Workspace = {
  groups: [
    { name: 'prod', labels: { tier: 'gold' }, selector: { matchLabels: { env: 'prod' } } },
    { name: 'eu', labels: { tier: 'silver' }, selector: { matchLabels: { region: 'eu' } } },
    { name: 'nilsel', labels: { tier: 'gold' } },
  ],
  aliases: (name) => (name === 'store-4' ? ['c4'] : []),
}

function meant(target: FleetTarget, workspace = WORKSPACE): string {
  const meaning = resolveTarget(target, workspace)
  if ('problem' in meaning) return meaning.problem
  return CLUSTERS.filter((cluster) => meaning.alternatives.some((one) => matchesAlternative(one, cluster)))
    .map(({ name }) => name)
    .join(' ')
}

const expression = (key: string, operator: 'NotIn' | 'DoesNotExist', values?: string[]) => ({
  matchExpressions: [{ key, operator, ...(values ? { values } : {}) }],
})

test('targets mean the clusters they mean in Fleet', () => {
  const table: [string, FleetTarget, string][] = [
    ['M1', { clusterName: 'c1' }, 'c1'],
    ['M1', { clusterName: 'paris' }, 'c3'],
    ['M1', { clusterName: 'c*' }, ''],
    ['alias', { clusterName: 'store-4' }, 'c4'],
    ['M2', { clusterSelector: {} }, 'c1 c2 c3 c4'],
    ['M3', { clusterSelector: expression('env', 'NotIn', ['prod']) }, 'c2 c4'],
    ['M3', { clusterSelector: expression('env', 'DoesNotExist') }, 'c4'],
    ['M5', { clusterGroup: 'prod' }, 'c1 c3'],
    ['M5', { clusterGroup: 'nope' }, ''],
    ['M5', { clusterGroup: 'nilsel' }, ''],
    ['M7', { clusterGroupSelector: { matchLabels: { tier: 'gold' } } }, 'c1 c3'],
    ['M8', { clusterGroupSelector: {} }, 'c1 c2 c3 c4'],
    ['M9', { clusterGroupSelector: expression('tier', 'DoesNotExist') }, 'c4'],
    ['M9', { clusterGroupSelector: expression('tier', 'NotIn', ['gold']) }, 'c1 c2 c4'],
    ['M10', { clusterGroup: 'prod', clusterGroupSelector: { matchLabels: { tier: 'silver' } } }, ''],
    ['M11', { clusterName: 'c1', clusterSelector: { matchLabels: { env: 'dev' } } }, ''],
    ['M11', { clusterName: 'c1', clusterSelector: { matchLabels: { env: 'prod' } } }, 'c1'],
    ['M12', { clusterGroup: 'prod', clusterSelector: { matchLabels: { region: 'eu' } } }, 'c1'],
    ['M13', { clusterName: 'c2', clusterGroup: 'prod' }, ''],
    ['T8', { name: 'only a name' }, ''],
  ]
  for (const [row, target, expected] of table) assert.equal(meant(target), expected, `${row} ${JSON.stringify(target)}`)
  const all = { ...WORKSPACE, groups: [{ name: 'all', labels: {}, selector: {} }] }
  assert.equal(meant({ clusterGroup: 'all' }, all), 'c1 c2 c3 c4', 'M6')
})

test('what would take too many alternatives is refused with the way out', () => {
  const groups = Array.from({ length: 12 }, (_, n) => ({
    name: `g${n}`,
    labels: {},
    selector: { matchLabels: { a: `${n}`, b: `${n}` } },
  }))
  assert.match(
    meant({ clusterGroupSelector: {} }, { groups, aliases: () => [] }),
    /^clusterGroupSelector also means clusters of no group, and 12 groups are too many/,
  )
})
