/** Evaluates a ConfigurationPolicy: its status, its messages, and what it repaired in the cluster that it is given. */
import { goJson } from '../../yaml/go-json.ts'
import { readObjectTemplate } from './configuration-policy.ts'
import type { ConfigurationPolicy, ObjectTemplate, PolicyStatus, RelatedObject } from './configuration-policy.ts'
import { evaluateObject, recordDiffOf } from './evaluate-object.ts'
import { isGoObject, textAt } from './go-value.ts'
import type { GoValue } from './go-value.ts'
import { verdictOf } from './messages.ts'
import type { ObjectEvent, PlacedEvent } from './messages.ts'
import type { PolicyCluster, PolicyTools } from './policy-ports.ts'
import { pruneObjects } from './prune-objects.ts'
import { StatusWriter } from './status-writer.ts'
import { hasTemplate, wantedObjects } from './wanted-objects.ts'

/** What a policy is evaluated with. */
export interface PolicyInput {
  readonly policy: ConfigurationPolicy
  readonly cluster: PolicyCluster
  readonly tools: PolicyTools
  /** The objects of the last evaluation. */
  readonly before?: readonly RelatedObject[]
  readonly fullDiffs?: boolean
  /** The time of the evaluation, like 2026-01-02T03:04:05Z. */
  readonly time: string
}

/** The result; `errors` say why the policy could not be judged as a whole, and an evaluation has to be tried again. */
export interface PolicyResult {
  readonly status: PolicyStatus
  /** Compliance messages in the order in which they were sent. */
  readonly messages: readonly string[]
  readonly errors: readonly string[]
}

const NO_HUB =
  'the governance-standalone-hub-templating addon must be enabled to resolve hub templates on the managed cluster'

/** Evaluates a policy once. */
export function evaluatePolicy(input: PolicyInput): PolicyResult {
  const { policy, tools } = input
  const writer = new StatusWriter(policy, tools, input.time)
  const done = (errors: readonly string[] = []): PolicyResult => ({ ...writer.result(), errors })
  if (!policy.templatesDisabled && goJson(policy.object['spec']).includes('{{hub')) {
    writer.fail('Hub template resolution failure', NO_HUB)
    return done([NO_HUB])
  }
  if (policy.remediationAction === '') {
    writer.fail('Invalid spec', 'Policy does not have a RemediationAction specified')
    return done()
  }
  if (policy.isDeleted) return evaluateDeleted(input, writer)
  const templates = templatesOf(input)
  if ('error' in templates) {
    writer.fail('Error processing template', templates.message)
    return done(templates.isInvalid ? [] : [templates.error])
  }
  if (templates.list.length === 0) {
    const message = `${policy.name} contains no object templates to check, and thus has no violations`
    writer.set(0, { compliant: true, reason: 'No object templates', message })
    pruneObjects(input, [])
    writer.send()
    return done()
  }
  const evaluation = new Evaluation(input, writer)
  for (const [index, template] of templates.list.entries()) evaluation.add(index, template, templates.resolves)
  evaluation.finish()
  return done(evaluation.errors)
}

/** A policy that is being deleted removes what it created and reports nothing else. */
function evaluateDeleted(input: PolicyInput, writer: StatusWriter): PolicyResult {
  const failures = pruneObjects(input, [])
  if (failures.length === 0) return { ...writer.result(), errors: [] }
  writer.fail('Error cleaning up child objects', `Failed to delete objects: ${failures.join(', ')}`)
  return { ...writer.result(), errors: [`failed to delete objects ${failures.join(', ')}`] }
}

type Templates =
  | { readonly list: readonly ObjectTemplate[]; readonly resolves: boolean }
  | { readonly error: string; readonly message: string; readonly isInvalid: boolean }

function templatesOf({ policy, tools }: PolicyInput): Templates {
  if (policy.templatesDisabled) return { list: policy.templates, resolves: false }
  if (policy.rawTemplates === '') return { list: policy.templates, resolves: true }
  if (!hasTemplate(policy.rawTemplates)) {
    const read = tools.readYaml(policy.rawTemplates)
    const list = 'error' in read ? read : listOf(read.value, 'Go value of type []*v1.ObjectTemplate')
    if ('error' in list) {
      const error = 'error' in read ? read.error : `error unmarshaling JSON: while decoding JSON: ${list.error}`
      return { error, message: `Error parsing object-templates-raw YAML: ${error}`, isInvalid: true }
    }
    return { list: list.list, resolves: false }
  }
  const resolved = tools.resolveText(policy.rawTemplates)
  if ('error' in resolved) return { error: resolved.error, message: resolved.error, isInvalid: false }
  const list = listOf(resolved.value, 'Go value of type []*v1.ObjectTemplate')
  if ('error' in list) {
    const error = `failed unmarshalling resolved object-templates-raw template: ${list.error}`
    return { error, message: error, isInvalid: false }
  }
  const censored = (template: ObjectTemplate): ObjectTemplate =>
    resolved.readsSecrets && template.recordDiff === '' ? { ...template, recordDiff: 'Censored' } : template
  return { list: list.list.map(censored), resolves: false }
}

function listOf(value: GoValue, type: string): { readonly list: ObjectTemplate[] } | { readonly error: string } {
  if (value === null) return { list: [] }
  if (Array.isArray(value)) return { list: value.map(readObjectTemplate) }
  const kind = isGoObject(value)
    ? 'object'
    : typeof value === 'string'
      ? 'string'
      : typeof value === 'boolean'
        ? 'bool'
        : 'number'
  return { error: `json: cannot unmarshal ${kind} into ${type}` }
}

/** The object templates of an evaluation. */
class Evaluation {
  readonly errors: string[] = []
  readonly #input: PolicyInput
  readonly #writer: StatusWriter
  #related: RelatedObject[] = []
  #keepsAll = false
  #isNews = false

  constructor(input: PolicyInput, writer: StatusWriter) {
    this.#input = input
    this.#writer = writer
  }

  add(index: number, template: ObjectTemplate, resolves: boolean): void {
    const { policy, cluster, tools, before = [], fullDiffs = false } = this.#input
    const wanted = wantedObjects({ policy, template, index, cluster, tools, resolves })
    for (const object of wanted.related ?? []) this.#relate(object)
    if (wanted.error !== undefined) {
      this.errors.push(wanted.error)
      // Nothing is removed while it is not known what is wanted.
      this.#keepsAll = true
    }
    const results: { readonly place: Omit<PlacedEvent, 'event'>; readonly events: readonly ObjectEvent[] }[] = []
    if (wanted.event) results.push({ place: { namespace: '', name: '', names: [] }, events: [wanted.event] })
    for (const desired of wanted.objects) {
      const definition = isGoObject(template.objectDefinition) ? template.objectDefinition : undefined
      const recordDiff =
        template.recordDiff === '' && wanted.readsSecrets ? 'Censored' : recordDiffOf(template, definition)
      const result = evaluateObject({
        cluster,
        resource: wanted.resource!,
        template,
        index,
        desired,
        remediation: policy.remediationAction,
        recordDiff,
        fullDiffs,
        before,
      })
      if (result.error !== undefined) this.errors.push(result.error)
      for (const object of result.related) this.#relate(object)
      const place = { namespace: textAt(desired, 'metadata', 'namespace'), name: textAt(desired, 'metadata', 'name') }
      results.push({ place: { ...place, names: result.names }, events: result.events })
    }
    this.#report(index, wanted.resource?.resource ?? '', results)
  }

  /** What happened first is told first: objects with fewer events are told with the last events. */
  #report(
    index: number,
    resource: string,
    results: readonly { readonly place: Omit<PlacedEvent, 'event'>; readonly events: readonly ObjectEvent[] }[],
  ): void {
    const rounds = Math.max(0, ...results.map(({ events }) => events.length))
    for (let round = 0; round < rounds; round++) {
      const told = results.flatMap(({ place, events }) => {
        const event = events[round - rounds + events.length]
        return event ? [{ ...place, event }] : []
      })
      if (!this.#writer.set(index, verdictOf(resource, told))) continue
      this.#isNews = true
      if (round < rounds - 1) this.#writer.send()
    }
  }

  finish(): void {
    const sorted = this.#related.sort((a, b) => compare(sortKey(a), sortKey(b)))
    const kept = sorted.map((object) => withOrigin(object, this.#input.before ?? []))
    if (!this.#keepsAll) pruneObjects(this.#input, kept)
    this.#writer.relate(kept)
    if (this.#isNews) this.#writer.send()
    else this.#writer.sendIfNew()
  }

  #relate(object: RelatedObject): void {
    const at = this.#related.findIndex((one) => isSameObject(one, object))
    if (at < 0) this.#related.push(object)
    else {
      const known = this.#related[at]!
      if (known.compliant !== object.compliant || goJson(known.properties) !== goJson(object.properties)) {
        this.#related[at] = object
      }
    }
  }
}

/** An object that was there before keeps who created it. */
function withOrigin(object: RelatedObject, before: readonly RelatedObject[]): RelatedObject {
  const old = before.find((one) => isSameObject(one, object))?.properties
  if (!old || !object.properties || object.properties.createdByPolicy) return object
  const { uid: _, ...properties } = object.properties
  return {
    ...object,
    properties: { ...properties, createdByPolicy: old.createdByPolicy, ...(old.uid !== undefined && { uid: old.uid }) },
  }
}

function isSameObject(a: RelatedObject, b: RelatedObject): boolean {
  return goJson(a.object) === goJson(b.object)
}

function sortKey({ object }: RelatedObject): readonly string[] {
  return [object.kind, object.metadata.namespace ?? '', object.metadata.name]
}

function compare(a: readonly string[], b: readonly string[]): number {
  for (const [at, text] of a.entries()) if (text !== b[at]) return text < b[at]! ? -1 : 1
  return 0
}
