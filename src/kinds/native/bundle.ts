import { BUNDLE_OPTIONS, VARIANT_OPTIONS } from '../fields/bundle-options.ts'
import { AGE, defineKind } from '../define-kind.ts'
import type { ObjectOfKind } from '../define-kind.ts'
import { LAYER_CLUSTERS, LAYER_OPTIONS } from '../fields/layer.ts'
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
  text,
} from '../schema/schema-builders.ts'

/** A count from 1, or a percentage from 1% to 100%. */
export const concurrency = (options: { readonly default?: unknown; readonly description?: string } = {}) =>
  intOrString({ minimum: 1, pattern: '^([1-9][0-9]?|100)%$', ...options })

/** Holds a deleted Bundle only until it is written down which clusters lose it. */
export const REMOVAL_FINALIZER = 'flotilla.dev/removal'

/** What should run. */
export const Bundle = defineKind({
  kind: 'Bundle',
  plural: 'bundles',
  scope: 'Namespaced',
  shortNames: ['fb'],
  events: { warnWhenTrue: ['Reverted'], warnWhenFalse: ['Linted', 'Rendered'] },
  description: 'What should run: Kubernetes objects, and the Placement that says where.',
  spec: object({
    manifests: optional(
      text({ max: 1_048_576, description: 'Kubernetes objects as YAML documents; or take them from `source`.' }),
    ),
    manifestsFrom: optional(
      listOf(
        object({
          configMap: name({ description: 'A ConfigMap in this namespace.' }),
          key: optional(text({ max: 253, min: 1, description: 'One of its keys; all of them, in order, without it.' })),
        }),
        {
          max: 256,
          min: 1,
          description: 'Kubernetes objects as YAML documents in ConfigMaps, for more than one object holds.',
        },
      ),
    ),
    source: optional(
      object(
        {
          name: name({ description: 'A Source in this namespace.' }),
          path: optional(text({ max: 1024, description: 'A directory of it; all of it without a path.' })),
          ignore: optional(
            listOf(text({ max: 1024, min: 1 }), {
              max: 256,
              description: 'Files and directories that are no manifests and no part of a chart, relative to the path.',
            }),
          ),
          include: optional(
            listMap(
              ['at'],
              object({
                source: name({ description: 'Another Source in this namespace.' }),
                at: text({
                  max: 253,
                  min: 1,
                  pattern: '^[A-Za-z0-9._-]+(/[A-Za-z0-9._-]+)*$',
                  description: 'The directory, below the path, where its files appear.',
                }),
              }),
              {
                max: 32,
                description: 'Files of other Sources beside those of the path, such as charts of a Helm repository.',
              },
            ),
          ),
        },
        { description: 'Where the content comes from.' },
      ),
    ),
    style: optional(
      enumOf(['Raw', 'Kustomize', 'Helm'], { description: 'What the directory is; found out without it.' }),
    ),
    raw: optional(
      object(
        {
          kustomizations: optional(
            enumOf(['Skip', 'Include'], {
              description:
                'Directories below with a kustomization: left out (Skip, default), or manifests like others.',
            }),
          ),
          otherDocuments: optional(
            enumOf(['Refuse', 'Skip'], {
              description: 'Documents that are no Kubernetes objects: a mistake (Refuse, default), or passed over.',
            }),
          ),
          templates: optional(
            enumOf(['AsIs', 'Render'], {
              description:
                '`templates/`: manifests like others (AsIs, default), or templates of a chart, with `helm.values`.',
            }),
          ),
        },
        { description: 'How a directory of plain manifests is read.' },
      ),
    ),
    render: optional(
      object(
        {
          at: optional(
            enumOf(['Hub', 'Agent'], {
              description:
                'On the hub (Hub, default), or in each cluster (Agent), where charts see `helm.valuesFrom`, `lookup`, and the APIs of the cluster.',
            }),
          ),
        },
        { description: 'Where charts are rendered.' },
      ),
    ),
    templating: optional(
      enumOf(['Disabled', 'Enabled'], {
        default: 'Disabled',
        description: 'Whether `${ }` in files, values and options is expanded for each cluster.',
      }),
    ),
    secrets: optional(
      enumOf(['Refuse', 'Allow'], {
        default: 'Refuse',
        description: 'Whether Secrets with their content in the repository are taken.',
      }),
    ),
    ...LAYER_OPTIONS,
    variants: optional(
      listMap(
        ['name'],
        object({
          name: text({ max: 63, min: 1, description: 'What it is called, in messages.' }),
          ...LAYER_CLUSTERS,
          skip: optional(flag({ description: 'The bundle is not for these clusters.' })),
          options: optional(
            object(VARIANT_OPTIONS, {
              description: 'How it is applied on these clusters; each field instead of that of the Bundle.',
            }),
          ),
          ...LAYER_OPTIONS,
        }),
        { max: 128, description: 'Layers for some clusters, over the bundle, in order.' },
      ),
    ),
    variantMode: optional(
      enumOf(['All', 'First'], {
        default: 'All',
        description: 'Whether all variants that fit a cluster count, or only the first.',
      }),
    ),
    inputs: optional(
      listMap(
        ['name'],
        object({
          name: text({ max: 63, min: 1, pattern: '^[A-Za-z_][A-Za-z0-9_]*$' }),
          configMap: optional(object({ name: name(), key: text({ max: 253, min: 1 }) })),
          secret: optional(
            object(
              {
                name: name(),
                key: optional(
                  text({ max: 253, min: 1, description: 'One of its keys; all of them by name without it.' }),
                ),
              },
              {
                description:
                  'A Secret in this namespace with the label `flotilla.dev/input: allowed`; its values are texts.',
              },
            ),
          ),
          file: optional(text({ max: 1024, min: 1 })),
          table: optional(
            object({ file: text({ max: 1024, min: 1 }), key: text({ max: 317, min: 1, default: 'name' }) }),
          ),
        }),
        {
          max: 32,
          description:
            'Values for templates, as `.Inputs.NAME`: YAML of a ConfigMap or a file, the texts of a Secret, or the row of a table by the name or a label of the cluster.',
        },
      ),
    ),
    placement: name({ description: 'The Placement, in this namespace, that selects the clusters.' }),
    rollout: optional(
      object(
        {
          concurrency: optional(
            concurrency({ description: 'How many clusters may be changing at once: a count or `25%`.' }),
          ),
          plan: optional(
            name({ description: 'The RolloutPlan, in this namespace, with rings; instead of `concurrency`.' }),
          ),
          history: optional(
            int({
              minimum: 1,
              maximum: 1000,
              description:
                'How many Releases to keep besides those that something refers to; 10 unless said. The rest is deleted, with their Rollouts.',
            }),
          ),
        },
        { description: 'How changes move through the fleet.' },
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
                'How many objects a change may drop from a cluster at once. Unless said half of them, but up to 5 always.',
            }),
          ),
        },
        {
          description:
            'A change that would drop more stops and asks: annotation `flotilla.dev/release-drop` with the token that its condition names lets it through.',
        },
      ),
    ),
    ...BUNDLE_OPTIONS,
  }),
  status: object({
    observedGeneration: optional(int()),
    conditions: Conditions,
    release: optional(name({ description: 'The newest Release made from this Bundle.' })),
    recipe: optional(digest({ description: 'What it was rendered from the last time.' })),
    sourceRevision: optional(text({ max: 512, description: 'The revision of the Source that was rendered last.' })),
    artifact: optional(digest({ description: 'The artifact of the Source that it was looked at with last.' })),
    candidate: optional(
      object(
        {
          generation: int(),
          set: digest(),
          placement: name(),
          recipe: digest(),
          revision: optional(text({ max: 512 })),
          bytes: optional(int({ minimum: 0 })),
          variants: optional(digest({ description: 'The blob with the contents, where clusters differ.' })),
        },
        { description: 'New content that is rendered and waits for the other bundles of its commit.' },
      ),
    ),
    linted: optional(
      text({
        max: 512,
        description: 'What `Linted` was said of: the Release, and the versions of Kubernetes it goes to.',
      }),
    ),
    reverted: optional(
      listOf(name(), {
        max: 16,
        description: 'What it would be rendered to was taken back: the Releases with the mark.',
      }),
    ),
    revision: optional(
      object({ generation: int(), set: digest() }, { description: 'What the newest Release contains of this Bundle.' }),
    ),
  }),
  columns: [
    { name: 'Placement', type: 'string', jsonPath: '.spec.placement' },
    { name: 'Ready', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
    { name: 'Release', type: 'string', jsonPath: '.status.release' },
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
