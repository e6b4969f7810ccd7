/** The kinds that policy engines install, as the projects publish them, and objects as their controllers write them. */
import type { JsonObject } from '../../core/json.ts'
import type { ResourceType, UnknownObject } from '../../kinds/meta.ts'

const text = { type: 'string' }
const reference = {
  type: 'object',
  'x-kubernetes-map-type': 'atomic',
  properties: { apiVersion: text, fieldPath: text, kind: text, name: text, namespace: text, resourceVersion: text, uid: text },
} // prettier-ignore
const selector = { type: 'object', properties: { matchLabels: { type: 'object', additionalProperties: text } } }
const count = { type: 'integer' }
const report = (more: JsonObject): JsonObject => ({
  type: 'object',
  properties: {
    apiVersion: text,
    kind: text,
    metadata: { type: 'object' },
    ...more,
    results: {
      type: 'array',
      items: {
        type: 'object',
        required: ['policy'],
        properties: {
          category: text,
          message: text,
          policy: text,
          properties: { type: 'object', additionalProperties: text },
          resourceSelector: selector,
          resources: { type: 'array', items: reference },
          result: { type: 'string', enum: ['pass', 'fail', 'warn', 'error', 'skip'] },
          rule: text,
          scored: { type: 'boolean' },
          severity: { type: 'string', enum: ['critical', 'high', 'low', 'medium', 'info'] },
          source: text,
          timestamp: {
            type: 'object',
            required: ['nanos', 'seconds'],
            properties: { nanos: { type: 'integer', format: 'int32' }, seconds: { type: 'integer', format: 'int64' } },
          },
        },
      },
    },
    scope: reference,
    scopeSelector: selector,
    summary: { type: 'object', properties: { error: count, fail: count, pass: count, skip: count, warn: count } },
  },
})

function definition(type: ResourceType, schema: JsonObject, more: JsonObject = {}): UnknownObject {
  const { group, version, kind, plural, scope } = type
  const names = { kind, plural, singular: kind.toLowerCase(), listKind: `${kind}List` }
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: scope === 'Cluster' ? 'Cluster' : 'Namespaced',
      names,
      versions: [{ name: version, served: true, storage: true, schema: { openAPIV3Schema: schema }, ...more }],
    },
  }
}

/** A kind by its API version, kind and plural. */
function kindOf(apiVersion: string, names: string, scope: ResourceType['scope']): ResourceType {
  const [group = '', version = ''] = apiVersion.split('/')
  const [kind = '', plural = ''] = names.split(' ')
  return { group, version, kind, plural, scope }
}

/** The kinds of results. */
export const ENGINE_KINDS = {
  PolicyReport: kindOf('wgpolicyk8s.io/v1alpha2', 'PolicyReport policyreports', 'Namespaced'),
  ClusterPolicyReport: kindOf('wgpolicyk8s.io/v1alpha2', 'ClusterPolicyReport clusterpolicyreports', 'Cluster'),
  Report: kindOf('openreports.io/v1alpha1', 'Report reports', 'Namespaced'),
  ClusterReport: kindOf('openreports.io/v1alpha1', 'ClusterReport clusterreports', 'Cluster'),
  K8sRequiredLabels: kindOf('constraints.gatekeeper.sh/v1beta1', 'K8sRequiredLabels k8srequiredlabels', 'Cluster'),
} as const

const open = { 'x-kubernetes-preserve-unknown-fields': true }
const SCHEMAS: Readonly<Record<keyof typeof ENGINE_KINDS, JsonObject>> = {
  PolicyReport: report({}),
  ClusterPolicyReport: report({}),
  Report: report({ source: text }),
  ClusterReport: report({ source: text }),
  // As Gatekeeper makes it of a ConstraintTemplate.
  K8sRequiredLabels: {
    type: 'object',
    properties: {
      metadata: { type: 'object', properties: { name: { type: 'string', maxLength: 63 } } },
      spec: {
        type: 'object',
        properties: {
          enforcementAction: text,
          match: { type: 'object', ...open },
          parameters: { type: 'object', properties: { labels: { type: 'array', items: text } } },
        },
      },
      status: open,
    },
  },
}

/** The CustomResourceDefinition of a kind. */
export function engineKind(kind: keyof typeof ENGINE_KINDS): UnknownObject {
  const more = kind === 'K8sRequiredLabels' ? { subresources: { status: {} } } : {}
  return definition(ENGINE_KINDS[kind], SCHEMAS[kind], more)
}

/** A result of a rule. */
export interface WrittenResult {
  readonly policy: string
  readonly result: 'pass' | 'fail' | 'warn' | 'error' | 'skip'
  readonly severity?: string
  readonly message?: string
}

/** A report of Kyverno about a Pod: named by its UID, with the Pod as its scope. */
export function kyvernoReport(
  type: ResourceType,
  pod: { readonly namespace: string; readonly name: string; readonly uid: string },
  results: readonly WrittenResult[],
): UnknownObject {
  const { namespace, name, uid } = pod
  const counted = Object.fromEntries(
    ['pass', 'fail', 'warn', 'error', 'skip'].map((word) => [
      word,
      results.filter((one) => one.result === word).length,
    ]),
  )
  return {
    apiVersion: `${type.group}/${type.version}`,
    kind: type.kind,
    metadata: { name: uid, namespace, labels: { 'app.kubernetes.io/managed-by': 'kyverno' } },
    scope: { apiVersion: 'v1', kind: 'Pod', name, namespace, uid },
    results: results.map((one) => ({
      source: 'kyverno',
      scored: true,
      rule: 'check',
      timestamp: { nanos: 0, seconds: 1_795_000_000 },
      ...one,
    })),
    summary: counted,
  }
}
