import type { Digest } from '../../core/crypto/digest.ts'
import type { Bundle } from '../../kinds/native/bundle.ts'
import type { Release } from '../../kinds/native/release.ts'
import type { Source } from '../../kinds/native/source.ts'
import type { ReleaseVariant } from '../../plan/release/variants.ts'

/** What release-gather needs from the world. */
export interface ReleaseGatherPorts {
  bundlesOf(source: Source): readonly Bundle[]
  /** Whether the Placement of a bundle has decided. */
  isPlaced(bundle: Bundle): boolean
  /** The highest generation of a bundle that a Release has. */
  released(bundle: Bundle): number
  releaseOf(source: Source, name: string): Release | undefined
  /** The contents of a candidate, where clusters differ. */
  variantsOf(blob: Digest): Promise<readonly ReleaseVariant[]>
  createRelease(release: Release, signal: AbortSignal): Promise<void>
}
