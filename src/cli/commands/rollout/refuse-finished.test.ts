/** Refusal of commands for a finished rollout, against the real API server in memory. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { digestOf } from '../../../core/crypto/digest.ts'
import { ensureNamespace } from '../../../hub/home/hub-info.ts'
import { Approval } from '../../../kinds/native/approval.ts'
import { Bundle } from '../../../kinds/native/bundle.ts'
import { Release } from '../../../kinds/native/release.ts'
import { Rollout } from '../../../kinds/native/rollout.ts'
import { build, buildBundle } from '../../../testing/fixtures/builders.ts'
import { createCliHub, expectErrorReport, expectErrorText } from '../../../testing/hub/cli-hub.ts'
import { retry } from './rollback.ts'
import { rolloutApprove } from './approve.ts'
import { rolloutExcept } from './except.ts'
import { rolloutAbort, rolloutPause, rolloutResume } from './rollout.ts'
import type { RolloutInput } from './rollout.ts'

const NS = { namespace: 'ns' }
const commands = {
  approve: rolloutApprove,
  pause: rolloutPause,
  resume: rolloutResume,
  abort: rolloutAbort,
  except: (name: string, input: RolloutInput) =>
    rolloutExcept(name, 'role=night', { ...input, flags: { reason: 'CVE' } }),
  retry: (name: string, input: RolloutInput) => retry(name, { ...input, now: () => 0, confirm: async () => true }),
}

/** Two Releases of a bundle, each with a Rollout whose ring asks for an approval; the bundle knows `newest`. */
async function started(t: { after(fn: () => Promise<void>): void }, newest = 'hello-g2') {
  const { client, connection, terminal } = createCliHub(t, NS)
  await ensureNamespace(client, 'ns')
  const bundle = await client.create(Bundle, buildBundle('ns/hello', { placement: 'p' }))
  await client.update(Bundle, { ...bundle, status: { release: newest } }, { subresource: 'status' })
  for (const generation of [1, 2]) {
    const name = `hello-g${generation}`
    const bundles = [{ name: 'hello', generation, set: digestOf(name), placement: 'p' }]
    await client.create(Release, build(Release, `ns/${name}`, { spec: { bundles } }))
    const rings = [{ name: 'all', concurrency: 1, approvals: { count: 1, noSelfApproval: false } }]
    await client.create(Rollout, build(Rollout, `ns/${name}`, { spec: { release: name, rings, paused: false } }))
  }
  const become = async (name: string, change: { spec?: object; status?: object }) => {
    const now = await client.get(Rollout, { ...NS, name })
    const next = await client.update(Rollout, { ...now, spec: { ...now.spec, ...change.spec } })
    await client.update(Rollout, { ...next, status: { ...now.status, ...change.status } }, { subresource: 'status' })
  }
  /** Says everything to it, and sees that nothing is written. */
  const says = async (name: string, verbs: readonly (keyof typeof commands)[]) => {
    const before = (await client.get(Rollout, { ...NS, name })).metadata.resourceVersion
    const told: Record<string, string> = {}
    for (const verb of verbs) {
      const running = commands[verb](name, { connection, terminal, flags: {} })
      told[verb] = await expectErrorText(running)
      const { exitCode } = await expectErrorReport(commands[verb](name, { connection, terminal, flags: {} }))
      assert.equal(exitCode, 5, verb)
    }
    assert.equal((await client.get(Rollout, { ...NS, name })).metadata.resourceVersion, before)
    assert.deepEqual((await client.list(Approval, NS)).items, [])
    return told
  }
  return { client, become, says, input: { connection, terminal, flags: {} } }
}

const ALL = Object.keys(commands) as (keyof typeof commands)[]
const TAKEN_OVER = [
  'error: rollout "hello-g1" in namespace "ns" was superseded by hello-g2; nothing was changed',
  'hint: show the newest rollout with "flotilla rollout status hello -n ns"',
  '',
].join('\n')

for (const [when, status] of [
  ['has written it down', { phase: 'Superseded', superseded: [{ bundle: 'hello', by: 'hello-g2' }] }],
  ['is about to write it down', { phase: 'Progressing' }],
] as const) {
  test(`a rollout that a newer one took over, when the hub ${when}: every word is refused, and says by which`, async (t) => {
    const { become, says } = await started(t)
    await become('hello-g1', { status })
    const told = await says('hello-g1', ALL)
    assert.deepEqual(told, Object.fromEntries(ALL.map((verb) => [verb, TAKEN_OVER])))
  })
}

test('an older Release that the bundle still names takes nothing over', async (t) => {
  const { client, input } = await started(t, 'hello-g1')
  await rolloutApprove('hello-g2', input)
  assert.equal((await client.list(Approval, NS)).items.length, 1)
})

test('an aborted rollout never goes on; to abort it again is no error', async (t) => {
  const { become, says, input } = await started(t)
  await become('hello-g2', { spec: { aborted: true } })
  const told = await says('hello-g2', ['approve', 'pause', 'resume', 'except', 'retry'])
  assert.deepEqual(new Set(Object.values(told)).size, 1)
  assert.match(
    told['approve']!,
    /rollout "hello-g2" .* was aborted and cannot continue; nothing was changed\nhint: change the Bundle/,
  )
  await rolloutAbort('hello-g2', input)
})

test('a bundle that was deleted, and a removal that is through, leave nothing to say', async (t) => {
  const { client, become, says } = await started(t)
  const removal = {
    bundle: 'hello',
    cause: 'unplaced' as const,
    policy: 'Delete' as const,
    clusters: ['a'],
    reason: 'x',
  }
  const spec = { release: 'hello-g2', rings: [{ name: 'all', concurrency: 1 }], paused: false, removal }
  await client.create(Rollout, build(Rollout, 'ns/hello-removal', { spec }))
  const counts = { total: 1, ready: 1, progressing: 0, pending: 0, failed: 0, offline: 0 }
  await become('hello-removal', { status: { phase: 'Completed', counts } })
  const { pause } = await says('hello-removal', ['pause', 'resume', 'abort'])
  assert.match(pause!, /"hello-removal" .* is over: bundle "hello" was removed from all its clusters/)
  await client.delete(Bundle, { ...NS, name: 'hello' })
  await become('hello-g2', { status: { phase: 'Superseded' } })
  const { approve } = await says('hello-g2', ['approve', 'pause'])
  assert.match(approve!, /"hello-g2" .* is over: its Bundles were deleted or a newer rollout superseded it/)
})
