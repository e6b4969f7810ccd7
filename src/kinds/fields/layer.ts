/** What a layer of a bundle may say: the bundle itself, its variants, Overrides. */
import {
  enumOf,
  flag,
  labelSelector,
  listOf,
  name,
  object,
  optional,
  rawObject,
  stringMap,
  text,
} from '../schema/schema-builders.ts'

const path = (description: string) => text({ max: 1024, min: 1, description })
// A namespace may be a template.
const namespace = (description: string) => text({ max: 256, min: 1, description })

/** The fields every layer has. */
export const LAYER_OPTIONS = {
  helm: optional(
    object(
      {
        chart: optional(path('The directory (or `.tgz`) of the chart, relative to the path of the bundle.')),
        releaseName: optional(
          text({ max: 53, min: 1, description: 'The name templates see; the name of the bundle without it.' }),
        ),
        values: optional(
          rawObject({ description: 'Values; those of later layers are merged over those of earlier ones.' }),
        ),
        valuesFiles: optional(
          listOf(path('A file anywhere in the repository, relative to the path of the bundle.'), {
            max: 64,
            description: 'Files with values, below `values`; those of later layers come after.',
          }),
        ),
        valuesTemplating: optional(
          enumOf(['None', 'Labels', 'Templates'], {
            description:
              'Templates: `${ }` in `values`, and only there, sees `.ClusterName`, `.ClusterLabels`, `.ClusterAnnotations` and `.ClusterValues`, and the text is read as YAML again; also Labels: a value `global.fleet.clusterLabels.NAME` becomes that label. None unless said.',
          }),
        ),
        templateValues: optional(
          stringMap({
            max: 64,
            description: 'Values by top-level key, each a template of YAML, over all others; with `valuesTemplating`.',
          }),
        ),
        valuesFrom: optional(
          listOf(
            object({
              kind: enumOf(['ConfigMap', 'Secret'], { description: 'What it is in the cluster.' }),
              name: text({ max: 253, min: 1, description: 'Its name.' }),
              namespace: optional(namespace("Its namespace; the release's without it.")),
              key: optional(text({ max: 253, min: 1, description: '`values.yaml` without it.' })),
              targetPath: optional(
                text({
                  max: 1024,
                  min: 1,
                  description:
                    'The value that becomes the text behind the key, such as `db.password`; without it the text is YAML with values.',
                }),
              ),
              optional: optional(
                flag({ description: 'It may be missing; otherwise the cluster waits for it and says so.' }),
              ),
            }),
            {
              max: 64,
              description:
                'Values from ConfigMaps and Secrets of the cluster, over all others, later ones over earlier ones; read by the agent as `executor`. Needs `render.at: Agent`.',
            },
          ),
        ),
      },
      { description: 'How a chart is rendered.' },
    ),
  ),
  kustomize: optional(
    object(
      { dir: optional(path('The directory of the kustomization, relative to the path of the bundle.')) },
      { description: 'Which kustomization is built.' },
    ),
  ),
  defaultNamespace: optional(namespace('For objects that name no namespace; `default` without it.')),
  targetNamespace: optional(namespace('For every object; objects that have no namespaces are refused then.')),
  labels: optional(stringMap({ max: 64, description: 'Labels for every object.' })),
  images: optional(
    listOf(object({ from: text({ max: 256, min: 1 }), to: text({ max: 256, min: 1 }) }), {
      max: 64,
      description: 'Images whose names begin with `from` are taken from `to`; `docker.io` covers short names.',
    }),
  ),
  patches: optional(
    listOf(
      object({
        kind: text({ max: 63, min: 1 }),
        name: text({ max: 253, min: 1 }),
        namespace: optional(text({ max: 63, min: 1 })),
        patch: rawObject({ description: 'A JSON merge patch; null removes, `$patch: delete` removes the object.' }),
      }),
      { max: 64, description: 'Changes of single objects after rendering.' },
    ),
  ),
  overlays: optional(
    listOf(path('A directory below `overlays/`.'), {
      max: 64,
      description:
        'Directories below `overlays/` whose files replace, add to or (with `_patch.` in their name) patch plain manifests, in order; those of later layers come after. With it, even empty, `overlays/` holds no manifests of its own.',
    }),
  ),
}

const CLUSTERS = {
  clusterSelector: optional(labelSelector({ description: 'Clusters with these labels.' })),
  clusters: optional(listOf(name(), { max: 256, description: 'Clusters by name; with a selector, both must hold.' })),
}

/** Which clusters a layer is for. */
export const LAYER_CLUSTERS = {
  ...CLUSTERS,
  anyOf: optional(
    listOf(object(CLUSTERS), {
      max: 64,
      description: 'Besides, one of these must fit; absent: nothing more is asked.',
    }),
  ),
}
