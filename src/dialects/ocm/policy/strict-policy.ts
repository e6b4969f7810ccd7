// Tested by src/dialects/ocm/policy/recorded.contract.test.ts.
/** The fields of a ConfigurationPolicy, and what is wrong with one. */
import type { GoObject } from '../../../plan/policy/go-value.ts'
import { decodeProblem, METADATA_TYPE, textType, withFieldNames } from './go-types.ts'
import type { GoStructType, GoType } from './go-types.ts'

const TEXT = textType()
const TEXTS: GoType = { map: TEXT }

const REQUIREMENT: GoType = {
  struct: 'LabelSelectorRequirement',
  name: 'v1.LabelSelectorRequirement',
  fields: { key: TEXT, operator: textType('v1.LabelSelectorOperator'), values: { list: TEXT } },
}
const SELECTOR_FIELDS = { matchLabels: TEXTS, matchExpressions: { list: REQUIREMENT } }

const TEMPLATE: GoType = {
  struct: 'ObjectTemplate',
  name: 'v1.ObjectTemplate',
  fields: {
    complianceType: textType('v1.ComplianceType'),
    metadataComplianceType: textType('v1.ComplianceType'),
    recreateOption: textType('v1.RecreateOption'),
    objectDefinition: 'any',
    recordDiff: textType('v1.RecordDiff'),
    objectSelector: { struct: 'LabelSelector', name: 'v1.LabelSelector', fields: SELECTOR_FIELDS },
  },
}

const PATTERNS: GoType = { list: textType('v1.NonEmptyString') }

const SPEC: GoType = {
  struct: 'ConfigurationPolicySpec',
  name: 'v1.ConfigurationPolicySpec',
  fields: {
    customMessage: {
      struct: 'CustomMessage',
      name: 'v1.CustomMessage',
      fields: { compliant: TEXT, noncompliant: TEXT },
    },
    severity: textType('v1.Severity'),
    remediationAction: textType('v1.RemediationAction'),
    evaluationInterval: {
      struct: 'EvaluationInterval',
      name: 'v1.EvaluationInterval',
      fields: { compliant: TEXT, noncompliant: TEXT },
    },
    pruneObjectBehavior: textType('v1.PruneObjectBehavior'),
    namespaceSelector: {
      struct: 'Target',
      name: 'v1.Target',
      fields: { ...SELECTOR_FIELDS, include: PATTERNS, exclude: PATTERNS, terminatingInclusion: TEXT },
    },
    'object-templates': { list: TEMPLATE, pointers: true },
    'object-templates-raw': TEXT,
  },
}

const POLICY: GoStructType = {
  struct: 'ConfigurationPolicy',
  name: 'v1.ConfigurationPolicy',
  fields: { apiVersion: TEXT, kind: TEXT, metadata: METADATA_TYPE, spec: SPEC, status: 'any' },
}

/** A policy with its fields named as they are, or the first problem of it: a field that is not known is one. */
export function readStrictPolicy(policy: GoObject): { readonly policy: GoObject } | { readonly problem: string } {
  const problem = decodeProblem(policy, POLICY, { strict: true })
  return problem === undefined ? { policy: withFieldNames(policy, POLICY) as GoObject } : { problem }
}
