// Tested by src/dialects/flux/controllers/kustomization.sim.test.ts.
/** Flux's kinds with the fields that their users write and read, and their columns. */
import type { JsonObject } from '../../core/json.ts'
import { AGE, kindOf } from '../../kinds/define-kind.ts'
import type { Kind } from '../../kinds/define-kind.ts'
import type { Condition, KubeObject } from '../../kinds/meta.ts'
import { Conditions, int, listOf, object, optional, rawObject, text, time } from '../../kinds/schema/schema-builders.ts'
import { toStructural } from '../../kinds/schema/structural.ts'
import { fieldsSchema } from '../fields-schema.ts'
import { KUSTOMIZE_GROUP } from './build/flux-kustomization.ts'
import { GIT_REPOSITORY, KUSTOMIZATION } from './fields.ts'

/** The group of Flux's sources. */
const SOURCE_GROUP = 'source.toolkit.fluxcd.io'

/** The artifact of a source. There is no server to fetch it from, so it has no address. */
export interface FluxArtifact {
  revision: string
  digest: string
  lastUpdateTime: string
  size: number
}

const Artifact = object(
  {
    revision: text({ max: 512, description: 'Revision of the source, for example `main@sha1:8a1b2c3`.' }),
    digest: text({ max: 128, description: 'Digest of the list of files.' }),
    lastUpdateTime: time({ description: 'Time of the fetch.' }),
    size: int({ description: 'Total size of the files in bytes.' }),
  },
  { description: 'Content that was fetched last.' },
)

const findings = () => optional(listOf(text({ max: 2048 }), { max: 100, description: 'Fields without effect.' }))

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
    lastHandledReconcileAt?: string
    findings?: string[]
  }
}

const READY = [
  { name: 'Ready', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
  { name: 'Status', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].message' },
] as const

const common = {
  observedGeneration: optional(int()),
  conditions: Conditions,
  lastHandledReconcileAt: optional(
    text({ max: 256, description: 'Value of the annotation `reconcile.fluxcd.io/requestedAt` that was served last.' }),
  ),
  findings: findings(),
}

/** Flux's GitRepository. */
export const GitRepository: Kind<GitRepository> = kindOf<GitRepository>({
  group: SOURCE_GROUP,
  version: 'v1',
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
export const FLUX_KINDS: readonly Kind[] = [GitRepository, Kustomization] as readonly Kind[]
