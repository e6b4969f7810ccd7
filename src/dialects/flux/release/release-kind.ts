// Tested by src/dialects/flux/controllers/helm-release.sim.test.ts.
/** Flux's HelmRelease. */
import type { JsonObject } from '../../../core/json.ts'
import { AGE, kindOf } from '../../../kinds/define-kind.ts'
import type { Kind } from '../../../kinds/define-kind.ts'
import type { Condition, KubeObject } from '../../../kinds/meta.ts'
import { int, listOf, object, optional, text, time } from '../../../kinds/schema/schema-builders.ts'
import { toStructural } from '../../../kinds/schema/structural.ts'
import { fieldsSchema } from '../../fields-schema.ts'
import { common, READY } from '../kind-parts.ts'
import { HELM_RELEASE } from './release-fields.ts'

/** The group of HelmReleases. */
export const HELM_GROUP = 'helm.toolkit.fluxcd.io'

/** A version of a release. */
export interface Snapshot {
  name: string
  namespace: string
  version: number
  chartName: string
  chartVersion: string
  appVersion?: string
  configDigest?: string
  digest: string
  firstDeployed: string
  lastDeployed: string
  status: string
}

/** A chart with its values, and the clusters that run it. */
export interface HelmRelease extends KubeObject {
  spec: JsonObject
  status?: {
    observedGeneration?: number
    conditions?: Condition[]
    helmChart?: string
    history?: Snapshot[]
    lastAttemptedGeneration?: number
    lastAttemptedRevision?: string
    lastAttemptedConfigDigest?: string
    lastAttemptedReleaseAction?: string
    lastAppliedRevision?: string
    storageNamespace?: string
    inventory?: { entries: { id: string; v: string }[] }
    clusters?: { total: number; ready: number }
    lastHandledReconcileAt?: string
    findings?: string[]
  }
}

const SnapshotSchema = object({
  name: text({ max: 253, description: 'Name of the release.' }),
  namespace: text({ max: 253, description: 'Namespace of the release.' }),
  version: int({ description: 'Number of the version of the release.' }),
  chartName: text({ max: 253, description: 'Name of the chart.' }),
  chartVersion: text({ max: 253, description: 'Version of the chart.' }),
  appVersion: optional(text({ max: 253, description: 'Version of the application in the chart.' })),
  configDigest: optional(text({ max: 128, description: 'Digest of the values.' })),
  digest: text({ max: 128, description: 'Digest of the objects.' }),
  firstDeployed: time({ description: 'Time of the first version.' }),
  lastDeployed: time({ description: 'Time of this version.' }),
  status: text({ max: 64, description: 'State of the version, as in Helm.' }),
})

/** Flux's HelmRelease. */
export const HelmRelease: Kind<HelmRelease> = kindOf<HelmRelease>({
  group: HELM_GROUP,
  version: 'v2',
  olderVersions: ['v2beta2', 'v2beta1'],
  kind: 'HelmRelease',
  plural: 'helmreleases',
  shortNames: ['hr'],
  scope: 'Namespaced',
  description: 'Chart that is rendered with values and delivered to clusters; read by the Flux dialect of Flotilla.',
  categories: ['flux'],
  subresources: { status: true },
  required: ['spec'],
  fields: {
    spec: fieldsSchema(HELM_RELEASE, {
      description: 'As in Flux; fields without effect are in the status.',
      required: ['interval'],
    }),
    status: toStructural(
      object({
        ...common,
        helmChart: optional(text({ max: 512, description: 'HelmChart that was made for the release.' })),
        history: optional(listOf(SnapshotSchema, { max: 100, description: 'Versions, the newest first.' })),
        lastAttemptedGeneration: optional(int({ description: 'Generation that was delivered last.' })),
        lastAttemptedRevision: optional(
          text({ max: 512, description: 'Newest version of the chart that was rendered.' }),
        ),
        lastAttemptedConfigDigest: optional(
          text({ max: 128, description: 'Digest of the values. Absent if they have values of Secrets.' }),
        ),
        lastAttemptedReleaseAction: optional(text({ max: 16, description: '`install` or `upgrade`.' })),
        lastAppliedRevision: optional(text({ max: 512, description: 'Version of the chart that all clusters have.' })),
        storageNamespace: optional(text({ max: 253, description: 'Namespace of the release.' })),
        inventory: optional(
          object(
            { entries: listOf(object({ id: text({ max: 1024 }), v: text({ max: 64 }) }), { max: 10_000 }) },
            { description: 'Objects of the release, if they are the same for all clusters.' },
          ),
        ),
        clusters: optional(
          object(
            { total: int({ description: 'Selected clusters.' }), ready: int({ description: 'Ready clusters.' }) },
            { description: 'Numbers of clusters.' },
          ),
        ),
      }),
    ),
  },
  columns: [AGE, ...READY],
})
