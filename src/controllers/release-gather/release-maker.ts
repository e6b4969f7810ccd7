// Tested by src/controllers/release-gather/reconcile.test.ts
/**
 * The one maker of Releases from rendered content. Content of a Bundle without a Source, or of a commit that changes no
 * other Bundle, becomes a Release at once. Other content waits here until the Bundles of its Source are rendered from
 * the same artifact. It waits in memory: after a restart, bundle-render renders it again and offers it again.
 */
import { compact } from '../../core/compact.ts'
import { jsonEqual } from '../../core/json.ts'
import type { Context } from '../../engine/reconciler.ts'
import type { Bundle } from '../../kinds/native/bundle.ts'
import { keyOf } from '../../kinds/meta.ts'
import type { Release } from '../../kinds/native/release.ts'
import type { Source } from '../../kinds/native/source.ts'
import { commitReleaseName, needsGathering } from '../../plan/release/commit-release.ts'
import type { GatheredBundle, MissingBundle } from '../../plan/release/commit-release.ts'
import { releaseName } from '../../plan/release/decide-release.ts'
import { buildReleaseEntry, releaseObject } from '../writes/release-objects.ts'
import type { ReleaseGatherPorts, RenderedContent } from './ports.ts'

/** The state of a Bundle while its Source is gathered. */
export type GatherState = Pick<GatheredBundle, 'artifact' | 'waits'>

/** The port through which bundle-render offers content. */
export interface OfferPort {
  /** Makes the Release of new content; false when the content waits for other Bundles of its Source. */
  offer(content: RenderedContent, context: Pick<Context, 'log' | 'signal'>): Promise<boolean>
  /** Replaces waiting content, for example because the Source has a newer artifact with the same files. */
  wait(content: RenderedContent): void
  /** The content of a Bundle (`namespace/name`) that waits, or that was released and not forgotten yet. */
  waiting(bundle: string): RenderedContent | undefined
  forget(bundle: string): void
  /** At most `most` of the other Bundles of the Source that are not rendered from this artifact yet. */
  lateBundles(bundle: Bundle, artifact: RenderedContent['artifact'], most: number): readonly string[]
}

/** The part of release-gather that its Source passes use as well. */
export interface ReleaseMaker extends OfferPort {
  stateOf(bundle: Bundle): GatherState
  /** Makes one Release of the waiting contents of these Bundles, or several if one cannot have them all. */
  makeRelease(
    source: Source,
    members: readonly Bundle[],
    missing: readonly MissingBundle[],
    context: Pick<Context, 'log' | 'signal'>,
  ): Promise<void>
}

/** The most Bundles of one Release. */
const MAX_BUNDLES = 256

/** Creates the maker; the contents that wait are its state. */
export function createReleaseMaker(ports: ReleaseGatherPorts): ReleaseMaker {
  const waiting = new Map<string, RenderedContent>()
  // Generations whose Release the cache may not have yet: one generation is never in two Releases.
  const made = new Map<string, number>()

  const isReleased = (bundle: Bundle, generation: number): boolean => {
    const known = ports.released(bundle)
    if (known >= (made.get(keyOf(bundle)) ?? 0)) made.delete(keyOf(bundle))
    return Math.max(known, made.get(keyOf(bundle)) ?? 0) >= generation
  }

  const renderedFrom = (bundle: Bundle): GatherState['artifact'] => {
    const content = waiting.get(keyOf(bundle))
    if (content) return content.artifact
    // A candidate of version 0.1 waits for the pass of its Bundle, which offers it.
    return bundle.status?.candidate ? undefined : bundle.status?.artifact
  }

  const stateOf = (bundle: Bundle): GatherState => {
    const content = waiting.get(keyOf(bundle))
    const waits = content !== undefined && !isReleased(bundle, content.release.generation)
    return { artifact: renderedFrom(bundle), waits }
  }

  const otherBundles = (bundle: Bundle): readonly Bundle[] => {
    const source = sourceKey(bundle)
    if (source === undefined) return []
    return ports.bundlesOf(source).filter(({ metadata }) => metadata.name !== bundle.metadata.name)
  }

  const create = async (
    release: Release,
    contents: readonly RenderedContent[],
    { log, signal }: Pick<Context, 'log' | 'signal'>,
  ): Promise<void> => {
    await ports.createRelease(release, contents, signal)
    for (const content of contents) made.set(keyOf(content.bundle), content.release.generation)
    const bundles = release.spec.bundles.map(({ name }) => name)
    log.info({ release: release.metadata.name, bundles }, 'release made')
  }

  const wait = (content: RenderedContent): void => {
    waiting.set(keyOf(content.bundle), content)
    const source = sourceKey(content.bundle)
    if (source !== undefined) ports.enqueue(source)
  }

  return {
    stateOf,
    wait,
    waiting: (bundle) => waiting.get(bundle),
    forget: (bundle) => void waiting.delete(bundle),
    lateBundles: (bundle, artifact, most) => {
      const late: string[] = []
      for (const other of otherBundles(bundle)) {
        if (renderedFrom(other) !== artifact) late.push(other.metadata.name)
        if (late.length >= most) break
      }
      return late
    },
    async offer(content, context) {
      const { bundle, release, artifact } = content
      // Read one by one: the first Bundle that is late decides, and a Source can have thousands of Bundles.
      if (otherBundles(bundle).some((other) => needsGathering(artifact, [stateOf(other)]))) {
        wait(content)
        return false
      }
      const entry = buildReleaseEntry(bundle.metadata.name, release)
      await create(releaseObject(bundle.metadata.namespace, release.name, { bundles: [entry] }), [content], context)
      return true
    },
    async makeRelease(source, members, missing, context) {
      const names = new Set<string>()
      for (let at = 0; at < members.length; at += MAX_BUNDLES) {
        const contents = members.slice(at, at + MAX_BUNDLES).map((bundle) => waiting.get(keyOf(bundle))!)
        const bundles = contents.map(({ bundle, release }) => buildReleaseEntry(bundle.metadata.name, release))
        const spec: Release['spec'] = compact({
          bundles,
          missing:
            missing.length === 0
              ? undefined
              : missing.slice(0, MAX_BUNDLES).map(({ name, problem }) => ({ name, problem: problem.slice(0, 1024) })),
        })
        const isTaken = (name: string): boolean => {
          const present = ports.releaseNamed(source, name)
          return names.has(name) || (present !== undefined && !jsonEqual(present.spec, spec))
        }
        const [first] = bundles
        const name =
          bundles.length === 1
            ? releaseName(first!.name, first!.generation)
            : commitReleaseName(source.metadata.name, source.status?.artifact?.commit ?? '', isTaken)
        names.add(name)
        await create(releaseObject(source.metadata.namespace, name, spec), contents, context)
      }
    },
  }
}

/** The Source of a Bundle, `namespace/name`. */
function sourceKey({ metadata, spec }: Bundle): string | undefined {
  return spec.source && `${metadata.namespace ?? ''}/${spec.source.name}`
}
