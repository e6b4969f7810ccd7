// Tested by src/plan/policy/evaluate-policy.test.ts.
/** Compares one existing object with one wanted object, key by key. */
import { fromBase64 } from '../../core/bytes.ts'
import { equivalence } from './equivalence.ts'
import { copyOf, fieldOf, goTypeName, isGoObject, sortedKeys, sprint, textAt } from './go-value.ts'
import type { GoObject, GoValue } from './go-value.ts'
import { mergeLists, mergeObjects } from './merge.ts'
import type { MergeRule } from './merge.ts'

/** How an object is to be: `musthave` and `mustonlyhave` differ in what else it may have. */
export interface ComparisonRule {
  readonly only: boolean
  readonly onlyMetadata: boolean
}

/** What a comparison found. */
export interface Comparison {
  /** The existing object with the template merged into it. */
  readonly merged: GoObject
  /** Why the two cannot be compared. */
  readonly problem?: string
  readonly needsUpdate: boolean
  /** The status differs, which an update does not change. */
  readonly statusDiffers: boolean
  /** The two differ by zero values or by keys that are left out. */
  readonly missing: boolean
}

const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration'

/** An object without the fields that no policy is about. */
export function comparable(object: GoObject): GoObject {
  const copy = copyOf(object)
  const metadata = fieldOf(copy, 'metadata')
  if (!isGoObject(metadata)) return copy
  delete metadata['managedFields']
  delete metadata['generation']
  const annotations = fieldOf(metadata, 'annotations')
  if (isGoObject(annotations)) delete annotations[LAST_APPLIED]
  if (!isGoObject(annotations) || Object.keys(annotations).length === 0) delete metadata['annotations']
  return copy
}

/** Compares an existing object with what a policy wants. */
export function compareObject(desired: GoObject, existing: GoObject, rule: ComparisonRule): Comparison {
  const compared = comparable(existing)
  const merged = copyOf(existing)
  let [needsUpdate, statusDiffers, missing] = [false, false, false]
  for (const key of sortedKeys(desired)) {
    const only = key === 'metadata' ? rule.onlyMetadata : rule.only
    const found = compareKey(key, { desired, existing: compared, rule: { only, zeroIsMissing: false } })
    if (found === undefined) continue
    missing ||= found.missing
    const problem = found.problem ?? mergeInto(merged, key, found.merged!)
    if (problem !== undefined) return { merged, problem, needsUpdate: true, statusDiffers, missing }
    if (found.differs && key === 'status') statusDiffers = true
    else if (found.differs) needsUpdate = true
  }
  if (rule.only && removeOthers(merged, desired)) needsUpdate = true
  return { merged, needsUpdate, statusDiffers, missing }
}

/** Whether an object meets a template without a name, where zero values may be left out. */
export function meetsTemplate(desired: GoObject, existing: GoObject, only: boolean): boolean {
  return Object.keys(desired).every((key) => {
    const found = compareKey(key, { desired, existing, rule: { only, zeroIsMissing: true } })
    return found === undefined || (found.problem === undefined && !found.differs)
  })
}

/** Of the metadata, policies set labels and annotations alone. */
function mergeInto(merged: GoObject, key: string, value: GoValue): string | undefined {
  if (key !== 'metadata') {
    merged[key] = value
    return undefined
  }
  if (!isGoObject(value)) return undefined
  for (const [field, word] of [
    ['annotations', 'annotation'],
    ['labels', 'label'],
  ] as const) {
    const texts = fieldOf(value, field)
    if (texts === undefined) continue
    const problem = textsProblem(texts)
    if (problem !== undefined) return `invalid ${word}, error: ${problem}`
    const metadata = fieldOf(merged, 'metadata')
    if (isGoObject(metadata)) metadata[field] = copyOf(texts)
  }
  return undefined
}

function textsProblem(texts: GoValue): string | undefined {
  if (!isGoObject(texts)) return `${sprint(texts)} is of the type ${goTypeName(texts)}, expected map[string]interface{}`
  for (const key of sortedKeys(texts)) {
    const value = texts[key]!
    if (typeof value !== 'string') {
      return `contains non-string value in the map under key "${key}": ${sprint(value)} is of the type ${goTypeName(value)}, expected string`
    }
  }
  return undefined
}

/** Removes the keys that `mustonlyhave` does not name; keys that Kubernetes itself adds stay. */
function removeOthers(merged: GoObject, desired: GoObject): boolean {
  const isAccount = merged['kind'] === 'ServiceAccount' && merged['apiVersion'] === 'v1'
  const kept = new Set(['metadata', 'status', ...(isAccount ? ['secrets', 'imagePullSecrets'] : [])])
  const others = Object.keys(merged).filter((key) => !Object.hasOwn(desired, key) && !kept.has(key))
  for (const key of others) delete merged[key]
  return others.length > 0
}

interface KeyComparison {
  readonly problem?: string
  readonly merged?: GoValue
  readonly differs: boolean
  readonly missing: boolean
}

interface KeyInput {
  readonly desired: GoObject
  readonly existing: GoObject
  readonly rule: MergeRule
}

/** Compares one top-level key; undefined for keys that name the kind. */
function compareKey(key: string, { desired, existing, rule }: KeyInput): KeyComparison | undefined {
  if (key === 'apiVersion' || key === 'kind') return undefined
  const wanted = key === 'metadata' ? wantedMetadata(desired) : desired[key]!
  const present = fieldOf(existing, key)
  const isAbsent = present === undefined
  const merged = mergeKey(wanted, present, rule)
  if (merged === undefined) {
    const problem = `Error merging changes into key "${key}": object type of template and existing do not match`
    return { problem, differs: false, missing: isAbsent }
  }
  const missing = isAbsent || merged.missing
  const pair = { merged: merged.value, existing: present }
  if (key === 'metadata') Object.assign(pair, comparableMetadata(pair.merged as GoObject, present, desired))
  if (key === 'stringData' && existing['kind'] === 'Secret') {
    const decoded = decodedData(existing)
    if (typeof decoded === 'string') return { problem: decoded, differs: false, missing }
    pair.existing = decoded
  }
  const compared = equivalence(pair.merged, pair.existing, rule.zeroIsMissing)
  return { merged: pair.merged, differs: !compared.equal, missing: missing || compared.missing }
}

function mergeKey(
  wanted: GoValue,
  present: GoValue | undefined,
  rule: MergeRule,
): { readonly value: GoValue; readonly missing: boolean } | undefined {
  const isAbsent = present === undefined || present === null
  if (Array.isArray(wanted)) {
    if (isAbsent) return { value: wanted, missing: false }
    return Array.isArray(present) ? mergeLists(wanted, present, rule) : undefined
  }
  if (isGoObject(wanted)) {
    if (isAbsent) return { value: wanted, missing: false }
    return isGoObject(present) ? mergeObjects(wanted, present, rule) : undefined
  }
  return { value: wanted, missing: false }
}

function wantedMetadata(desired: GoObject): GoObject {
  const metadata = fieldOf(desired, 'metadata')
  return isGoObject(metadata) ? relevantMetadata(metadata) : {}
}

function relevantMetadata(metadata: GoObject): GoObject {
  const relevant: GoObject = {}
  const labels = fieldOf(metadata, 'labels')
  if (labels !== undefined) relevant['labels'] = labels
  const annotations = fieldOf(metadata, 'annotations')
  if (isGoObject(annotations)) {
    relevant['annotations'] = Object.fromEntries(Object.entries(annotations).filter(([key]) => key !== LAST_APPLIED))
  } else if (annotations !== undefined) relevant['annotations'] = annotations
  return relevant
}

/** Labels and annotations of both sides, as far as the template names them. */
function comparableMetadata(
  merged: GoObject,
  existing: GoValue | undefined,
  desired: GoObject,
): { readonly merged: GoObject; readonly existing: GoObject } {
  const wanted = relevantMetadata(merged)
  const present = isGoObject(existing) ? relevantMetadata(existing) : {}
  if (!Object.hasOwn(wanted, 'labels')) delete present['labels']
  if (!Object.hasOwn(wanted, 'annotations')) delete present['annotations']
  const isNamespace = textAt(desired, 'apiVersion') === 'v1' && textAt(desired, 'kind') === 'Namespace'
  const [own, theirs] = [fieldOf(wanted, 'annotations'), fieldOf(present, 'annotations')]
  if (isNamespace && isGoObject(own) && isGoObject(theirs)) {
    // OpenShift gives namespaces annotations that no policy may take away.
    for (const key of Object.keys(theirs)) {
      if (key.startsWith('openshift.io/sa.scc.') && !Object.hasOwn(own, key)) own[key] = theirs[key]!
    }
  }
  return { merged: wanted, existing: present }
}

/** The data of a Secret as texts, or why they cannot be read. */
function decodedData(secret: GoObject): GoObject | string {
  const data = fieldOf(secret, 'data')
  if (data === undefined || data === null) return {}
  if (!isGoObject(data) || Object.values(data).some((value) => typeof value !== 'string')) {
    return 'Error accessing encoded data'
  }
  const texts: GoObject = {}
  for (const [key, value] of Object.entries(data)) {
    if (!BASE64.test(value as string)) return `Error decoding secret: ${textAt(secret, 'metadata', 'name')}`
    // Bytes that are no text never equal one.
    texts[key] = new TextDecoder().decode(fromBase64(value as string))
  }
  return texts
}

const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/
