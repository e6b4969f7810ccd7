/** `flotilla handover`, against the real API server in memory, with agents that answer as agents do. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ensureNamespace } from '../../../hub/home/hub-info.ts'
import { ClusterReport } from '../../../kinds/native/cluster-report.ts'
import { Cluster } from '../../../kinds/native/cluster.ts'
import { PlacementDecision } from '../../../kinds/native/placement-decision.ts'
import { Placement } from '../../../kinds/native/placement.ts'
import { RolloutPlan } from '../../../kinds/native/rollout-plan.ts'
import type { Clock } from '../../../core/time/clock.ts'
import { systemClock } from '../../../core/time/system-clock.ts'
import { comparisonMessage } from '../../../plan/handover/comparison.ts'
import { build, buildCluster, buildPlacement } from '../../../testing/fixtures/builders.ts'
import { createCliHub, expectErrorText } from '../../../testing/hub/cli-hub.ts'
import { handoverStatus } from './handover-status.ts'
import { handover } from './handover.ts'
import type { HandoverInput } from './handover.ts'

const DIGEST = 'sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'
type Answer = Partial<NonNullable<ClusterReport['spec']['handover']>> & {
  readonly differences?: readonly string[]
  readonly take?: 'Failed'
}

async function started(t: { after(fn: () => Promise<void>): void }) {
  const hub = createCliHub(t)
  const { client } = hub
  await ensureNamespace(client, 'retail')
  for (const [name, tier] of [
    ['store-1', 'canary'],
    ['store-2', 'store'],
    ['store-3', 'store'],
    ['lab', 'lab'],
  ] as const)
    await client.create(Cluster, buildCluster(name, { labels: { tier }, spec: { accepted: name !== 'lab' } }))
  const answers = new Map<string, Answer>()
  const steps: string[] = []

  /** The agents answer between two looks of the command. */
  async function agents(): Promise<void> {
    for (const { metadata, spec } of (await client.list(Cluster)).items) {
      const { name } = metadata
      const step = spec.handover?.step
      if (!step || step === 'Done' || answers.get(name)?.state === undefined) continue
      if (!steps.includes(`${name} ${step}`)) steps.push(`${name} ${step}`)
      const { differences = [], take, ...rest } = answers.get(name)!
      const answer = step === 'Take' && take ? { ...rest, state: take, message: 'no controllers' } : rest
      const { from, since } = spec.handover!
      const counts = { objects: 12, differing: differences.length, left: 0 }
      const report: ClusterReport['spec'] = {
        clusterId: spec.id,
        epoch: 1,
        revision: 1,
        receivedAt: since,
        handover: { from, step, since, message: `${step} done`, ...counts, ...(answer as { state: 'Complete' }) },
        bundles: [
          {
            bundle: 'retail/shop',
            generation: 1,
            set: DIGEST,
            state: 'Pending',
            message: comparisonMessage(from, { objects: 12, differences }),
          },
        ],
      }
      await client.apply(ClusterReport, build(ClusterReport, name, { spec: report }), {
        fieldManager: 'agent',
        force: true,
      })
    }
  }
  let nowMs = 0
  const clock: Clock = {
    ...systemClock,
    monotonicMs: () => nowMs,
    sleep: async (ms) => {
      nowMs += ms
      await agents()
    },
  }
  const input = (flags: HandoverInput['flags'] = {}): HandoverInput => ({
    connection: hub.connection,
    terminal: hub.terminal,
    flags,
    clock,
    signal: new AbortController().signal,
    confirm: async () => false,
  })
  const stepOf = async (name: string) => (await client.get(Cluster, { name })).spec.handover
  return { ...hub, answers, steps, input, clock, stepOf }
}

test('a cluster without differences is compared, taken over and finished; each step once', async (t) => {
  const { input, answers, steps, stepOf, taken } = await started(t)
  answers.set('store-1', { state: 'Complete' })
  assert.match(
    await expectErrorText(handover('ocm', ['store-1'], input())),
    /stop the controllers of ocm on 1 cluster \(store-1\) .*stdin is not a terminal/s,
  )
  assert.equal((await stepOf('store-1'))?.step, 'Compare', 'a comparison needs no confirmation')
  assert.equal(await handover('ocm', ['store-1'], input({ yes: true })), 0)
  assert.match(taken().err, /cluster "store-1": Take done.*--finish, or --undo to go back/s)
  assert.equal((await stepOf('store-1'))?.by, 'admin')
  assert.equal(await handover('ocm', ['store-1'], input({ yes: true })), 0, 'again: nothing new')
  assert.deepEqual(steps, ['store-1 Compare', 'store-1 Take'])
  assert.equal(await handover('ocm', ['store-1'], input({ yes: true, finish: true })), 0)
  assert.equal((await stepOf('store-1'))?.step, 'Done')
  assert.match(await expectErrorText(handover('ocm', ['store-1'], input({ undo: true }))), /past the last step/)
})

test('differences are shown and stop the cluster until a person accepts them', async (t) => {
  const { input, answers, stepOf, taken } = await started(t)
  answers.set('store-1', { state: 'Complete', differences: ['ConfigMap shop/x: .data.a'] })
  assert.equal(await handover('flux', ['store-1'], input({ yes: true })), 5)
  const { out, err } = taken()
  assert.equal(out, 'store-1  retail/shop  ConfigMap shop/x: .data.a\n')
  assert.match(err, /flotilla handover flux store-1 --accept-differences/)
  assert.equal((await stepOf('store-1'))?.step, 'Compare')
  assert.equal(await handover('flux', ['store-1'], input({ yes: true, acceptDifferences: true })), 0)
  assert.deepEqual([(await stepOf('store-1'))?.step, (await stepOf('store-1'))?.acceptDifferences], ['Take', true])
  assert.equal(await handover('flux', ['store-1'], input({ yes: true, undo: true })), 0)
  const { step, acceptDifferences } = (await stepOf('store-1'))!
  assert.deepEqual([step, acceptDifferences], ['Undo', undefined], 'the acceptance ends with its step')
})

test('a cluster that does not answer is left where it is, and a later run continues', async (t) => {
  const { input, answers, steps, taken } = await started(t)
  answers.set('store-1', { state: 'Complete' })
  assert.equal(await handover('fleet', ['store-1', 'store-2'], input({ yes: true, timeout: '5s' })), 8)
  assert.match(taken().err, /cluster "store-2": step Compare: waiting for the agent/)
  answers.set('store-2', { state: 'Failed', message: 'the cluster has no controllers of Rancher Fleet' })
  assert.equal(await handover('fleet', ['store-1', 'store-2'], input({ yes: true })), 1)
  assert.match(taken().err, /cluster "store-2": step Compare: the cluster has no controllers/)
  answers.set('store-2', { state: 'Complete' })
  assert.equal(await handover('fleet', ['store-1', 'store-2'], input({ yes: true })), 0)
  assert.deepEqual(
    steps.filter((step) => step.endsWith('Take')),
    ['store-1 Take', 'store-2 Take'],
  )
})

test('a failed takeover is tried again with what a person states', async (t) => {
  const { input, answers, stepOf } = await started(t)
  answers.set('store-1', { state: 'Complete', take: 'Failed' })
  assert.equal(await handover('argo', ['store-1'], input({ yes: true })), 1)
  assert.equal((await stepOf('store-1'))?.peerStopped, undefined)
  assert.equal(await handover('argo', ['store-1'], input({ yes: true, peerStopped: true })), 1)
  assert.equal((await stepOf('store-1'))?.peerStopped, true)
  assert.match(
    await expectErrorText(handover('argo', ['store-1'], input({ yes: true, finish: true }))),
    /cluster "store-1" is not taken over yet: no controllers/,
  )
})

test('clusters of a Placement and of a ring; a choice that matches none changes nothing', async (t) => {
  const { client, input, answers, stepOf } = await started(t)
  const write = { fieldManager: 'test' }
  await client.create(Placement, buildPlacement('retail/stores'), write)
  const rings = [
    { name: 'canary', concurrency: 1, selector: { matchLabels: { tier: 'canary' } } },
    { name: 'early', concurrency: 1, count: 1 },
    { name: 'rest', concurrency: 5 },
  ]
  await client.create(RolloutPlan, build(RolloutPlan, 'retail/edge', { spec: { rings, start: 'Automatic' } }), write)
  const decisions = ['store-1', 'store-2', 'store-3'].map((cluster) => ({
    cluster,
    reason: '',
    state: 'Selected' as const,
  }))
  const page = { placement: 'stores', placementGeneration: 1, page: 0, pages: 1, decisions }
  await client.create(PlacementDecision, build(PlacementDecision, 'retail/stores-0', { spec: page }), write)
  for (const name of ['store-1', 'store-2', 'store-3']) answers.set(name, { state: 'Complete' })
  const flags = { namespace: 'retail', placement: 'stores', compare: true }
  assert.equal(await handover('ocm', [], input({ ...flags, ring: 'edge/early' })), 0)
  const begun = async () => {
    const all = ['store-1', 'store-2', 'store-3', 'lab'] as const
    const found = await Promise.all(all.map(async (name) => ((await stepOf(name)) ? name : '')))
    return found.filter((name) => name !== '')
  }
  assert.deepEqual(await begun(), ['store-2'])
  assert.equal(await handover('ocm', ['store-1', 'lab'], input(flags)), 0, 'both choices must match')
  assert.deepEqual(await begun(), ['store-1', 'store-2'])
  assert.match(
    await expectErrorText(handover('ocm', [], input({ ...flags, ring: 'edge/earlyy' }))),
    /no ring "earlyy".*did you mean/s,
  )
  assert.match(await expectErrorText(handover('ocm', [], input({ ring: 'edge/early' }))), /--ring needs --placement/)
  assert.match(await expectErrorText(handover('ocm', [], input({}))), /no clusters are chosen/)
  assert.match(await expectErrorText(handover('flux', ['store-1'], input({}))), /is in a handover from ocm/)
  assert.match(
    await expectErrorText(handover('ocm', ['store-1'], input({ undo: true, finish: true }))),
    /cannot be combined/,
  )
})

test('a pending cluster gets the step before its agent may follow', async (t) => {
  const { input, stepOf, taken } = await started(t)
  assert.equal(await handover('ocm', ['lab'], input({})), 8)
  assert.equal((await stepOf('lab'))?.step, 'Compare')
  assert.match(taken().err, /flotilla cluster accept lab/)
})

test('status lists who is where', async (t) => {
  const { connection, terminal, input, answers, clock, taken } = await started(t)
  answers.set('store-1', { state: 'Complete', left: 2, leftObjects: ['deployments.apps shop/old'] })
  answers.set('store-2', { state: 'Working', message: 'Deployment x/y still has 1 pod' })
  await handover('ocm', ['store-1'], input({ yes: true }))
  assert.match(taken().err, /2 objects of ocm are in no Bundle and stay as they are: deployments.apps shop\/old/)
  await handover('ocm', ['store-2'], input({ compare: true, timeout: '3s' }))
  await handover('flux', ['store-3'], input({ compare: true, timeout: '1s' }))
  taken()
  await handoverStatus('ocm', { connection, terminal, clock, flags: {} })
  const { out, err } = taken()
  assert.match(out, /^CLUSTER +STEP +STATE +DIFFERING +IN NO BUNDLE +SINCE +BY +MESSAGE\n/)
  assert.match(out, /store-1 +Take +Complete +0 +2 .* admin +Take done\n/)
  assert.match(out, /store-2 +Compare +Working .*still has 1 pod/)
  assert.match(err, /2 clusters with a handover from ocm, 2 without/)
  await handoverStatus('flux', { connection, terminal, clock, flags: { output: 'json' } })
  const { clusters } = JSON.parse(taken().out) as { clusters: { cluster: string; state: string }[] }
  assert.deepEqual(
    clusters.map(({ cluster, state }) => [cluster, state]),
    [['store-3', 'Waiting']],
  )
})

test('a cluster that has moved over from one system has not moved over from another', async (t) => {
  const { client, input, answers, stepOf } = await started(t)
  answers.set('store-1', { state: 'Complete' })
  await handover('ocm', ['store-1'], input({ yes: true }))
  await handover('ocm', ['store-1'], input({ yes: true, finish: true }))
  for (const flags of [{}, { compare: true }, { finish: true }, { undo: true }]) {
    assert.match(
      await expectErrorText(handover('flux', ['store-1'], input({ yes: true, ...flags }))),
      /cluster "store-1" has moved over from ocm.*kubectl patch clusters\.flotilla\.dev store-1 /s,
    )
  }
  assert.equal((await stepOf('store-1'))?.from, 'ocm')
  await client.patch(Cluster, { name: 'store-1' }, { type: 'merge', body: { spec: { handover: null } } })
  assert.equal(await handover('flux', ['store-1'], input({ compare: true })), 0)
})

test('another person gives a cluster back while one confirms the last step: the cluster stays with the other system', async (t) => {
  const { client, input, answers, stepOf } = await started(t)
  answers.set('store-1', { state: 'Complete' })
  await handover('ocm', ['store-1'], input({ yes: true }))
  const set = (step: string) =>
    client.patch(Cluster, { name: 'store-1' }, { type: 'merge', body: { spec: { handover: { step } } } })
  await assert.rejects(set('Done'), /step Done follows step Finish/)
  await set('Undo')
  for (const step of ['Finish', 'Done']) await assert.rejects(set(step), new RegExp(`step ${step} follows step`))
  assert.equal((await stepOf('store-1'))?.step, 'Undo')
})

test('the last step cannot be taken back through the API either, and users without rights change nothing', async (t) => {
  const { client, connectionOf, input, answers } = await started(t)
  answers.set('store-1', { state: 'Complete' })
  await handover('ocm', ['store-1'], input({ yes: true }))
  const other = { ...input({ yes: true, undo: true }), connection: connectionOf('dora') }
  assert.match(await expectErrorText(handover('ocm', ['store-1'], other)), /forbidden|not allowed|cannot/i)
  await handover('ocm', ['store-1'], input({ yes: true, finish: true }))
  const back = { type: 'merge' as const, body: { spec: { handover: { step: 'Undo' } } } }
  await assert.rejects(client.patch(Cluster, { name: 'store-1' }, back), /last step of a handover has begun/)
})
