/** Fields that every layer of a Bundle has: the Bundle itself, its variants, Overrides. */
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

export const LAYER_OPTIONS = {
  helm: optional(
    object(
      {
        chart: optional(path('Directory or `.tgz` file of the chart, relative to the path of the Bundle.')),
        releaseName: optional(
          text({
            max: 53,
            min: 1,
            description: 'Release name that templates see. Defaults to the name of the Bundle.',
          }),
        ),
        values: optional(
          rawObject({
            description:
              'Values of the chart. The values of variants and Overrides are merged over the values of the Bundle, in order.',
          }),
        ),
        valuesFiles: optional(
          listOf(path('Path of a file anywhere in the Source, relative to the path of the Bundle.'), {
            max: 64,
            description:
              'Files with values, merged below `values`. The files of variants and Overrides come after the files of the Bundle, in order.',
          }),
        ),
        valuesTemplating: optional(
          enumOf(['None', 'Labels', 'Templates'], {
            description:
              'Expansion of templates in `values`. `Labels` replaces a value `global.fleet.clusterLabels.NAME` by that label of the cluster; `Templates` does the same and expands `${ }` with `.ClusterName`, `.ClusterLabels`, `.ClusterAnnotations` and `.ClusterValues`, and then parses the result as YAML. Defaults to `None`.',
          }),
        ),
        templateValues: optional(
          stringMap({
            max: 64,
            description:
              'Values by top-level key. Each value is a template that produces YAML and is merged over all other values. Requires `valuesTemplating`.',
          }),
        ),
        namespace: optional(
          namespace('Namespace that templates see as `.Release.Namespace`. Defaults to the namespace of the objects.'),
        ),
        skipCrds: optional(
          flag({ description: 'If true, the objects of the directory `crds/` are left out. Defaults to false.' }),
        ),
        skipSchemaValidation: optional(
          flag({ description: 'If true, values are not checked against the schema of the chart. Defaults to false.' }),
        ),
        kubeVersion: optional(
          text({
            max: 63,
            min: 1,
            description: 'Kubernetes version that templates see. Defaults to the version of the cluster.',
          }),
        ),
        apiVersions: optional(
          listOf(text({ max: 253, min: 1 }), {
            max: 256,
            description: 'API versions that templates see in addition, for example `monitoring.coreos.com/v1`.',
          }),
        ),
        valuesFrom: optional(
          listOf(
            object({
              kind: enumOf(['ConfigMap', 'Secret'], { description: 'Kind of the object in the cluster.' }),
              name: text({ max: 253, min: 1, description: 'Name of the ConfigMap or Secret.' }),
              namespace: optional(
                namespace('Namespace of the ConfigMap or Secret. Defaults to the namespace of the release.'),
              ),
              key: optional(
                text({ max: 253, min: 1, description: 'Key of the ConfigMap or Secret. Defaults to `values.yaml`.' }),
              ),
              targetPath: optional(
                text({
                  max: 1024,
                  min: 1,
                  description:
                    'Path of the value that is set to the text of the key, for example `db.password`. If omitted, the text is parsed as YAML with values.',
                }),
              ),
              optional: optional(
                flag({
                  description:
                    'If true, the object may be missing. Otherwise the agent waits for the object and reports this. Defaults to false.',
                }),
              ),
            }),
            {
              max: 64,
              description:
                'Values from ConfigMaps and Secrets of the cluster, which the agent reads as `executor`. They are merged over all other values, later entries over earlier entries. Requires `render.at: Agent`.',
            },
          ),
        ),
      },
      { description: 'Options for rendering a Helm chart.' },
    ),
  ),
  kustomize: optional(
    object(
      { dir: optional(path('Directory of the kustomization, relative to the path of the Bundle.')) },
      { description: 'Options for building a kustomization.' },
    ),
  ),
  defaultNamespace: optional(namespace('Namespace of objects that have none. Defaults to `default`.')),
  targetNamespace: optional(namespace('Namespace of all objects. If set, cluster-scoped objects are refused.')),
  labels: optional(stringMap({ max: 64, description: 'Labels that are added to all objects.' })),
  images: optional(
    listOf(
      object({
        from: text({
          max: 256,
          min: 1,
          description: 'Prefix of the image names to replace. `docker.io` also matches short names such as `nginx`.',
        }),
        to: text({
          max: 256,
          min: 1,
          description: 'Text that replaces the prefix, for example `registry.example.com/mirror`.',
        }),
      }),
      {
        max: 64,
        description: 'Replacements of image names by prefix.',
      },
    ),
  ),
  patches: optional(
    listOf(
      object({
        kind: text({ max: 63, min: 1, description: 'Kind of the object to patch.' }),
        name: text({ max: 253, min: 1, description: 'Name of the object to patch.' }),
        namespace: optional(
          text({
            max: 63,
            min: 1,
            description: 'Namespace of the object to patch. If omitted, objects in all namespaces match.',
          }),
        ),
        patch: rawObject({
          description: 'JSON merge patch. A null value removes a field; `$patch: delete` removes the object.',
        }),
      }),
      { max: 64, description: 'Patches of single objects, applied after rendering.' },
    ),
  ),
  overlays: optional(
    listOf(path('Name of a directory below `overlays/`.'), {
      max: 64,
      description:
        'Directories below `overlays/` whose files replace, add or (with `_patch.` in the file name) patch plain manifests, in order. The directories of variants and Overrides come after those of the Bundle. If this field is set, also to an empty list, files below `overlays/` are not read as manifests.',
    }),
  ),
}

const CLUSTERS = {
  clusterSelector: optional(
    labelSelector({ description: 'Labels of the clusters that the variant or Override applies to.' }),
  ),
  clusters: optional(
    listOf(name(), {
      max: 256,
      description:
        'Names of the clusters that the variant or Override applies to. If `clusterSelector` is also set, a cluster must match both.',
    }),
  ),
}

/** Fields that select the clusters of a variant or an Override. */
export const LAYER_CLUSTERS = {
  ...CLUSTERS,
  anyOf: optional(
    listOf(object(CLUSTERS), {
      max: 64,
      description:
        'Alternatives of which a cluster must match at least one, in addition to `clusterSelector` and `clusters`. If omitted, only those two fields apply.',
    }),
  ),
}
