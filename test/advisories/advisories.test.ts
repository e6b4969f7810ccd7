/** Attacks of published advisories, replayed. docs/reference/advisories.md lists all of them with their tests. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { storePrefix } from '../../src/apiserver/storage/stored-object.ts'
import { readKubeconfig } from '../../src/client/kubeconfig.ts'
import { agentRbac } from '../../src/hub/join/agent-rbac.ts'
import { pollIntervalMs } from '../../src/source/poll-interval.ts'

const kubeconfig = (user: object): string =>
  JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'a',
    clusters: [{ name: 'a', cluster: { server: 'https://127.0.0.1:1' } }],
    users: [{ name: 'a', user }],
    contexts: [{ name: 'a', context: { cluster: 'a', user: 'a' } }],
  })

test('CVE-2021-41254, CVE-2022-24817: a kubeconfig runs no program and borrows no identity', async () => {
  const readFile = () => Promise.reject(new Error('no files'))
  const hostile: Record<string, object> = {
    exec: { exec: { apiVersion: 'client.authentication.k8s.io/v1', command: 'sh', args: ['-c', 'id'] } },
    'auth-provider': { 'auth-provider': { name: 'gcp', config: { 'cmd-path': '/bin/sh' } } },
    as: { token: 'x', as: 'system:admin' },
  }
  for (const [field, user] of Object.entries(hostile)) {
    const reading = readKubeconfig({ text: kubeconfig(user), file: 'f', readFile })
    await assert.rejects(reading, { name: 'KubeconfigError', message: new RegExp(field) }, field)
  }
  await readKubeconfig({ text: kubeconfig({ token: 'x' }), file: 'f', readFile })
})

test('CVE-2022-3162: the prefix of a kind or namespace is no prefix of another', () => {
  const prefixes = [
    storePrefix({ group: 'a.example', plural: 'b' }),
    storePrefix({ group: 'a.example', plural: 'bs' }),
    storePrefix({ group: 'a.example.com', plural: 'b' }),
    storePrefix({ group: 'a.example', plural: 'c' }, 'ns'),
    storePrefix({ group: 'a.example', plural: 'c' }, 'ns-2'),
  ]
  for (const one of prefixes) {
    for (const other of prefixes) assert.equal(other.startsWith(one), other === one, `${one} ${other}`)
  }
})

test('CVE-2022-39272: an absurd interval is neither a busy loop nor a timer that ends at once', () => {
  for (const interval of ['1ns', '0s', '-5m', '1ms']) {
    const ms = attempt(() => pollIntervalMs({ interval }))
    assert.ok(ms === undefined || ms >= 5_000, `${interval}: ${ms}`)
  }
  for (const interval of ['99999999999999h', '9223372036854775807ns']) {
    const ms = attempt(() => pollIntervalMs({ interval }))
    assert.ok(ms === undefined || (Number.isFinite(ms) && ms > 0), `${interval}: ${ms}`)
  }
})

function attempt(read: () => number): number | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}

interface Rules {
  readonly kind: string
  readonly rules?: readonly {
    readonly verbs: readonly string[]
    readonly apiGroups?: readonly string[]
    readonly resources?: readonly string[]
  }[]
  readonly roleRef?: { readonly name: string }
}

test('CVE-2024-9779: an agent with the profile namespaced has no rights over the whole cluster', () => {
  const options = { namespaces: ['shop'], home: 'flotilla-agent', account: 'flotilla-agent', labels: {} }
  const objects = agentRbac({ ...options, profile: 'namespaced' }) as Rules[]
  assert.equal(
    objects.some(({ roleRef }) => roleRef?.name === 'cluster-admin'),
    false,
  )
  const wide = objects.filter(({ kind }) => kind === 'ClusterRole').flatMap(({ rules = [] }) => rules)
  for (const { verbs, apiGroups = [], resources = [] } of wide) {
    assert.equal(verbs.includes('*'), false)
    // The kinds of Gatekeeper's constraints are those of the cluster's templates.
    const isConstraints = apiGroups.join() === 'constraints.gatekeeper.sh'
    assert.equal(
      (resources.includes('*') && !isConstraints) || resources.includes('secrets'),
      false,
      resources.join(' '),
    )
    assert.deepEqual(
      verbs.filter((verb) => ['create', 'update', 'patch', 'delete', 'bind', 'escalate', 'impersonate'].includes(verb)),
      [],
    )
  }
})
