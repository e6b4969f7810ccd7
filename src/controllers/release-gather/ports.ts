import type { Digest } from '../../core/crypto/digest.ts'
import type { Bundle } from '../../kinds/native/bundle.ts'
import type { Release } from '../../kinds/native/release.ts'
import type { ExistingRelease } from '../../plan/release/decide-release.ts'

/** Rendered content of a Bundle that is to become its next Release. */
export interface RenderedContent {
  /** The Bundle as it was rendered. */
  readonly bundle: Bundle
  readonly release: ExistingRelease
  readonly recipe: Digest
  /** The artifact of the Source; absent for a Bundle without a Source. */
  readonly artifact?: Digest | undefined
}

/** The ports of release-gather; Sources are `namespace/name`. */
export interface ReleaseGatherPorts {
  /** The Bundles of a Source that are not being deleted. */
  bundlesOf(source: string): readonly Bundle[]
  /** Whether the Placement of a Bundle has decisions. */
  isPlaced(bundle: Bundle): boolean
  /** The highest generation of a Bundle that a Release has. */
  released(bundle: Bundle): number
  releaseNamed(beside: Pick<Bundle, 'metadata'>, name: string): Release | undefined
  /** Creates a Release; throws a Conflict when a content is no longer up to date. */
  createRelease(release: Release, contents: readonly RenderedContent[], signal: AbortSignal): Promise<void>
  /** Starts a pass for a Source. */
  enqueue(source: string): void
}
