/** What is wholly here: of each bundle the base of the next difference, and of each set its sealed values. */
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
/** A set, and a document of this cluster that names it. */
export type DeltaBase = Static<typeof DeltaBase>

/** By bundle. */
export type DeltaBases = BoundedFileMap<DeltaBase>

/** Bases in a file; losing it costs one whole transfer. */
export function createDeltaBases(storage: AgentStorage): DeltaBases {
  return createBoundedFileMap(storage, { name: AGENT_FILES.bases, value: DeltaBase, most: LIMITS.bundles })
}

const SealedFor = Type.Object({ bundle: Type.String(), sealed: DigestText })
/** Whose values they are, and the blob they are in. */
export type SealedFor = Static<typeof SealedFor>

/** By the digest of a set. */
export type SealedValues = BoundedFileMap<SealedFor>

/** Which sealed values a document brought for a set: also when it has moved on, an older set may be gone back to, or say farewell. */
export function createSealedValues(storage: AgentStorage): SealedValues {
  return createBoundedFileMap(storage, { name: AGENT_FILES.sealed, value: SealedFor, most: 4 * LIMITS.bundles })
}
