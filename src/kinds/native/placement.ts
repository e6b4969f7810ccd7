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
            key: text({ max: 317, min: 1, description: 'Name of the claim.' }),
            operator: enumOf(OPERATORS, { description: 'Relation of the claim to `values`.' }),
            values: optional(
              listOf(text({ max: 63 }), {
                max: 256,
                description: 'Values for `In` and `NotIn`. Must be empty for `Exists` and `DoesNotExist`.',
              }),
            ),
          }),
          { max: 64, description: 'Requirements for claims. All of them must be met.' },
        ),
      ),
    },
    { description: 'Claims of the clusters, as reported by their agents.' },
  )

export const Placement = defineKind({
  kind: 'Placement',
  plural: 'placements',
  scope: 'Namespaced',
  shortNames: ['fpl'],
  description: 'Rules that select accepted clusters, with an explanation for each cluster, selected or not.',
  events: { warnWhenTrue: ['Empty'] },
  spec: object(
    {
      scheduler: optional(
        enumOf(['native', 'ocm'], {
          description:
            'Algorithm that selects the clusters. `ocm` decides like Open Cluster Management and selects only from bound ClusterSets. Defaults to `native`.',
        }),
      ),
      clusterSelector: labelSelector({
        description: 'Labels of the clusters to select. `{}` selects all accepted clusters.',
      }),
      clusters: optional(
        setOf(name(), {
          max: 10_000,
          description:
            'Names of clusters. Only these clusters are selected, and only if they also match `clusterSelector`. Dialects set this field for clusters that another system decided on. If omitted, clusters are not limited by name.',
        }),
      ),
      predicates: optional(
        listOf(
          object({
            labelSelector: optional(labelSelector({ description: 'Labels of the clusters.' })),
            claimSelector: optional(claimSelector()),
            cel: optional(
              listOf(text({ max: 4096, min: 1 }), {
                max: 16,
                description:
                  'CEL expressions over `cluster` (`managedCluster` with the `ocm` scheduler). All must be true.',
              }),
            ),
          }),
          {
            max: 32,
            description:
              'Alternatives of which a cluster must match at least one, in addition to `clusterSelector`. If omitted, only `clusterSelector` applies.',
          },
        ),
      ),
      clusterSets: optional(
        setOf(name(), {
          max: 256,
          description:
            'Names of ClusterSets. Only their members are selected, and only if the namespace is bound to the set. If omitted, clusters of all sets can be selected.',
        }),
      ),
      tolerations: optional(
        listOf(
          object({
            key: optional(
              text({
                max: 317,
                description:
                  'Key of the taint to tolerate. If omitted, `operator` must be `Exists` and all taints are tolerated.',
              }),
            ),
            operator: optional(
              enumOf(['Exists', 'Equal'], { description: 'Relation of the key to `value`. Defaults to `Equal`.' }),
            ),
            value: optional(
              text({
                max: 1024,
                description: 'Value of the taint to tolerate. Must be omitted if `operator` is `Exists`.',
              }),
            ),
            effect: optional(
              enumOf(['NoSelect', 'PreferNoSelect', 'NoSelectIfNew'], {
                description: 'Effect of the taint to tolerate. If omitted, all effects are tolerated.',
              }),
            ),
            tolerationSeconds: optional(
              int({
                minimum: -1,
                description:
                  'Time in seconds after the `timeAdded` of the taint for which it is tolerated. If omitted, the taint is tolerated without a time limit.',
              }),
            ),
          }),
          { max: 64, description: 'Taints of clusters that do not prevent their selection.' },
        ),
      ),
      numberOfClusters: optional(
        int({
          description:
            'Maximum number of clusters to select, taken in order of score. If omitted, all matching clusters are selected.',
        }),
      ),
      prioritizers: optional(
        object(
          {
            mode: optional(
              enumOf(['Additive', 'Exact'], {
                description:
                  'Combination with the default prioritizers Balance and Steady. `Additive` uses them in addition to `configurations`; `Exact` uses only `configurations`. Defaults to `Additive`.',
              }),
            ),
            configurations: optional(
              listOf(
                object({
                  type: enumOf(['BuiltIn', 'Score'], {
                    default: 'BuiltIn',
                    description:
                      'Origin of the score: `BuiltIn`, or `Score` for a custom score. Defaults to `BuiltIn`.',
                  }),
                  builtIn: optional(
                    text({
                      max: 63,
                      description:
                        'Name of a built-in score: `Balance`, `Steady`, `ResourceAllocatableCPU` or `ResourceAllocatableMemory`.',
                    }),
                  ),
                  score: optional(
                    object(
                      {
                        resource: text({ max: 253, min: 1, description: 'Name of the scorer.' }),
                        name: text({ max: 253, min: 1, description: 'Name of the score.' }),
                      },
                      { description: 'Custom score of `status.scores` of the clusters.' },
                    ),
                  ),
                  weight: int({
                    minimum: -10,
                    maximum: 10,
                    default: 1,
                    description:
                      'Weight of the score, from -10 to 10. A weight of 0 disables the score. Defaults to 1.',
                  }),
                }),
                { max: 32, description: 'Scores that rank the clusters, with the weight of each score.' },
              ),
            ),
          },
          { description: 'Scores that rank the clusters if not all matching clusters are selected.' },
        ),
      ),
      spread: optional(
        listOf(
          object({
            topologyKey: text({ max: 317, min: 1, description: 'Name of the label or claim, for example `region`.' }),
            topologyKeyType: enumOf(['Label', 'Claim'], {
              default: 'Label',
              description: 'Type of `topologyKey`. Defaults to `Label`.',
            }),
            maxSkew: int({
              minimum: 1,
              default: 1,
              description:
                'Maximum difference between the numbers of selected clusters of any two values. Defaults to 1.',
            }),
            whenUnsatisfiable: enumOf(['DoNotSchedule', 'ScheduleAnyway'], {
              default: 'ScheduleAnyway',
              description:
                'Behaviour if the rule cannot be met. `DoNotSchedule` selects fewer clusters; `ScheduleAnyway` selects the clusters and minimizes the difference. Defaults to `ScheduleAnyway`.',
            }),
          }),
          {
            max: 8,
            description: 'Rules that distribute the selected clusters evenly over the values of labels or claims.',
          },
        ),
      ),
      decisionGroups: optional(
        object(
          {
            clustersPerGroup: optional(
              intOrString({
                minimum: 0,
                pattern: '^((100|[1-9][0-9]?)%|[1-9][0-9]*)$',
                description:
                  'Maximum number of clusters of one group: a number, or a percentage of the selected clusters such as `25%`. If omitted, groups are not divided.',
              }),
            ),
            groups: optional(
              listOf(
                object({
                  name: text({
                    max: 63,
                    min: 1,
                    pattern: '^[a-zA-Z0-9]([-A-Za-z0-9_.]*[a-zA-Z0-9])?$',
                    description: 'Name of the group.',
                  }),
                  labelSelector: optional(labelSelector({ description: 'Labels of the clusters of the group.' })),
                  claimSelector: optional(claimSelector()),
                  clusters: optional(
                    setOf(name(), {
                      max: 10_000,
                      description: 'Names of clusters of the group. If omitted, clusters are not limited by name.',
                    }),
                  ),
                }),
                { max: 64, description: 'Named groups, in order. Clusters that match no group come last.' },
              ),
            ),
          },
          { description: 'Division of the selected clusters into groups, which rings of a RolloutPlan can refer to.' },
        ),
      ),
      guard: optional(
        object(
          {
            maxDropped: optional(
              intOrString({
                minimum: 0,
                pattern: '^(100|[1-9]?[0-9])%$',
                description:
                  'Maximum number of clusters that a change may deselect at once: a number or a percentage. A change that takes all clusters from the Bundles, or the last Bundle from a cluster, waits with every value except `100%`. Defaults to `10%`, and at least 1.',
              }),
            ),
            maxAdded: optional(
              int({
                minimum: 0,
                description:
                  'Maximum number of bundles on clusters that a change of the spec may add at once. A change that adds more, and more than the Placement has, waits. Clusters that join are not counted. Defaults to 1000.',
              }),
            ),
          },
          {
            description:
              'Guard against the accidental loss of clusters, and against accidental growth. A change that exceeds `maxDropped` or `maxAdded` waits until a person releases the change with `flotilla guard release`, or sets the annotation `flotilla.dev/release-drop` to the token in `status.held`.',
          },
        ),
      ),
    },
    { description: 'Rules for selecting clusters.' },
  ),
  status: object(
    {
      observedGeneration: optional(int({ description: '`metadata.generation` that the status belongs to.' })),
      conditions: Conditions,
      selected: optional(int({ description: 'Number of selected clusters.' })),
      unscheduled: optional(
        int({ minimum: -1, description: 'Number of requested clusters that could not be selected.' }),
      ),
      decisionsGeneration: optional(int({ description: '`metadata.generation` of the newest complete decisions.' })),
      pages: optional(int({ description: 'Number of PlacementDecisions of the generation in `decisionsGeneration`.' })),
      decided: optional(rawObject({ description: 'Spec that the decisions were made from.' })),
      held: optional(
        object(
          {
            token: text({
              max: 64,
              description:
                'Token of the change. Setting the annotation `flotilla.dev/release-drop` to this token releases the change.',
            }),
            dropping: int({ description: 'Number of clusters that the change deselects.' }),
            of: int({ description: 'Number of clusters that are selected now.' }),
            adding: optional(int({ description: 'Number of bundles on clusters that the change adds.' })),
            allowed: int({ description: 'Number of clusters that a change may deselect.' }),
            since: time({ description: 'Time at which the guard stopped the change.' }),
            message: optional(
              text({ max: 1024, description: 'Effect of the change, and the reason why the guard stopped it.' }),
            ),
          },
          { description: 'Change that the guard stopped.' },
        ),
      ),
      released: optional(
        object(
          {
            token: text({ max: 64, description: 'Token of the released change.' }),
            dropped: int({ description: 'Number of clusters that the released change deselected.' }),
            at: time({ description: 'Time at which a person released the change.' }),
          },
          { description: 'Last change that the guard stopped and a person released.' },
        ),
      ),
      growing: optional(
        object(
          {
            since: time({ description: 'Time of the first of these changes.' }),
            of: int({ description: 'Number of clusters that were selected before these changes.' }),
            added: int({ description: 'Number of clusters that these changes added.' }),
          },
          {
            description:
              'Clusters that changes of labels and ClusterSets added. The growth guard counts the changes of one hour together.',
          },
        ),
      ),
    },
    { description: 'Observed result of the Placement. Set by the hub.' },
  ),
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

/** The annotation that releases a change which the guard stopped; its value is the token in `status.held`. */
export const ALLOW_DROP_ANNOTATION = 'flotilla.dev/release-drop'
