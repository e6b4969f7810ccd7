/** flotilla top over the real API server in memory: keys in, screens out, and changes with the rights of the person. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ensureNamespace } from '../../../hub/home/hub-info.ts'
import { RoleBinding } from '../../../kinds/builtin/rbac.ts'
import { Cluster } from '../../../kinds/native/cluster.ts'
import { Rollout } from '../../../kinds/native/rollout.ts'
import { build, buildCluster } from '../../../testing/fixtures/builders.ts'
import { createCliHub, expectErrorReport } from '../../../testing/hub/cli-hub.ts'
import type { FullScreen } from '../../print/full-screen.ts'
import { top } from './top.ts'

/** A terminal that keeps what is shown, and types. */
function fakeScreen() {
  let shown: readonly string[] = []
  let receive: (text: string) => void = () => {}
  const waiting = new Set<() => void>()
  const screen: FullScreen & { isClosed: boolean } = {
    columns: 100,
    rows: 30,
    isClosed: false,
    show: (lines) => {
      shown = lines
      for (const look of waiting) look()
    },
    onKeys: (next) => {
      receive = next
      return () => {}
    },
    onResize: () => () => {},
    close() {
      this.isClosed = true
    },
  }
  return {
    screen,
    type: (text: string) => receive(text),
    /** Resolves when the screen shows it. */
    shows: (pattern: RegExp) =>
      new Promise<void>((found) => {
        const look = (): void => {
          if (!pattern.test(shown.join('\n'))) return
          waiting.delete(look)
          found()
        }
        waiting.add(look)
        look()
      }),
  }
}

async function started(t: { after(fn: () => Promise<void>): void }, user?: string) {
  const hub = createCliHub(t)
  await ensureNamespace(hub.client, 'retail')
  await hub.client.create(Cluster, buildCluster('store-1'))
  const waits = buildCluster('store-2')
  await hub.client.create(Cluster, { ...waits, spec: { ...waits.spec, accepted: false } })
  const rings = [{ name: 'all', concurrency: 1 }]
  await hub.client.create(
    Rollout,
    build(Rollout, 'retail/pos-g1', { spec: { release: 'pos-g1', rings, paused: false } }),
  )
  for (const [name, role] of Object.entries({ vera: 'view', ed: 'edit' })) {
    await hub.client.create(
      RoleBinding,
      build(RoleBinding, `retail/${name}`, {
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: role },
        subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name }],
      }),
    )
  }
  const fake = fakeScreen()
  const stop = new AbortController()
  const connection = user === undefined ? hub.connection : hub.connectionOf(user)
  const reasons: string[] = []
  const input = {
    connection,
    connectFor: async (reason: string) => {
      reasons.push(reason)
      return connection
    },
    terminal: hub.terminal,
    openScreen: async () => fake.screen,
    signal: stop.signal,
    flags: user === undefined ? {} : { namespace: 'retail' },
  }
  return { ...hub, ...fake, input, stop, reasons }
}

test('a rollout is paused and a cluster accepted by keys, with their reasons', async (t) => {
  const { client, input, type, shows, screen, reasons } = await started(t)
  const running = top(input)
  await shows(/2 clusters/)
  await shows(/accept +store-2/)
  type('\tp')
  await shows(/Pause rollout retail\/pos-g1\? Reason/)
  type('calls\r')
  await shows(/rollout "pos-g1" paused/)
  const paused = await client.get(Rollout, { namespace: 'retail', name: 'pos-g1' })
  assert.equal(paused.spec.paused, true)
  assert.equal(paused.metadata.annotations?.['flotilla.dev/reason'], 'calls')
  type('\ta')
  await shows(/Accept cluster store-2\?/)
  type('\r')
  await shows(/cluster "store-2" accepted/)
  assert.equal((await client.get(Cluster, { name: 'store-2' })).spec.accepted, true)
  assert.deepEqual(reasons, ['calls'], 'a reason takes a connection that records it')
  type('q')
  assert.equal(await running, 0)
  assert.equal(screen.isClosed, true)
})

test('a viewer of one namespace sees it, is told what is hidden, and may not pause', async (t) => {
  const { client, input, type, shows } = await started(t, 'vera')
  const running = top(input)
  await shows(/You may not list clusters\./)
  await shows(/retail\/pos-g1 +Pending/)
  type('p\r')
  await shows(/cannot .*rollouts|may not|not allowed/)
  assert.equal((await client.get(Rollout, { namespace: 'retail', name: 'pos-g1' })).spec.paused, false)
  type('\u0003')
  assert.equal(await running, 0)
})

test('an editor of the namespace pauses its rollout', async (t) => {
  const { client, input, type, shows } = await started(t, 'ed')
  const running = top(input)
  await shows(/retail\/pos-g1/)
  type('p\r')
  await shows(/rollout "pos-g1" paused/)
  assert.equal((await client.get(Rollout, { namespace: 'retail', name: 'pos-g1' })).spec.paused, true)
  type('q')
  await running
})

test('without a terminal, and without any right, it ends as commands end', async (t) => {
  const { input, connectionOf } = await started(t)
  const refused = await expectErrorReport(top({ ...input, openScreen: async () => undefined }))
  assert.equal(refused.exitCode, 2)
  assert.match(refused.todo ?? '', /flotilla status -o json/)
  const none = await expectErrorReport(top({ ...input, connection: connectionOf('stranger') }))
  assert.equal(none.exitCode, 4)
  assert.match(none.todo ?? '', /top -n NAMESPACE/)
})

test('a signal gives the terminal back', async (t) => {
  const { input, screen, shows, stop } = await started(t)
  const running = top(input)
  await shows(/2 clusters/)
  stop.abort()
  assert.equal(await running, 130)
  assert.equal(screen.isClosed, true)
})
