// What histories are about, and arbitrary writes to it.
import fc from 'fast-check'
import type { JsonObject } from '../../../core/json.ts'
import type { History, How, Step, Subject } from './apply-history.ts'

const GROUP = 'histories.flotilla.dev'

/** Everything that histories write to, by a short name. */
export const SUBJECTS: Readonly<Record<string, Subject>> = {
  widget: { kind: 'Widget', group: GROUP, plural: 'widgets', versions: ['v1'], isBuiltin: false },
  twofold: { kind: 'Widget', group: GROUP, plural: 'widgets', versions: ['v1', 'v2'], isBuiltin: false },
  deployment: { kind: 'Deployment', group: 'apps', plural: 'deployments', versions: ['v1'], isBuiltin: true },
  service: { kind: 'Service', group: '', plural: 'services', versions: ['v1'], isBuiltin: true },
}

const text = { type: 'string' }
const object = (properties: object, more: object = {}) => ({ type: 'object', properties, ...more })
const list = (items: object, listType?: string, keys?: readonly string[]) => ({
  type: 'array',
  items,
  ...(listType ? { 'x-kubernetes-list-type': listType } : {}),
  ...(keys ? { 'x-kubernetes-list-map-keys': keys } : {}),
})
const KEPT = { 'x-kubernetes-preserve-unknown-fields': true }

const WIDGET_SPEC = object({
  size: { type: 'integer' },
  mode: { type: 'string', default: 'plain' },
  words: list(text, 'set'),
  numbers: list({ type: 'integer' }, 'set'),
  steps: list(text),
  settings: { type: 'object', additionalProperties: text },
  nested: { type: 'object', additionalProperties: { type: 'object', additionalProperties: text } },
  groups: { type: 'object', additionalProperties: object({ a: text, b: list(text, 'set') }) },
  whole: object({ a: text, b: text }, { 'x-kubernetes-map-type': 'atomic' }),
  part: object({ a: text, inner: object({ c: text, d: { type: 'integer', default: 7 } }) }),
  ports: list(
    object(
      { port: { type: 'integer' }, protocol: { type: 'string', default: 'TCP' }, name: text, tags: list(text, 'set') },
      { required: ['port'] },
    ),
    'map',
    ['port', 'protocol'],
  ),
  pieces: list(
    object(
      {
        name: text,
        size: { type: 'integer' },
        env: list(object({ name: text, value: text }, { required: ['name'] }), 'map', ['name']),
        labels: { type: 'object', additionalProperties: text },
      },
      { required: ['name'] },
    ),
    'map',
    ['name'],
  ),
  either: { 'x-kubernetes-int-or-string': true },
  raw: { type: 'object', ...KEPT },
  mixed: object({ known: text }, KEPT),
})

const WIDGET_STATUS = object({
  replicas: { type: 'integer' },
  seen: { type: 'integer' },
  conditions: list(object({ type: text, status: text }, { required: ['type'] }), 'map', ['type']),
})

/** The definition of the custom kind that histories write to: every way of merging, in two versions. */
export const WIDGET_DEFINITION: JsonObject = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `widgets.${GROUP}` },
  spec: {
    group: GROUP,
    names: { kind: 'Widget', listKind: 'WidgetList', plural: 'widgets', singular: 'widget' },
    scope: 'Namespaced',
    versions: ['v1', 'v2'].map((name) => ({
      name,
      served: true,
      storage: name === 'v1',
      subresources: { status: {}, scale: { specReplicasPath: '.spec.size', statusReplicasPath: '.status.replicas' } },
      schema: { openAPIV3Schema: object({ spec: WIDGET_SPEC, status: WIDGET_STATUS }) },
    })),
  },
}

type Any = fc.Arbitrary<unknown>

/** Some of these fields; each may be left out. */
const some = (fields: Readonly<Record<string, Any>>): fc.Arbitrary<JsonObject> =>
  fc.record(fields, { requiredKeys: [] })
/** These fields, and some of the others. */
const need = (always: Readonly<Record<string, Any>>, others: Readonly<Record<string, Any>>): fc.Arbitrary<JsonObject> =>
  fc.record({ ...always, ...others }, { requiredKeys: Object.keys(always) })
const word = fc.constantFrom('a', 'b', 'c')
const number = fc.integer({ min: 0, max: 2 })
const few = (item: Any): fc.Arbitrary<unknown[]> => fc.array(item, { maxLength: 3 })
const different = (item: Any, ...keys: readonly string[]): fc.Arbitrary<unknown[]> =>
  fc.uniqueArray(item, {
    maxLength: 3,
    selector: (value) =>
      JSON.stringify(keys.length === 0 ? value : keys.map((key) => (value as JsonObject)[key] ?? 'TCP')),
  })
const dictionary = (value: Any): fc.Arbitrary<JsonObject> => fc.dictionary(word, value, { maxKeys: 3 })
const metadata = some({
  labels: dictionary(word),
  annotations: dictionary(word),
  finalizers: different(fc.constantFrom('f.io/a', 'f.io/b')),
})
const mostly = <T>(often: fc.Arbitrary<T>, rarely: fc.Arbitrary<T>): fc.Arbitrary<T> =>
  fc.oneof({ arbitrary: often, weight: 9 }, { arbitrary: rarely, weight: 1 })
const free = fc.oneof(word, number, few(word), dictionary(word), fc.constant({}))

const widgetSpec = some({
  size: number,
  mode: fc.constantFrom('plain', 'fancy'),
  words: mostly(different(word), few(word)),
  numbers: different(number),
  steps: few(word),
  settings: dictionary(word),
  nested: dictionary(dictionary(word)),
  groups: dictionary(some({ a: word, b: different(word) })),
  whole: some({ a: word, b: word }),
  part: some({ a: word, inner: some({ c: word, d: number }) }),
  ports: different(
    need({ port: number }, { protocol: fc.constantFrom('TCP', 'UDP'), name: word, tags: different(word) }),
    'port',
    'protocol',
  ),
  pieces: different(
    need(
      { name: word },
      { size: number, env: different(need({ name: word }, { value: word }), 'name'), labels: dictionary(word) },
    ),
    'name',
  ),
  either: fc.oneof(word, number),
  raw: dictionary(free),
  mixed: some({ known: word, other: free }),
})
const widgetStatus = some({
  seen: number,
  replicas: number,
  conditions: different(need({ type: word }, { status: word }), 'type'),
})

const widgetPlaces = [
  '/spec/size',
  '/spec/mode',
  '/spec/words',
  '/spec/words/0',
  '/spec/words/-',
  '/spec/settings',
  '/spec/settings/a',
  '/spec/pieces/0',
  '/spec/pieces/0/size',
  '/spec/ports/0/name',
  '/spec/raw',
  '/spec/raw/a',
  '/spec/part/inner',
  '/spec/nested/a',
  '/metadata/labels',
  '/metadata/labels/a',
  '/spec',
]

const container = (always: Readonly<Record<string, Any>>) =>
  need(
    { name: fc.constantFrom('web', 'side'), ...always },
    {
      args: few(word),
      env: different(need({ name: fc.constantFrom('A', 'B') }, { value: word }), 'name'),
      ports: different(
        need({ containerPort: fc.constantFrom(80, 81) }, { protocol: fc.constantFrom('TCP', 'UDP') }),
        'containerPort',
        'protocol',
      ),
      resources: some({ limits: some({ cpu: fc.constantFrom('1', '500m') }) }),
      imagePullPolicy: fc.constantFrom('Always', 'IfNotPresent'),
    },
  )
const image = fc.constantFrom('a:1', 'a:2', 'a')
const deploymentSpec = (isWhole: boolean): fc.Arbitrary<JsonObject> => {
  const containers = different(container(isWhole ? { image } : {}), 'name')
  const labels = dictionary(word).map((more) => ({ app: 'x', ...more }))
  const podSpec = {
    nodeSelector: dictionary(word),
    tolerations: few(need({ key: word, operator: fc.constant('Exists') }, {})),
    imagePullSecrets: different(need({ name: word }, {}), 'name'),
    volumes: different(need({ name: word, emptyDir: fc.constant({}) }, {}), 'name'),
    terminationGracePeriodSeconds: number,
    securityContext: some({ runAsUser: number }),
    hostAliases: different(need({ ip: fc.constantFrom('1.1.1.1', '2.2.2.2') }, { hostnames: few(word) }), 'ip'),
  }
  const others = {
    replicas: number,
    minReadySeconds: number,
    paused: fc.boolean(),
    revisionHistoryLimit: number,
    strategy: fc.oneof(
      fc.constant({ type: 'Recreate' }),
      need({ type: fc.constant('RollingUpdate') }, { rollingUpdate: some({ maxSurge: fc.constantFrom(1, '50%') }) }),
    ),
  }
  if (!isWhole)
    return some({ ...others, template: some({ metadata: some({ labels }), spec: some({ ...podSpec, containers }) }) })
  const whole = containers.map((items) => (items.length > 0 ? items : [{ name: 'web', image: 'a:1' }]))
  return need(
    {
      selector: fc.constant({ matchLabels: { app: 'x' } }),
      template: need({ metadata: need({ labels }, {}), spec: need({ containers: whole }, podSpec) }, {}),
    },
    others,
  )
}
const deploymentPlaces = [
  '/spec/replicas',
  '/spec/paused',
  '/spec/template/spec/containers/0/args',
  '/spec/template/spec/containers/0/env',
  '/spec/template/spec/nodeSelector',
  '/spec/strategy',
  '/metadata/labels',
  '/metadata/labels/a',
  '/spec/template/spec/volumes',
]
const deploymentStatus = some({
  replicas: number,
  observedGeneration: number,
  conditions: different(
    need({ type: fc.constantFrom('Available', 'Progressing'), status: fc.constantFrom('True', 'False') }, {}),
    'type',
  ),
})

const servicePort = need(
  { port: fc.constantFrom(80, 81), name: word },
  {
    protocol: fc.constantFrom('TCP', 'UDP'),
    targetPort: fc.oneof(
      number.map((n) => n + 1),
      word,
    ),
    appProtocol: word,
  },
)
const serviceSpec = (isWhole: boolean): fc.Arbitrary<JsonObject> => {
  const ports = different(servicePort, 'name').filter(
    (items) =>
      new Set(
        items.map((item) => JSON.stringify([(item as JsonObject)['port'], (item as JsonObject)['protocol'] ?? 'TCP'])),
      ).size === items.length,
  )
  const others = {
    selector: dictionary(word),
    sessionAffinity: fc.constantFrom('None', 'ClientIP'),
    externalIPs: different(fc.constantFrom('1.1.1.1', '2.2.2.2')),
    publishNotReadyAddresses: fc.boolean(),
    internalTrafficPolicy: fc.constantFrom('Cluster', 'Local'),
  }
  const whole = ports.map((items) => (items.length > 0 ? items : [{ port: 80, name: 'a' }]))
  return isWhole ? need({ ports: whole }, others) : some({ ...others, ports })
}
const serviceStatus = some({
  conditions: different(
    need(
      {
        type: word,
        status: fc.constant('True'),
        reason: fc.constant('R'),
        message: word,
        lastTransitionTime: fc.constant('2024-01-01T00:00:00Z'),
      },
      {},
    ),
    'type',
  ),
})

interface Writes {
  spec(isWhole: boolean): fc.Arbitrary<JsonObject>
  readonly status: fc.Arbitrary<JsonObject>
  readonly places: readonly string[]
  readonly hows: readonly How[]
}

const CUSTOM: readonly How[] = [
  'apply',
  'apply',
  'apply',
  'force',
  'force',
  'update',
  'replace',
  'merge',
  'json',
  'delete',
]
const BUILTIN: readonly How[] = [...CUSTOM, 'strategic', 'strategic']
const WIDGET: Writes = {
  spec: () => widgetSpec,
  status: widgetStatus,
  places: widgetPlaces,
  hows: CUSTOM,
}
const WRITES: Readonly<Record<string, Writes>> = {
  widget: WIDGET,
  // A kube-apiserver takes status from managers of other versions when an object is replaced without a status.
  twofold: { ...WIDGET, hows: CUSTOM.filter((how) => how !== 'replace') },
  deployment: {
    spec: deploymentSpec,
    status: deploymentStatus,
    places: deploymentPlaces,
    hows: BUILTIN,
  },
  service: {
    spec: serviceSpec,
    status: serviceStatus,
    places: [
      '/spec/selector',
      '/spec/ports/0/appProtocol',
      '/spec/externalIPs',
      '/metadata/labels',
      '/metadata/annotations/a',
    ],
    hows: BUILTIN,
  },
}

const manager = fc.constantFrom('ann', 'bob', 'cid')

/** A part of an object with nulls here and there, as merge patches have them. */
function holed(part: fc.Arbitrary<JsonObject>): fc.Arbitrary<JsonObject> {
  return fc.tuple(part, fc.constantFrom(undefined, 'labels', 'annotations'), fc.nat(9)).map(([body, gone, pick]) => {
    const spec = body['spec'] as JsonObject | undefined
    const keys = Object.keys(spec ?? {})
    if (spec && pick < keys.length && pick < 3) spec[keys[pick]!] = null
    if (gone !== undefined) body['metadata'] = { ...(body['metadata'] as JsonObject | undefined), [gone]: null }
    return body
  })
}

function stepOf(subject: Subject, writes: Writes, isFirst: boolean): fc.Arbitrary<Step> {
  const how = isFirst ? fc.constantFrom<How>('apply', 'update') : fc.constantFrom(...writes.hows)
  return fc.tuple(how, manager, fc.constantFrom(...subject.versions)).chain(([how, by, version]) => {
    const main = { by, how, version }
    if (how === 'delete') return fc.constant<Step>({ ...main, body: undefined })
    if (how === 'json') return operations(writes).map((body): Step => ({ ...main, body }))
    const isWhole = isFirst || how === 'replace' || how === 'apply'
    const body = some({ metadata, spec: writes.spec(false) })
    const whole = need({ spec: writes.spec(true) }, { metadata })
    const inMain =
      isFirst || how === 'replace'
        ? whole
        : isWhole
          ? fc.oneof(whole, body)
          : how === 'merge' || how === 'update'
            ? holed(body)
            : body
    const step = inMain.map((body): Step => ({ ...main, body }))
    if (isFirst) return step
    const status = need({ status: writes.status }, { metadata }).map((body): Step => ({ ...main, at: 'status', body }))
    const scale = number.map((replicas): Step => ({ ...main, at: 'scale', body: { spec: { replicas } } }))
    // A kube-apiserver cannot apply to the Scale of a custom kind: it wants to convert it.
    const isApply = how === 'apply' || how === 'force'
    const hasScale = subject.plural !== 'services' && how !== 'strategic' && (subject.isBuiltin || !isApply)
    return fc.oneof(
      { arbitrary: step, weight: 7 },
      { arbitrary: status, weight: 1 },
      ...(hasScale ? [{ arbitrary: scale, weight: 2 }] : []),
    )
  })
}

function operations({ places }: Writes): fc.Arbitrary<unknown[]> {
  const place = fc.constantFrom(...places)
  const value = fc.oneof(number, word, dictionary(word), different(word))
  const operation = fc.oneof(
    fc.record({ op: fc.constantFrom('add', 'replace', 'test'), path: place, value }),
    fc.record({ op: fc.constant('remove'), path: place }),
    fc.record({ op: fc.constantFrom('copy', 'move'), from: place, path: place }),
  )
  return fc.array(operation, { minLength: 1, maxLength: 2 })
}

/** Arbitrary histories of one subject. */
export function historiesOf(name: string): fc.Arbitrary<History> {
  const subject = SUBJECTS[name]!
  const writes = WRITES[name]!
  return fc
    .tuple(stepOf(subject, writes, true), fc.array(stepOf(subject, writes, false), { minLength: 1, maxLength: 7 }))
    .map(([first, rest]) => ({ subject: name, steps: [first, ...rest] }))
}
