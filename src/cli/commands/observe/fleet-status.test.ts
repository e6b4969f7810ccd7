import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatTime } from '../../../core/time/time.ts'
import { localTime } from '../../print/print-time.ts'
import { ClusterWindow } from '../../../kinds/native/cluster-window.ts'
import type { Cluster } from '../../../kinds/native/cluster.ts'
import { Placement } from '../../../kinds/native/placement.ts'
import type { Rollout } from '../../../kinds/native/rollout.ts'
import type { BundleStateName } from '../../../kinds/fields/states.ts'
import { build, buildBundle, buildCluster } from '../../../testing/fixtures/builders.ts'
import type { AttentionItem } from '../../../plan/fleet/attention.ts'
import { statusSummary, statusText } from './fleet-status.ts'

const NOW = 1_800_000_000_000
const PLAIN = { paint: (_color: string, text: string) => text, isUtf8: true, command: (text: string) => text }
const MADE = buildCluster('x')

function clusters(counts: Partial<Record<BundleStateName, number>>): Cluster[] {
  return Object.entries(counts).flatMap(([state, count]) =>
    Array.from({ length: count }, (_, index) => ({
      ...MADE,
      metadata: { name: `${state.toLowerCase()}-${index}` },
      spec: { ...MADE.spec, accepted: true },
      status: { state: state as BundleStateName },
    })),
  )
}

function rollout(name: string, status: Rollout['status']): Rollout {
  return { metadata: { name, namespace: 'shop' }, spec: {}, status } as unknown as Rollout
}

test('a fleet at work: counts per state, the rollout that moves, and the commands that fit', () => {
  const counts = { total: 962, ready: 713, progressing: 203, pending: 5, failed: 0, offline: 41 }
  const facts = {
    server: 'https://hub:7443',
    version: 'v1.36.0+flotilla-0.1.0',
    clusters: clusters({ Ready: 1655, Offline: 74, Failed: 5 }),
    rollouts: [
      rollout('pos-g3', { phase: 'Progressing', ring: 'early', counts }),
      rollout('pos-g2', { phase: 'Completed' }),
    ],
  }
  assert.equal(
    statusText(facts, NOW, PLAIN),
    `Hub      v1.36.0+flotilla-0.1.0   https://hub:7443
Fleet    1,734 clusters   ✔ 1,655 Ready   ◌ 74 Offline   ✗ 5 Failed
Rollout  shop/pos-g3   Progressing   ring early   ███████████░░░░ 713/962   41 offline
Next     flotilla get clusters --state failed -o wide
         flotilla rollout watch pos-g3 -n shop
`,
  )
  const summary = JSON.stringify(statusSummary(facts, NOW))
  assert.match(
    summary,
    /"clusters":\{"total":1734,"Ready":1655,"Offline":74,"Failed":5\},"empty":\[\],"freezes":\[\],"rollouts":\[\{[^[]*"pos-g3"/,
  )
  assert.doesNotMatch(summary, /pos-g2/)
})

test('a rollout that waits for a person comes first, with the word it waits for', () => {
  const counts = { total: 4, ready: 1, progressing: 0, pending: 3, failed: 0, offline: 0 }
  const held = { type: 'Held', status: 'True' as const, reason: 'ApprovalPending', message: '', lastTransitionTime: '' }
  const facts = {
    server: 's',
    version: 'v',
    clusters: clusters({ Ready: 4 }),
    rollouts: [
      rollout('base-g1', { phase: 'Progressing', counts }),
      rollout('pos-g4', { phase: 'Progressing', ring: 'early', counts, conditions: [held] }),
    ],
  }
  assert.deepEqual(statusText(facts, NOW, PLAIN).split('\n').slice(3, 5), [
    'Rollout  shop/pos-g4   Progressing   ring early   ███░░░░░░░░░░░░ 1/4   needs approval',
    'Next     flotilla rollout approve pos-g4 -n shop',
  ])
})

test('an empty hub says how to begin; who waits and what ends is told; ASCII where it must be', () => {
  const empty = { server: 's', version: 'v', clusters: [] as Cluster[], rollouts: [] }
  assert.match(statusText(empty, NOW, PLAIN), /^Fleet {4}0 clusters\nNext {5}flotilla cluster add NAME$/m)
  const [ending] = clusters({ Ready: 1 })
  const certificate = { notAfter: formatTime(NOW + 2 * 86_400_000), fingerprint: 'x' }
  const text = statusText(
    {
      ...empty,
      clusters: [
        { ...MADE, spec: { ...MADE.spec, accepted: false } },
        { ...ending!, status: { state: 'Ready', certificate } },
      ],
    },
    NOW,
    { ...PLAIN, isUtf8: false },
  )
  assert.match(text, /^Fleet {4}2 clusters {3}\+ 1 Ready {3}\. 1 Pending$/m)
  assert.match(text, /^Waiting {2}x for acceptance$/m)
  assert.match(text, /^Certs {4}1 agent certificate ends in less than 3 days$/m)
  assert.match(text, /flotilla cluster accept x/)
})

test('freezes that hold or begin within a week, with who passes; clusters that are held', () => {
  const freeze = (name: string, fromDays: number, untilDays: number): ClusterWindow =>
    build(ClusterWindow, name, {
      spec: {
        mode: 'Freeze',
        times: [{ from: formatTime(NOW + fromDays * 86_400_000), until: formatTime(NOW + untilDays * 86_400_000) }],
        exceptions: [{ name: 'incident', subjects: [{ kind: 'Role', name: 'incident-commander' }] }],
        reason: 'Black Friday',
      },
    })
  const [ready] = clusters({ Ready: 1 })
  const held = { ...ready!, spec: { ...ready!.spec, hold: { reason: 'fire', since: formatTime(NOW) } } }
  const windows = [freeze('later', 4, 9), freeze('far', 8, 9), freeze('now', -1, 1), freeze('gone', -3, -2)]
  const facts = { server: 's', version: 'v', clusters: [held], rollouts: [], windows }
  const lines = statusText(facts, NOW, PLAIN).split('\n')
  assert.deepEqual(lines.slice(2, 5), [
    `Freeze   ❄ now   active until ${localTime(NOW + 86_400_000)} (in 24h)   Black Friday   except role=incident-commander`,
    `Freeze   ❄ later   from ${localTime(NOW + 4 * 86_400_000)} (in 4d)   Black Friday   except role=incident-commander`,
    'On hold  ready-0',
  ])
})

test('clusters that left or were turned away are counted apart, and a fleet that nothing reaches is not green', () => {
  const refused = { verdict: 'Revoked' as const, at: formatTime(NOW) }
  const [one, two] = clusters({ Pending: 2 })
  const left = { ...two!.status!, decommission: { at: formatTime(NOW), phase: 'Revoked' as const } }
  const facts = {
    server: 's',
    version: 'v',
    clusters: [
      ...clusters({ Ready: 1, NotSelected: 2 }),
      { ...one!, spec: { ...one!.spec, refused } },
      { ...two!, spec: { ...two!.spec, refused, decommission: {} as never }, status: left },
    ],
    rollouts: [],
  }
  const line = statusText(facts, NOW, PLAIN).split('\n')[1]
  assert.equal(line, 'Fleet    3 clusters   ✔ 1 Ready   – 2 NotSelected   (not in the fleet: 1 Left, 1 Revoked)')
  assert.match(
    JSON.stringify(statusSummary(facts, NOW)),
    /"clusters":\{"total":3,"Ready":1,"NotSelected":2,"apart":\{"Left":1,"Revoked":1\}\}/,
  )
})

test('a Placement that selects no cluster and a Bundle that reaches none have a line each', () => {
  const condition = (type: string, status: 'True' | 'False', message: string) => ({
    type,
    status,
    reason: 'NoClusters',
    message,
    lastTransitionTime: formatTime(NOW),
  })
  const placement = (name: string, status: 'True' | 'False') =>
    build(Placement, `shop/${name}`, {
      spec: { clusterSelector: {} },
      status: { conditions: [condition('Empty', status, 'No cluster is selected.')] },
    })
  const bundle = {
    ...buildBundle('shop/web'),
    status: { conditions: [condition('Unplaced', 'True', 'Reaches none.')] },
  }
  const facts = {
    server: 's',
    version: 'v',
    clusters: clusters({ NotSelected: 1 }),
    rollouts: [],
    placements: [placement('typo', 'True'), placement('good', 'False')],
    bundles: [bundle, buildBundle('shop/fine')],
  }
  assert.deepEqual(statusText(facts, NOW, PLAIN).split('\n').slice(2, 4), [
    'Empty    Placement shop/typo   No cluster is selected.',
    'Empty    Bundle shop/web   Reaches none.',
  ])
  assert.match(JSON.stringify(statusSummary(facts, NOW)), /"empty":\[\{"kind":"Placement","name":"shop\/typo"/)
})

test('what needs a person comes before what moves, each with its command', () => {
  const counts = { total: 4, ready: 1, progressing: 0, pending: 1, failed: 2, offline: 0 }
  const item = (kind: AttentionItem['kind'], name: string, reason: string, message: string): AttentionItem => ({
    kind,
    namespace: 'shop',
    name,
    reason,
    message,
    command: `flotilla look at ${name}`,
  })
  const facts = {
    server: 's',
    version: 'v',
    clusters: clusters({ Ready: 4 }),
    rollouts: [
      rollout('base-g1', { phase: 'Progressing', counts }),
      rollout('pos-g4', { phase: 'Failed', ring: 'early', counts }),
    ],
    attention: [
      item('FailedRollout', 'pos-g4', 'TooManyFailed', '2 clusters failed.'),
      item('FailingSource', 'git', 'AuthFailed', 'The server\nrefused the key.'),
      item('UnbuiltBundle', 'db', 'RenderFailed', 'x'.repeat(400)),
      item('HeldPlacement', 'stores', 'DropHeld', 'Would drop 4 of 4.'),
      item('HeldBack', 'web', 'HeldBack', 'Held back: release web-g2 was rolled back by admin.'),
      item('PlaintextSecret', 'pay', 'PlaintextSecret', '1 Secret is in the repository as plaintext: db.'),
      ...['a', 'b', 'c', 'd', 'e', 'f', 'g'].map((name) =>
        item('OpenDefault', name, 'NoGate', `${name} has no gate; set soak.`),
      ),
      item('OpenDefault', 'all', 'GuardOff', 'all has no guard.'),
    ],
    versions: new Map([['shop/web', '3 on web-g1']]),
  }
  assert.deepEqual(statusText(facts, NOW, PLAIN).split('\n').slice(2, -1), [
    'Rollout  shop/pos-g4   Failed   ring early   ███░░░░░░░░░░░░ 1/4   2 failed   2 clusters failed.',
    '         flotilla look at pos-g4',
    'Source   shop/git   AuthFailed   The server refused the key.',
    '         flotilla look at git',
    `Bundle   shop/db   RenderFailed   ${'x'.repeat(299)}…`,
    '         flotilla look at db',
    'Held     shop/stores   DropHeld   Would drop 4 of 4.',
    '         flotilla look at stores',
    'Bundle   shop/web   Held back: release web-g2 was rolled back by admin.',
    '         clusters run: 3 on web-g1',
    '         flotilla look at web',
    'Secret   shop/pay   PlaintextSecret   1 Secret is in the repository as plaintext: db.',
    '         flotilla look at pay',
    'Default  NoGate   shop/a, shop/b, shop/c and 4 more   a has no gate; set soak.',
    'Default  GuardOff   shop/all   all has no guard.',
    'Rollout  shop/base-g1   Progressing   ███░░░░░░░░░░░░ 1/4   2 failed',
    'Next     flotilla rollout watch base-g1 -n shop',
  ])
  const { attention } = statusSummary(facts, NOW) as { attention: AttentionItem[] }
  assert.equal(attention.length, 14)
  const many = { ...facts, attention: Array.from({ length: 7 }, (_, at) => item('UnbuiltBundle', `b${at}`, 'X', '')) }
  assert.match(statusText(many, NOW, PLAIN), /look at b4\n {9}and 2 more\n/)
})
