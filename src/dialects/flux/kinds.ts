// Tested by src/dialects/flux/controllers/kustomization.sim.test.ts.
/** Flux's kinds with the fields that their users write and read, and their columns. */
import type { JsonObject } from '../../core/json.ts'
import { AGE, kindOf } from '../../kinds/define-kind.ts'
import type { Kind } from '../../kinds/define-kind.ts'
import type { Condition, KubeObject } from '../../kinds/meta.ts'
import { flag, int, listOf, object, optional, rawObject, text, time } from '../../kinds/schema/schema-builders.ts'
import { toStructural } from '../../kinds/schema/structural.ts'
import { fieldsSchema } from '../fields-schema.ts'
import { KUSTOMIZE_GROUP } from './build/flux-kustomization.ts'
import { GIT_REPOSITORY, KUSTOMIZATION } from './fields.ts'
import { Artifact, common, READY, SOURCE_GROUP } from './kind-parts.ts'
import type { FluxArtifact } from './kind-parts.ts'
import { HelmRelease } from './release/release-kind.ts'
import { Bucket, HelmChart, HelmRepository, OCIRepository } from './source-kinds.ts'
import type { KustomizationSnapshot } from './status/kustomization-history.ts'

/** A git repository. */
export interface GitRepository extends KubeObject {
  spec: JsonObject
  status?: {
    observedGeneration?: number
    conditions?: Condition[]
    artifact?: FluxArtifact
    includedArtifacts?: FluxArtifact[]
    observedIgnore?: string
    observedInclude?: JsonObject[]
    observedSparseCheckout?: string[]
    observedRecurseSubmodules?: boolean
    sourceVerificationMode?: string
    lastHandledReconcileAt?: string
    findings?: string[]
  }
}

/** Flux's GitRepository. */
export const GitRepository: Kind<GitRepository> = kindOf<GitRepository>({
  group: SOURCE_GROUP,
  version: 'v1',
  olderVersions: ['v1beta2', 'v1beta1'],
  kind: 'GitRepository',
  plural: 'gitrepositories',
  scope: 'Namespaced',
  description: 'Git repository that Kustomizations build from; read by the Flux dialect of Flotilla.',
  categories: ['flux'],
  subresources: { status: true },
  required: ['spec'],
  fields: {
    spec: fieldsSchema(GIT_REPOSITORY, {
      description: 'As in Flux; fields without effect are in the status.',
      required: ['interval', 'url'],
    }),
    status: toStructural(
      object({
        ...common,
        artifact: optional(Artifact),
        includedArtifacts: optional(listOf(Artifact, { max: 32 })),
        observedIgnore: optional(text({ max: 65_536 })),
        observedInclude: optional(listOf(rawObject(), { max: 32 })),
        observedSparseCheckout: optional(listOf(text({ max: 1024 }), { max: 256 })),
        observedRecurseSubmodules: optional(flag()),
        sourceVerificationMode: optional(text({ max: 64, description: 'What was verified.' })),
      }),
    ),
  },
  columns: [{ name: 'URL', type: 'string', jsonPath: '.spec.url' }, AGE, ...READY],
})

/** A directory of a source, and the clusters that run it. */
export interface Kustomization extends KubeObject {
  spec: JsonObject
  status?: {
    observedGeneration?: number
    conditions?: Condition[]
    /** The revision that every cluster has. */
    lastAppliedRevision?: string
    /** The newest revision that was built. */
    lastAttemptedRevision?: string
    inventory?: { entries: { id: string; v: string }[] }
    history?: KustomizationSnapshot[]
    /** Numbers of clusters. */
    clusters?: { total: number; ready: number }
    lastHandledReconcileAt?: string
    findings?: string[]
  }
}

/** Flux's Kustomization. */
export const Kustomization: Kind<Kustomization> = kindOf<Kustomization>({
  group: KUSTOMIZE_GROUP,
  version: 'v1',
  olderVersions: ['v1beta2', 'v1beta1'],
  kind: 'Kustomization',
  plural: 'kustomizations',
  shortNames: ['ks'],
  scope: 'Namespaced',
  description:
    'Directory of a source that is built as Flux builds it and delivered to clusters; read by the Flux dialect of Flotilla.',
  categories: ['flux'],
  subresources: { status: true },
  required: ['spec'],
  fields: {
    spec: fieldsSchema(KUSTOMIZATION, {
      description: 'As in Flux; fields without effect are in the status.',
      required: ['interval', 'prune', 'sourceRef'],
    }),
    status: toStructural(
      object({
        ...common,
        lastAppliedRevision: optional(text({ max: 512, description: 'Revision that all clusters have.' })),
        lastAttemptedRevision: optional(text({ max: 512, description: 'Newest revision that was built.' })),
        inventory: optional(
          object(
            { entries: listOf(object({ id: text({ max: 1024 }), v: text({ max: 64 }) }), { max: 10_000 }) },
            { description: 'Objects of the build, if they are the same for all clusters.' },
          ),
        ),
        history: optional(
          listOf(
            object({
              digest: text({ max: 128, description: 'Digest of the objects.' }),
              firstReconciled: time({ description: 'First time at which the result was reached.' }),
              lastReconciled: time({ description: 'Last time at which the result was reached.' }),
              lastReconciledDuration: text({ max: 64, description: 'Time from the last delivery to its result.' }),
              lastReconciledStatus: text({ max: 256, description: 'Reason of the condition Ready.' }),
              totalReconciliations: int({ description: 'Number of times that the result was reached.' }),
              metadata: object({ revision: text({ max: 512, description: 'Revision of the source.' }) }),
            }),
            { max: 5, description: 'Results of the last contents, the newest first.' },
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

/** The kinds the dialect serves. */
export const FLUX_KINDS: readonly Kind[] = [
  GitRepository,
  HelmRepository,
  HelmChart,
  OCIRepository,
  Bucket,
  Kustomization,
  HelmRelease,
] as readonly Kind[]
