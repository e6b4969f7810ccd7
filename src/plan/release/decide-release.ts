/** The name and generation of a bundle's next Release. */
import { compact } from '../../core/compact.ts'
import { digestOf } from '../../core/crypto/digest.ts'
import type { Digest } from '../../core/crypto/digest.ts'
import type { Origin } from '../../kinds/fields/origin.ts'
import type { Bundle } from '../../kinds/native/bundle.ts'
import type { Release } from '../../kinds/native/release.ts'
import type { ReleaseVariant } from './variants.ts'

/** An existing Release of the bundle, as decisions read it. */
export interface ExistingRelease {
  readonly name: string
  readonly generation: number
  readonly set: Digest
  readonly placement: string
  readonly variants?: readonly ReleaseVariant[]
  /** The revision of the Source that the content was rendered from. */
  readonly revision?: string
  readonly origin?: Origin
  /** Size of its largest content in bytes; Releases of earlier versions have none. */
  readonly bytes?: number
}

/** The content that the bundle has to release. */
export interface WantedRelease {
  readonly bundle: string
  /** The Bundle's metadata.generation. */
  readonly generation: number
  readonly set: Digest
  readonly placement: string
  readonly existing: readonly ExistingRelease[]
  /** Whether a Release has the same content. Defaults to comparing set and placement. */
  readonly isSame?: (release: ExistingRelease) => boolean
  /** The highest generation of this bundle in any document. */
  readonly highestAssigned: number
}

/** Keep the newest Release, or create a Release with this name and generation. */
export type ReleaseDecision =
  | { readonly kind: 'Keep'; readonly release: ExistingRelease }
  | { readonly kind: 'Create'; readonly name: string; readonly generation: number }

// A name has at most 253 characters; the suffix needs up to 18 of them.
const LONGEST_STEM = 230

/** `<bundle>-g<generation>`; a very long bundle name is cut and gets a part of its digest. */
export function releaseName(bundle: string, generation: number): string {
  if (bundle.length <= LONGEST_STEM) return `${bundle}-g${generation}`
  const stem = bundle.slice(0, LONGEST_STEM - 13).replace(/[^a-z0-9]+$/, '')
  return `${stem}-${digestOf(bundle).slice(7, 19)}-g${generation}`
}

export function newestRelease(existing: readonly ExistingRelease[]): ExistingRelease | undefined {
  return existing.reduce<ExistingRelease | undefined>(
    (newest, release) => (!newest || release.generation > newest.generation ? release : newest),
    undefined,
  )
}

/**
 * Decides the next Release. Its generation is the Bundle's `metadata.generation`, or one above the highest known
 * generation: a Bundle that was deleted and created again counts from 1, but agents never follow a lower generation.
 */
export function decideRelease(wish: WantedRelease): ReleaseDecision {
  const newest = newestRelease(wish.existing)
  const isSame = wish.isSame ?? ((release) => release.set === wish.set && release.placement === wish.placement)
  if (newest && isSame(newest) && newest.generation >= wish.highestAssigned) {
    return { kind: 'Keep', release: newest }
  }
  const floor = Math.max(newest?.generation ?? 0, wish.highestAssigned)
  const generation = wish.generation > floor ? wish.generation : floor + 1
  return { kind: 'Create', name: releaseName(wish.bundle, generation), generation }
}

/** A bundle's part of a Release. */
export function existingOf(release: Release, bundle: string): ExistingRelease {
  const { generation, set, placement, variants, revision, origin, bytes } = release.spec.bundles.find(
    ({ name }) => name === bundle,
  )!
  return compact({
    name: release.metadata.name,
    generation,
    set,
    placement,
    variants,
    revision,
    origin,
    bytes,
  })
}

/** The revision of a Bundle in its newest Release, as the status of the Bundle has it. */
export function bundleRevision({
  generation,
  set,
  revision,
  origin,
}: ExistingRelease): NonNullable<NonNullable<Bundle['status']>['revision']> {
  return compact({
    generation,
    set,
    source: revision,
    origin,
  })
}
