/** rollout status, pause, resume, abort, history and the preview, against the real API server in memory. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { digestOf } from '../../../core/crypto/digest.ts'
import { ensureNamespace } from '../../../hub/home/hub-info.ts'
import { Approval } from '../../../kinds/native/approval.ts'
import { Bundle } from '../../../kinds/native/bundle.ts'
import { Cluster } from '../../../kinds/native/cluster.ts'
import { PlacementDecision } from '../../../kinds/native/placement-decision.ts'
import { Release } from '../../../kinds/native/release.ts'
import { RolloutPlan } from '../../../kinds/native/rollout-plan.ts'
import { Rollout } from '../../../kinds/native/rollout.ts'
import { build, buildBundle, buildCluster } from '../../../testing/fixtures/builders.ts'
import { createCliHub } from '../../../testing/hub/cli-hub.ts'
import { explainError } from '../../errors/explain-error.ts'
import { whoAmI } from '../../api/who-am-i.ts'
import { rolloutApprove } from './approve.ts'
import { rolloutExcept } from './except.ts'
import { rolloutWatch } from './watch.ts'
import { rolloutAbort, rolloutHistory, rolloutPause, rolloutResume, rolloutStart, rolloutStatus } from './rollout.ts'

async function started(t: { after(fn: () => Promise<void>): void }) {
  const { client, connection, terminal, said } = createCliHub(t, { namespace: 'ns' })
  await ensureNamespace(client, 'ns')
  const write = { fieldManager: 'test' }
  const rings = [
    { name: 'canary', selector: { matchLabels: { ring: 'canary' } }, concurrency: 1, soak: '10m' },
    { name: 'early', count: 1, concurrency: 10 },
  ]
  const asks = {
    approvals: { count: 2, noSelfApproval: false },
    gates: [{ name: 'base', when: 'Open' as const, bundleReady: { bundle: 'base' } }],
  }
  const planned = rings.map((ring) => (ring.name === 'early' ? { ...ring, ...asks } : ring))
  const plan = { rings: planned, start: 'Automatic' as const }
  await client.create(RolloutPlan, build(RolloutPlan, 'ns/careful', { spec: plan }), write)
  const bundle = buildBundle('ns/hello', { placement: 'p', rollout: { plan: 'careful' } })
  const made = await client.create(Bundle, bundle, write)
  await client.update(Bundle, { ...made, status: { release: 'hello-g1' } }, { ...write, subresource: 'status' })
  const clusters = {
    a: { ring: 'canary', region: 'eu' },
    b: { region: 'us' },
    c: { maintenance: 'frozen', region: 'us' },
  }
  for (const [name, labels] of Object.entries(clusters))
    await client.create(Cluster, buildCluster(name, { labels }), write)
  const decisions = Object.keys(clusters).map((cluster) => ({ cluster, reason: '', state: 'Selected' as const }))
  const page = { placement: 'p', placementGeneration: 1, page: 0, pages: 1, decisions }
  await client.create(PlacementDecision, build(PlacementDecision, 'ns/p-0', { spec: page }), write)
  const bundles = [{ name: 'hello', generation: 1, set: digestOf('x'), placement: 'p', bytes: 3000 }]
  await client.create(Release, build(Release, 'ns/hello-g1', { spec: { bundles } }), write)
  const spec = { release: 'hello-g1', rings, paused: false }
  const rollout = await client.create(Rollout, build(Rollout, 'ns/hello-g1', { spec }), write)
  const status = {
    phase: 'Progressing' as const,
    ring: 'early',
    rings: [
      { name: 'canary', members: 1, ready: 1, failed: 0, excused: 0, passedAt: '2026-11-16T00:00:00Z' },
      { name: 'early', upTo: 'b', members: 1, ready: 0, failed: 1, excused: 0 },
    ],
    counts: { total: 3, ready: 1, progressing: 0, pending: 1, failed: 1, offline: 0 },
  }
  await client.update(Rollout, { ...rollout, status }, { ...write, subresource: 'status' })
  return { client, said, input: { connection, terminal, flags: {} } }
}

test('status shows the rings and answers with its exit code', async (t) => {
  const { said, input } = await started(t)
  assert.equal(await rolloutStatus('hello-g1', input), 8)
  assert.equal(
    said.out.replace(/passed \S+ ago/, 'passed AGE ago'),
    ['hello-g1  Progressing  1 of 3 ready', ' ✔ canary   1/1        passed AGE ago', ' ↻ early    0/1  ✗ 1', ''].join(
      '\n',
    ),
  )
})

test('the levers: pause, resume and abort, with the reason kept; an aborted one never goes on', async (t) => {
  const { client, said, input } = await started(t)
  const reason = { ...input, flags: { reason: 'CVE-2026-1234' } }
  const key = { name: 'hello-g1', namespace: 'ns' }
  await rolloutPause('hello-g1', reason)
  const paused = await client.get(Rollout, key)
  assert.deepEqual([paused.spec.paused, paused.metadata.annotations?.['flotilla.dev/reason']], [true, 'CVE-2026-1234'])
  await rolloutResume('hello-g1', input)
  const resumed = await client.get(Rollout, key)
  assert.deepEqual([resumed.spec.paused, resumed.metadata.annotations?.['flotilla.dev/reason']], [false, undefined])
  await rolloutResume('hello-g1', input)
  assert.match(said.err, /"hello-g1" is already running\n/)
  const running = await client.get(Rollout, key)
  const complete = { ...running, status: { ...running.status, phase: 'Completed' as const } }
  await client.update(Rollout, complete, { subresource: 'status' })
  await rolloutResume('hello-g1', input)
  assert.match(said.err, /"hello-g1" is Completed and not paused\n/)
  const again = { ...(await client.get(Rollout, key)), status: running.status! }
  await client.update(Rollout, again, { subresource: 'status' })
  await rolloutAbort('hello-g1', { ...input, flags: { reason: 'the printers stop' } })
  assert.match(said.err, /"hello-g1" aborted; 1 of 3 clusters have the release and keep it/)
  const caught = await rolloutResume('hello-g1', input).catch((error: unknown) => error)
  const { exitCode, report } = explainError(caught)
  assert.deepEqual(
    [exitCode, report.what],
    [5, 'rollout "hello-g1" in namespace "ns" was aborted and cannot continue; nothing was changed'],
  )
  said.out = ''
  await rolloutHistory('hello', input)
  assert.match(
    said.out,
    /^GENERATION +RELEASE +PHASE +READY +CREATED +REVISION +AUTHOR +SUBJECT +REASON\n1 +hello-g1 +Progressing +1\/3 +\S+ ago +- +- +- +the printers stop\n$/,
  )
  const unknown = await rolloutStatus('hello-g2', input).catch((error: unknown) => error)
  assert.equal(explainError(unknown).report.what, 'rollout "hello-g2" not found in namespace "ns"')
})

test('the levers take the bundle’s name for its newest rollout, and say which it was', async (t) => {
  const { client, said, input } = await started(t)
  const specOf = async () => (await client.get(Rollout, { name: 'hello-g1', namespace: 'ns' })).spec
  await rolloutPause('hello', input)
  assert.equal((await specOf()).paused, true)
  await rolloutResume('hello', input)
  assert.equal((await specOf()).paused, false)
  await rolloutExcept('hello', 'group=system:masters', { ...input, flags: { reason: 'CVE' } })
  assert.equal((await specOf()).exceptions?.length, 1)
  assert.match(
    said.err,
    /no window or freeze has an exception for group=system:masters, so rollout "hello-g1" passes none/,
  )
  await rolloutAbort('hello', input)
  assert.equal((await specOf()).aborted, true)
  for (const words of ['"hello-g1" paused', '"hello-g1" resumed', '"hello-g1" passes', '"hello-g1" aborted'])
    assert.match(said.err, new RegExp(words))
  await client.create(Bundle, buildBundle('ns/young', { placement: 'p' }), { fieldManager: 'test' })
  const early = await rolloutPause('young', input).catch((error: unknown) => error)
  const { exitCode, report } = explainError(early)
  assert.deepEqual([exitCode, report.what], [5, 'bundle "young" has no release yet'])
})

test('the plan is shown before it starts: rings, frozen, offline, who is in none, and what ring 1 does not prove', async (t) => {
  const { said, input } = await started(t)
  await rolloutStart('hello', { ...input, flags: { dryRun: true } })
  assert.deepEqual(said.out.split('\n'), [
    'bundle "hello": 3 clusters, at least 10m0s with 1 minute for each step, at most 5.9 KB to fetch',
    'RING     MEMBERS   OFFLINE   FROZEN   STEPS   SOAK    ASKS',
    'canary   1         1         0        0       10m0s   -',
    'early    1         1         0        0       -       gate base, approval of 2',
    '(none)   1',
    '',
  ])
  assert.match(said.err, /no cluster of ring canary is connected/)
  assert.match(said.err, /ring 1 has no cluster with region us; 1 cluster of later rings has/)
  assert.match(said.err, /1 cluster is in no ring and would never be admitted/)
})

test('approve: one word for the ring that waits, what it still lacks, and words that would be in vain are refused', async (t) => {
  const { client, said, input } = await started(t)
  const asks = (approvals: object) => async () => {
    const rings = [
      { name: 'canary', concurrency: 1, selector: { matchLabels: { ring: 'canary' } } },
      { name: 'early', concurrency: 10, approvals: { count: 2, noSelfApproval: false, ...approvals } },
    ]
    const name = `hello-g${++made}`
    const spec = { release: name, rings, paused: true, plan: 'careful' }
    await client.create(Rollout, build(Rollout, `ns/${name}`, { spec }))
    return name
  }
  let made = 1
  const name = await asks({})()
  await rolloutApprove(name, { ...input, flags: { reason: 'looks good' } })
  const { username } = await whoAmI(input.connection.rest)
  assert.match(said.err, new RegExp(`ring "early" of rollout "${name}" approved by ${username}`))
  assert.match(said.err, new RegExp(`the ring needs 2 different people; approved so far by: ${username}`))
  const { items } = await client.list(Approval, { namespace: 'ns' })
  assert.deepEqual(
    items.map(({ spec, metadata }) => [spec, metadata.ownerReferences?.[0]?.name]),
    [
      [
        {
          rollout: name,
          plan: 'careful',
          ring: 'early',
          decision: 'Approve',
          reason: 'looks good',
          author: username,
        },
        name,
      ],
    ],
  )
  const refusal = async (rollout: string, flags: object) => {
    const { exitCode, report } = explainError(
      await rolloutApprove(rollout, { ...input, flags }).catch((error: unknown) => error),
    )
    return [exitCode, report.what, report.why]
  }
  assert.deepEqual(await refusal(name, { ring: 'canary' }), [
    5,
    `ring "canary" of rollout "${name}" requires no approval`,
    undefined,
  ])
  assert.deepEqual(await refusal(name, { ring: 'erly' }), [3, `rollout "${name}" has no ring "erly"`, undefined])
  assert.deepEqual(await refusal('hello-g1', {}), [5, 'no ring of rollout "hello-g1" requires an approval', undefined])
  const ops = await asks({ groups: ['ops'] })()
  assert.deepEqual((await refusal(ops, {})).slice(0, 2), [
    4,
    `user "${username}" may not approve ring "early" of rollout "${ops}"`,
  ])
  const own = await asks({ noSelfApproval: true })()
  await rolloutResume(own, input)
  assert.deepEqual((await client.get(Rollout, { name: own, namespace: 'ns' })).spec.startedBy, [username])
  assert.deepEqual(await refusal(own, {}), [
    4,
    `user "${username}" may not approve ring "early" of rollout "${own}"`,
    'you started the rollout, and the ring requires an approval by another user',
  ])
  said.err = ''
  await rolloutApprove(own, { ...input, flags: { reject: true } })
  assert.match(said.err, /rejected by/)
})

test('watch: a line for each change, drawn over on a terminal, until it ends; exit codes on request', async (t) => {
  const { client, said, input } = await started(t)
  const signal = new AbortController().signal
  const key = { name: 'hello-g1', namespace: 'ns' }
  const become = async (phase: 'Progressing' | 'Completed', ready: number, reason?: string) => {
    const seen = await client.get(Rollout, key)
    const held = { lastTransitionTime: '2026-11-16T00:00:00Z', observedGeneration: 1, status: 'True' as const }
    const conditions = reason ? [{ ...held, type: 'Held', reason, message: `${reason}!` }] : []
    const rings = seen.status?.rings?.map((ring) => (ring.name === 'early' ? { ...ring, ready } : ring))
    const status = { ...seen.status, phase, conditions, ...(rings ? { rings } : {}) }
    await client.update(Rollout, { ...seen, status }, { subresource: 'status' })
  }
  const play = async () => {
    await become('Progressing', 0, 'BudgetFull')
    await become('Progressing', 0, 'BudgetFull')
    await become('Progressing', 1)
    await become('Completed', 1)
  }
  const both = async (terminal: typeof input.terminal) => {
    said.out = ''
    await become('Progressing', 0)
    const ended = rolloutWatch('hello-g1', { ...input, terminal, signal, flags: { exitStatus: true } })
    while (said.out === '') await new Promise((resolve) => setImmediate(resolve))
    await play()
    return await ended
  }
  assert.equal(await both(input.terminal), 0)
  assert.deepEqual(said.out.split('\n'), [
    'Progressing  ring 2/2 early 0/1',
    'Progressing  ring 2/2 early 0/1  BudgetFull!',
    'Progressing  ring 2/2 early 1/1',
    'Completed  ring 2/2 early 1/1',
    '',
  ])
  assert.equal(await both({ ...input.terminal, isLive: true, columns: 30 }), 0)
  assert.equal(said.out.split('\u001b[J').length, 4, 'drawn over')
  const lines = said.out.split('\n').map((line) => line.slice(line.lastIndexOf('\u001b[J') + 1))
  assert.ok(
    lines.every((line) => line.length < 33),
    said.out,
  )
  assert.match(said.out, /Ctrl-C ends the watch only\.\n/)

  await become('Progressing', 0, 'ApprovalPending')
  assert.equal(await rolloutStatus('hello-g1', input), 5)
  said.err = ''
  assert.equal(await rolloutWatch('hello-g1', { ...input, signal, flags: { exitStatus: true } }), 5)
  assert.match(said.err, /flotilla rollout approve hello-g1 -n ns/)
  const missing = await rolloutWatch('missing', { ...input, signal }).catch((error: unknown) => error)
  assert.equal(explainError(missing).report.what, 'rollout "missing" not found in namespace "ns"')
})
