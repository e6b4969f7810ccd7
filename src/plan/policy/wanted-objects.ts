// Tested by src/plan/policy/evaluate-policy.test.ts.
/** Which objects an object template is about: templates resolved, for each selected namespace and name. */
import { goJson } from '../../yaml/go-json.ts'
import type { ConfigurationPolicy, ObjectTemplate, RelatedObject } from './configuration-policy.ts'
import { meetsTemplate } from './compare-object.ts'
import { copyOf, fieldOf, isGoObject, textAt } from './go-value.ts'
import type { GoObject, GoValue } from './go-value.ts'
import { REASON } from './messages.ts'
import type { ObjectEvent } from './messages.ts'
import type { PolicyCluster, PolicyResource, PolicyTools } from './policy-ports.ts'
import { labelsOf, readLabelSelector } from './select-labels.ts'
import { selectNamespaces } from './select-namespaces.ts'

/** What an object template is evaluated with. */
export interface TemplateInput {
  readonly policy: ConfigurationPolicy
  readonly template: ObjectTemplate
  readonly index: number
  readonly cluster: PolicyCluster
  readonly tools: PolicyTools
  /** Whether the definition still has templates to resolve. */
  readonly resolves: boolean
}

/** The objects that a template wants, or an event in their place; `error` means that the policy cannot be judged. */
export interface WantedObjects {
  readonly objects: readonly GoObject[]
  readonly resource?: PolicyResource
  readonly related?: readonly RelatedObject[]
  readonly event?: ObjectEvent
  readonly error?: string
  /** A template read a Secret, so the difference may show it. */
  readonly readsSecrets?: boolean
}

interface Definition {
  readonly value: GoObject
  readonly apiVersion: string
  readonly kind: string
  readonly name: string
  readonly namespace: string
}

const violation = (reason: string, message: string): ObjectEvent => ({ compliant: false, reason, message })

/** Whether a text has a template, or a value that the hub encrypted. */
export function hasTemplate(text: string): boolean {
  return text.includes('{{') || text.includes('$ocm_encrypted:')
}

/** Determines the objects that an object template wants. */
export function wantedObjects(input: TemplateInput): WantedObjects {
  const { policy, template, index, cluster } = input
  const definition = readDefinition(template.objectDefinition)
  if (typeof definition === 'string') {
    const message = 'Error parsing the namespace from the object definition'
    return { objects: [], event: violation('K8s decode object definition error', message), error: definition }
  }
  const { apiVersion, kind } = definition
  if (kind === '' || versionOf(apiVersion) === '') {
    const message = `The kind and apiVersion fields are required on the object template at index ${index} in policy ${policy.name}`
    return { objects: [], event: violation('K8s decode object definition error', message) }
  }
  const resource = cluster.resourceOf(apiVersion, kind)
  if (!resource) return unknownKind(input, definition)
  const selected = selectTargets(input, definition, resource)
  if ('event' in selected) return { objects: [], resource, ...selected }
  const resolved = resolveTargets(input, definition, { resource, targets: selected.targets })
  if (resolved.event) return { resource, ...resolved }
  if (template.complianceType === 'mustnothave' && definition.name === '' && template.objectSelector) {
    return { resource, ...onlyMatching(input, resolved.objects, { resource, targets: selected.targets }) }
  }
  return { resource, ...resolved }
}

function versionOf(apiVersion: string): string {
  const slash = apiVersion.indexOf('/')
  return slash < 0 ? apiVersion : apiVersion.slice(slash + 1)
}

/** The part of a definition that tells the kind; a text says why it cannot be read. */
function readDefinition(value: GoValue | undefined): Definition | string {
  if (value === undefined) return 'unexpected end of JSON input'
  if (value === null) return { value: {}, apiVersion: '', kind: '', name: '', namespace: '' }
  if (!isGoObject(value)) {
    return `json: cannot unmarshal ${jsonKind(value)} into Go value of type controllers.minimumMetadata`
  }
  const metadata = fieldOf(value, 'metadata') ?? {}
  const texts: Record<string, string> = {}
  for (const [key, holder, field] of [
    ['apiVersion', value, 'minimumMetadata.apiVersion'],
    ['kind', value, 'minimumMetadata.kind'],
    ['name', metadata, '.metadata.name'],
    ['namespace', metadata, '.metadata.namespace'],
  ] as const) {
    if (holder === null) {
      texts[key] = ''
      continue
    }
    if (!isGoObject(holder)) return `json: cannot unmarshal ${jsonKind(holder)} into Go struct field ${METADATA}`
    const found = fieldOf(holder, key) ?? ''
    if (typeof found !== 'string') {
      return `json: cannot unmarshal ${jsonKind(found)} into Go struct field ${field} of type string`
    }
    texts[key] = found
  }
  const { apiVersion = '', kind = '', name = '', namespace = '' } = texts
  return { value, apiVersion, kind, name, namespace }
}

const METADATA = String.raw`minimumMetadata.metadata of type struct { Name string "json:\"name,omitempty\""; Namespace string "json:\"namespace,omitempty\"" }`

function jsonKind(value: GoValue): string {
  if (Array.isArray(value)) return 'array'
  if (isGoObject(value)) return 'object'
  return typeof value === 'string' ? 'string' : typeof value === 'boolean' ? 'bool' : 'number'
}

const SKIPPED = (kind: string) => `All objects of kind ${kind} were skipped by the \`skipObject\` template function`

/** A kind that is not served is an error, unless the template skips its object. */
function unknownKind({ tools, resolves }: TemplateInput, { value, apiVersion, kind }: Definition): WantedObjects {
  if (resolves && hasTemplate(goJson(value))) {
    const { skips } = tools.resolve(value, { name: '', namespace: '', object: {}, isWhole: true })
    if (skips) return { objects: [], event: { compliant: true, reason: '', message: SKIPPED(kind) } }
  }
  const error = `couldn't find mapping resource with kind ${kind} in API version ${apiVersion}, please check if you have CRD deployed`
  return { objects: [], event: violation('K8s error', error), error }
}

/** Names by namespace, with the existing object where templates read it. */
type Targets = Map<string, Map<string, GoObject | undefined>>

type Selected = { readonly targets: Targets } | { readonly event: ObjectEvent; readonly error?: string }

function selectTargets(input: TemplateInput, definition: Definition, resource: PolicyResource): Selected {
  const { template, index, cluster } = input
  const isTemplated = { name: hasTemplate(definition.name), namespace: hasTemplate(definition.namespace) }
  const name = isTemplated.name ? '' : definition.name
  const namespace = isTemplated.namespace ? '' : definition.namespace
  const needsObject = READS_OBJECT.test(goJson(definition.value))
  const targets: Targets = new Map()
  const defaults = (): Map<string, GoObject | undefined> =>
    new Map(name !== '' || !template.objectSelector ? [[name, undefined]] : [])
  if (resource.namespaced && namespace === '') {
    const chosen = selectNamespaces(input)
    if ('error' in chosen) {
      const message = `Error filtering namespaces with provided namespaceSelector: ${chosen.error}`
      return { event: violation('namespaceSelector error', message), error: chosen.error }
    }
    const reads = needsObject && name !== '' && definition.namespace === ''
    for (const one of chosen.names) {
      const existing = reads ? cluster.get(resource, one, name) : undefined
      targets.set(one, existing ? new Map([[name, existing]]) : defaults())
    }
    if (targets.size === 0 && isTemplated.namespace) targets.set('', defaults())
  } else targets.set(resource.namespaced ? namespace : '', defaults())
  if (targets.size === 0) return { event: violation('K8s missing namespace', noNamespace(name, definition.kind)) }
  if (needsObject && name !== '' && (!resource.namespaced || namespace !== '')) {
    const existing = cluster.get(resource, namespace, name)
    if (existing) targets.set(namespace, new Map([[name, existing]]))
  } else if (name === '' && template.objectSelector) {
    const selector = readLabelSelector(template.objectSelector)
    if ('error' in selector) {
      const message = `Error parsing provided objectSelector in the object-template at index [${index}]: ${selector.error}`
      return { event: violation('objectSelector error', message), error: selector.error }
    }
    for (const [one, names] of targets) {
      for (const object of cluster.list(resource, one, selector.matches)) {
        names.set(textAt(object, 'metadata', 'name'), needsObject ? object : undefined)
      }
    }
  }
  return { targets }
}

const READS_OBJECT = /\.Object\W/
const READS_NAME = /\.ObjectName\W/
const READS_NAMESPACE = /\.ObjectNamespace/

function noNamespace(name: string, kind: string): string {
  return `namespaced object${name === '' ? '' : ` ${name}`} of kind ${kind} has no namespace specified from the policy namespaceSelector nor the object metadata`
}

interface Selection {
  readonly resource: PolicyResource
  readonly targets: Targets
}

/** Resolves the definition for each target, as often as its templates differ between targets. */
function resolveTargets(input: TemplateInput, definition: Definition, { resource, targets }: Selection): WantedObjects {
  const json = goJson(definition.value)
  const isTemplate = hasTemplate(json)
  const perName = isTemplate && READS_NAME.test(json)
  const perNamespace = isTemplate && READS_NAMESPACE.test(json)
  const perObject = READS_OBJECT.test(json)
  const objects: GoObject[] = []
  let latest: GoObject | undefined
  let [skipped, readsSecrets] = [false, false]
  for (const [namespace, names] of targets) {
    if (perNamespace) latest = undefined
    for (const [name, object] of names) {
      if (perName || perObject) latest = undefined
      if (latest) {
        latest = placed(latest, name, namespace)
        objects.push(latest)
        continue
      }
      let value: GoValue = definition.value
      if (input.resolves && isTemplate) {
        const resolved = input.tools.resolve(value, { name, namespace, ...(object && { object }) })
        if (resolved.skips) {
          skipped = true
          continue
        }
        if ('error' in resolved) {
          return { objects: [], event: violation(REASON.template, resolved.error), error: resolved.error }
        }
        readsSecrets ||= resolved.readsSecrets
        value = resolved.value
      }
      const decoded = decode(value, input)
      if ('event' in decoded) return { objects: [], ...decoded }
      latest = named(decoded.object, name, namespace)
      const problem = placeProblem(input, definition, { resource, name, namespace, object: latest })
      if (problem !== undefined) return { objects: [], event: violation(REASON.template, problem) }
      objects.push(latest)
    }
  }
  if (objects.length > 0) return { objects, readsSecrets }
  const message = skipped
    ? SKIPPED(definition.kind)
    : `No objects of kind ${definition.kind} were matched from the ${input.template.objectSelector ? 'policy objectSelector' : 'objectDefinition metadata'}`
  return { objects, event: { compliant: true, reason: '', message } }
}

function decode(
  value: GoValue,
  { index, policy }: TemplateInput,
): { readonly object: GoObject } | { readonly event: ObjectEvent; readonly error: string } {
  const kind = isGoObject(value) ? fieldOf(value, 'kind') : undefined
  if (isGoObject(value) && typeof kind === 'string' && kind !== '') return { object: copyOf(value) }
  const error = isGoObject(value)
    ? `Object 'Kind' is missing in '${goJson(value)}'`
    : `couldn't get version/kind; json parse error: json: cannot unmarshal ${jsonKind(value)} into Go value of type struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }`
  const message = `Decoding error, please check your policy file! Aborting handling the object template at index [${index}] in policy \`${policy.name}\` with error = \`${error}\``
  return { event: violation('K8s decode object definition error', message), error }
}

/** A copy of an object for another namespace and name. */
function placed(object: GoObject, name: string, namespace: string): GoObject {
  const copy = copyOf(object)
  setText(copy, 'name', name.trim())
  setText(copy, 'namespace', namespace.trim())
  return copy
}

/** An object with the name and namespace of its target, where it has none itself. */
function named(object: GoObject, name: string, namespace: string): GoObject {
  const own = { name: textAt(object, 'metadata', 'name'), namespace: textAt(object, 'metadata', 'namespace') }
  object['kind'] = textAt(object, 'kind').trim()
  return placed(object, own.name === '' ? name : own.name, own.namespace === '' ? namespace : own.namespace)
}

function setText(object: GoObject, field: 'name' | 'namespace', value: string): void {
  const metadata = fieldOf(object, 'metadata')
  if (value === '') {
    if (isGoObject(metadata)) delete metadata[field]
  } else if (isGoObject(metadata)) metadata[field] = value
  else object['metadata'] = { [field]: value }
}

function placeProblem(
  { policy, template }: TemplateInput,
  definition: Definition,
  {
    resource,
    name,
    namespace,
    object,
  }: {
    readonly resource: PolicyResource
    readonly name: string
    readonly namespace: string
    readonly object: GoObject
  },
): string | undefined {
  const own = { name: textAt(object, 'metadata', 'name'), namespace: textAt(object, 'metadata', 'namespace') }
  const { include, labels } = policy.namespaceSelector
  if ((labels !== undefined || include.length > 0) && own.namespace !== namespace) {
    return "The object definition's namespace must match the result from the namespace selector after template resolution"
  }
  if (resource.namespaced && hasTemplate(definition.namespace) && own.namespace === '') {
    const shown = hasTemplate(definition.name) || definition.name === '' ? '' : ` ${definition.name}`
    return `namespaced object${shown} of kind ${definition.kind} has no namespace specified after template resolution`
  }
  if (template.objectSelector && own.name !== name) {
    return "The object definition's name must match the result from the object selector after template resolution"
  }
  return undefined
}

/** For `mustnothave` with a selector: the selected objects that also meet the rest of the template. */
function onlyMatching(
  { template, cluster }: TemplateInput,
  objects: readonly GoObject[],
  { resource, targets }: Selection,
): WantedObjects {
  const selector = readLabelSelector(template.objectSelector!)
  const matches = 'error' in selector ? () => false : selector.matches
  const found = objects.filter((object) => {
    const unnamed = copyOf(object)
    setText(unnamed, 'name', '')
    const existing = cluster.get(resource, textAt(object, 'metadata', 'namespace'), textAt(object, 'metadata', 'name'))
    return existing !== undefined && matches(labelsOf(existing)) && meetsTemplate(unnamed, existing, false)
  })
  if (found.length > 0) return { objects: found }
  const namespaces = [...targets.keys()].sort()
  // The original keeps the last of the selected objects.
  const last = [...targets]
    .flatMap(([namespace, names]) => [...names.keys()].map((name) => ({ namespace, name })))
    .at(-1)
  const message = `${resource.resource} missing as expected in ${namespaces.length > 1 ? 'namespaces:' : 'namespace'} ${namespaces.join(', ')}`
  return {
    objects: [],
    event: { compliant: true, reason: '', message },
    ...(last && { related: [relatedOf(resource, last)] }),
  }
}

function relatedOf(resource: PolicyResource, { namespace, name }: { namespace: string; name: string }): RelatedObject {
  const { apiVersion, kind } = resource
  const metadata = { name, ...(resource.namespaced && namespace !== '' && { namespace }) }
  return { object: { apiVersion, kind, metadata }, compliant: 'Compliant' }
}
