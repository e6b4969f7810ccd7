import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { AttentionItem } from '../../plan/fleet/attention.ts'
import { localTime } from '../print/print-time.ts'
import { formatTime } from '../../core/time/time.ts'
import type { JournalHead } from '../../kinds/fields/journal-head.ts'
import type { Cluster } from '../../kinds/native/cluster.ts'
import type { JoinToken } from '../../kinds/native/join-token.ts'
import type { PartHealth } from '../../plan/fleet/hub-health.ts'
import { buildCluster } from '../../testing/fixtures/builders.ts'
import { CHECK_IDS, printChecks, worstOf } from './check.ts'
import { clusterChecks } from './cluster-checks.ts'
import type { ClusterFacts } from './cluster-checks.ts'
import { hubChecks, uncheckedTokens } from './hub-checks.ts'
import type { HubFacts } from './hub-checks.ts'

const NOW = 1_800_000_000_000
const at = (seconds: number): string => formatTime(NOW + seconds * 1000)
const DAY = 86_400

function clusterOf(status: NonNullable<Cluster['status']>, isAccepted = true): Cluster {
  const made = buildCluster('store-1')
  return { ...made, spec: { ...made.spec, accepted: isAccepted }, status }
}

function available(status: 'True' | 'False', message = '') {
  return [{ type: 'Available', status, reason: 'X', message, lastTransitionTime: at(0) }]
}

function linesOf(facts: Partial<ClusterFacts> & Pick<ClusterFacts, 'cluster'>): string[] {
  const categories = clusterChecks({ assignment: undefined, report: undefined, ...facts }, NOW)
  return categories.flatMap(({ checks }) => checks.map(({ id, result, text }) => `${result} ${id}: ${text}`))
}

test('a well cluster passes every check', () => {
  const cluster = clusterOf({
    conditions: available('True'),
    certificate: { notAfter: at(60 * DAY), fingerprint: 'x' },
  })
  assert.deepEqual(linesOf({ cluster }), [
    'ok accepted: accepted',
    'ok agent-connected: the agent is connected and checks in at least every 30 s',
    'ok one-agent: one agent connects for the cluster',
    'ok certificate: the certificate is valid for 60d',
    'ok document: no Bundle is assigned to the cluster',
  ])
})

test('each trouble of a cluster is told with what to do or whom to ask', () => {
  const cluster = clusterOf(
    {
      conditions: available('False', 'silent for longer than 120 s'),
      lastSeen: at(-3600),
      certificate: { notAfter: at(-DAY), fingerprint: 'x' },
      agent: { instance: 'a', since: at(-9), rival: { instance: 'b', since: at(-5), address: '10.0.0.9' } },
    },
    false,
  )
  const set = `sha256:${'0'.repeat(64)}`
  const assignment = { spec: { clusterId: cluster.spec.id, epoch: 1, revision: 4 } } as ClusterFacts['assignment']
  const report = {
    spec: {
      clusterId: cluster.spec.id,
      epoch: 1,
      revision: 3,
      bundles: [
        {
          bundle: 'default/web',
          generation: 1,
          set,
          state: 'Failed',
          firstFailing: 'Deployment/web',
          message: 'no image',
        },
        {
          bundle: 'default/api',
          generation: 1,
          set,
          state: 'Failed',
          firstFailing: 'Deployment shop/api',
          message: 'Deployment shop/api: no image',
        },
      ],
    },
  } as unknown as ClusterFacts['report']
  assert.deepEqual(linesOf({ cluster, assignment, report }), [
    'failed accepted: waits for acceptance: use "flotilla cluster accept store-1"',
    'failed agent-connected: the agent last contacted the hub 60m ago: silent for longer than 120 s',
    `failed one-agent: a second agent with the same identity connects from 10.0.0.9 since ${localTime(at(-5))}`,
    'failed certificate: the certificate expired 24h ago; the agent renews it when it reconnects',
    'warning document: the newest document is revision 1/4, the agent has 1/3',
    'failed bundle-failed: default/web: Deployment/web: no image',
    'failed bundle-failed: default/api: Deployment shop/api: no image',
  ])
})

const WELL: HubFacts = {
  server: 'https://hub',
  problem: undefined,
  ready: 'ok',
  version: 'v1.36.0+flotilla-0.1.0',
  clientVersion: '0.1.0',
  skewMs: 200,
  certificateEndsMs: NOW + 300 * DAY * 1000,
  mayList: true,
  pendingClusters: 0,
  gateways: [],
  clusters: [],
  rollouts: [],
  uncheckedTokens: [],
  migratedProjects: [],
  hubs: [],
  journals: [],
  attention: [],
  refused: [],
}

test('disk and backup of each hub, versions of agents and stuck Rollouts are among the checks of a hub', () => {
  const lines = (facts: Partial<HubFacts>) =>
    hubChecks({ ...WELL, ...facts }, NOW).flatMap(({ checks }) =>
      checks
        .filter(({ id }) => ['hub-storage', 'last-backup', 'agent-versions', 'rollouts-stuck'].includes(id))
        .map(({ id, result }) => `${result} ${id}`),
    )
  assert.deepEqual(lines({}), ['ok agent-versions', 'ok rollouts-stuck'])
  const health = { version: '0.3.0', startedAt: at(-DAY), parts: [], storage: { freeBytes: 1, databaseBytes: 1 } }
  const agents = [{ ...clusterOf({}), status: { agentVersion: '0.1.0' } }]
  const hubs = [{ name: '0', health }]
  assert.deepEqual(lines({ hubs, clusters: agents }), [
    'failed hub-storage',
    'warning last-backup',
    'ok agent-versions',
    'ok rollouts-stuck',
  ])
  // A kube-apiserver does not say the version of the hub: the hub does.
  const onKubernetes = lines({ version: 'v1.36.0', hubs, clusters: agents, rollouts: undefined })
  assert.deepEqual(onKubernetes.slice(2), ['warning agent-versions', 'warning rollouts-stuck'])
  assert.deepEqual(lines({ version: 'v1.36.0', clusters: agents }), ['ok rollouts-stuck'])
  assert.deepEqual(lines({ hubs: 'Unreadable' }).slice(0, 1), ['warning hub-storage'])
})

test('each gateway is asked from this machine: another network warns, another hub fails', () => {
  const lines = (gateways: HubFacts['gateways']) =>
    hubChecks({ ...WELL, gateways }, NOW).flatMap(({ checks }) =>
      checks.filter(({ id }) => id === 'hub-gateway').map(({ result, text }) => `${result} ${text}`),
    )
  const endpoint = 'https://hub.example:7444'
  assert.deepEqual(lines([]), [])
  assert.deepEqual(
    lines([
      { endpoint },
      { endpoint, trouble: 'connect ECONNREFUSED', proxy: 'http://p:1/' },
      { endpoint, otherRoot: 'other' },
    ]),
    [
      'ok gateway https://hub.example:7444 answers with the root key of this hub',
      'warning gateway https://hub.example:7444 cannot be reached from this machine through the proxy http://p:1/: connect ECONNREFUSED',
      'failed gateway https://hub.example:7444 does not belong to this hub: other',
    ],
  )
  assert.deepEqual(lines('Unreadable'), [
    'warning the gateways are not checked: you may not read ConfigMap flotilla-hub in namespace flotilla-system',
  ])
})

test('a hub: unreachable, slow clock, other version, ending certificate, waiting clusters', () => {
  const trouble = (facts: Partial<HubFacts>) =>
    hubChecks({ ...WELL, ...facts }, NOW)
      .flatMap(({ checks }) => checks.filter(({ result }) => result !== 'ok'))
      .map(({ id, text }) => `${id}: ${text}`)
  assert.deepEqual(trouble({}), [])
  assert.deepEqual(trouble({ problem: 'connect ECONNREFUSED' }), ['hub-reachable: https://hub: connect ECONNREFUSED'])
  assert.deepEqual(trouble({ migratedProjects: ['migrated-shop'] }), [
    'projects: an upgrade made 1 Project with everything allowed: migrated-shop; limit them, then remove the label flotilla.dev/migrated',
  ])
  assert.deepEqual(trouble({ skewMs: -90_000 }), [
    'clock-skew: the clock of the hub is 90s behind the clock of this machine',
  ])
  assert.deepEqual(trouble({ clientVersion: '0.2.0' }), [
    'version: the hub has version 0.1.0, this program has version 0.2.0',
  ])
  assert.deepEqual(trouble({ certificateEndsMs: NOW + DAY * 1000 }), [
    'own-certificate: your certificate is valid for 24h',
  ])
  assert.deepEqual(trouble({ mayList: false, pendingClusters: 2 }), [
    'may-list: you may not list clusters.flotilla.dev',
    'pending-clusters: not checked: clusters that wait for acceptance',
  ])
  assert.deepEqual(trouble({ pendingClusters: 2 }), ['pending-clusters: 2 clusters wait for acceptance'])
  const ca = (days: number): HubFacts['hubs'] => [
    {
      name: 'a',
      health: { startedAt: at(0), parts: [], authorities: [{ name: 'transport', notAfter: at(days * DAY) }] },
    },
  ]
  assert.deepEqual(trouble({ hubs: ca(91) }), [])
  assert.deepEqual(trouble({ hubs: ca(89) }), [
    'hub-authorities: hub "a": the transport CA expires in 89d; replace it with "flotilla trust rotate ca"',
  ])
  assert.deepEqual(trouble({ uncheckedTokens: undefined }), [])
  assert.deepEqual(trouble({ uncheckedTokens: ['a', 'b'] }), [
    'join-tokens: 2 join tokens accept or label clusters, and the hub never checked the rights of the author: a, b',
  ])
})

test('what needs a person is a warning, as in status; what the caller may not list is not ticked', () => {
  const item = (kind: AttentionItem['kind'], name: string, reason: string): AttentionItem => ({
    kind,
    namespace: 'shop',
    name,
    reason,
    message: '',
    command: '',
  })
  const facts = {
    ...WELL,
    attention: [
      item('FailedRollout', 'web-g2', 'Failed'),
      item('FailingSource', 'git', 'AuthFailed'),
      item('UnbuiltBundle', 'web', 'RenderFailed'),
      item('UnbuiltBundle', 'db', 'NoClusters'),
      item('HeldBack', 'pos', 'HeldBack'),
      item('PlaintextSecret', 'pay', 'PlaintextSecret'),
      item('OpenDefault', 'web', 'NoGate'),
    ],
    refused: ['placements'],
  }
  const lines = hubChecks(facts, NOW)
    .flatMap(({ checks }) => checks.filter(({ result }) => result !== 'ok'))
    .map(({ id, result, text }) => `${result} ${id}: ${text}`)
  assert.deepEqual(lines, [
    'warning rollouts-failed: 1 Rollout failed: shop/web-g2 (Failed)',
    'warning sources-failing: 1 Source fails: shop/git (AuthFailed)',
    'warning bundles-unbuilt: 2 Bundles have no content for their clusters, or for some of them: shop/web (RenderFailed), shop/db (NoClusters)',
    'warning placements-held: not checked: you may not list placements',
    'warning bundles-held-back: 1 Bundle is held back after a rollback: shop/pos (HeldBack)',
    'warning plaintext-secrets: 1 Bundle has plaintext Secrets in a repository that does not allow them: shop/pay (PlaintextSecret)',
    'warning open-defaults: 1 object lets one mistake reach all its clusters: shop/web (NoGate)',
  ])
})

test('what version 0.1 left open is a warning, until it is ended', () => {
  const day = 86_400
  const linesOf = (former: HubFacts['former'], createdAt?: string) => {
    const authorities = [{ name: 'api' as const, notAfter: at(9_000 * day), ...(createdAt ? { createdAt } : {}) }]
    const hubs = [{ name: '0', health: { startedAt: at(-10), parts: [], authorities } }]
    const found = hubChecks({ ...WELL, hubs, ...(former ? { former } : {}) }, NOW).flatMap(({ checks }) => checks)
    return found.filter(({ id }) => id === 'former-defaults').map(({ result, text }) => `${result} ${text}`)
  }
  const closed = { laterSince: NOW - 100 * day * 1000, editorsCreateRollouts: false }
  assert.deepEqual(linesOf(undefined), [], 'the caller may not read it')
  assert.deepEqual(linesOf(closed), ['ok no default of version 0.1 is open'])
  assert.deepEqual(linesOf(closed, at(-100 * day - 5)), ['ok no default of version 0.1 is open'], 'a first start')
  assert.deepEqual(linesOf(closed, at(-1 * day)), ['ok no default of version 0.1 is open'], 'the CA was replaced')
  assert.deepEqual(linesOf(closed, at(-200 * day)), [
    'warning client certificates that version 0.1 issued do everything for up to 2y265d more; end them with "flotilla trust rotate api"',
  ])
  const late = { ...closed, laterSince: NOW - 1_100 * day * 1000 }
  assert.deepEqual(linesOf(late, at(-1_200 * day)), ['ok no default of version 0.1 is open'], 'all have expired')
  assert.deepEqual(linesOf({ ...closed, editorsCreateRollouts: true }), [
    'warning ClusterRole flotilla:aggregate-to-edit lets editors create Rollouts, also without the approvals of a RolloutPlan; remove the verb create on rollouts',
  ])
})

test('a join token is unchecked while it is older than the policy and can still let a cluster in', () => {
  const token = (spec: Partial<JoinToken['spec']> = {}, created = at(-100), used = 0): JoinToken => ({
    apiVersion: 'flotilla.dev/v1alpha1',
    kind: 'JoinToken',
    metadata: { name: 'one', creationTimestamp: created },
    spec: { tokenHash: 'x', clusterName: 'one', expiresAt: at(60), uses: 2, labels: {}, accept: 'Auto', ...spec },
    status: { used },
  })
  const isUnchecked = (one: JoinToken, policySince = NOW - 50_000) =>
    uncheckedTokens([one], { policySince, now: NOW }).length > 0
  assert.equal(isUnchecked(token()), true)
  assert.equal(isUnchecked(token({ accept: 'Manual' })), false)
  assert.equal(isUnchecked(token({ accept: 'Manual', labels: { tier: 'store' } })), true)
  assert.equal(isUnchecked(token({ expiresAt: at(-1) })), false)
  assert.equal(isUnchecked(token({}, at(-100), 2)), false)
  assert.equal(isUnchecked(token({}, at(-50))), false)
  assert.equal(isUnchecked(token({}, at(-50)), Infinity), true, 'without the policy no token was checked')
})

test('a hub whose parts ended: what runs, what does not, how often and why', () => {
  const part = { name: 'gateway', state: 'Running', restarts: 2 } as const
  const last = (seconds: number) => ({ cause: 'memory' as const, message: 'heap out of memory', at: at(seconds) })
  const lineOf = (...parts: PartHealth[]) => {
    const hubs = [{ name: '0', health: { startedAt: at(-7200), parts } }]
    const found = hubChecks({ ...WELL, hubs }, NOW).flatMap(({ checks }) =>
      checks.filter(({ id }) => id === 'hub-parts'),
    )
    return found.map(({ result, text }) => `${result} ${text}`)
  }
  assert.deepEqual(lineOf({ ...part, restarts: 0 }), [
    'ok hub "0": no part was restarted since the hub started 120m ago',
  ])
  const restarted = 'hub "0": restarts since the hub started 120m ago: the gateway thread 2; the newest'
  assert.deepEqual(lineOf({ ...part, last: last(-60) }), [`warning ${restarted} 60s ago: heap out of memory`])
  assert.deepEqual(lineOf({ ...part, last: last(-2 * DAY) }), [`ok ${restarted} 2d ago: heap out of memory`])
  assert.deepEqual(lineOf({ ...part, state: 'Down', last: last(-1) }), [
    'failed hub "0": the gateway thread does not run; the hub starts it again (restarts: 2)',
  ])
  const textOf = (hubs: HubFacts['hubs']) =>
    hubChecks({ ...WELL, hubs }, NOW).flatMap(({ checks }) => checks.filter(({ id }) => id === 'hub-parts'))
  assert.deepEqual(textOf([]), [])
  assert.match(textOf('Unreadable')[0]?.text ?? '', /not checked: you may not read ConfigMap flotilla-hub-health/)
  assert.equal(textOf([{ name: '0', health: undefined }])[0]?.result, 'warning')
})

test('the journal: written, losing records, failing, unreadable', () => {
  const head: JournalHead = {
    format: 'flotilla.dev/journal-head/v1',
    stream: 'evidence-0',
    number: 2,
    to: NOW,
    retentionSeconds: 60,
    records: 7,
    lost: 0,
    open: true,
  }
  const linesOf = (journals: HubFacts['journals']) =>
    hubChecks({ ...WELL, journals }, NOW)
      .flatMap(({ checks }) => checks.filter(({ id }) => id === 'journal'))
      .map(({ result, text }) => `${result} ${text}`)
  const lineOf = (changes: Partial<JournalHead>) =>
    linesOf([{ lease: 'flotilla-journal-evidence-0', head: { ...head, ...changes } }])
  assert.deepEqual(lineOf({}), ['ok journal "evidence-0": no record was lost to a full buffer'])
  assert.deepEqual(lineOf({ lost: 1 }), ['warning journal "evidence-0": 1 of 8 records was lost to a full buffer'])
  assert.deepEqual(lineOf({ problem: { since: NOW - 90_000, message: 'no space left on device' } }), [
    'failed journal "evidence-0": records wait since 90s ago: no space left on device',
  ])
  assert.deepEqual(linesOf([{ lease: 'x', head: undefined }]), [
    'failed Lease x: its annotation flotilla.dev/journal-head cannot be read',
  ])
  assert.match(linesOf('Unreadable')[0] ?? '', /^warning the journal is not checked: you may not list Leases/)
  assert.deepEqual(linesOf([]), [])
})

test('printed with glyphs and anchors; short leaves out what is well; json is for scripts', () => {
  const categories = hubChecks({ ...WELL, ready: 'starting', pendingClusters: 1 }, NOW)
  assert.equal(worstOf(categories), 'failed')
  assert.equal(
    printChecks(categories, { format: 'short', isUtf8: true }),
    'hub\n---\n× the hub is not ready: starting\n    see https://flotilla.dev/docs/checks.md#hub-ready\n' +
      '‼ 1 cluster waits for acceptance\n    see https://flotilla.dev/docs/checks.md#pending-clusters\n\n1 failed, 1 warning, 16 passed\n',
  )
  const json = JSON.parse(printChecks(categories, { format: 'json', isUtf8: true })) as { success: boolean }
  assert.equal(json.success, false)
})

test('every check has its anchor in docs/checks.md, and every anchor a check', () => {
  const page = readFileSync(join(import.meta.dirname, '../../../docs/checks.md'), 'utf8')
  const anchors = [...page.matchAll(/^### (\S+)$/gm)].map((match) => match[1]!)
  assert.deepEqual(anchors, [...CHECK_IDS])
})

test('a process that was silent, and a maintenance with a process that has not confirmed it', () => {
  const at = (agoMs: number) => formatTime(NOW - agoMs)
  const hubs = [
    { name: 'a', health: { startedAt: at(9e6), parts: [], at: at(60_000), maintenance: at(300_000) } },
    { name: 'b', health: { startedAt: at(9e6), parts: [], at: at(60_000) } },
    { name: 'c', health: { startedAt: at(9e6), parts: [], at: at(600_000) } },
  ]
  const maintenance = { since: at(300_000), reason: 'upgrade' }
  const lines = hubChecks({ ...WELL, hubs, maintenance }, NOW)
    .flatMap(({ checks }) => checks)
    .filter(({ id, result }) => id === 'hub-maintenance' || (id === 'hub-parts' && result !== 'ok'))
    .map(({ result, text }) => `${result} ${text}`)
  assert.deepEqual(lines, [
    'warning maintenance since 5m: upgrade; nothing is decided until "flotilla hub maintenance off"',
    'failed hub "b" has not confirmed the maintenance and may still decide',
    'failed hub "c": silent for 10m; it does not run, or it cannot reach the API',
  ])
})
