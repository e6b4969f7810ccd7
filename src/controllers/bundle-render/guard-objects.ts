// Tested by src/controllers/bundle-render/reconcile.test.ts
/** Stops a change that would drop more objects from a cluster than the Bundle's guard allows. */
import { Stalled } from '../../core/errors.ts'
import type { Digest } from '../../core/crypto/digest.ts'
import { formatTime } from '../../core/time/time.ts'
import type { Bundle } from '../../kinds/native/bundle.ts'
import { ALLOW_DROP_ANNOTATION } from '../../kinds/native/placement.ts'
import type { ExistingRelease } from '../../plan/release/decide-release.ts'
import { judgeContent } from '../../plan/release/object-drops.ts'
import type { ContentChange } from '../../plan/release/object-drops.ts'
import { contentFor } from '../../plan/release/variants.ts'
import type { ObjectSet } from '../../wire/document/cluster-document.ts'
import { parseObjectSet } from '../../wire/document/signed-document.ts'
import type { SelectedCluster } from '../../plan/release/release-content.ts'
import type { BundleRenderPorts } from './ports.ts'

/**
 * Throws Stalled when a cluster would lose more objects of the Bundle than the guard allows; each distinct change is
 * compared once.
 */
export async function guardObjects(
  bundle: Bundle,
  release: ExistingRelease,
  selected: readonly SelectedCluster[],
  at: { readonly ports: Pick<BundleRenderPorts, 'getBlob'>; readonly now: number; readonly held: Held | undefined },
): Promise<void> {
  const { name, namespace = '', annotations } = bundle.metadata
  const status = (bundle.status ??= {})
  const verdict = judgeContent(await changesOf(release, selected, at.ports), {
    limit: bundle.spec.guard?.maxDropped,
    generation: release.generation,
    release: annotations?.[ALLOW_DROP_ANNOTATION],
    held: at.held?.token,
    released: status.released?.token,
  })
  if (verdict.kind === 'Free') return
  if (verdict.kind === 'Released') {
    status.released = { token: verdict.token, dropped: verdict.dropped, at: formatTime(at.now) }
    return
  }
  const { token, dropping, of, allowed, message } = verdict
  const since = at.held?.token === token ? at.held.since : formatTime(at.now)
  status.held = { token, dropping, of, allowed, since, message: message.slice(0, 1024) }
  throw new Stalled(
    'DropHeld',
    `${message} Clusters keep what they run. Let it through with: flotilla guard release bundle ${name} -n ${namespace} (token ${token})`,
  )
}

type Held = NonNullable<NonNullable<Bundle['status']>['held']>

async function changesOf(
  release: ExistingRelease,
  selected: readonly SelectedCluster[],
  ports: Pick<BundleRenderPorts, 'getBlob'>,
): Promise<readonly ContentChange[]> {
  const setOf = setReader(ports)
  const compared = new Set<string>()
  const changes: ContentChange[] = []
  for (const { inputs, assigned } of selected) {
    const content = contentFor(release, inputs)
    if (!assigned || content.kind !== 'Set' || content.set === assigned.set) continue
    const change = `${assigned.set} ${content.set}`
    if (compared.has(change)) continue
    compared.add(change)
    const [before, after] = [await setOf(assigned.set), await setOf(content.set)]
    if (!before || !after) continue
    changes.push({ cluster: inputs.name, before: before.objects, after: after.objects, options: after.options })
  }
  return changes
}

/** Reads the sets that list objects; undefined when a set is no longer stored, or its agent renders it. */
function setReader({ getBlob }: Pick<BundleRenderPorts, 'getBlob'>): (set: Digest) => Promise<ObjectSet | undefined> {
  const known = new Map<Digest, Promise<ObjectSet | undefined>>()
  const read = async (set: Digest): Promise<ObjectSet | undefined> => {
    const bytes = await getBlob(set)
    const found = bytes && parseObjectSet(bytes)
    // Only the cluster knows the objects that its agent renders; there `prune.max` and the cluster's own limit count.
    return found?.render ? undefined : found
  }
  return (set) => {
    const found = known.get(set) ?? read(set)
    known.set(set, found)
    return found
  }
}
