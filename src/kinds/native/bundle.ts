import { BUNDLE_OPTIONS, OBJECT_SELECTOR, VARIANT_OPTIONS } from '../fields/bundle-options.ts'
import { AGE, defineKind } from '../define-kind.ts'
import type { ObjectOfKind } from '../define-kind.ts'
import { LAYER_CLUSTERS, LAYER_OPTIONS } from '../fields/layer.ts'
import { origin } from '../fields/origin.ts'
import {
  Conditions,
  digest,
  enumOf,
  flag,
  int,
  intOrString,
  listMap,
  listOf,
  name,
  object,
  optional,
  rawObject,
  text,
  time,
} from '../schema/schema-builders.ts'

/** A count from 1, or a percentage from 1% to 100%. */
export const concurrency = (options: { readonly default?: unknown; readonly description?: string } = {}) =>
  intOrString({ minimum: 1, pattern: '^([1-9][0-9]?|100)%$', ...options })

/** Keeps a deleted Bundle until the removal Rollout that lists its clusters exists. */
export const REMOVAL_FINALIZER = 'flotilla.dev/removal'

export const Bundle = defineKind({
  kind: 'Bundle',
  plural: 'bundles',
  scope: 'Namespaced',
  shortNames: ['fb'],
  events: {
    warnWhenTrue: ['Reverted', 'Unplaced', 'PlaintextSecret'],
    warnWhenFalse: ['Linted', 'Rendered', 'RulesMet'],
    revision: ['release'],
  },
  description:
    'Kubernetes objects that run together, with the Placement that selects their clusters and options for rendering, applying and deletion.',
  spec: object(
    {
      manifests: optional(
        text({
          max: 1_048_576,
          description:
            'Kubernetes objects as YAML documents. Exactly one of `manifests`, `manifestsFrom` and `source` is required.',
        }),
      ),
      manifestsFrom: optional(
        listOf(
          object({
            configMap: name({ description: 'Name of a ConfigMap in this namespace.' }),
            key: optional(
              text({ max: 253, min: 1, description: 'Key of the ConfigMap. If omitted, all keys are used, in order.' }),
            ),
          }),
          {
            max: 256,
            min: 1,
            description:
              'ConfigMaps with Kubernetes objects as YAML documents, for content that is too large for one object.',
          },
        ),
      ),
      source: optional(
        object(
          {
            name: name({ description: 'Name of a Source in this namespace.' }),
            path: optional(
              text({ max: 1024, description: 'Directory of the Source. If omitted, the whole Source is used.' }),
            ),
            ignore: optional(
              listOf(text({ max: 1024, min: 1 }), {
                max: 256,
                description:
                  'Files and directories, relative to `path`, that are neither manifests nor part of a chart.',
              }),
            ),
            include: optional(
              listMap(
                ['at'],
                object({
                  source: name({ description: 'Name of a Source in this namespace.' }),
                  at: text({
                    max: 253,
                    min: 1,
                    pattern: '^[A-Za-z0-9._-]+(/[A-Za-z0-9._-]+)*$',
                    description: 'Directory below `path` where the files are added.',
                  }),
                }),
                {
                  max: 32,
                  description:
                    'Other Sources whose files are added below `path`, for example charts of a Helm repository.',
                },
              ),
            ),
          },
          { description: 'Source of the content.' },
        ),
      ),
      style: optional(
        enumOf(['Raw', 'Kustomize', 'Helm'], {
          description:
            'Type of the content: plain manifests, a kustomization or a Helm chart. If omitted, the hub detects the type from the files.',
        }),
      ),
      builder: optional(
        object(
          {
            name: text({ max: 63, min: 1, description: 'Name of the builder, for example `flux`.' }),
            options: optional(rawObject({ description: 'Options of the builder.' })),
          },
          {
            description:
              'Builder of a dialect that makes the objects from the files of the Source, instead of `style`. Dialects set this field.',
          },
        ),
      ),
      suspend: optional(
        flag({
          description:
            'If true, the hub renders no new content of the Bundle. Clusters keep what they run, and the agents keep correcting drift. Defaults to false.',
        }),
      ),
      raw: optional(
        object(
          {
            kustomizations: optional(
              enumOf(['Skip', 'Include'], {
                description:
                  'Handling of subdirectories with a kustomization. `Skip` ignores them; `Include` reads their files as manifests. Defaults to `Skip`.',
              }),
            ),
            otherDocuments: optional(
              enumOf(['Refuse', 'Skip'], {
                description:
                  'Handling of YAML documents that are not Kubernetes objects. `Refuse` fails the rendering; `Skip` ignores them. Defaults to `Refuse`.',
              }),
            ),
            templates: optional(
              enumOf(['AsIs', 'Render'], {
                description:
                  'Handling of the directory `templates/`. `AsIs` reads its files as manifests; `Render` renders them as chart templates with `helm.values`. Defaults to `AsIs`.',
              }),
            ),
          },
          { description: 'Options for reading a directory of plain manifests.' },
        ),
      ),
      exclude: optional(
        listOf(object(OBJECT_SELECTOR), {
          max: 64,
          description:
            'Selectors of rendered objects that are not a part of the Bundle. Cannot be combined with `render.at: Agent`. An object that is excluded later is removed like one that the content no longer has; `delete.orphan` keeps it.',
        }),
      ),
      render: optional(
        object(
          {
            at: optional(
              enumOf(['Hub', 'Agent'], {
                description:
                  'Place where charts are rendered. `Hub`: on the hub. `Agent`: in each cluster, where charts can use `helm.valuesFrom`, `lookup` and the API versions of the cluster. Defaults to `Hub`.',
              }),
            ),
          },
          { description: 'Options for the place of rendering.' },
        ),
      ),
      templating: optional(
        enumOf(['Disabled', 'Enabled'], {
          default: 'Disabled',
          description:
            'Expansion of `${ }` templates in files, values and options for each cluster. Defaults to `Disabled`.',
        }),
      ),
      secrets: optional(
        enumOf(['Refuse', 'Allow'], {
          default: 'Refuse',
          description:
            'Handling of Secrets with data in the content. `Refuse` fails the rendering. Defaults to `Refuse`.',
        }),
      ),
      ...LAYER_OPTIONS,
      variants: optional(
        listMap(
          ['name'],
          object({
            name: text({ max: 63, min: 1, description: 'Name of the variant, used in messages.' }),
            ...LAYER_CLUSTERS,
            skip: optional(
              flag({
                description: 'If true, the Bundle is not delivered to the matching clusters. Defaults to false.',
              }),
            ),
            options: optional(
              object(VARIANT_OPTIONS, {
                description:
                  'Options for applying the Bundle on the matching clusters. Each field replaces the same field of the Bundle.',
              }),
            ),
            ...LAYER_OPTIONS,
          }),
          { max: 128, description: 'Changes of the content or options for some clusters, applied in order.' },
        ),
      ),
      variantMode: optional(
        enumOf(['All', 'First'], {
          default: 'All',
          description:
            'Number of variants that apply to a cluster. `All`: all matching variants. `First`: only the first matching variant. Defaults to `All`.',
        }),
      ),
      inputs: optional(
        listMap(
          ['name'],
          object({
            name: text({
              max: 63,
              min: 1,
              pattern: '^[A-Za-z_][A-Za-z0-9_]*$',
              description: 'Name of the input in templates.',
            }),
            configMap: optional(
              object(
                {
                  name: name({ description: 'Name of the ConfigMap.' }),
                  key: text({ max: 253, min: 1, description: 'Key of the ConfigMap.' }),
                },
                { description: 'ConfigMap in this namespace. Its text is parsed as YAML.' },
              ),
            ),
            secret: optional(
              object(
                {
                  name: name({ description: 'Name of the Secret.' }),
                  key: optional(
                    text({
                      max: 253,
                      min: 1,
                      description: 'Key of the Secret. If omitted, the input is a map of all keys.',
                    }),
                  ),
                },
                {
                  description:
                    'Secret in this namespace with the label `flotilla.dev/input: allowed`. Its values are strings.',
                },
              ),
            ),
            file: optional(text({ max: 1024, min: 1, description: 'Path of a YAML file of the Source.' })),
            table: optional(
              object(
                {
                  file: text({ max: 1024, min: 1, description: 'Path of the table file of the Source.' }),
                  key: text({
                    max: 317,
                    min: 1,
                    default: 'name',
                    description:
                      'Key that finds the row: `name` for the name of the cluster, or the key of a label. Defaults to `name`.',
                  }),
                },
                { description: 'Table of which the input is the row of the cluster.' },
              ),
            ),
          }),
          {
            max: 32,
            description:
              'Inputs for templates, available as `.Inputs.NAME`. Each input has exactly one of `configMap`, `secret`, `file` and `table`.',
          },
        ),
      ),
      decryption: optional(
        object(
          {
            secret: optional(
              name({
                description:
                  'Name of the Secret in this namespace with the keys: `*.agekey` for age and `*.asc` for OpenPGP. On the hub, the Secret needs the label `flotilla.dev/input` with the value `decryption` or `allowed`.',
              }),
            ),
            at: optional(
              enumOf(['Hub', 'Agent'], {
                description:
                  'Place of the keys. `Hub` reads the Secret on the hub. `Agent` reads the Secret of this name in the namespace of this name in each cluster, so that keys and values never leave the cluster; agents open keys of age only. Defaults to `Hub`.',
              }),
            ),
            mac: optional(
              enumOf(['Check', 'Ignore'], {
                description:
                  'Handling of files whose authentication code (MAC) does not fit. `Check` fails the rendering; `Ignore` accepts the files. Defaults to `Check`.',
              }),
            ),
          },
          { description: 'Decryption of files that SOPS encrypted; for builders that support it.' },
        ),
      ),
      placement: name({ description: 'Name of the Placement in this namespace that selects the clusters.' }),
      rollout: optional(
        object(
          {
            concurrency: optional(
              concurrency({
                description:
                  'Maximum number of clusters that change at the same time: a number or a percentage such as `25%`. Not used if `plan` is set. If omitted, 10 clusters.',
              }),
            ),
            plan: optional(name({ description: 'Name of a RolloutPlan in this namespace, instead of `concurrency`.' })),
            history: optional(
              int({
                minimum: 1,
                maximum: 1000,
                description:
                  'Number of Releases to keep besides Releases that are in use. Older Releases are deleted with their Rollouts. Defaults to 10.',
              }),
            ),
          },
          { description: 'Options for rolling out changes.' },
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
                  'Maximum number of objects that a change may remove from a cluster at once: a number or a percentage. A change that removes all objects waits with every value except `100%`. Defaults to `10%`, and at least 1.',
              }),
            ),
            maxAdded: optional(
              int({
                minimum: 0,
                description:
                  'Maximum number of clusters that a new Bundle, or a Bundle with another Placement, may reach at once. A Bundle that would reach more, and more than it has, waits. Clusters that join are not counted. Defaults to 1000.',
              }),
            ),
          },
          {
            description:
              'Guard against the accidental loss of objects, and against accidental growth. A change that exceeds `maxDropped` or `maxAdded` waits until a person releases the change with `flotilla guard release`, or sets the annotation `flotilla.dev/release-drop` to the token in `status.held`.',
          },
        ),
      ),
      ...BUNDLE_OPTIONS,
    },
    { description: 'Content of the Bundle and options for its delivery.' },
  ),
  status: object(
    {
      observedGeneration: optional(int({ description: '`metadata.generation` that the status belongs to.' })),
      conditions: Conditions,
      release: optional(name({ description: 'Name of the newest Release of this Bundle.' })),
      recipe: optional(digest({ description: 'Digest of all inputs of the last rendering.' })),
      excluded: optional(
        listOf(text({ max: 512 }), {
          max: 20,
          description: 'Objects that `exclude` leaves out of the newest rendering, at most 20. Set by the hub.',
        }),
      ),
      sourceRevision: optional(text({ max: 512, description: 'Revision of the Source that was rendered last.' })),
      artifact: optional(digest({ description: 'Digest of the artifact of the Source that was examined last.' })),
      candidate: optional(
        object(
          {
            generation: int({ description: 'Generation of the content.' }),
            set: digest({ description: 'Digest of the set of rendered objects.' }),
            placement: name({ description: 'Name of the Placement.' }),
            recipe: digest({ description: 'Digest of all inputs of the rendering.' }),
            revision: optional(text({ max: 512, description: 'Revision of the Source.' })),
            bytes: optional(int({ minimum: 0, description: 'Size of the largest set in bytes, uncompressed.' })),
            variants: optional(
              digest({
                description: 'Digest of the blob with the distinct contents for clusters with different inputs.',
              }),
            ),
          },
          {
            description:
              'Deprecated: the hub no longer sets this field. Version 0.1 recorded here rendered content that waits for the other Bundles of the same commit; a newer hub makes the Release of that content and removes the field.',
          },
        ),
      ),
      held: optional(
        object(
          {
            token: text({
              max: 64,
              description:
                'Token of the change. Setting the annotation `flotilla.dev/release-drop` to this token releases the change.',
            }),
            dropping: int({ description: 'Number of objects that the change removes from a cluster.' }),
            of: int({ description: 'Number of objects of the Bundle that the cluster has now.' }),
            adding: optional(int({ description: 'Number of bundles on clusters that the change adds.' })),
            allowed: int({ description: 'Number of objects that a change may remove.' }),
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
            dropped: int({ description: 'Number of objects that the change removes.' }),
            at: time({ description: 'Time at which a person released the change.' }),
          },
          { description: 'Last change that the guard stopped and a person released.' },
        ),
      ),
      linted: optional(
        text({
          max: 512,
          description: 'Release and Kubernetes versions that condition Linted was determined for.',
        }),
      ),
      reverted: optional(
        listOf(name(), {
          max: 16,
          description:
            'Names of the Releases with the same content that were rolled back. The content is not rolled out again until it changes.',
        }),
      ),
      revision: optional(
        object(
          {
            generation: int({ description: 'Generation of the content.' }),
            set: digest({ description: 'Digest of the set of rendered objects.' }),
            source: optional(
              text({
                max: 512,
                description:
                  'Revision of the Source that the content was rendered from. Absent if the content is not from a Source.',
              }),
            ),
            origin: origin(),
          },
          { description: 'Revision of this Bundle in the newest Release.' },
        ),
      ),
    },
    { description: 'Observed state of the Bundle. Set by the hub.' },
  ),
  columns: [
    { name: 'Placement', type: 'string', jsonPath: '.spec.placement' },
    { name: 'Ready', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
    {
      name: 'State',
      type: 'string',
      jsonPath: '.status.conditions[?(@.type=="Ready")].reason',
      description: 'Reason of the condition Ready, for example RolledOut, RenderFailed or HeldBack.',
    },
    { name: 'Release', type: 'string', jsonPath: '.status.release' },
    {
      name: 'Revision',
      type: 'string',
      jsonPath: '.status.revision.source',
      description: 'Revision of the Source that the newest Release was rendered from.',
    },
    { name: 'Author', type: 'string', jsonPath: '.status.revision.origin.author', priority: 1 },
    { name: 'Subject', type: 'string', jsonPath: '.status.revision.origin.subject', priority: 1 },
    AGE,
    { name: 'Message', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].message', priority: 1 },
  ],
  examples: [
    {
      metadata: { name: 'hello', namespace: 'default' },
      spec: {
        manifests:
          'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: hello\n  namespace: default\ndata:\n  greeting: good morning\n',
        placement: 'stores',
        rollout: { concurrency: '25%' },
      },
    },
  ],
})
export type Bundle = ObjectOfKind<typeof Bundle>
