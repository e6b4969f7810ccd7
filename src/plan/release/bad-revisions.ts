/** Content that was rolled back stays away: a Release does not deliver content that is marked bad. */
import type { ClusterInputs } from '../../core/cluster-inputs.ts'
import type { ExistingRelease } from './decide-release.ts'
import { contentFor } from './variants.ts'
import type { ReleaseVariant } from './variants.ts'

/** A Release whose content of a bundle is marked bad. */
export interface BadRevision {
  readonly release: ExistingRelease
  /** Clusters that the mark is for. If absent, the mark is for all clusters. */
  readonly clusters?: readonly string[] | undefined
}

/** Content without revisions that are marked bad. */
export interface HeldContent<C> {
  readonly content: C
  /** The Releases whose mark changed the content. */
  readonly by: readonly string[]
}

type Content = Pick<ExistingRelease, 'set' | 'variants'>

/** Replaces content that is marked bad on a cluster with the cluster's content of the newest Release. */
export function withoutBad<C extends Content>(
  content: C,
  newest: ExistingRelease | undefined,
  marks: readonly BadRevision[],
  clusters: readonly ClusterInputs[],
): HeldContent<C> {
  if (!newest || marks.length === 0) return { content, by: [] }
  const held: ReleaseVariant[] = []
  const by = new Set<string>()
  for (const inputs of clusters) {
    const wanted = contentFor(content, inputs)
    const has = contentFor(newest, inputs)
    if (wanted.kind !== 'Set' || has.kind !== 'Set' || wanted.set === has.set) continue
    const mark = marks.find(({ release, clusters: on }) => {
      const was = contentFor(release, inputs)
      return was.kind === 'Set' && was.set === wanted.set && (on === undefined || on.includes(inputs.name))
    })
    if (!mark) continue
    by.add(mark.release.name)
    held.push({ when: { name: inputs.name }, set: has.set })
  }
  if (held.length === 0) return { content, by: [] }
  const variants = [...held, ...(content.variants ?? [{ when: {}, set: content.set }])]
  return { content: { ...content, variants }, by: [...by] }
}
