// Tested by src/dialects/flux/controllers/kustomization.sim.test.ts.
/** Parts that Flux's kinds share. */
import { Conditions, int, listOf, object, optional, text, time } from '../../kinds/schema/schema-builders.ts'

/** The group of Flux's sources. */
export const SOURCE_GROUP = 'source.toolkit.fluxcd.io'

/** The artifact of a source. There is no server to fetch it from, so it has no address. */
export interface FluxArtifact {
  revision: string
  digest: string
  lastUpdateTime: string
  size: number
}

/** The schema of an artifact. */
export const Artifact = object(
  {
    revision: text({ max: 512, description: 'Revision of the source, for example `main@sha1:8a1b2c3`.' }),
    digest: text({ max: 128, description: 'Digest of the list of files.' }),
    lastUpdateTime: time({ description: 'Time of the fetch.' }),
    size: int({ description: 'Total size of the files in bytes.' }),
  },
  { description: 'Content that was fetched last.' },
)

const findings = () => optional(listOf(text({ max: 2048 }), { max: 100, description: 'Fields without effect.' }))

/** The columns of condition Ready. */
export const READY = [
  { name: 'Ready', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
  { name: 'Status', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].message' },
] as const

/** Fields of the status of all kinds. */
export const common = {
  observedGeneration: optional(int()),
  conditions: Conditions,
  lastHandledReconcileAt: optional(
    text({ max: 256, description: 'Value of the annotation `reconcile.fluxcd.io/requestedAt` that was served last.' }),
  ),
  findings: findings(),
}
