// Tested by src/plan/policy/evaluate-policy.test.ts.
/** Evaluates one wanted object against the cluster, and repairs it if the policy enforces. */
import { writeYaml } from '../../yaml/write/write-yaml.ts'
import { comparable, compareObject, meetsTemplate } from './compare-object.ts'
import type { Comparison } from './compare-object.ts'
import type { ObjectProperties, ObjectTemplate, RelatedObject, RecordDiff } from './configuration-policy.ts'
import { deepEqual, fieldOf, isGoObject, textAt } from './go-value.ts'
import type { GoObject } from './go-value.ts'
import { identifier, REASON } from './messages.ts'
import type { ObjectEvent } from './messages.ts'
import { ClusterRefusal } from './policy-ports.ts'
import type { PolicyCluster, PolicyResource } from './policy-ports.ts'
import { readLabelSelector } from './select-labels.ts'
import { splitLines, unifiedDiff } from './unified-diff.ts'

/** What an object is evaluated with. */
export interface ObjectInput {
  readonly cluster: PolicyCluster
  readonly resource: PolicyResource
  readonly template: ObjectTemplate
  readonly index: number
  readonly desired: GoObject
  /** `inform` or `enforce`. */
  readonly remediation: string
  readonly recordDiff: RecordDiff
  /** Whether differences are kept whole, instead of 50 lines. */
  readonly fullDiffs: boolean
  /** The objects of the last evaluation. */
  readonly before: readonly RelatedObject[]
}

/** What was found: events in the order in which they happened, and the objects for the status. */
export interface ObjectResult {
  readonly names: readonly string[]
  readonly events: readonly ObjectEvent[]
  readonly related: readonly RelatedObject[]
  /** A failure of the API, after which the evaluation is tried again. */
  readonly error?: string
}

/** Evaluates an object by its name, or all objects that meet a template without a name. */
export function evaluateObject(input: ObjectInput): ObjectResult {
  const { cluster, resource, template, desired } = input
  const name = textAt(desired, 'metadata', 'name')
  const namespace = textAt(desired, 'metadata', 'namespace')
  if (name !== '') return evaluateOne(input, name, cluster.get(resource, namespace, name))
  // A template without a name informs only: nothing says what to create.
  const informs = { ...input, remediation: 'inform' }
  const { all, matching } = matchingObjects(input, namespace)
  if (matching.length === 1) {
    const only = textAt(matching[0]!, 'metadata', 'name')
    return evaluateOne(informs, only, cluster.get(resource, namespace, only))
  }
  const names = matching.map((object) => textAt(object, 'metadata', 'name'))
  const event = unnamedEvent(names.length > 0, all.length > 0, template.complianceType !== 'mustnothave')
  // Names are left out where no object matches.
  const shown = names.length === 0 ? ['-'] : names
  return { names, events: [event], related: shown.map((one) => related(input, event, { name: one })) }
}

function unnamedEvent(isMatched: boolean, isAny: boolean, isWanted: boolean): ObjectEvent {
  const compliant = isMatched === isWanted
  const unmatched = isAny ? REASON.different : REASON.absent
  const reason = isWanted
    ? isMatched
      ? REASON.found
      : unmatched
    : isMatched
      ? REASON.unwanted
      : REASON.absentAsExpected
  return { compliant, reason, message: '' }
}

function matchingObjects(
  { cluster, resource, template, desired }: ObjectInput,
  namespace: string,
): { readonly all: readonly GoObject[]; readonly matching: readonly GoObject[] } {
  const selector = template.objectSelector && readLabelSelector(template.objectSelector)
  // A missing selector selects nothing by itself, and all objects here.
  const matches = selector === undefined || 'error' in selector ? () => selector === undefined : selector.matches
  const all = cluster.list(resource, namespace, matches)
  const only = template.complianceType === 'mustonlyhave'
  return { all, matching: all.filter((object) => meetsTemplate(desired, object, only)) }
}

function related(
  { resource, desired }: ObjectInput,
  { compliant, reason }: ObjectEvent,
  { name, properties }: { readonly name: string; readonly properties?: ObjectProperties | undefined },
): RelatedObject {
  const namespace = textAt(desired, 'metadata', 'namespace')
  return {
    object: {
      apiVersion: resource.apiVersion,
      kind: textAt(desired, 'kind'),
      metadata: { name, ...(resource.namespaced && namespace !== '' && { namespace }) },
    },
    compliant: compliant ? 'Compliant' : 'NonCompliant',
    ...(reason !== '' && { reason }),
    ...(properties && { properties }),
  }
}

function evaluateOne(input: ObjectInput, name: string, existing: GoObject | undefined): ObjectResult {
  const found = judge(input, name, existing)
  const last = found.events.at(-1)
  const properties = found.properties
  return {
    names: [name],
    events: found.events,
    related: last ? [related(input, last, { name, properties })] : [],
    ...(found.error !== undefined && { error: found.error }),
  }
}

interface Judged {
  readonly events: readonly ObjectEvent[]
  readonly properties?: ObjectProperties
  readonly error?: string
}

function judge(input: ObjectInput, name: string, existing: GoObject | undefined): Judged {
  const isWanted = input.template.complianceType !== 'mustnothave'
  const enforces = input.remediation === 'enforce'
  if (!existing) {
    if (!isWanted) return { events: [{ compliant: true, reason: REASON.absentAsExpected, message: '' }] }
    const absent = { compliant: false, reason: REASON.absent, message: '' }
    if (!enforces) return { events: [absent] }
    const created = createObject(input, name)
    return { ...created, events: [absent, ...created.events] }
  }
  if (isWanted) return judgeExisting(input, name, existing)
  if (!enforces) return { events: [{ compliant: false, reason: REASON.unwanted, message: '' }] }
  return deleteObject(input, name)
}

function createObject({ cluster, resource, desired }: ObjectInput, name: string): Judged {
  const id = identifier(name, textAt(desired, 'metadata', 'namespace'))
  try {
    const created = cluster.create(resource, desired)
    const hasStatus = fieldOf(desired, 'status') !== undefined
    const message = `${resource.resource} ${id} was created successfully`
    const event = hasStatus
      ? {
          compliant: false,
          reason: `${REASON.created}, status unchecked`,
          message: `${message}, the status of the object will be verified in the next evaluation`,
        }
      : { compliant: true, reason: REASON.created, message }
    return { events: [event], properties: { createdByPolicy: true, ...uidOf(created) } }
  } catch (caught) {
    if (!(caught instanceof ClusterRefusal)) throw caught
    const message = `${resource.resource} ${id} is missing, and cannot be created, reason: \`${caught.message}\``
    return { events: [{ compliant: false, reason: 'K8s creation error', message }], error: caught.message }
  }
}

function deleteObject({ cluster, resource, desired }: ObjectInput, name: string): Judged {
  const namespace = textAt(desired, 'metadata', 'namespace')
  const id = identifier(name, namespace)
  try {
    cluster.delete(resource, namespace, name)
    const message = `${resource.resource} ${id} was deleted successfully`
    return { events: [{ compliant: true, reason: REASON.deleted, message }] }
  } catch (caught) {
    if (!(caught instanceof ClusterRefusal)) throw caught
    const message = `${resource.resource} ${id} exists, and cannot be deleted, reason: \`${caught.message}\``
    return { events: [{ compliant: false, reason: 'K8s deletion error', message }], error: caught.message }
  }
}

function uidOf(object: GoObject): { readonly uid?: string } {
  const uid = textAt(object, 'metadata', 'uid')
  return uid === '' ? {} : { uid }
}

/** The outcome of comparing and, where the policy enforces, repairing an object. */
interface Outcome {
  readonly violates: boolean
  readonly message?: string
  readonly diff?: string
  /** A mismatch was found before anything was repaired. */
  readonly tried?: boolean
  readonly updated?: GoObject
  readonly recreated?: boolean
  readonly matchesAfterDryRun?: boolean
}

function judgeExisting(input: ObjectInput, name: string, existing: GoObject): Judged {
  const outcome = checkObject(input, name, existing)
  const message = outcome.message ?? ''
  const events: ObjectEvent[] = []
  if (outcome.tried && !message.includes('Error validating the object')) {
    events.push({ compliant: false, reason: REASON.different, message: '' })
  }
  if (outcome.violates) {
    const reason = message === '' ? REASON.different : 'K8s update template error'
    events.push({ compliant: false, reason, message })
  } else {
    const isRepaired = input.remediation === 'enforce' && outcome.updated
    events.push({ compliant: true, reason: isRepaired ? REASON.updated : REASON.found, message: '' })
  }
  const current = outcome.updated ?? existing
  const isOther = textAt(current, 'metadata', 'uid') !== textAt(existing, 'metadata', 'uid')
  const properties: ObjectProperties = {
    createdByPolicy: isOther && (!outcome.recreated || wasCreated(input.before, existing)),
    ...uidOf(current),
    ...(outcome.diff !== undefined && outcome.diff !== '' && { diff: outcome.diff }),
    ...(outcome.matchesAfterDryRun && { matchesAfterDryRun: true }),
  }
  return { events, properties }
}

function wasCreated(before: readonly RelatedObject[], existing: GoObject): boolean {
  const uid = textAt(existing, 'metadata', 'uid')
  return before.some(({ properties }) => properties?.uid === uid && properties.createdByPolicy)
}

function checkObject(input: ObjectInput, name: string, existing: GoObject): Outcome {
  const { template, desired, cluster, resource } = input
  const only = template.complianceType === 'mustonlyhave'
  const onlyMetadata =
    template.metadataComplianceType === '' ? only : template.metadataComplianceType === 'mustonlyhave'
  const compared = compareObject(desired, existing, { only, onlyMetadata })
  if (compared.problem !== undefined) return { violates: true, message: compared.problem, tried: true }
  const before = comparable(existing)
  const statusDiff = compared.statusDiffers ? diffOf(input, before, comparable(compared.merged)) : ''
  if (!compared.needsUpdate && !compared.missing) {
    return compared.statusDiffers ? { violates: true, diff: statusDiff } : { violates: false }
  }
  let dryRun: GoObject
  try {
    dryRun = comparable(cluster.dryRunUpdate(resource, compared.merged))
  } catch (caught) {
    if (!(caught instanceof ClusterRefusal)) throw caught
    return afterRefusal(input, caught, { name, before, existing, compared })
  }
  if (deepEqual(dryRun, before)) {
    if (!compared.statusDiffers) return { violates: false, matchesAfterDryRun: true }
    return { violates: true, diff: statusDiff, tried: compared.needsUpdate }
  }
  const diff = diffOf(input, before, dryRun)
  if (input.remediation !== 'enforce') return { violates: true, diff }
  const recreates = template.recreateOption === 'Always'
  return repair(input, { name, compared, diff, recreates })
}

interface Refused {
  readonly name: string
  readonly before: GoObject
  readonly existing: GoObject
  readonly compared: Comparison
}

/** An update that the API refuses: some fields cannot be changed, or a field is unknown. */
function afterRefusal(input: ObjectInput, refusal: ClusterRefusal, { name, before, compared }: Refused): Outcome {
  const tried = compared.needsUpdate
  if (refusal.reason !== 'Invalid') {
    const message =
      updateProblem(refusal, compared.merged, name) ??
      `Error issuing a dry run update request for the object \`${name}\`, the error is \`${refusal.message}\``
    return { violates: true, message, tried }
  }
  const diff = diffOf(input, before, comparable(compared.merged))
  if (input.remediation !== 'enforce') return { violates: true, diff }
  if (input.template.recreateOption !== 'Always' && input.template.recreateOption !== 'IfRequired') {
    const message = `${prefix(input, name)} cannot be updated, likely due to immutable fields not matching, you may set spec["object-templates"][].recreateOption to recreate the object`
    return { violates: true, message, diff }
  }
  return repair(input, { name, compared, diff, recreates: true })
}

interface Repair {
  readonly name: string
  readonly compared: Comparison
  readonly diff: string
  readonly recreates: boolean
}

function repair(input: ObjectInput, { name, compared, diff, recreates }: Repair): Outcome {
  const { cluster, resource, desired } = input
  const tried = compared.needsUpdate
  try {
    if (recreates && !cluster.delete(resource, textAt(desired, 'metadata', 'namespace'), name)) {
      const message = `${prefix(input, name)} timed out waiting for the object to delete during recreate, will retry on the next policy evaluation`
      return { violates: true, message, tried }
    }
    const updated = recreates ? cluster.create(resource, desired) : cluster.update(resource, compared.merged)
    return { violates: compared.statusDiffers, diff, tried, updated, recreated: recreates }
  } catch (caught) {
    if (!(caught instanceof ClusterRefusal)) throw caught
    const action = recreates ? 'recreate' : 'update'
    const message =
      updateProblem(caught, compared.merged, name) ??
      `${prefix(input, name)} failed to ${action} with the error \`${caught.message}\``
    return { violates: true, message, diff, tried }
  }
}

function updateProblem({ reason, message }: ClusterRefusal, object: GoObject, name: string): string | undefined {
  if (reason === 'NotFound') return `\`${textAt(object, 'kind')}\` is not present and must be created`
  return message.includes('strict decoding error:')
    ? `Error validating the object ${name}, the error is \`${message}\``
    : undefined
}

function prefix({ resource, desired }: ObjectInput, name: string): string {
  return `${resource.resource} ${identifier(name, resource.namespaced ? textAt(desired, 'metadata', 'namespace') : '')}`
}

const CENSORED =
  '# The difference is redacted because it contains sensitive data. To override, the spec["object-templates"][].recordDiff field must be set to "InStatus" for the difference to be recorded in the policy status. Consider existing access to the ConfigurationPolicy objects and the etcd encryption configuration before you proceed with an override.'

const CONTEXT_LINES = 5
/** The header has three lines. */
const MOST_LINES = 53

function diffOf({ recordDiff, fullDiffs }: ObjectInput, existing: GoObject, updated: GoObject): string {
  if (recordDiff === 'Censored') return CENSORED
  if (recordDiff !== 'InStatus') return ''
  const namespace = textAt(existing, 'metadata', 'namespace')
  const name = `${namespace === '' ? '' : `${namespace}/`}${textAt(existing, 'metadata', 'name')}`
  const diff = unifiedDiff(splitLines(writeYaml(existing)), splitLines(writeYaml(updated)), {
    from: `${name} : existing`,
    to: `${name} : updated`,
    context: CONTEXT_LINES,
  })
  const lines = diff.split('\n')
  if (lines.length <= MOST_LINES || fullDiffs) return diff
  return `# Truncated: showing 50/${lines.length} diff lines:\n${lines.slice(0, MOST_LINES).join('\n')}`
}

/** What becomes of the difference, by the template or else by the kind: some kinds hold what is not shown. */
export function recordDiffOf(template: ObjectTemplate, desired: GoObject | undefined): RecordDiff {
  if (template.recordDiff !== '') return template.recordDiff as RecordDiff
  const [group, kind] = [groupOf(desired), desired ? textAt(desired, 'kind') : '']
  const isCensored =
    (group === '' && (kind === 'ConfigMap' || kind === 'Secret')) ||
    (group === 'oauth.openshift.io' && (kind === 'OAuthAccessToken' || kind === 'OAuthAuthorizeTokens')) ||
    (group === 'route.openshift.io' && kind === 'Route')
  return isCensored ? 'Censored' : 'InStatus'
}

function groupOf(object: GoObject | undefined): string {
  const apiVersion = object && isGoObject(object) ? textAt(object, 'apiVersion') : ''
  return apiVersion.includes('/') ? apiVersion.slice(0, apiVersion.indexOf('/')) : ''
}
