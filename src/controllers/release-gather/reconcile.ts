import { findCondition } from '../../core/conditions.ts'
import { canonicalJson, jsonEqual } from '../../core/json.ts'
import { parseTime } from '../../core/time/time.ts'
import type { Context, Draft, Reconciler, Result } from '../../engine/reconciler.ts'
import type { Bundle } from '../../kinds/native/bundle.ts'
import { keyOf } from '../../kinds/meta.ts'
import type { Release } from '../../kinds/native/release.ts'
import type { Source } from '../../kinds/native/source.ts'
import { commitReleaseName, decideCommitRelease } from '../../plan/release/commit-release.ts'
import type { GatheredBundle, MissingBundle } from '../../plan/release/commit-release.ts'
import { releaseName } from '../../plan/release/decide-release.ts'
import { buildReleaseEntry, releaseObject } from '../writes/release-objects.ts'
import type { ReleaseEntry } from '../writes/release-objects.ts'
import type { ReleaseGatherPorts } from './ports.ts'

/** Makes one Release of what a commit changed. */
export function releaseGatherReconciler(ports: ReleaseGatherPorts): Reconciler<Source> {
  // What was made and is not in the cache yet: one generation is never in two Releases.
  const made = new Map<string, number>()
  const isReleased = (bundle: Bundle, generation: number) => {
    const known = ports.released(bundle)
    if (known >= (made.get(keyOf(bundle)) ?? 0)) made.delete(keyOf(bundle))
    return Math.max(known, made.get(keyOf(bundle)) ?? 0) >= generation
  }
  return {
    name: 'release-gather',
    async reconcile(draft: Draft<Source>, context: Context): Promise<Result> {
      const source = draft.next
      const artifact = source.status?.artifact
      if (!artifact || source.metadata.deletionTimestamp) return {}
      const bundles = ports.bundlesOf(source)
      const now = context.clock.now()
      const decision = decideCommitRelease({
        artifact: artifact.digest,
        since: parseTime(artifact.fetchedAt) ?? now,
        now,
        bundles: bundles.map((bundle) => asGathered(bundle, isReleased, ports)),
      })
      if (decision.kind === 'Wait') return { requeueAfterMs: decision.until - now }
      if (decision.kind === 'Release') {
        for (const names of decision.releases) {
          const members = names.map((name) => bundles.find(({ metadata }) => metadata.name === name)!)
          const release = await releaseFor(source, members, decision.missing, ports)
          await ports.createRelease(release, context.signal)
          for (const bundle of members) made.set(keyOf(bundle), bundle.status!.candidate!.generation)
          context.log.info({ release: release.metadata.name, bundles: names }, 'release made')
        }
      }
      show(draft, bundles, decision.missing)
      return {}
    },
  }
}

function asGathered(
  bundle: Bundle,
  isReleased: (bundle: Bundle, generation: number) => boolean,
  ports: ReleaseGatherPorts,
): GatheredBundle {
  const { status, spec, metadata } = bundle
  const rendered = findCondition(status?.conditions, 'Rendered')
  // Without decisions a Rollout cannot begin: such a bundle goes alone.
  const alone = ports.isPlaced(bundle) ? '' : metadata.name
  const { history: _, ...moves } = spec.rollout ?? {}
  return {
    name: metadata.name,
    artifact: status?.artifact,
    waits: status?.candidate !== undefined && !isReleased(bundle, status.candidate.generation),
    problem: rendered?.status === 'False' ? rendered.message : undefined,
    group: canonicalJson([moves, alone]),
  }
}

async function releaseFor(
  source: Source,
  members: readonly Bundle[],
  missing: readonly MissingBundle[],
  ports: ReleaseGatherPorts,
): Promise<Release> {
  const bundles: ReleaseEntry[] = []
  for (const { metadata, status } of members) {
    const { variants, ...candidate } = status!.candidate!
    const content = variants === undefined ? {} : { variants: await ports.variantsOf(variants) }
    bundles.push(buildReleaseEntry(metadata.name, { ...candidate, ...content }))
  }
  const spec: Release['spec'] = {
    bundles,
    ...(missing.length === 0
      ? {}
      : { missing: missing.slice(0, 256).map(({ name, problem }) => ({ name, problem: problem.slice(0, 1024) })) }),
  }
  const { name: sourceName, namespace } = source.metadata
  const commit = source.status?.artifact?.commit ?? ''
  const [first] = bundles
  const isOther = (name: string) => {
    const present = ports.releaseOf(source, name)
    return present !== undefined && !jsonEqual(present.spec, spec)
  }
  const name =
    bundles.length === 1 ? releaseName(first!.name, first!.generation) : commitReleaseName(sourceName, commit, isOther)
  return releaseObject(namespace, name, spec)
}

function show(draft: Draft<Source>, bundles: readonly Bundle[], missing: readonly MissingBundle[]): void {
  const { revision } = draft.next.status!.artifact!
  if (bundles.length === 0) {
    draft.conditions.remove('Released')
    return
  }
  const [first] = missing
  if (!first) {
    draft.conditions.set('Released', 'True', 'Released', `All bundles are rendered from ${revision}.`)
    return
  }
  const more = missing.length > 1 ? ` And ${missing.length - 1} more.` : ''
  const message = `Bundle ${first.name} is not part of ${revision}: ${first.problem}${more}`
  draft.conditions.set('Released', 'False', 'PartlyReleased', message.slice(0, 4096))
}
