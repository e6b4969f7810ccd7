import { AGE, defineKind } from '../define-kind.ts'
import type { ObjectOfKind } from '../define-kind.ts'
import {
  Conditions,
  flag,
  int,
  listOf,
  name,
  namespacedName,
  object,
  optional,
  setOf,
  text,
  time,
} from '../schema/schema-builders.ts'

// Patterns are compared in CEL, too, where they become regular expressions: `.` and `*` are their only special
// characters (kinds/policies/project-policy.ts).
const SOURCE = '^(\\*|inline|[A-Za-z0-9/~][A-Za-z0-9:/._@~*%=&-]*)$'
const KIND = '^(\\*|([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?([A-Z][A-Za-z0-9]*|\\*))$'
const NAMESPACE = '^[a-z0-9*]([-a-z0-9*]*[a-z0-9*])?$'
const NAME_OR_ALL = '^(\\*|[a-z0-9]([-a-z0-9.]*[a-z0-9])?)$'
const EXECUTOR = '^(\\*|[a-z0-9*]([-a-z0-9*]*[a-z0-9*])?/[a-z0-9*]([-a-z0-9.*]*[a-z0-9*])?)$'
const LABEL_KEY = '^([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$'

const count = (description: string) => optional(int({ description }))

export const Project = defineKind({
  kind: 'Project',
  plural: 'projects',
  scope: 'Cluster',
  shortNames: ['fproj'],
  description:
    'Permissions of the namespaces of one team: which Sources, kinds, target namespaces, ClusterSets, executors and RolloutPlans their objects may use. In every list, an absent list allows nothing and `*` allows everything. A namespace without a Project fetches, renders and places nothing.',
  spec: object(
    {
      namespaces: optional(
        setOf(name(), {
          description:
            'Namespaces of the hub that belong to the Project. A namespace that is listed in two Projects belongs to neither of them.',
        }),
      ),
      sources: optional(
        setOf(text({ max: 512, min: 1, pattern: SOURCE }), {
          description:
            'Addresses that Sources may fetch, for example `https://git.example.com/team-a/*`. `*` stands for any text without `/`; `/*` at the end stands for everything below. `inline` allows content that is written in the Bundle or in ConfigMaps. `*` alone allows all content.',
        }),
      ),
      kinds: optional(
        setOf(text({ max: 317, min: 1, pattern: KIND }), {
          description:
            'Kinds that Bundles may contain: `ConfigMap` for the core group, `apps/Deployment` for other groups, `apps/*` for all kinds of a group. `*` allows all kinds.',
        }),
      ),
      targetNamespaces: optional(
        setOf(text({ max: 63, min: 1, pattern: NAMESPACE }), {
          description:
            'Namespaces of the clusters that Bundles may write to, for example `team-a-*`. `*` stands for any text. Unless the list contains `*`, objects without a namespace also need their kind in `kinds` by its full name.',
        }),
      ),
      clusterSets: optional(
        setOf(text({ max: 253, min: 1, pattern: NAME_OR_ALL }), {
          description:
            'ClusterSets whose clusters Placements may select. A set with `access: Bound` also needs a ClusterSetBinding. `*` allows all sets, and clusters that are in no set.',
        }),
      ),
      executors: optional(
        object(
          {
            default: optional(
              namespacedName({
                description:
                  'ServiceAccount, as `namespace/name`, that the agent impersonates for Bundles without `spec.executor`. If omitted, those Bundles need `ownRights`.',
              }),
            ),
            allowed: optional(
              setOf(text({ max: 317, min: 1, pattern: EXECUTOR }), {
                description:
                  'ServiceAccounts, as `namespace/name`, that Bundles may name in `spec.executor`, besides the default. `*` stands for any text.',
              }),
            ),
            ownRights: optional(
              flag({
                description:
                  "If true, Bundles without an executor are applied with the agent's own rights, which are often those of cluster-admin. Defaults to false.",
              }),
            ),
          },
          { description: 'ServiceAccounts of the clusters that the Bundles are applied as.' },
        ),
      ),
      plans: optional(
        setOf(text({ max: 253, min: 1, pattern: NAME_OR_ALL }), {
          description:
            'RolloutPlans that Bundles use. A Bundle must name one of them in `spec.rollout.plan`. `*` allows all plans, and Bundles without a plan. If omitted, Bundles cannot name a plan.',
        }),
      ),
      quotas: optional(
        object(
          {
            bundles: count('Maximum number of Bundles of the Project. If omitted, the number is not limited.'),
            sources: count('Maximum number of Sources of the Project. If omitted, the number is not limited.'),
            bytes: count(
              "Maximum total size in bytes of the artifacts of the Project's Sources. If omitted, the size is not limited.",
            ),
            rendersPerMinute: optional(
              int({
                minimum: 1,
                maximum: 100_000,
                description:
                  'Maximum number of renderings of the Project per minute. Further renderings wait. If omitted, the number is not limited.',
              }),
            ),
          },
          { description: 'Quotas of the Project, counted over all of its namespaces.' },
        ),
      ),
      requiredLabels: optional(
        setOf(text({ max: 317, min: 1, pattern: LABEL_KEY }), {
          max: 32,
          description: 'Keys of labels that each Bundle must have. If omitted, no label is required.',
        }),
      ),
      ticket: optional(
        object(
          {
            pattern: text({
              max: 256,
              min: 1,
              description:
                'Regular expression (RE2) that the whole annotation `flotilla.dev/ticket` of each Bundle must match, for example `CHG-[0-9]+`.',
            }),
          },
          { description: 'Ticket that each Bundle must name. If omitted, no ticket is required.' },
        ),
      ),
    },
    { description: 'Namespaces of the Project and what they may use.' },
  ),
  status: object(
    {
      observedGeneration: optional(int({ description: '`metadata.generation` that the status belongs to.' })),
      conditions: Conditions,
      usage: optional(
        object(
          {
            bundles: int({ description: 'Number of Bundles.' }),
            sources: int({ description: 'Number of Sources.' }),
            bytes: int({ description: 'Total size of the artifacts of the Sources in bytes.' }),
          },
          { description: 'Usage of the namespaces of the Project, for comparison with `spec.quotas`.' },
        ),
      ),
      refused: optional(
        listOf(
          object({
            kind: text({ max: 63, description: 'Kind of the object: `Source`, `Bundle` or `Placement`.' }),
            object: namespacedName({ description: 'Object, as `namespace/name`.' }),
            since: time({ description: 'Time at which the hub refused the object.' }),
            message: text({
              max: 1024,
              description: 'Explanation of the refusal, with the field of the Project that does not allow the object.',
            }),
          }),
          {
            max: 20,
            description: 'Objects that the Project refuses now, newest first, at most 20.',
          },
        ),
      ),
    },
    { description: 'Observed state of the Project. Set by the hub.' },
  ),
  columns: [
    { name: 'Ready', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
    { name: 'Namespaces', type: 'string', jsonPath: '.spec.namespaces' },
    { name: 'Bundles', type: 'integer', jsonPath: '.status.usage.bundles' },
    { name: 'Sources', type: 'integer', jsonPath: '.status.usage.sources', priority: 1 },
    { name: 'Bytes', type: 'integer', jsonPath: '.status.usage.bytes', priority: 1 },
    AGE,
    { name: 'Message', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].message', priority: 1 },
  ],
  examples: [
    {
      metadata: { name: 'team-a' },
      spec: {
        namespaces: ['team-a'],
        sources: ['https://git.example.com/team-a/*'],
        kinds: ['ConfigMap', 'Service', 'apps/*'],
        targetNamespaces: ['team-a-*'],
        clusterSets: ['stores'],
        executors: { default: 'team-a-system/deployer' },
        plans: ['*'],
        quotas: { bundles: 50, sources: 10, bytes: 104_857_600, rendersPerMinute: 60 },
      },
    },
  ],
})
export type Project = ObjectOfKind<typeof Project>
