// Tested by src/dialects/karmada/served/karmada.sim.test.ts
/** Karmada's ClusterTaintPolicy: taints that clusters have while their conditions match. */
import type { Static } from 'typebox'
import { AGE, kindOf } from '../../../kinds/define-kind.ts'
import type { Kind } from '../../../kinds/define-kind.ts'
import type { KubeObject } from '../../../kinds/meta.ts'
import { enumOf, listOf, object, optional, text } from '../../../kinds/schema/schema-builders.ts'
import { toStructural } from '../../../kinds/schema/structural.ts'
import { AffinitySchema } from '../types.ts'

const MANY = { max: 1000 }
const Match = object({
  conditionType: text({ max: 316, min: 1 }),
  operator: enumOf(['In', 'NotIn']),
  statusValues: listOf(enumOf(['True', 'False', 'Unknown']), MANY),
})
const Spec = object({
  targetClusters: optional(AffinitySchema),
  addOnConditions: optional(listOf(Match, MANY)),
  removeOnConditions: optional(listOf(Match, MANY)),
  taints: listOf(
    object({
      key: text({ max: 317, min: 1 }),
      value: optional(text({ max: 1024 })),
      effect: enumOf(['NoSchedule', 'NoExecute']),
    }),
    { ...MANY, min: 1 },
  ),
})

/** A rule about taints. */
export interface ServedTaintPolicy extends KubeObject {
  spec: Static<typeof Spec>
}

export const ClusterTaintPolicy: Kind<ServedTaintPolicy> = kindOf<ServedTaintPolicy>({
  group: 'policy.karmada.io',
  version: 'v1alpha1',
  kind: 'ClusterTaintPolicy',
  plural: 'clustertaintpolicies',
  scope: 'Cluster',
  categories: ['karmada-io'],
  description: 'Taints that clusters have while their conditions match; as in Karmada.',
  subresources: { status: false },
  required: ['spec'],
  fields: { spec: toStructural(Spec) },
  columns: [AGE],
})
