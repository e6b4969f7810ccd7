/**
 * Which content is complete on disk: for each bundle the base of the next difference, for each set its sealed values.
 */
import type { Static } from 'typebox'
import type { Digest } from '../../core/crypto/digest.ts'
import { Type } from '../../core/schema/typebox.ts'
import { LIMITS } from '../../wire/limits.ts'
import { createBoundedFileMap } from '../storage/bounded-file-map.ts'
import type { BoundedFileMap } from '../storage/bounded-file-map.ts'
import { AGENT_FILES } from '../storage/storage.ts'
import type { AgentStorage } from '../storage/storage.ts'

const DigestText = Type.Unsafe<Digest>({ type: 'string', pattern: '^sha256:[0-9a-f]{64}$' })
const DeltaBase = Type.Object({ set: DigestText, held: DigestText })
/** A complete set, and the document of this cluster that names it. */
export type DeltaBase = Static<typeof DeltaBase>

/** Bases by bundle. */
export type DeltaBases = BoundedFileMap<DeltaBase>

/** Bases in a file; the loss of the file costs one whole transfer for each bundle. */
export function createDeltaBases(storage: AgentStorage): DeltaBases {
  return createBoundedFileMap(storage, { name: AGENT_FILES.bases, value: DeltaBase, most: LIMITS.bundles })
}

const SealedFor = Type.Object({ bundle: Type.String(), sealed: DigestText })
/** The bundle of sealed values, and their blob. */
export type SealedFor = Static<typeof SealedFor>

/** Sealed values by the digest of a set. */
export type SealedValues = BoundedFileMap<SealedFor>

/**
 * The sealed values that a document brought for a set. They stay when the document names a newer set: a rollback or an
 * uninstall hook may need the older set.
 */
export function createSealedValues(storage: AgentStorage): SealedValues {
  return createBoundedFileMap(storage, { name: AGENT_FILES.sealed, value: SealedFor, most: 4 * LIMITS.bundles })
}
