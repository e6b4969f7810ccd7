/** Releases as API objects. */
import { compact } from '../../core/compact.ts'
import { apiVersionOf } from '../../kinds/meta.ts'
import { Release } from '../../kinds/native/release.ts'
import type { ExistingRelease } from '../../plan/release/decide-release.ts'
import type { ReleaseVariant } from '../../plan/release/variants.ts'

/** The revision of a Bundle in a Release. */
export type ReleaseEntry = Release['spec']['bundles'][number]

/** Builds the revision of a Bundle in a new Release. */
export function buildReleaseEntry(
  bundle: string,
  { generation, set, placement, revision, origin, variants, bytes }: Omit<ExistingRelease, 'name'>,
): ReleaseEntry {
  return compact({
    name: bundle,
    generation,
    set,
    placement,
    revision,
    origin,
    variants: variants ? variants.map(asWritten) : undefined,
    bytes,
  })
}

function asWritten({ when, absent, ...variant }: ReleaseVariant): NonNullable<ReleaseEntry['variants']>[number] {
  return { ...variant, when: { ...when }, ...compact({ absent: absent ? [...absent] : undefined }) }
}

/** Builds a new Release. */
export function releaseObject(namespace: string | undefined, name: string, spec: Release['spec']): Release {
  return {
    apiVersion: apiVersionOf(Release),
    kind: Release.kind,
    metadata: compact({ name, namespace: namespace || undefined }),
    spec,
  }
}
