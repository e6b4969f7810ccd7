import { AGE, defineKind } from '../define-kind.ts'
import type { ObjectOfKind } from '../define-kind.ts'
import {
  Conditions,
  enumOf,
  int,
  intOrString,
  labelSelector,
  listOf,
  name,
  object,
  optional,
  rawObject,
  setOf,
  text,
  time,
} from '../schema/schema-builders.ts'

const OPERATORS = ['In', 'NotIn', 'Exists', 'DoesNotExist'] as const

const claimSelector = () =>
  object(
    {
      matchExpressions: optional(
        listOf(
          object({
            key: text({ max: 317, min: 1 }),
            operator: enumOf(OPERATORS),
            values: optional(listOf(text({ max: 63 }), { max: 256 })),
          }),
          { max: 64, description: 'Requirements that must all hold.' },
        ),
      ),
    },
    { description: 'Claims of the clusters: what they say about themselves.' },
  )

/** Where it should run. */
export const Placement = defineKind({
  kind: 'Placement',
  plural: 'placements',
  scope: 'Namespaced',
  shortNames: ['fpl'],
  description: 'Where things should run: selects accepted clusters, and says why for each one, chosen or not.',
  spec: object({
    scheduler: optional(
      enumOf(['native', 'ocm'], {
        description:
          '`ocm` decides as Open Cluster Management does, and selects only from bound sets. `native` unless said.',
      }),
    ),
    clusterSelector: labelSelector({
      description: 'Labels of the clusters to select; `{}` selects every accepted one.',
    }),
    predicates: optional(
      listOf(
        object({
          labelSelector: optional(labelSelector({ description: 'Labels of the clusters.' })),
          claimSelector: optional(claimSelector()),
          cel: optional(
            listOf(text({ max: 4096, min: 1 }), {
              max: 16,
              description:
                'CEL expressions over `cluster` (`managedCluster` with the `ocm` scheduler); all must be true.',
            }),
          ),
        }),
        { max: 32, description: 'Besides `clusterSelector`, one of these must hold; none: nothing more is asked.' },
      ),
    ),
    clusterSets: optional(
      setOf(name(), {
        max: 256,
        description: 'Only members of these ClusterSets, as far as this namespace is bound to them.',
      }),
    ),
    tolerations: optional(
      listOf(
        object({
          key: optional(text({ max: 317, description: 'The taint; absent: every taint, with operator Exists.' })),
          operator: optional(enumOf(['Exists', 'Equal'], { description: 'Equal unless said.' })),
          value: optional(text({ max: 1024 })),
          effect: optional(
            enumOf(['NoSelect', 'PreferNoSelect', 'NoSelectIfNew'], { description: 'Absent: every effect.' }),
          ),
          tolerationSeconds: optional(int({ minimum: -1, description: "Only so long after the taint's timeAdded." })),
        }),
        { max: 64, description: 'Selects clusters in spite of these taints.' },
      ),
    ),
    numberOfClusters: optional(int({ description: 'At most so many, the best ranked ones.' })),
    prioritizers: optional(
      object(
        {
          mode: optional(
            enumOf(['Additive', 'Exact'], {
              description: 'Additive (unless said): beside Balance and Steady. Exact: only what is listed here counts.',
            }),
          ),
          configurations: optional(
            listOf(
              object({
                type: enumOf(['BuiltIn', 'Score'], { default: 'BuiltIn' }),
                builtIn: optional(
                  text({
                    max: 63,
                    description: '`Balance`, `Steady`, `ResourceAllocatableCPU` or `ResourceAllocatableMemory`.',
                  }),
                ),
                score: optional(
                  object(
                    { resource: text({ max: 253, min: 1 }), name: text({ max: 253, min: 1 }) },
                    { description: "A custom score, from the cluster's `status.scores`." },
                  ),
                ),
                weight: int({ minimum: -10, maximum: 10, default: 1, description: '0 switches it off.' }),
              }),
              { max: 32, description: 'Scores and their weights.' },
            ),
          ),
        },
        { description: 'How clusters are ranked when not all are taken.' },
      ),
    ),
    spread: optional(
      listOf(
        object({
          topologyKey: text({ max: 317, min: 1, description: 'A label or claim.' }),
          topologyKeyType: enumOf(['Label', 'Claim'], { default: 'Label' }),
          maxSkew: int({ minimum: 1, default: 1, description: 'How far apart the fullest and emptiest value may be.' }),
          whenUnsatisfiable: enumOf(['DoNotSchedule', 'ScheduleAnyway'], { default: 'ScheduleAnyway' }),
        }),
        { max: 8, description: 'Keeps the selected clusters even over the values of labels or claims.' },
      ),
    ),
    decisionGroups: optional(
      object(
        {
          clustersPerGroup: optional(
            intOrString({
              minimum: 0,
              pattern: '^((100|[1-9][0-9]?)%|[1-9][0-9]*)$',
              description: 'The most clusters of one group: a count or a percentage of the selected ones.',
            }),
          ),
          groups: optional(
            listOf(
              object({
                name: text({ max: 63, min: 1, pattern: '^[a-zA-Z0-9]([-A-Za-z0-9_.]*[a-zA-Z0-9])?$' }),
                labelSelector: optional(labelSelector({ description: 'Labels of its clusters.' })),
                claimSelector: optional(claimSelector()),
              }),
              { max: 64, description: 'Named groups, in order; clusters of none of them come last.' },
            ),
          ),
        },
        { description: 'Selected clusters in groups, which rollouts can move one after the other.' },
      ),
    ),
    guard: optional(
      object(
        {
          maxDropped: optional(
            intOrString({
              minimum: 0,
              pattern: '^(100|[1-9]?[0-9])%$',
              description: 'How many clusters a change may drop at once. Unless said half of them, but up to 5 always.',
            }),
          ),
        },
        {
          description:
            'A change that drops more stops and asks; annotation `flotilla.dev/release-drop` with the token in status releases it.',
        },
      ),
    ),
  }),
  status: object({
    observedGeneration: optional(int()),
    conditions: Conditions,
    selected: optional(int({ description: 'How many clusters are selected.' })),
    unscheduled: optional(int({ minimum: -1, description: 'How many more are asked for than there are.' })),
    decisionsGeneration: optional(int({ description: 'The generation of the decisions that are complete.' })),
    pages: optional(int({ description: 'How many PlacementDecisions that generation has.' })),
    decided: optional(rawObject({ description: 'The spec that the decisions answer.' })),
    held: optional(
      object(
        {
          token: text({ max: 64, description: 'Annotate the Placement with it to let the change through.' }),
          dropping: int(),
          of: int(),
          allowed: int(),
          since: time(),
        },
        { description: 'A change that the guard stopped.' },
      ),
    ),
    released: optional(
      object(
        { token: text({ max: 64 }), dropped: int(), at: time() },
        { description: 'The last change that a person let through.' },
      ),
    ),
  }),
  columns: [
    { name: 'Selected', type: 'integer', jsonPath: '.status.selected' },
    { name: 'Ready', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
    AGE,
    { name: 'Reason', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].reason', priority: 1 },
  ],
  examples: [
    {
      metadata: { name: 'stores', namespace: 'default' },
      spec: { clusterSelector: { matchLabels: { tier: 'store' } } },
    },
    {
      metadata: { name: 'three-regions', namespace: 'default' },
      spec: {
        clusterSelector: { matchLabels: { tier: 'dc' } },
        predicates: [
          { claimSelector: { matchExpressions: [{ key: 'platform', operator: 'In', values: ['aws', 'gcp'] }] } },
        ],
        tolerations: [{ key: 'maintenance', operator: 'Exists', tolerationSeconds: 3600 }],
        numberOfClusters: 6,
        prioritizers: { configurations: [{ builtIn: 'ResourceAllocatableMemory', weight: 2 }] },
        spread: [{ topologyKey: 'region', whenUnsatisfiable: 'DoNotSchedule' }],
        decisionGroups: { clustersPerGroup: '50%' },
      },
    },
  ],
})
export type Placement = ObjectOfKind<typeof Placement>

/** The annotation with which a person lets one dropping change through; its value is the token in `status.held`. */
export const ALLOW_DROP_ANNOTATION = 'flotilla.dev/release-drop'
