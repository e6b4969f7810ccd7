// Tested by src/dialects/ocm/policy/served/policy.sim.test.ts
/** Open Cluster Management's policy kinds, with the fields that their users write and read. */
import type { Static } from 'typebox'
import { AGE, kindOf } from '../../../../kinds/define-kind.ts'
import type { Kind } from '../../../../kinds/define-kind.ts'
import type { Condition, KubeObject } from '../../../../kinds/meta.ts'
import {
  Conditions,
  enumOf,
  flag,
  int,
  listOf,
  mapOf,
  object,
  optional,
  rawObject,
  text,
} from '../../../../kinds/schema/schema-builders.ts'
import { toStructural } from '../../../../kinds/schema/structural.ts'

/** The API group of policies. */
export const OCM_POLICY_GROUP = 'policy.open-cluster-management.io'

// Open Cluster Management's CRDs limit neither texts nor lists; a request is limited as a whole.
const words = () => text({ max: 65_536 })
const MANY = { max: 10_000 }

const Dependency = object({
  apiVersion: words(),
  kind: words(),
  name: words(),
  namespace: optional(words()),
  compliance: enumOf(['Compliant', 'NonCompliant', 'Pending']),
})
const PolicySpec = object({
  disabled: flag({ default: false }),
  remediationAction: optional(enumOf(['Inform', 'inform', 'Enforce', 'enforce'])),
  copyPolicyMetadata: optional(flag()),
  hubTemplateOptions: optional(object({ serviceAccountName: optional(words()) })),
  dependencies: optional(listOf(Dependency, MANY)),
  // A Policy without templates says so in its condition; Open Cluster Management refuses the object.
  'policy-templates': optional(
    listOf(
      object({
        objectDefinition: rawObject(),
        extraDependencies: optional(listOf(Dependency, MANY)),
        ignorePending: optional(flag()),
      }),
      MANY,
    ),
  ),
})
const Placed = object({
  placement: optional(words()),
  placementRule: optional(words()),
  placementBinding: optional(words()),
  policySet: optional(words()),
})
const Compliance = optional(enumOf(['Compliant', 'NonCompliant', 'Pending']))
const PolicyStatus = object({
  compliant: Compliance,
  placement: optional(listOf(Placed, MANY)),
  status: optional(
    listOf(object({ clustername: words(), clusternamespace: words(), compliant: Compliance }), { max: 100_000 }),
  ),
  // Flotilla's own: the duties of bindings with the annotation flotilla.dev/comply-within.
  duties: optional(
    listOf(
      object({
        clustername: words(),
        binding: words(),
        since: words(),
        deadline: words(),
        compliedAt: optional(words()),
      }),
      { max: 100_000 },
    ),
  ),
  conditions: Conditions,
})
const PolicySetSpec = object({
  description: optional(words()),
  policies: listOf(words(), MANY),
  exclusions: optional(
    listOf(object({ policyName: words(), clusterNames: listOf(words(), MANY), reason: optional(words()) }), MANY),
  ),
})
const PolicySetStatus = object({
  compliant: Compliance,
  statusMessage: optional(words()),
  placement: optional(listOf(Placed, MANY)),
  conditions: Conditions,
})
const Requirements = listOf(object({ key: words(), operator: words(), values: optional(listOf(words(), MANY)) }), MANY)
const PlacementRuleSpec = object({
  clusterReplicas: optional(int({ minimum: 0 })),
  clusters: optional(listOf(object({ name: words() }), MANY)),
  clusterConditions: optional(listOf(object({ type: optional(words()), status: optional(words()) }), MANY)),
  clusterSelector: optional(
    object({ matchLabels: optional(mapOf(words(), MANY)), matchExpressions: optional(Requirements) }),
  ),
  schedulerName: optional(words()),
  policies: optional(listOf(rawObject(), MANY)),
  resourceHint: optional(rawObject()),
})
const PlacementRuleStatus = object({
  decisions: optional(
    listOf(object({ clusterName: optional(words()), clusterNamespace: optional(words()) }), { max: 100_000 }),
  ),
})

/** A Policy on the hub. */
export interface Policy extends KubeObject {
  spec: Static<typeof PolicySpec>
  status?: Static<typeof PolicyStatus>
}

/** A dependency of a Policy or of a template. */
export type PolicyDependency = Static<typeof Dependency>

export interface PolicySet extends KubeObject {
  spec: Static<typeof PolicySetSpec>
  status?: Static<typeof PolicySetStatus>
}

export interface PlacementBinding extends KubeObject {
  placementRef: { apiGroup: string; kind: string; name: string }
  subjects?: { apiGroup: string; kind: string; name: string }[]
  bindingOverrides?: { remediationAction?: string }
  subFilter?: string
}

export interface PlacementRule extends KubeObject {
  spec?: Static<typeof PlacementRuleSpec>
  status?: Static<typeof PlacementRuleStatus> & { conditions?: Condition[] }
}

const COMPLIANCE = { name: 'Compliance state', type: 'string', jsonPath: '.status.compliant' } as const

export const Policy: Kind<Policy> = kindOf<Policy>({
  group: OCM_POLICY_GROUP,
  version: 'v1',
  kind: 'Policy',
  plural: 'policies',
  scope: 'Namespaced',
  shortNames: ['plc'],
  description: 'Policies that are evaluated in the bound clusters; as in Open Cluster Management.',
  subresources: { status: true },
  events: { warnWhenFalse: ['Compiled', 'DutiesMet'] },
  fields: { spec: toStructural(PolicySpec), status: toStructural(PolicyStatus) },
  columns: [{ name: 'Remediation action', type: 'string', jsonPath: '.spec.remediationAction' }, COMPLIANCE, AGE],
})

export const PolicySet: Kind<PolicySet> = kindOf<PolicySet>({
  group: OCM_POLICY_GROUP,
  version: 'v1beta1',
  kind: 'PolicySet',
  plural: 'policysets',
  scope: 'Namespaced',
  shortNames: ['plcset'],
  description: 'Group of Policies that are bound together; as in Open Cluster Management.',
  subresources: { status: true },
  fields: { spec: toStructural(PolicySetSpec), status: toStructural(PolicySetStatus) },
  columns: [COMPLIANCE, AGE],
})

const reference = () => object({ apiGroup: words(), kind: words(), name: words() })

export const PlacementBinding: Kind<PlacementBinding> = kindOf<PlacementBinding>({
  group: OCM_POLICY_GROUP,
  version: 'v1',
  kind: 'PlacementBinding',
  plural: 'placementbindings',
  scope: 'Namespaced',
  shortNames: ['pb'],
  description: 'Binds Policies and PolicySets to the clusters of a Placement; as in Open Cluster Management.',
  fields: {
    placementRef: toStructural(reference()),
    subjects: toStructural(listOf(reference(), MANY)),
    bindingOverrides: toStructural(object({ remediationAction: optional(enumOf(['Enforce', 'enforce'])) })),
    subFilter: toStructural(enumOf(['restricted'])),
  },
  columns: [AGE],
})

export const PlacementRule: Kind<PlacementRule> = kindOf<PlacementRule>({
  group: 'apps.open-cluster-management.io',
  version: 'v1',
  kind: 'PlacementRule',
  plural: 'placementrules',
  scope: 'Namespaced',
  description: 'Selection of managed clusters by labels; read as a Placement of Open Cluster Management.',
  subresources: { status: true },
  fields: { spec: toStructural(PlacementRuleSpec), status: toStructural(PlacementRuleStatus) },
  columns: [AGE],
})

/** A policy by itself: the kinds that a Policy contains. On the hub they are templates and are not evaluated. */
const template = (kind: string, plural: string): Kind =>
  kindOf<KubeObject>({
    group: OCM_POLICY_GROUP,
    version: 'v1',
    kind,
    plural,
    scope: 'Namespaced',
    description: `Part of a Policy of Open Cluster Management. A ${kind} on the hub itself is not evaluated.`,
    subresources: { status: true },
    fields: { spec: toStructural(rawObject()), status: toStructural(rawObject()) },
    columns: [COMPLIANCE, AGE],
  })

/** The policy kinds that the hub serves. */
export const OCM_POLICY_KINDS: readonly Kind[] = [
  Policy,
  PolicySet,
  PlacementBinding,
  PlacementRule,
  template('ConfigurationPolicy', 'configurationpolicies'),
  template('CertificatePolicy', 'certificatepolicies'),
]
