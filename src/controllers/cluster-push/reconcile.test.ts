import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Cluster } from '../../kinds/native/cluster.ts'
import { Secret } from '../../kinds/builtin/core.ts'
import { build, buildCluster } from '../../testing/fixtures/builders.ts'
import { reconcileOnce } from '../../testing/reconcile-once.ts'
import type { JoinedAgent, PushTarget } from './ports.ts'
import { clusterPushReconciler } from './reconcile.ts'

const KUBECONFIG = JSON.stringify({
  'current-context': 'a',
  contexts: [{ name: 'a', context: { cluster: 'c', user: 'u' } }],
  clusters: [{ name: 'c', cluster: { server: 'https://10.0.0.1:6443' } }],
  users: [{ name: 'u', user: { token: 'c4n4ry' } }],
})
const KEYS = { identityKey: 'aWRlbnRpdHk=', sealingKey: 'c2VhbGluZw==' }
const SECRET = { namespace: 'team', name: 'store', key: 'value' }

const secretWith = (data: Record<string, string>): Secret =>
  build(Secret, 'team/store', {
    data: Object.fromEntries(Object.entries(data).map(([key, text]) => [key, Buffer.from(text).toString('base64')])),
  })

function world(secret: Secret | undefined = secretWith({ value: KUBECONFIG }), isEnabled = true, joined?: JoinedAgent) {
  const did: string[] = []
  const targets: PushTarget[] = []
  const agents = {
    keysOf: async () => KEYS,
    run: (target: PushTarget) => {
      did.push(`run ${target.name} ${target.clusterId}`)
      targets.push(target)
    },
    stop: (name: string) => void did.push(`stop ${name}`),
    forget: (name: string) => void did.push(`forget ${name}`),
    stateOf: () => ({ reason: 'Running', message: 'Runs.' }),
    onChange: () => () => {},
  }
  const reconciler = clusterPushReconciler({
    agents: isEnabled ? agents : undefined,
    secretOf: async () => secret,
    newClusterId: () => 'c-new',
    joinedAgent: () => joined,
  })
  const pass = (cluster: Cluster) => reconcileOnce(reconciler, cluster)
  return { did, targets, pass }
}

const cluster = (spec: Partial<Cluster['spec']> = {}): Cluster =>
  buildCluster('a', { spec: { id: 'c-a', ...KEYS, kubeconfigSecret: SECRET, ...spec } })

test('a cluster with a credential runs, and the Secret is read again', async () => {
  const { did, targets, pass } = world()
  const { condition, result } = await pass(cluster())
  assert.deepEqual(did, ['run a c-a'])
  assert.equal(targets[0]?.credential.token?.reveal(), 'c4n4ry')
  assert.equal(condition('Pushed'), 'True Running: Runs.')
  assert.equal(result?.requeueAfterMs, 30_000)
})

test('a new cluster gets an id and the keys of its agent before the agent runs', async () => {
  const { did, pass } = world()
  const { draft, commit } = await pass(cluster({ id: '', identityKey: '', sealingKey: '' }))
  assert.deepEqual([draft.next.spec.id, draft.next.spec.identityKey], ['c-new', KEYS.identityKey])
  assert.deepEqual([did, commit], [[], 'Object'])
})

test('an agent with other keys keeps the id; a sealing key that the agent renewed stays', async () => {
  const other = await world().pass(cluster({ identityKey: 'b3RoZXI=' }))
  assert.deepEqual([other.draft.next.spec.id, other.draft.next.spec.identityKey], ['c-a', KEYS.identityKey])
  const renewed = await world().pass(cluster({ sealingKey: 'bmV3ZXI=' }))
  assert.equal(renewed.draft.next.spec.sealingKey, 'bmV3ZXI=')
})

test('what cannot be used stops the agent, is said without the credential, and is read again soon', async () => {
  const table: [Secret | undefined, RegExp][] = [
    [undefined, /^False SecretNotFound: Secret team\/store does not exist\.$/],
    [secretWith({ kubeconfig: KUBECONFIG }), /^False SecretNotFound: .* has no key value; it has kubeconfig\.$/],
    [secretWith({ value: 'c4n4ry: [' }), /^False BadKubeconfig: Secret team\/store key value is not a kubeconfig: /],
    [secretWith({ value: KUBECONFIG.replace('"token"', '"exec"') }), /^False BadKubeconfig: .*"exec", which is not/],
  ]
  for (const [secret, expected] of table) {
    const { did, pass } = world(secret)
    // An argument that is undefined would take its default.
    const { condition, result } = secret ? await pass(cluster()) : await missing().pass(cluster())
    assert.match(condition('Pushed'), expected)
    assert.ok(!condition('Pushed').includes('c4n4ry'))
    if (secret) assert.deepEqual(did, ['stop a'])
    assert.equal(result?.requeueAfterMs, 5000)
  }
})

function missing() {
  const reconciler = clusterPushReconciler({
    agents: {
      keysOf: async () => KEYS,
      run: () => assert.fail('without a Secret'),
      stop: () => {},
      forget: () => {},
      stateOf: () => undefined,
      onChange: () => () => {},
    },
    secretOf: async () => undefined,
    joinedAgent: () => undefined,
    newClusterId: () => 'c-new',
  })
  return { pass: (one: Cluster) => reconcileOnce(reconciler, one) }
}

test('the hub runs no agent for a cluster that is not accepted, revoked or left', async () => {
  const refused = { verdict: 'Revoked', at: '2026-01-01T00:00:00Z' } as const
  for (const spec of [{ accepted: false }, { refused }]) {
    const { did, pass } = world()
    assert.match((await pass(cluster(spec))).condition('Pushed'), /^False NotAccepted/)
    assert.deepEqual(did, ['stop a'])
  }
})

test('without the Secret the files go; a hub without push says so', async () => {
  const { did, pass } = world()
  const { kubeconfigSecret: _, ...spec } = cluster().spec
  assert.equal((await pass({ ...cluster(), spec })).condition('Pushed'), '-')
  assert.deepEqual(did, ['forget a'])
  assert.match((await world(undefined, false).pass(cluster())).condition('Pushed'), /^False PushDisabled: .*--no-push/)
})

test('an agent that joined takes over once, also on a hub that runs no agents', async () => {
  const joined = { joinToken: 'move', identityKey: 'bmV3', sealingKey: 'bmV3c2VhbA==' }
  for (const isEnabled of [true, false]) {
    const { did, pass } = world(undefined, isEnabled, joined)
    const { next } = (await pass(cluster())).draft
    const { kubeconfigSecret, identityKey, sealingKey, joinToken, id } = next.spec
    assert.deepEqual(
      { kubeconfigSecret, identityKey, sealingKey, joinToken, id },
      { kubeconfigSecret: undefined, ...joined, id: 'c-a' },
    )
    assert.deepEqual(did, [])
  }
  const { did, pass } = world(undefined, true, joined)
  await pass(cluster({ joinToken: 'move' }))
  assert.deepEqual(did, ['run a c-a'], 'registered by kubeconfig again')
})
