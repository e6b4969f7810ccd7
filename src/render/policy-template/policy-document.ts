/** Resolves the templates of a whole document: a Policy, a ConfigurationPolicy, an OperatorPolicy or raw templates. */
import { isObject } from '../../core/json.ts'
import type { JsonObject } from '../../core/json.ts'
import { goJson } from '../../yaml/go-json.ts'
import { readFirstYaml } from '../../yaml/read/read-yaml.ts'
import { YamlError } from '../../yaml/yaml.ts'
import { formatValue } from '../gotemplate/format.ts'
import { GoStruct, nilMap } from '../gotemplate/value.ts'
import { jsonKind } from '../helm/json-kind.ts'
import { yamlSource } from '../helm/read-yaml.ts'
import type { Entropy } from '../helm/frozen-random.ts'
import { labelsOf } from './cluster-lookup.ts'
import type { LookupScope, TemplateObjects } from './cluster-lookup.ts'
import { goValue, stringMap } from './go-object.ts'
import { jsonToYaml, managedContext, PolicyTemplateError, resolveText, resolveValue } from './resolve-template.ts'
import type { TemplateSetting } from './resolve-template.ts'
import { skipFunction } from './template-functions.ts'

/** The hub whose templates are resolved too. */
export interface HubSide {
  readonly objects: TemplateObjects
  readonly clusterName: string
  /** The namespace that templates of the hub may read. */
  readonly namespace: string
  /** The ManagedCluster of that name. */
  readonly managedCluster: JsonObject
}

/** What a document is resolved with. */
export interface DocumentSetting {
  readonly objects: TemplateObjects
  readonly local?: readonly JsonObject[]
  readonly hub?: HubSide
  readonly objectName?: string
  readonly objectNamespace?: string
  /** Takes a document of another kind as a template as it is. */
  readonly skipValidation?: boolean
  readonly entropy: Entropy
}

const MANAGED_CLUSTERS = 'cluster.open-cluster-management.io'
const POLICIES = 'policy.open-cluster-management.io'

/** The YAML of a document with its templates resolved; a PolicyTemplateError says why it cannot be. */
export function resolveDocument(text: string, setting: DocumentSetting): string {
  const given = readDocument(text)
  const document = setting.hub ? resolveHubSide(given, setting.hub, setting.entropy) : given
  const scope: LookupScope = {
    objects: setting.objects,
    remembersMissing: true,
    ...(setting.local && { local: setting.local }),
  }
  const managed: TemplateSetting = {
    scope,
    entropy: setting.entropy,
    context: managedContext({ name: setting.objectName ?? '', namespace: setting.objectNamespace ?? '' }),
  }
  return jsonToYaml(
    goJson(resolveManaged(document, { managed, text, skipValidation: setting.skipValidation ?? false })),
  )
}

/** The document as data; what is no mapping is an error. */
export function readDocument(text: string): JsonObject {
  let value: unknown
  try {
    ;({ value } = readFirstYaml(yamlSource(text), { duplicateKeys: 'last' }))
  } catch (caught) {
    if (!(caught instanceof YamlError)) throw caught
    throw new PolicyTemplateError(`failed to parse input to YAML: error converting YAML to JSON: ${caught.goMessage}`)
  }
  if (value === null || value === undefined) return {}
  if (isObject(value)) return value
  throw new PolicyTemplateError(
    `failed to parse input to YAML: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal ${jsonKind(value)} into Go value of type map[string]interface {}`,
  )
}

interface ManagedSide {
  readonly managed: TemplateSetting
  readonly text: string
  readonly skipValidation: boolean
}

function resolveManaged(document: JsonObject, { managed, text, skipValidation }: ManagedSide): JsonObject {
  switch (document['kind']) {
    case 'Policy':
      return resolvePolicy(document, managed)
    case 'ConfigurationPolicy':
      return resolveObjectTemplates(document, managed)
    case 'OperatorPolicy':
      return resolveOperatorPolicy(document, managed)
  }
  if (skipValidation) {
    return resolveWhole(text, managed)
  }
  if (!Object.hasOwn(document, 'object-templates-raw')) {
    throw new PolicyTemplateError(
      'invalid YAML. Supported types: Policy, ConfigurationPolicy, OperatorPolicy, object-templates-raw',
    )
  }
  return resolveRaw(document, managed)
}

/** A document of another kind; the original says the same of a template that fails and of one that gives no mapping. */
function resolveWhole(text: string, managed: TemplateSetting): JsonObject {
  const problem = 'failed to cast returned object to map[string]interface{}'
  let resolved: unknown
  try {
    resolved = resolveAny(text, managed)
  } catch (cause) {
    if (!(cause instanceof PolicyTemplateError)) throw cause
    throw new PolicyTemplateError(problem, { cause })
  }
  if (isObject(resolved)) return resolved
  throw new PolicyTemplateError(problem)
}

/** The namespace that templates of the hub may read, empty for all; an error says why it cannot be told. */
export function hubNamespaceOf(document: JsonObject, given: string): string {
  const spec = isObject(document['spec']) ? document['spec'] : {}
  const options = isObject(spec['hubTemplateOptions']) ? spec['hubTemplateOptions'] : {}
  const hasAccount = typeof options['serviceAccountName'] === 'string' && options['serviceAccountName'] !== ''
  if (hasAccount) return ''
  const own = textOf(metadataOf(document)['namespace'])
  if (document['kind'] !== 'Policy') {
    if (given !== '') return given
    throw new PolicyTemplateError(
      'a hub namespace must be provided when a hub kubeconfig is provided and spec.hubTemplateOptions.serviceAccountName is not specified',
    )
  }
  if (given === '' && own === '') {
    throw new PolicyTemplateError(
      'a namespace must be specified for hub templates, either in the input Policy or as an argument if spec.hubTemplateOptions.serviceAccountName is not specified',
    )
  }
  if (given !== '' && own !== '' && given !== own) {
    throw new PolicyTemplateError('the namespace specified in the Policy and the hub-namespace argument must match')
  }
  return own === '' ? given : own
}

/** What `.` is in templates of the hub. */
function hubContext(document: JsonObject, clusterName: string, managedCluster: JsonObject): GoStruct {
  const metadata = metadataOf(document)
  const policy = new Map<string, unknown>([
    ['annotations', stringMap(textsOf(metadata['annotations']))],
    ['labels', stringMap(labelsOf(document))],
    ['name', textOf(metadata['name'])],
    ['namespace', textOf(metadata['namespace'])],
  ])
  return new GoStruct('utils.hubTemplateCtx', [
    ['ManagedClusterName', clusterName],
    ['ManagedClusterLabels', stringMap(labelsOf(managedCluster))],
    ['PolicyMetadata', document['kind'] === 'Policy' ? policy : nilMap()],
  ])
}

function resolveHubSide(document: JsonObject, hub: HubSide, entropy: Entropy): JsonObject {
  const { objects, clusterName, namespace, managedCluster } = hub
  const allowed = [{ group: MANAGED_CLUSTERS, kind: 'ManagedCluster', name: clusterName }]
  const setting: TemplateSetting = {
    scope: { objects, remembersMissing: true, ...(namespace !== '' && { namespace, allowed }) },
    entropy,
    side: 'hub',
    context: hubContext(document, clusterName, managedCluster),
  }
  const resolved = inWords('invalid object', () => resolveValue(document, setting))
  if (resolved === null) return {}
  if (isObject(resolved)) return resolved
  throw new PolicyTemplateError(
    `invalid object after resolving hub templates: json: cannot unmarshal ${jsonKind(resolved)} into Go value of type map[string]interface {}`,
  )
}

function resolvePolicy(document: JsonObject, managed: TemplateSetting): JsonObject {
  const given = inWords('invalid policy-templates array was provided', () =>
    nested(document, ['spec', 'policy-templates'], 'list'),
  )
  if (given === undefined) {
    throw new PolicyTemplateError('invalid policy-templates array was provided: spec.policy-templates keys not found')
  }
  const resolved = (given as unknown[]).map((entry, index) => {
    const where = `invalid policy-templates entry was provided at index ${index}`
    if (!isObject(entry)) throw new PolicyTemplateError(`${where}: could not parse to map[string]interface{}`)
    const definition = inWords(where, () => nested(entry, ['objectDefinition'], 'map')) as JsonObject | undefined
    if (definition === undefined) throw new PolicyTemplateError(`${where}: objectDefinition key not found`)
    const resolve = resolverOf(definition)
    if (!resolve) return entry
    try {
      return { ...entry, objectDefinition: resolve(definition, managed) }
    } catch (caught) {
      if (!(caught instanceof PolicyTemplateError)) throw caught
      throw new PolicyTemplateError(`${caught.message} (in policy-templates at index ${index})`)
    }
  })
  return { ...document, spec: { ...(document['spec'] as JsonObject), 'policy-templates': resolved } }
}

type Resolve = (definition: JsonObject, managed: TemplateSetting) => JsonObject

function resolverOf({ apiVersion, kind }: JsonObject): Resolve | undefined {
  if (apiVersion === `${POLICIES}/v1` && kind === 'ConfigurationPolicy') return resolveObjectTemplates
  if (apiVersion === `${POLICIES}/v1beta1` && kind === 'OperatorPolicy') return resolveOperatorPolicy
  return undefined
}

function resolveObjectTemplates(definition: JsonObject, managed: TemplateSetting): JsonObject {
  const spec = definition['spec']
  if (isObject(spec) && typeof spec['object-templates-raw'] === 'string') {
    return { ...definition, spec: resolveRaw(spec, managed) }
  }
  const given = inWords('invalid object-templates array in Configuration Policy', () =>
    nested(definition, ['spec', 'object-templates'], 'list'),
  ) as unknown[] | undefined
  const resolved: unknown[] = []
  for (const template of given ?? []) {
    const { fun, skips } = skipFunction()
    const value = resolvePart(template, { ...managed, functions: { skipObject: fun } })
    if (!skips()) resolved.push(value)
  }
  return { ...definition, spec: { ...(isObject(spec) ? spec : {}), 'object-templates': resolved } }
}

const UNRESOLVED = 'unresolved hub template in YAML input. Use the hub-kubeconfig argument'

function resolvePart(value: unknown, managed: TemplateSetting): unknown {
  if (goJson(value).includes('{{hub')) throw new PolicyTemplateError(UNRESOLVED)
  return inWords('failed to process the templates', () => resolveValue(value, managed))
}

function resolveAny(text: string, managed: TemplateSetting): unknown {
  if (text.includes('{{hub')) throw new PolicyTemplateError(UNRESOLVED)
  return inWords('failed to process the templates', () => resolveText(text, managed))
}

function resolveRaw(holder: JsonObject, managed: TemplateSetting): JsonObject {
  const { 'object-templates-raw': raw, ...rest } = holder
  if (typeof raw !== 'string' || raw === '') {
    throw new PolicyTemplateError('invalid object-templates-raw after resolving hub templates')
  }
  const resolved = resolveAny(raw, managed) ?? []
  if (!Array.isArray(resolved)) {
    throw new PolicyTemplateError('object-templates-raw was not an array after templates were resolved')
  }
  return { ...rest, 'object-templates': resolved }
}

function resolveOperatorPolicy(definition: JsonObject, managed: TemplateSetting): JsonObject {
  const part = (name: string, type: 'map' | 'list') =>
    inWords(`invalid ${name}`, () => nested(definition, ['spec', name], type))
  const spec: JsonObject = { ...(isObject(definition['spec']) ? definition['spec'] : {}) }
  const group = part('operatorGroup', 'map')
  if (group !== undefined) spec['operatorGroup'] = resolvePart(group, managed)
  const subscription = part('subscription', 'map')
  if (subscription === undefined) {
    throw new PolicyTemplateError('spec.subscription must be set in OperatorPolicies')
  }
  spec['subscription'] = resolvePart(subscription, managed)
  const versions = part('versions', 'list') as unknown[] | undefined
  if (versions !== undefined) {
    const wrong = versions.find((version) => typeof version !== 'string')
    if (wrong !== undefined) {
      throw new PolicyTemplateError(
        `invalid versions: .spec.versions accessor error: contains non-string value in the slice: ${formatValue(goValue(wrong))} is of the type ${typeOf(wrong)}, expected string`,
      )
    }
    const resolved = resolvePart(versions, managed) as unknown[]
    spec['versions'] = resolved.map((version) => String(version).trim()).filter((version) => version !== '')
  }
  return { ...definition, spec }
}

/** A nested field as apimachinery's unstructured helpers read it; undefined if it is not there. */
function nested(object: JsonObject, path: readonly string[], type: 'map' | 'list'): unknown {
  let value: unknown = object
  const complain = (at: number, found: unknown, wanted: string): never => {
    const where = `.${path.slice(0, at).join('.')}`
    throw new PolicyTemplateError(
      `${where} accessor error: ${formatValue(goValue(found))} is of the type ${typeOf(found)}, expected ${wanted}`,
    )
  }
  for (const [at, field] of path.entries()) {
    if (value === null) return undefined
    if (!isObject(value)) return complain(at, value, 'map[string]interface{}')
    if (!Object.hasOwn(value, field)) return undefined
    value = value[field]
  }
  if (type === 'list' && !Array.isArray(value)) return complain(path.length, value, '[]interface{}')
  if (type === 'map' && !isObject(value)) return complain(path.length, value, 'map[string]interface{}')
  return value
}

function typeOf(value: unknown): string {
  if (value === null) return '<nil>'
  if (Array.isArray(value)) return '[]interface {}'
  if (isObject(value)) return 'map[string]interface {}'
  return typeof value === 'number' ? 'float64' : typeof value === 'boolean' ? 'bool' : 'string'
}

function inWords<T>(words: string, act: () => T): T {
  try {
    return act()
  } catch (caught) {
    if (!(caught instanceof PolicyTemplateError)) throw caught
    throw new PolicyTemplateError(`${words}: ${caught.message}`)
  }
}

function metadataOf(document: JsonObject): JsonObject {
  return isObject(document['metadata']) ? document['metadata'] : {}
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

function textsOf(value: unknown): Record<string, string> {
  if (!isObject(value)) return {}
  return Object.fromEntries(
    Object.entries(value).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  )
}
