// Tested by src/dialects/ocm/replica-sets/replica-set.sim.test.ts
/** ManifestWorkReplicaSet of Open Cluster Management. */
import type { Static } from 'typebox'
import { kindOf } from '../../../kinds/define-kind.ts'
import type { Kind } from '../../../kinds/define-kind.ts'
import type { KubeObject } from '../../../kinds/meta.ts'
import {
  Conditions,
  enumOf,
  int,
  intOrString,
  listOf,
  object,
  optional,
  text,
} from '../../../kinds/schema/schema-builders.ts'
import { toStructural } from '../../../kinds/schema/structural.ts'
import { OCM_WORK_GROUP, WorkSpec } from '../works/kinds.ts'

const words = () => text({ max: 65_536 })
const MANY = { max: 10_000 }

const limits = {
  minSuccessTime: optional(words()),
  progressDeadline: optional(words()),
  maxFailures: optional(intOrString({ minimum: Number.MIN_SAFE_INTEGER })),
}
const mandatoryDecisionGroups = optional(
  listOf(object({ groupName: optional(words()), groupIndex: optional(int()) }), MANY),
)
/** How a change reaches the clusters of a Placement. */
export const RolloutStrategy = object(
  {
    type: enumOf(['All', 'Progressive', 'ProgressivePerGroup'], { default: 'All' }),
    all: optional(object(limits)),
    progressive: optional(
      object({
        ...limits,
        mandatoryDecisionGroups,
        maxConcurrency: optional(intOrString({ minimum: Number.MIN_SAFE_INTEGER })),
      }),
    ),
    progressivePerGroup: optional(object({ ...limits, mandatoryDecisionGroups })),
  },
  { default: { type: 'All', all: { progressDeadline: 'None' } } },
)

const Spec = object({
  manifestWorkTemplate: WorkSpec,
  placementRefs: listOf(object({ name: text({ max: 253, min: 1 }), rolloutStrategy: optional(RolloutStrategy) }), {
    max: 32,
    min: 1,
  }),
  cascadeDeletionPolicy: enumOf(['Background', 'Foreground'], { default: 'Background' }),
})

const summary = object({
  total: int(),
  progressing: int(),
  available: int(),
  degraded: int(),
  applied: int(),
  desiredTotal: int(),
  updated: int(),
})

const Status = object({
  conditions: Conditions,
  summary: optional(summary),
  placementSummary: optional(listOf(object({ name: words(), availableDecisionGroups: words(), summary }), MANY)),
})

/** A ManifestWorkReplicaSet. */
export interface ManifestWorkReplicaSet extends KubeObject {
  spec: Static<typeof Spec>
  status?: Static<typeof Status>
}

/** The counts of works. */
export type WorkSummary = Static<typeof summary>

const condition = (type: string, field: string) => `.status.conditions[?(@.type=="${type}")].${field}`

/** A ManifestWork for each cluster that Placements select. */
export const ManifestWorkReplicaSet: Kind<ManifestWorkReplicaSet> = kindOf<ManifestWorkReplicaSet>({
  group: OCM_WORK_GROUP,
  version: 'v1alpha1',
  kind: 'ManifestWorkReplicaSet',
  plural: 'manifestworkreplicasets',
  scope: 'Namespaced',
  shortNames: ['mwrs'],
  description: 'A ManifestWork for each cluster that Placements select; as in Open Cluster Management.',
  subresources: { status: true },
  events: { warnWhenFalse: ['PlacementVerified', 'ManifestworkApplied'] },
  fields: { spec: toStructural(Spec), status: toStructural(Status) },
  columns: [
    { name: 'Placement', type: 'string', jsonPath: condition('PlacementVerified', 'reason') },
    { name: 'Found', type: 'string', jsonPath: condition('PlacementVerified', 'status') },
    { name: 'ManifestWorks', type: 'string', jsonPath: condition('ManifestworkApplied', 'reason') },
    { name: 'Applied', type: 'string', jsonPath: condition('ManifestworkApplied', 'status') },
  ],
})
