import assert from 'node:assert/strict'
import type { Api, ApiCase, Loose, Reply } from '../harness.ts'

/** What a kind's own rules refuse: keys of data, types of secrets, and what of a spec may no longer change. */

const inside = (api: Api, path: string) => `${path}/namespaces/${api.namespace}`

const create = (api: Api, plural: string, body: object, path = '/api/v1'): Promise<Reply> =>
  api.send('POST', `${inside(api, path)}/${plural}`, { body })

const merge = (api: Api, path: string, body: object): Promise<Reply> =>
  api.send('PATCH', path, { body, contentType: 'application/merge-patch+json' })

/** Each cause of a refusal: its field, and the words after it up to the first line's end. */
function causes({ status, body }: Reply): string[] {
  assert.equal(status, 422, JSON.stringify(body))
  return body.details.causes.map(({ field, message }: Loose) => `${field}: ${message.split('\n')[0]}`)
}

const KEY_RULE =
  "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')"

const pod = (more: object = {}, spec: object = {}) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'a', ...more },
  spec: { containers: [{ name: 'c', image: 'web:1' }], ...spec },
})

/** The cases. */
export const FIXED_CASES: readonly ApiCase[] = [
  {
    title: 'keys of ConfigMaps and Secrets are names of files',
    async run(api) {
      const map = (fields: object) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' }, ...fields })
      const refused = async (fields: object) => causes(await create(api, 'configmaps', map(fields)))
      assert.deepEqual(await refused({ data: { '': 'x' } }), [`data[]: Invalid value: "": ${KEY_RULE}`])
      assert.deepEqual(await refused({ binaryData: { 'a/b': 'eA==' } }), [
        `binaryData[a/b]: Invalid value: "a/b": ${KEY_RULE}`,
      ])
      assert.deepEqual(await refused({ data: { '..': '' } }), [`data[..]: Invalid value: "..": must not be '..'`])
      assert.deepEqual(await refused({ data: { '..a': '' } }), [
        `data[..a]: Invalid value: "..a": must not start with '..'`,
      ])
      assert.deepEqual(await refused({ data: { a: '' }, binaryData: { a: '' } }), [
        'data[a]: Invalid value: "a": duplicate of key present in binaryData',
      ])
      const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'a' }, stringData: { 'a b': 'x' } }
      assert.deepEqual(causes(await create(api, 'secrets', secret)), [`data[a b]: Invalid value: "a b": ${KEY_RULE}`])
      assert.equal((await create(api, 'configmaps', map({ data: { '.a_B-1': 'x' } }))).status, 201)
      const path = `${inside(api, '/api/v1')}/configmaps/a`
      assert.deepEqual(causes(await merge(api, path, { data: { é: 'x' } })), [
        `data[é]: Invalid value: "é": ${KEY_RULE}`,
      ])
    },
  },
  {
    title: 'a secret of a known type has what that type needs',
    async run(api) {
      const secret = (type: string, stringData: object, name = 'a') => ({
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name },
        type: `kubernetes.io/${type}`,
        stringData,
      })
      const fields = async (type: string, data: object) =>
        causes(await create(api, 'secrets', secret(type, data))).map((cause) => cause.replace(/: invalid char.*/, ''))
      assert.deepEqual(await fields('tls', { 'tls.crt': 'x' }), ['data[tls.key]: Required value'])
      assert.deepEqual(await fields('ssh-auth', {}), ['data[ssh-privatekey]: Required value'])
      assert.deepEqual(await fields('basic-auth', {}), [
        'data[username]: Required value',
        'data[password]: Required value',
      ])
      assert.deepEqual(await fields('dockercfg', {}), ['data[.dockercfg]: Required value'])
      assert.deepEqual(await fields('dockerconfigjson', {}), ['data[.dockerconfigjson]: Required value'])
      const text = await fields('dockerconfigjson', { '.dockerconfigjson': 'text' })
      assert.match(text[0]!, /^data\[\.dockerconfigjson\]: Invalid value: "<secret contents redacted>"/)
      assert.deepEqual(await fields('service-account-token', {}), [
        'metadata.annotations[kubernetes.io/service-account.name]: Required value',
      ])
      assert.equal((await create(api, 'secrets', secret('tls', { 'tls.crt': '', 'tls.key': '' }))).status, 201)
      assert.equal((await create(api, 'secrets', secret('basic-auth', { password: 'x' }, 'b'))).status, 201)
    },
  },
  {
    title: 'what a pod asks of a kernel has a name',
    async run(api) {
      const sysctls = ['foo-', 'kernel.shmmax', 'net/ipv4/a.b', 'bar..', 'kernel.shmmax'].map((name) => ({
        name,
        value: '1',
      }))
      const regex = '^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$'
      const rule = `must have at most 253 characters and match regex ${regex}`
      assert.deepEqual(causes(await create(api, 'pods', pod({}, { securityContext: { sysctls } }))), [
        `spec.securityContext.sysctls[0].name: Invalid value: "foo-": ${rule}`,
        `spec.securityContext.sysctls[3].name: Invalid value: "bar..": ${rule}`,
        `spec.securityContext.sysctls[4].name: Duplicate value: "kernel.shmmax"`,
      ])
    },
  },
  {
    title: 'of the spec of a pod little may change',
    async run(api) {
      await api.ok('POST', `${inside(api, '/api/v1')}/pods`, pod({}, { activeDeadlineSeconds: 50 }))
      const path = `${inside(api, '/api/v1')}/pods/a`
      const refused = async (spec: object) => causes(await merge(api, path, { spec }))
      const changeable =
        '`spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)'
      const others = `spec: Forbidden: pod updates may not change fields other than ${changeable}`
      assert.deepEqual(await refused({ hostname: 'x' }), [others])
      assert.deepEqual(await refused({ containers: [{ name: 'c', image: 'web:1', command: ['x'] }] }), [others])
      assert.deepEqual(await refused({ terminationGracePeriodSeconds: 5 }), [others])
      const two = ['c', 'd'].map((name) => ({ name, image: 'web:1' }))
      assert.deepEqual(await refused({ containers: two }), [
        'spec.containers: Forbidden: pod updates may not add or remove containers',
      ])
      assert.deepEqual(await refused({ activeDeadlineSeconds: 51 }), [
        'spec.activeDeadlineSeconds: Invalid value: 51: must be less than or equal to previous value',
      ])
      assert.deepEqual(await refused({ activeDeadlineSeconds: null }), [
        'spec.activeDeadlineSeconds: Invalid value: null: must not update from a positive integer to nil value',
      ])
      assert.deepEqual(await refused({ schedulingGates: [{ name: 'a' }] }), [
        "spec.schedulingGates[0].name: Forbidden: only deletion is allowed, but found new scheduling gate 'a'",
      ])
      const tolerations = [{ key: 'a', operator: 'Exists', effect: 'NoExecute' }]
      const allowed = { tolerations, activeDeadlineSeconds: 40 }
      assert.equal((await merge(api, path, { spec: allowed })).status, 200)
      const image = await api.send('PATCH', path, {
        body: { spec: { containers: [{ name: 'c', image: 'web:2' }] } },
        contentType: 'application/strategic-merge-patch+json',
      })
      assert.deepEqual([image.status, image.body.spec.containers[0].image], [200, 'web:2'])
      assert.deepEqual(await refused({ tolerations: [{ ...tolerations[0], key: 'b' }] }), [
        'spec.tolerations: Forbidden: existing toleration can not be modified except its tolerationSeconds',
      ])
    },
  },
  {
    title: 'what is there twice is forgiven where Kubernetes forgives it, and owned as one',
    async run(api) {
      const twice = (item: object) => [item, item]
      const env = [
        { name: 'A', value: '1' },
        { name: 'A', value: '2' },
      ]
      const named = { name: 'c', image: 'web:1', env, ports: twice({ containerPort: 80 }) }
      const spec = {
        containers: [named],
        imagePullSecrets: twice({ name: 's' }),
        hostAliases: twice({ ip: '192.0.2.7', hostnames: ['a'] }),
      }
      const made = await create(api, 'pods', pod({}, spec))
      assert.equal(made.status, 201, made.text)
      assert.deepEqual(made.body.spec.containers[0].env, env)
      const owned = made.body.metadata.managedFields[0].fieldsV1['f:spec']['f:containers']['k:{"name":"c"}']
      assert.deepEqual(owned['f:env'], { '.': {}, 'k:{"name":"A"}': {} })
      const account = {
        apiVersion: 'v1',
        kind: 'ServiceAccount',
        metadata: { name: 'a' },
        secrets: twice({ name: 'x' }),
      }
      assert.equal((await create(api, 'serviceaccounts', account)).status, 201)
      const volumes = twice({ name: 'v', emptyDir: {} })
      for (const refused of [{ volumes }, { containers: twice({ name: 'c', image: 'web:1' }) }]) {
        assert.equal((await create(api, 'pods', pod({ name: 'b' }, refused))).status, 422)
      }
    },
  },
  {
    title: 'who replaces a pod by what it was made of keeps what was computed for it',
    async run(api) {
      const path = `${inside(api, '/api/v1')}/pods`
      const { spec } = await api.ok('POST', path, pod())
      const replaced = await api.ok('PUT', `${path}/a`, pod({ labels: { replaced: 'yes' } }))
      assert.equal(replaced.metadata.labels.replaced, 'yes')
      assert.deepEqual([spec.priority, spec.preemptionPolicy], [0, 'PreemptLowerPriority'])
      assert.deepEqual(replaced.spec, spec)
    },
  },
  {
    title: 'a pod that waits at a gate may be told where to go, and leave it',
    async run(api) {
      await api.ok('POST', `${inside(api, '/api/v1')}/pods`, pod({}, { schedulingGates: [{ name: 'a' }] }))
      const path = `${inside(api, '/api/v1')}/pods/a`
      assert.equal((await merge(api, path, { spec: { nodeSelector: { zone: 'b' } } })).status, 200)
      assert.equal((await merge(api, path, { spec: { schedulingGates: null } })).status, 200)
      assert.equal((await merge(api, path, { spec: { nodeSelector: { zone: 'c' } } })).status, 422)
    },
  },
  {
    title: 'the work of a Job stays what it was',
    async run(api) {
      const template = { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'web:1' }] } }
      const job = (name: string, spec: object = {}) => ({
        apiVersion: 'batch/v1',
        kind: 'Job',
        metadata: { name },
        spec: { completions: 2, parallelism: 1, template, ...spec },
      })
      const jobs = `${inside(api, '/apis/batch/v1')}/jobs`
      await api.ok('POST', jobs, job('a'))
      const fields = async (name: string, spec: object) =>
        causes(await merge(api, `${jobs}/${name}`, { spec })).map((cause) => {
          assert.ok(cause.endsWith(': field is immutable'), cause)
          return cause.split(':')[0]
        })
      assert.deepEqual(await fields('a', { completions: 3 }), ['spec.completions'])
      const other = { spec: { containers: [{ name: 'c', image: 'web:2' }] } }
      assert.deepEqual(await fields('a', { template: other }), ['spec.template'])
      assert.deepEqual(await fields('a', { completionMode: 'Indexed' }), ['spec.completionMode'])
      assert.equal((await merge(api, `${jobs}/a`, { spec: { parallelism: 2, backoffLimit: 1 } })).status, 200)

      await api.ok('POST', jobs, job('rests', { suspend: true }))
      const placed = { template: { metadata: { labels: { x: 'y' } }, spec: { nodeSelector: { zone: 'b' } } } }
      assert.equal((await merge(api, `${jobs}/rests`, { spec: placed })).status, 200)
      assert.deepEqual(await fields('rests', { template: other }), ['spec.template.spec'])

      await api.ok('POST', jobs, job('counts', { completionMode: 'Indexed', parallelism: 2 }))
      assert.equal((await merge(api, `${jobs}/counts`, { spec: { completions: 3, parallelism: 3 } })).status, 200)
      assert.deepEqual(causes(await merge(api, `${jobs}/counts`, { spec: { completions: 4 } })), [
        'spec.completions: Invalid value: 4: can only be modified in tandem with spec.parallelism',
      ])
    },
  },
  {
    title: 'a claim stays what it was, but may grow once it is bound',
    async run(api) {
      const claims = `${inside(api, '/api/v1')}/persistentvolumeclaims`
      await api.ok('POST', claims, {
        apiVersion: 'v1',
        kind: 'PersistentVolumeClaim',
        metadata: { name: 'a' },
        spec: { storageClassName: 'x', accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '2Gi' } } },
      })
      const refused = async (spec: object) => causes(await merge(api, `${claims}/a`, { spec }))
      const rule =
        'spec: Forbidden: spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims'
      const grown = { resources: { requests: { storage: '3Gi' } } }
      assert.deepEqual(await refused(grown), [rule])
      assert.deepEqual(await refused({ storageClassName: 'y' }), [rule])
      assert.deepEqual(await refused({ accessModes: ['ReadOnlyMany'] }), [rule])
      assert.equal((await merge(api, `${claims}/a`, { spec: { volumeName: 'v' } })).status, 200)
      assert.deepEqual(await refused({ volumeName: 'w' }), [rule])
      const status = { phase: 'Bound', capacity: { storage: '2Gi' } }
      assert.equal((await merge(api, `${claims}/a/status`, { status })).status, 200)
      assert.deepEqual(await refused({ resources: { requests: { storage: '1Gi' } } }), [
        'spec.resources.requests.storage: Forbidden: field can not be less than status.capacity',
      ])
      await api.ok('DELETE', `${claims}/a`)
    },
  },
]
