// Tested by src/dialects/ocm/works/docs-page.test.ts
/**
 * The fields of a ManifestWork, and how exactly they are supported; docs/dialects/ocm-works.md is made from this table.
 */
import { exact, near } from '../../field-table.ts'
import type { Fields } from '../../field-table.ts'

const IDENTIFIER: Fields = {
  group: exact('text', ''),
  resource: exact('text', 'The plural; for a custom kind, the plural that kubectl would guess from the kind.'),
  namespace: exact('text', '`*` stands for any text.'),
  name: exact('text', '`*` stands for any text.'),
}

const SERVER_SIDE_APPLY: Fields = {
  force: exact('flag', '`force` for the object.'),
  fieldManager: near('text', 'The field manager is `flotilla:NAMESPACE/delivery:NAME`.'),
  ignoreFields: near(
    {
      items: {
        condition: near(
          'text',
          '`OnSpokeChange` is read as `OnSpokePresent`: the field is set at creation and then left.',
        ),
        jsonPaths: exact('texts', ''),
        jsonPointers: exact('texts', ''),
        jqPathExpressions: near(
          'texts',
          'Paths with `[]` and `select` with comparisons. An expression that computes something has no effect, and condition `FieldsHonored` has it.',
        ),
      },
    },
    'Fields that are set when the object is created, and not changed or compared afterwards.',
  ),
}

/** `spec` of a ManifestWork. */
export const MANIFEST_WORK: Fields = {
  workload: exact(
    {
      manifests: near(
        'maps',
        'A manifest that cannot be applied has the error of the cluster, and the others are applied. An object with Helm hook annotations runs as a hook. Names are required, and an object may be listed once.',
      ),
    },
    'One Delivery for the cluster whose name the namespace has.',
  ),
  executor: exact(
    {
      subject: exact(
        {
          type: exact('text', ''),
          serviceAccount: exact('map', 'The agent impersonates it for all reads and writes.'),
        },
        '',
      ),
    },
    'Without it, the agent uses its own rights.',
  ),
  deleteOption: exact(
    {
      propagationPolicy: exact(
        'text',
        '`Foreground`, `Orphan` and `SelectivelyOrphan`. The work stays until the agent has confirmed the removal; for an offline cluster the removal waits in its document, and the work goes.',
      ),
      selectivelyOrphans: exact({ orphaningRules: exact({ items: IDENTIFIER }, 'Objects that stay.') }, ''),
      ttlSecondsAfterFinished: exact('int', 'The work is deleted this long after its condition Complete became True.'),
    },
    '',
  ),
  manifestConfigs: exact(
    {
      items: {
        resourceIdentifier: exact(IDENTIFIER, 'The first entry that matches an object and has the part is used.'),
        updateStrategy: exact(
          {
            type: near(
              'text',
              '`Update` is server-side apply with force: fields that the manifest does not have stay. `CreateOnly`, `ServerSideApply` and `ReadOnly` as in Open Cluster Management.',
            ),
            serverSideApply: exact(SERVER_SIDE_APPLY, ''),
          },
          '',
        ),
        feedbackRules: exact(
          {
            items: {
              type: exact('text', '`WellKnownStatus` and `JSONPaths`.'),
              jsonPaths: exact('maps', 'Values of all types; a value of more than 1024 bytes is not reported.'),
            },
          },
          'Reported with 256 KiB for each cluster; an entry that does not fit has the reason `NotReported` until its turn.',
        ),
        feedbackScrapeType: near('text', 'Objects are watched; both values are read as `Watch`.'),
        conditionRules: exact(
          {
            items: {
              type: exact('text', '`CEL` and `WellKnownConditions`.'),
              condition: exact('text', ''),
              celExpressions: exact(
                'texts',
                'All must be true; an expression that fails is False with reason `ConditionRuleExpressionError`.',
              ),
              message: exact('text', ''),
              messageExpression: exact('text', 'With `object` and `result`.'),
            },
          },
          '',
        ),
      },
    },
    '',
  ),
}

const LIMITS: Fields = {
  minSuccessTime: near(
    'text',
    '`soak` of a ring: the clusters of a ring stay healthy for this time before the next ring starts. A healthy cluster releases its slot at once.',
  ),
  progressDeadline: near('text', 'Counted from the admission of a cluster. A cluster that is late has failed.'),
  maxFailures: near(
    'limit',
    'Failed clusters that the rollout tolerates, also when manifests cannot be applied. A number above the number of clusters is not read as 0. `All` ignores it.',
  ),
}
const MANDATORY = exact(
  { items: { groupName: exact('text', ''), groupIndex: exact('int', '') } },
  'One ring for each group, before all others, which tolerates no failure.',
)

/** `spec` of a ManifestWorkReplicaSet. */
export const MANIFEST_WORK_REPLICA_SET: Fields = {
  manifestWorkTemplate: exact('map', 'As `spec` of a ManifestWork, without `ttlSecondsAfterFinished`.'),
  placementRefs: near(
    {
      items: {
        name: exact('text', 'Name of a Placement of Open Cluster Management in the namespace.'),
        rolloutStrategy: near(
          {
            type: near(
              'text',
              '`All`, `Progressive` and `ProgressivePerGroup`. A cluster has succeeded when its objects are healthy; no rule for `Progressing` is needed.',
            ),
            all: exact(LIMITS, ''),
            progressive: exact(
              {
                ...LIMITS,
                maxConcurrency: near('limit', '`concurrency` of the ring. An offline cluster keeps no slot.'),
                mandatoryDecisionGroups: MANDATORY,
              },
              '',
            ),
            progressivePerGroup: near(
              { ...LIMITS, mandatoryDecisionGroups: MANDATORY },
              'One ring for each decision group. From the 32nd group on, groups share the last ring, with never more clusters at a time than the largest of them has.',
            ),
          },
          'The RolloutPlan of the Bundle. Pause, resume, abort and roll back with `flotilla rollout`.',
        ),
      },
    },
    'One Bundle for each entry, at most 32. A cluster of several Placements gets the work of the first entry alone.',
  ),
  cascadeDeletionPolicy: near(
    'text',
    '`Background`: the set goes when its Bundles are deleted. `Foreground`: it goes when the removal is confirmed; the removal from an offline cluster waits in its document, and with it the set.',
  ),
}
