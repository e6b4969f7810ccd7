import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { isObject, jsonClone } from '../../../core/json.ts'
import { openApiPath } from '../../../kinds/openapi.ts'
import { exampleKind, titleOf } from './builtin-kinds.ts'
import type { Api, ApiCase } from '../harness.ts'
import { BUILTIN_EXAMPLES } from './builtin-examples.ts'
import type { BuiltinExample } from './builtin-examples.ts'

/**
 * Built-in kinds with one field left out: what a kube-apiserver takes is taken, and no home stumbles over what is not
 * there.
 */

type Path = readonly (string | number)[]

/** The paths of all fields of an object that its kind has; of a list its first item stands for all. */
function pathsOf(value: unknown, at: Path = []): Path[] {
  if (Array.isArray(value)) return value.length > 0 ? pathsOf(value[0], [...at, 0]) : []
  if (!isObject(value)) return []
  return Object.entries(value)
    .filter(([field]) => at.length > 0 || !['apiVersion', 'kind', 'metadata'].includes(field))
    .flatMap(([field, child]) => [[...at, field], ...pathsOf(child, [...at, field])])
}

function without(object: unknown, path: Path): unknown {
  const copy = jsonClone(object)
  let inside = copy as Record<string | number, unknown>
  for (const field of path.slice(0, -1)) inside = inside[field] as Record<string | number, unknown>
  delete inside[path.at(-1)!]
  return copy
}

/** Which fields of an example a home cannot do without, and what it says then. */
export async function findRequiredFields(api: Api, example: BuiltinExample): Promise<Record<string, string>> {
  const kind = exampleKind(example)
  const place = kind.scope === 'Namespaced' ? `/namespaces/${api.namespace}` : ''
  const text = JSON.stringify({ ...example.object, metadata: { name: 'shown', ...example.object.metadata } })
  const object = JSON.parse(text.replaceAll('NAMESPACE', api.namespace)) as unknown
  const missed: Record<string, string> = {}
  for (const path of pathsOf(object)) {
    const { status, text: answer } = await api.send('POST', `/${openApiPath(kind)}${place}/${kind.plural}?dryRun=All`, {
      body: without(object, path),
    })
    assert.ok(status < 500, `${titleOf(example)} without ${path.join('.')}: ${answer}`)
    if (status === 201) continue
    const { message } = JSON.parse(answer) as { message: string }
    missed[path.join('.')] = message.replaceAll(api.namespace, 'NAMESPACE')
  }
  return missed
}

/** Where it is kept what a kube-apiserver misses, by the title of each example. */
export const MISSED_FILE = new URL('../../fixtures/builtin-missed.json', import.meta.url)

/**
 * What our server takes and a kube-apiserver does not: rules about more than presence, named in docs/kubernetes-api.md.
 */
const TAKEN: ReadonlySet<string> = new Set([
  'v1 Event shown involvedObject',
  'v1 Event shown involvedObject.namespace',
  'apps/v1 StatefulSet shown spec.volumeClaimTemplates.0.metadata',
  'apps/v1 StatefulSet shown spec.volumeClaimTemplates.0.metadata.name',
  'apiregistration.k8s.io/v1 APIService v1.shown.example.dev spec.group',
  'apiregistration.k8s.io/v1 APIService v1.shown.example.dev spec.version',
  'events.k8s.io/v1 Event newer reportingController',
  'events.k8s.io/v1 Event newer reportingInstance',
  'events.k8s.io/v1 Event newer action',
  'events.k8s.io/v1 Event newer reason',
  'events.k8s.io/v1 Event newer type',
  'events.k8s.io/v1 Event newer regarding',
  'events.k8s.io/v1 Event newer regarding.namespace',
  'resource.k8s.io/v1 ResourceSlice shown spec.devices.0.attributes.index.int',
  'storage.k8s.io/v1 VolumeAttributesClass shown parameters.iops',
])

/** Refused by both, in other words. */
const SAID_OTHERWISE: ReadonlySet<string> = new Set([
  // A kube-apiserver names the other one of the two.
  ...['Mutating', 'Validating'].flatMap((kind) =>
    ['name', 'namespace'].map(
      (field) =>
        `admissionregistration.k8s.io/v1 ${kind}WebhookConfiguration shown webhooks.0.clientConfig.service.${field}`,
    ),
  ),
  'admissionregistration.k8s.io/v1 ValidatingAdmissionPolicyBinding shown spec.validationActions',
  'events.k8s.io/v1 Event newer eventTime',
  'rbac.authorization.k8s.io/v1 ClusterRole shown rules.0.verbs',
  'rbac.authorization.k8s.io/v1 Role shown rules.0.verbs',
])

/** The answer to one field that is required; others tell of what its absence makes wrong, and are not compared. */
const ONE_REQUIRED = / is invalid: [^[ ]\S*: Required value(: [^,]*)?$/

/** One case per example. */
const EXAMPLE_CASES: readonly ApiCase[] = BUILTIN_EXAMPLES.map((example) => ({
  title: `${titleOf(example)} may lack what Kubernetes lets it lack, and nothing else`,
  async run(api) {
    const all = JSON.parse(readFileSync(MISSED_FILE, 'utf8')) as Readonly<Record<string, Record<string, string>>>
    const known = all[titleOf(example)] ?? {}
    const refused = await findRequiredFields(api, example)
    const named = (path: string) => `${titleOf(example)} ${path}`
    assert.deepEqual(
      Object.keys(refused).filter((path) => !Object.hasOwn(known, path)),
      [],
      'what a kube-apiserver takes is refused',
    )
    assert.deepEqual(
      Object.keys(known).filter((path) => !Object.hasOwn(refused, path) && !TAKEN.has(named(path))),
      [],
      'what a kube-apiserver refuses is taken',
    )
    const compared = Object.keys(known).filter(
      (path) => ONE_REQUIRED.test(known[path]!) && !TAKEN.has(named(path)) && !SAID_OTHERWISE.has(named(path)),
    )
    const told = (answers: Readonly<Record<string, string>>) => compared.map((path) => [path, answers[path]])
    assert.deepEqual(told(refused), told(known))
  },
}))

const NO_POLICY = 'spec.template.spec.restartPolicy: Required value: valid values: "OnFailure", "Never"'

function jobWith(restartPolicy: string): object {
  return { template: { spec: { restartPolicy, containers: [{ name: 'a', image: 'a' }] } } }
}

function pathOf(pathType: string): object {
  return { rules: [{ http: { paths: [{ pathType, backend: { resource: { kind: 'A', name: 'a' } } }] } }] }
}

/** Fields that are asked for under conditions, each with what is wrong, if anything is. */
const CONDITIONS: readonly (readonly [apiVersion: string, kind: string, spec: object, wrong?: string])[] = [
  ['v1', 'Service', { type: 'NodePort' }, 'spec.ports: Required value'],
  ['v1', 'Service', { clusterIP: 'None' }],
  ['v1', 'Service', { ports: [{ port: 1 }, { port: 2, name: 'b' }] }, 'spec.ports[0].name: Required value'],
  ['v1', 'Service', { type: 'ExternalName', externalName: '' }, 'spec.externalName: Required value'],
  ['v1', 'Service', { type: 'ExternalName', externalName: 'a.b' }],
  ['batch/v1', 'Job', jobWith('Always'), NO_POLICY],
  ['batch/v1', 'Job', jobWith(''), NO_POLICY],
  ['networking.k8s.io/v1', 'Ingress', { defaultBackend: { service: { name: 's', port: { name: 'http' } } } }],
  ['networking.k8s.io/v1', 'Ingress', { rules: [{ host: 'a.b' }] }],
  [
    'networking.k8s.io/v1',
    'Ingress',
    { defaultBackend: {} },
    'spec.defaultBackend: Invalid value: "": resource or service backend is required',
  ],
  ['networking.k8s.io/v1', 'Ingress', pathOf('ImplementationSpecific')],
  [
    'networking.k8s.io/v1',
    'Ingress',
    pathOf('Exact'),
    'spec.rules[0].http.paths[0].path: Invalid value: "": must be an absolute path',
  ],
  [
    'autoscaling/v2',
    'HorizontalPodAutoscaler',
    { maxReplicas: 2, scaleTargetRef: { kind: 'Deployment', name: 'a' } },
    'spec.scaleTargetRef.apiVersion: Invalid value: "": apiVersion must specify API group',
  ],
  [
    'autoscaling/v2',
    'HorizontalPodAutoscaler',
    { maxReplicas: 2, scaleTargetRef: { kind: 'ReplicationController', name: 'a' } },
  ],
  [
    'v1',
    'Pod',
    { containers: [{ name: 'a', image: 'a', livenessProbe: { exec: {} } }] },
    'spec.containers[0].livenessProbe.exec.command: Required value',
  ],
]

const CONDITION_CASES: readonly ApiCase[] = CONDITIONS.map(([apiVersion, kind, spec, wrong]) => ({
  title: `${kind} ${JSON.stringify(spec)} ${wrong === undefined ? 'is whole' : 'lacks something'}`,
  async run(api) {
    const { plural } = exampleKind({ object: { apiVersion, kind } })
    const root = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`
    const { status, text } = await api.send('POST', `${root}/namespaces/${api.namespace}/${plural}?dryRun=All`, {
      body: { apiVersion, kind, metadata: { name: 'shown' }, spec },
    })
    const { message } = JSON.parse(text) as { message?: string }
    assert.deepEqual([status, message?.split(' is invalid: ')[1]], [wrong === undefined ? 201 : 422, wrong], text)
  },
}))

/** All of them. */
export const LEFT_OUT_CASES: readonly ApiCase[] = [...EXAMPLE_CASES, ...CONDITION_CASES]
