// Tested by src/dialects/flux/controllers/helm-sources.sim.test.ts.
/** Flux's HelmRepository, HelmChart and OCIRepository. */
import type { JsonObject } from '../../core/json.ts'
import { AGE, kindOf } from '../../kinds/define-kind.ts'
import type { Kind } from '../../kinds/define-kind.ts'
import type { Condition, KubeObject } from '../../kinds/meta.ts'
import { listOf, object, optional, rawObject, text } from '../../kinds/schema/schema-builders.ts'
import { toStructural } from '../../kinds/schema/structural.ts'
import { fieldsSchema } from '../fields-schema.ts'
import { Artifact, common, READY, SOURCE_GROUP } from './kind-parts.ts'
import type { FluxArtifact } from './kind-parts.ts'
import { BUCKET, HELM_CHART, HELM_REPOSITORY, OCI_REPOSITORY } from './source-fields.ts'

/** The status that all sources have. */
export interface SourceStatus {
  observedGeneration?: number
  conditions?: Condition[]
  artifact?: FluxArtifact
  lastHandledReconcileAt?: string
  findings?: string[]
}

const described = { description: 'As in Flux; fields without effect are in the status.' }

/** A Helm repository. */
export interface HelmRepository extends KubeObject {
  spec: JsonObject
  status?: SourceStatus
}

/** Flux's HelmRepository. */
export const HelmRepository: Kind<HelmRepository> = kindOf<HelmRepository>({
  group: SOURCE_GROUP,
  version: 'v1',
  olderVersions: ['v1beta2', 'v1beta1'],
  kind: 'HelmRepository',
  plural: 'helmrepositories',
  shortNames: ['helmrepo'],
  scope: 'Namespaced',
  description: 'Helm repository that HelmCharts are taken from; read by the Flux dialect of Flotilla.',
  categories: ['flux'],
  subresources: { status: true },
  required: ['spec'],
  fields: {
    spec: fieldsSchema(HELM_REPOSITORY, { ...described, required: ['url'] }),
    status: toStructural(object({ ...common, artifact: optional(Artifact) })),
  },
  columns: [{ name: 'URL', type: 'string', jsonPath: '.spec.url' }, AGE, ...READY],
})

/** A chart of a source. */
export interface HelmChart extends KubeObject {
  spec: JsonObject
  status?: SourceStatus & {
    observedChartName?: string
    observedSourceArtifactRevision?: string
    observedValuesFiles?: string[]
  }
}

/** Flux's HelmChart. */
export const HelmChart: Kind<HelmChart> = kindOf<HelmChart>({
  group: SOURCE_GROUP,
  version: 'v1',
  olderVersions: ['v1beta2', 'v1beta1'],
  kind: 'HelmChart',
  plural: 'helmcharts',
  shortNames: ['hc'],
  scope: 'Namespaced',
  description: 'Chart of a HelmRepository or GitRepository; read by the Flux dialect of Flotilla.',
  categories: ['flux'],
  subresources: { status: true },
  required: ['spec'],
  fields: {
    spec: fieldsSchema(HELM_CHART, { ...described, required: ['chart', 'interval', 'sourceRef'] }),
    status: toStructural(
      object({
        ...common,
        artifact: optional(Artifact),
        observedChartName: optional(text({ max: 253, description: 'Name of the chart.' })),
        observedSourceArtifactRevision: optional(text({ max: 512, description: 'Revision of the source.' })),
        observedValuesFiles: optional(
          listOf(text({ max: 1024 }), { max: 256, description: 'Files that were merged.' }),
        ),
      }),
    ),
  },
  columns: [
    { name: 'Chart', type: 'string', jsonPath: '.spec.chart' },
    { name: 'Version', type: 'string', jsonPath: '.spec.version' },
    { name: 'Source Kind', type: 'string', jsonPath: '.spec.sourceRef.kind' },
    { name: 'Source Name', type: 'string', jsonPath: '.spec.sourceRef.name' },
    AGE,
    ...READY,
  ],
})

/** A bucket. */
export interface Bucket extends KubeObject {
  spec: JsonObject
  status?: SourceStatus & { observedIgnore?: string }
}

/** Flux's Bucket. */
export const Bucket: Kind<Bucket> = kindOf<Bucket>({
  group: SOURCE_GROUP,
  version: 'v1',
  olderVersions: ['v1beta2', 'v1beta1'],
  kind: 'Bucket',
  plural: 'buckets',
  scope: 'Namespaced',
  description: 'Bucket of an S3 server that Kustomizations build from; read by the Flux dialect of Flotilla.',
  categories: ['flux'],
  subresources: { status: true },
  required: ['spec'],
  fields: {
    spec: fieldsSchema(BUCKET, { ...described, required: ['bucketName', 'endpoint', 'interval'] }),
    status: toStructural(
      object({ ...common, artifact: optional(Artifact), observedIgnore: optional(text({ max: 65_536 })) }),
    ),
  },
  columns: [{ name: 'Endpoint', type: 'string', jsonPath: '.spec.endpoint' }, AGE, ...READY],
})

/** An artifact of a registry. */
export interface OCIRepository extends KubeObject {
  spec: JsonObject
  status?: SourceStatus & { observedIgnore?: string; observedLayerSelector?: JsonObject }
}

/** Flux's OCIRepository. */
export const OCIRepository: Kind<OCIRepository> = kindOf<OCIRepository>({
  group: SOURCE_GROUP,
  version: 'v1',
  olderVersions: ['v1beta2'],
  kind: 'OCIRepository',
  plural: 'ocirepositories',
  shortNames: ['ocirepo'],
  scope: 'Namespaced',
  description: 'Artifact of an OCI registry; read by the Flux dialect of Flotilla.',
  categories: ['flux'],
  subresources: { status: true },
  required: ['spec'],
  fields: {
    spec: fieldsSchema(OCI_REPOSITORY, { ...described, required: ['interval', 'url'] }),
    status: toStructural(
      object({
        ...common,
        artifact: optional(Artifact),
        observedIgnore: optional(text({ max: 65_536 })),
        observedLayerSelector: optional(rawObject()),
      }),
    ),
  },
  columns: [{ name: 'URL', type: 'string', jsonPath: '.spec.url' }, ...READY, AGE],
})
