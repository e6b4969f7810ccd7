import assert from 'node:assert/strict'
import type { Api, ApiCase, Loose, Reply } from '../harness.ts'
import { eventually } from '../policies/validating-policies.ts'

/**
 * What a new pod gets from its service account and from its runtime class. A real home needs its controller manager for
 * these.
 */

const MOUNT = '/var/run/secrets/kubernetes.io/serviceaccount'

const inside = ({ namespace }: Api, plural: string): string => `/api/v1/namespaces/${namespace}/${plural}`

function post(api: Api, name: string, spec: object = {}): Promise<Reply> {
  const containers = [{ name: 'c', image: 'web:1' }]
  const body = { apiVersion: 'v1', kind: 'Pod', metadata: { name }, spec: { containers, ...spec } }
  return api.send('POST', inside(api, 'pods'), { body })
}

async function made(api: Api, name: string, spec: object = {}): Promise<Loose> {
  // A controller manager creates the account some time after the namespace.
  await eventually(async () => void (await api.ok('GET', `${inside(api, 'serviceaccounts')}/default`)))
  const { status, body, text } = await post(api, name, spec)
  assert.equal(status, 201, text)
  return body.spec
}

const account = (api: Api, name: string, more: object): Promise<Loose> =>
  api.ok('POST', inside(api, 'serviceaccounts'), {
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    metadata: { name },
    ...more,
  })

async function runtimeClass(api: Api, more: object): Promise<string> {
  const name = `${api.namespace}-runtime`
  const metadata = { name }
  const body = { apiVersion: 'node.k8s.io/v1', kind: 'RuntimeClass', metadata, handler: 'other', ...more }
  await api.ok('POST', '/apis/node.k8s.io/v1/runtimeclasses', body)
  return name
}

const refusal = ({ status, body }: Reply): Loose => [status, body.reason, body.message]

const stays = (key: string): object => ({ key, operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 300 })
const STAYS = [stays('node.kubernetes.io/not-ready'), stays('node.kubernetes.io/unreachable')]

/** Cases about what a new pod gets. */
export const NEW_POD_CASES: readonly ApiCase[] = [
  {
    title: 'a pod speaks as the default account of its namespace and has its token at hand',
    async run(api) {
      const spec = await made(api, 'web', { initContainers: [{ name: 'i', image: 'web:1' }] })
      assert.deepEqual([spec.serviceAccountName, spec.serviceAccount], ['default', 'default'])
      const [volume, ...others] = spec.volumes
      assert.deepEqual(others, [])
      assert.match(volume.name, /^kube-api-access-[a-z0-9]{5}$/)
      assert.deepEqual(volume.projected, {
        defaultMode: 420,
        sources: [
          { serviceAccountToken: { expirationSeconds: 3607, path: 'token' } },
          { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
          {
            downwardAPI: {
              items: [{ path: 'namespace', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' } }],
            },
          },
        ],
      })
      for (const container of [spec.containers[0], spec.initContainers[0]]) {
        assert.deepEqual(container.volumeMounts, [{ name: volume.name, readOnly: true, mountPath: MOUNT }])
      }
    },
  },
  {
    title: 'a pod and its account may do without the token, and the pod is asked first',
    async run(api) {
      await account(api, 'closed', { automountServiceAccountToken: false })
      const mounts = async (name: string, spec: object): Promise<boolean> =>
        (await made(api, name, spec)).volumes !== undefined
      const closed = { serviceAccountName: 'closed' }
      assert.equal(await mounts('a', { automountServiceAccountToken: false }), false)
      assert.equal(await mounts('b', closed), false)
      assert.equal(await mounts('c', { ...closed, automountServiceAccountToken: true }), true)
    },
  },
  {
    title: 'a pod that mounts its own proof keeps it, and takes pull secrets from its account when it names none',
    async run(api) {
      await account(api, 'pulls', { imagePullSecrets: [{ name: 'registry' }] })
      const own = { name: 'own', mountPath: MOUNT }
      const spec = await made(api, 'web', {
        serviceAccountName: 'pulls',
        containers: [{ name: 'c', image: 'web:1', volumeMounts: [own] }],
        volumes: [{ name: 'own', emptyDir: {} }],
      })
      assert.deepEqual(spec.containers[0].volumeMounts, [own])
      assert.deepEqual(spec.volumes, [{ name: 'own', emptyDir: {} }])
      assert.deepEqual(spec.imagePullSecrets, [{ name: 'registry' }])
      const other = await made(api, 'other', { serviceAccountName: 'pulls', imagePullSecrets: [{ name: 'mine' }] })
      assert.deepEqual(other.imagePullSecrets, [{ name: 'mine' }])
    },
  },
  {
    title: 'a pod whose account does not exist is refused',
    async run(api) {
      assert.deepEqual(refusal(await post(api, 'web', { serviceAccountName: 'missing' })), [
        403,
        'Forbidden',
        `pods "web" is forbidden: error looking up service account ${api.namespace}/missing: serviceaccount "missing" not found`,
      ])
    },
  },
  {
    title: 'a pod whose runtime class does not exist is refused, and so is overhead that no class has',
    async run(api) {
      const forbidden = (why: string) => [403, 'Forbidden', `pods "web" is forbidden: pod rejected: ${why}`]
      assert.deepEqual(
        refusal(await post(api, 'web', { runtimeClassName: 'none' })),
        forbidden('RuntimeClass "none" not found'),
      )
      assert.deepEqual(
        refusal(await post(api, 'web', { overhead: { cpu: '1' } })),
        forbidden('Pod Overhead set without corresponding RuntimeClass defined Overhead'),
      )
    },
  },
  {
    title: 'a pod gets the overhead, the nodes and the tolerations of its runtime class',
    async run(api) {
      const tolerations = [
        { key: 'other', operator: 'Exists', effect: 'NoSchedule' },
        { key: 'node.kubernetes.io/unreachable', operator: 'Exists' },
      ]
      const runtimeClassName = await runtimeClass(api, {
        overhead: { podFixed: { cpu: '10m', memory: '1Mi' } },
        scheduling: { nodeSelector: { runtime: 'other' }, tolerations },
      })
      const spec = await made(api, 'web', {
        runtimeClassName,
        nodeSelector: { disk: 'fast' },
        tolerations: [{ key: 'other', operator: 'Equal', value: 'x', effect: 'NoSchedule' }],
      })
      assert.deepEqual(spec.overhead, { cpu: '10m', memory: '1Mi' })
      assert.deepEqual(spec.nodeSelector, { disk: 'fast', runtime: 'other' })
      assert.deepEqual(spec.tolerations, [STAYS[0], ...tolerations])
      const [code, , message] = refusal(await post(api, 'b', { runtimeClassName, nodeSelector: { runtime: 'this' } }))
      assert.equal(code, 403)
      assert.match(
        message,
        /conflict: runtimeClass.scheduling.nodeSelector\[runtime\] = other; pod.spec.nodeSelector\[runtime\] = this$/,
      )
      const other = await post(api, 'c', { runtimeClassName, overhead: { cpu: '1' } })
      assert.match(other.body.message, /pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead$/)
    },
  },
  {
    title: 'a pod stays five minutes on a node that went away, unless it says for how long',
    async run(api) {
      assert.deepEqual((await made(api, 'a')).tolerations, STAYS)
      const own = { key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 5 }
      assert.deepEqual((await made(api, 'b', { tolerations: [own] })).tolerations, [own, STAYS[1]])
      const all = { operator: 'Exists' }
      assert.deepEqual((await made(api, 'c', { tolerations: [all] })).tolerations, [all])
    },
  },
]
