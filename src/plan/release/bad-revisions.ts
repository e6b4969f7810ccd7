/** What was taken back does not come again by itself: content that is marked bad is held off the clusters it was taken back on. */
import type { ClusterInputs } from '../../core/cluster-inputs.ts'
import type { ExistingRelease } from './decide-release.ts'
import { contentFor } from './variants.ts'
import type { ReleaseVariant } from './variants.ts'

/** A Release whose content of a bundle was taken back. */
export interface BadRevision {
  readonly release: ExistingRelease
  /** On these clusters; on all without it. */
  readonly clusters?: readonly string[] | undefined
}

/** Content, and what of it is held off. */
export interface HeldContent<C> {
  readonly content: C
  /** The Releases whose mark holds something off. */
  readonly by: readonly string[]
}

type Content = Pick<ExistingRelease, 'set' | 'variants'>

/** Gives clusters for which the content is the one taken back what the newest Release gives them instead. */
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
