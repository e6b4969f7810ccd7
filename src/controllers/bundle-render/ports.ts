import type { Digest } from '../../core/digest.ts'
import type { Release } from '../../kinds/release.ts'
import type { Rollout } from '../../kinds/rollout.ts'
import type { RenderInput } from '../../render/render-bundle.ts'
import type { RenderResult } from '../../render/rendered.ts'

/** Renders somewhere: in a thread of its own, or in place. */
export type RenderPort = (input: RenderInput, signal: AbortSignal) => Promise<RenderResult>

/** What bundle-render needs from the world; bundles are `namespace/name`. */
export interface BundleRenderPorts {
  readonly render: RenderPort
  releasesOf(bundle: string): readonly Release[]
  rolloutOf(release: Release): Rollout | undefined
  /** The highest generation of the bundle that any cluster's document names. */
  highestAssigned(bundle: string): number
  putBlob(bytes: Uint8Array): Promise<Digest>
  createRelease(release: Release, signal: AbortSignal): Promise<void>
}
