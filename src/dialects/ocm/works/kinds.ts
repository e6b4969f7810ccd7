// Tested by src/dialects/ocm/works/manifest-work.sim.test.ts
/** ManifestWork of Open Cluster Management, with the fields that its users write and read. */
import type { Static } from 'typebox'
import { AGE, kindOf } from '../../../kinds/define-kind.ts'
import type { Kind } from '../../../kinds/define-kind.ts'
import type { KubeObject } from '../../../kinds/meta.ts'
import {
  Conditions,
  enumOf,
  flag,
  int,
  listOf,
  object,
  optional,
  rawObject,
  text,
} from '../../../kinds/schema/schema-builders.ts'
import { toStructural } from '../../../kinds/schema/structural.ts'

/** The API group of Open Cluster Management's works. */
export const OCM_WORK_GROUP = 'work.open-cluster-management.io'

// Open Cluster Management's CRD limits neither texts nor lists; a request is limited as a whole.
const words = () => text({ max: 65_536 })
const MANY = { max: 10_000 }

const resourceIdentifier = object({
  group: optional(words()),
  resource: words(),
  name: words(),
  namespace: optional(words()),
})

const ignoreField = object({
  condition: enumOf(['OnSpokePresent', 'OnSpokeChange'], { default: 'OnSpokePresent' }),
  jsonPaths: optional(listOf(words(), MANY)),
  jsonPointers: optional(listOf(words(), MANY)),
  jqPathExpressions: optional(listOf(words(), MANY)),
})

const manifestConfig = object({
  resourceIdentifier,
  updateStrategy: optional(
    object({
      type: enumOf(['Update', 'CreateOnly', 'ServerSideApply', 'ReadOnly'], { default: 'Update' }),
      serverSideApply: optional(
        object({
          force: optional(flag()),
          fieldManager: optional(words()),
          ignoreFields: optional(listOf(ignoreField, MANY)),
        }),
      ),
    }),
  ),
  feedbackRules: optional(
    listOf(
      object({
        type: enumOf(['WellKnownStatus', 'JSONPaths']),
        jsonPaths: optional(listOf(object({ name: words(), version: optional(words()), path: words() }), MANY)),
      }),
      MANY,
    ),
  ),
  feedbackScrapeType: optional(enumOf(['Poll', 'Watch'])),
  conditionRules: optional(
    listOf(
      object({
        condition: optional(words()),
        type: enumOf(['CEL', 'WellKnownConditions']),
        celExpressions: optional(listOf(words(), MANY)),
        message: optional(words()),
        messageExpression: optional(words()),
      }),
      MANY,
    ),
  ),
})

/** The spec of a ManifestWork, which is also the template of a ManifestWorkReplicaSet. */
export const WorkSpec = object({
  workload: optional(object({ manifests: optional(listOf(rawObject(), MANY)) })),
  executor: optional(
    object({
      subject: object({
        type: enumOf(['ServiceAccount']),
        serviceAccount: optional(object({ namespace: words(), name: words() })),
      }),
    }),
  ),
  deleteOption: optional(
    object({
      propagationPolicy: optional(enumOf(['Foreground', 'Orphan', 'SelectivelyOrphan'])),
      selectivelyOrphans: optional(object({ orphaningRules: optional(listOf(resourceIdentifier, MANY)) })),
      ttlSecondsAfterFinished: optional(int()),
    }),
  ),
  manifestConfigs: optional(listOf(manifestConfig, MANY)),
})

const resourceMeta = object({
  ordinal: int(),
  group: optional(words()),
  version: optional(words()),
  kind: optional(words()),
  resource: optional(words()),
  name: optional(words()),
  namespace: optional(words()),
})

const fieldValue = object({
  type: enumOf(['Integer', 'String', 'Boolean', 'JsonRaw']),
  integer: optional(int({ minimum: Number.MIN_SAFE_INTEGER })),
  string: optional(words()),
  boolean: optional(flag()),
  jsonRaw: optional(words()),
})

const Status = object({
  conditions: Conditions,
  resourceStatus: optional(
    object({
      manifests: optional(
        listOf(
          object({
            resourceMeta,
            conditions: Conditions,
            statusFeedback: optional(object({ values: optional(listOf(object({ name: words(), fieldValue }), MANY)) })),
          }),
          MANY,
        ),
      ),
    }),
  ),
})

/** A ManifestWork. */
export interface ManifestWork extends KubeObject {
  spec: Static<typeof WorkSpec>
  status?: Static<typeof Status>
}

/** The status of a manifest. */
export type ManifestStatus = NonNullable<
  NonNullable<NonNullable<ManifestWork['status']>['resourceStatus']>['manifests']
>[number]

/** An entry of `spec.manifestConfigs`. */
export type ManifestConfig = NonNullable<ManifestWork['spec']['manifestConfigs']>[number]

const condition = (type: string) => `.status.conditions[?(@.type=="${type}")].status`

/** Objects for the cluster whose name the namespace has. */
export const ManifestWork: Kind<ManifestWork> = kindOf<ManifestWork>({
  group: OCM_WORK_GROUP,
  version: 'v1',
  kind: 'ManifestWork',
  plural: 'manifestworks',
  scope: 'Namespaced',
  shortNames: ['mw'],
  description: 'Objects for the cluster whose name the namespace has; as in Open Cluster Management.',
  subresources: { status: true },
  events: { warnWhenFalse: ['Applied', 'Admitted'] },
  fields: { spec: toStructural(WorkSpec), status: toStructural(Status) },
  columns: [
    { name: 'Applied', type: 'string', jsonPath: condition('Applied') },
    { name: 'Available', type: 'string', jsonPath: condition('Available') },
    AGE,
  ],
})

/** The kinds of works that the hub serves. */
export const OCM_WORK_KINDS: readonly Kind[] = [ManifestWork]
