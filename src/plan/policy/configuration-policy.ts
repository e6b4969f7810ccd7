// Tested by src/plan/policy/evaluate-policy.test.ts.
/** A ConfigurationPolicy and its status, as far as they are evaluated. */
import { fieldOf, isGoObject } from './go-value.ts'
import type { GoObject, GoValue } from './go-value.ts'

/** What becomes of the difference between template and object. */
export type RecordDiff = 'Log' | 'InStatus' | 'None' | 'Censored'

/** An entry of `object-templates`. */
export interface ObjectTemplate {
  readonly complianceType: string
  readonly metadataComplianceType: string
  readonly recreateOption: string
  readonly recordDiff: string
  readonly objectSelector: GoObject | undefined
  /** undefined: the field is missing. */
  readonly objectDefinition: GoValue | undefined
}

/** `spec.namespaceSelector`. */
export interface NamespaceSelector {
  readonly include: readonly string[]
  readonly exclude: readonly string[]
  /** Labels to match; undefined if neither field is there, which selects nothing by itself. */
  readonly labels: GoObject | undefined
  readonly terminatingInclusion: string
}

/** A policy that is evaluated. */
export interface ConfigurationPolicy {
  readonly name: string
  readonly namespace: string
  /** The policy as it is written, for messages. */
  readonly object: GoObject
  readonly isDeleted: boolean
  readonly remediationAction: string
  readonly pruneObjectBehavior: string
  readonly interval: { readonly compliant: string; readonly noncompliant: string }
  readonly customMessage: { readonly compliant: string; readonly noncompliant: string }
  readonly namespaceSelector: NamespaceSelector
  readonly templates: readonly ObjectTemplate[]
  readonly rawTemplates: string
  readonly templatesDisabled: boolean
}

/** An object in the status of a policy. */
export interface RelatedObject {
  readonly object: {
    readonly apiVersion: string
    readonly kind: string
    readonly metadata: { readonly name: string; readonly namespace?: string }
  }
  readonly compliant: 'Compliant' | 'NonCompliant'
  readonly reason?: string
  readonly properties?: ObjectProperties
}

/** What is known of an object besides its state. */
export interface ObjectProperties {
  readonly createdByPolicy: boolean
  readonly uid?: string
  readonly diff?: string
  readonly matchesAfterDryRun?: true
}

/** The state of an object template. */
export interface TemplateStatus {
  Compliant?: string
  conditions?: { type: string; status: 'True'; lastTransitionTime: string; reason?: string; message: string }[]
  Validity: Record<string, never>
}

/** The status of a policy. */
export interface PolicyStatus {
  compliant?: string
  compliancyDetails?: TemplateStatus[]
  lastEvaluated?: string
  relatedObjects?: readonly RelatedObject[]
  history?: { lastTimestamp: string; message: string }[]
}

/** Reads an object template. */
export function readObjectTemplate(value: GoValue): ObjectTemplate {
  const template = isGoObject(value) ? value : {}
  const selector = fieldOf(template, 'objectSelector')
  return {
    complianceType: text(template, 'complianceType').toLowerCase(),
    metadataComplianceType: text(template, 'metadataComplianceType').toLowerCase(),
    recreateOption: text(template, 'recreateOption'),
    recordDiff: text(template, 'recordDiff'),
    objectSelector: isGoObject(selector) ? selector : undefined,
    objectDefinition: fieldOf(template, 'objectDefinition'),
  }
}

/** Reads a policy. */
export function readConfigurationPolicy(object: GoObject): ConfigurationPolicy {
  const metadata = mapping(object, 'metadata')
  const spec = mapping(object, 'spec')
  const templates = fieldOf(spec, 'object-templates')
  const message = mapping(spec, 'customMessage')
  const interval = mapping(spec, 'evaluationInterval')
  const annotations = mapping(metadata, 'annotations')
  return {
    name: text(metadata, 'name'),
    namespace: text(metadata, 'namespace'),
    object,
    isDeleted: text(metadata, 'deletionTimestamp') !== '',
    remediationAction: text(spec, 'remediationAction').toLowerCase(),
    pruneObjectBehavior: text(spec, 'pruneObjectBehavior'),
    interval: { compliant: text(interval, 'compliant'), noncompliant: text(interval, 'noncompliant') },
    customMessage: { compliant: text(message, 'compliant'), noncompliant: text(message, 'noncompliant') },
    namespaceSelector: readNamespaceSelector(mapping(spec, 'namespaceSelector')),
    templates: Array.isArray(templates) ? templates.map(readObjectTemplate) : [],
    rawTemplates: text(spec, 'object-templates-raw'),
    templatesDisabled: TRUE.has(text(annotations, 'policy.open-cluster-management.io/disable-templates')),
  }
}

// strconv.ParseBool.
const TRUE: ReadonlySet<string> = new Set(['1', 't', 'T', 'TRUE', 'true', 'True'])

/** Reads the selector of namespaces. */
export function readNamespaceSelector(selector: GoObject): NamespaceSelector {
  const hasLabels = Object.hasOwn(selector, 'matchLabels') || Object.hasOwn(selector, 'matchExpressions')
  return {
    include: texts(selector, 'include'),
    exclude: texts(selector, 'exclude'),
    labels: hasLabels ? selector : undefined,
    terminatingInclusion: text(selector, 'terminatingInclusion'),
  }
}

function text(object: GoObject, key: string): string {
  const value = fieldOf(object, key)
  return typeof value === 'string' ? value : ''
}

function texts(object: GoObject, key: string): string[] {
  const value = fieldOf(object, key)
  return Array.isArray(value) ? value.filter((item): item is string => typeof item === 'string') : []
}

function mapping(object: GoObject, key: string): GoObject {
  const value = fieldOf(object, key)
  return isGoObject(value) ? value : {}
}
