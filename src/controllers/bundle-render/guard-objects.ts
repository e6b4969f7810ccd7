/** Stops a change that would drop more objects from a cluster than the Bundle's guard allows. */
import { Stalled } from '../../core/errors.ts'
import type { Digest } from '../../core/crypto/digest.ts'
import { nameSome } from '../../core/text/name-some.ts'
import type { Bundle } from '../../kinds/native/bundle.ts'
import { ALLOW_DROP_ANNOTATION } from '../../kinds/native/placement.ts'
import { describeObject } from '../../plan/objects/object-id.ts'
import type { ExistingRelease } from '../../plan/release/decide-release.ts'
import { judgeShrink } from '../../plan/placement/shrink-guard.ts'
import { contentFor } from '../../plan/release/variants.ts'
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
  ports: Pick<BundleRenderPorts, 'getBlob'>,
): Promise<void> {
  const { name, namespace = '', annotations } = bundle.metadata
  const limit = bundle.spec.guard?.maxDropped
  const written = annotations?.[ALLOW_DROP_ANNOTATION]
  const objectsOf = objectReader(ports)
  const judged = new Set<string>()
  for (const { inputs, assigned } of selected) {
    const content = contentFor(release, inputs)
    if (!assigned || content.kind !== 'Set' || content.set === assigned.set) continue
    const change = `${assigned.set} ${content.set}`
    if (judged.has(change)) continue
    judged.add(change)
    const [before, after] = [await objectsOf(assigned.set), await objectsOf(content.set)]
    if (!before || !after) continue
    const staying = new Set(after)
    const dropped = before.filter((object) => !staying.has(object))
    const verdict = judgeShrink({
      noun: 'objects',
      dropped,
      of: before.length,
      generation: release.generation,
      ...(limit === undefined ? {} : { limit }),
      ...(written === undefined ? {} : { release: written }),
    })
    if (verdict.kind !== 'Held') continue
    const some = nameSome(dropped)
    throw new Stalled(
      'DropHeld',
      `${verdict.message} On ${inputs.name}: ${some}. Clusters keep what they run. Let it through with: kubectl annotate bundles.flotilla.dev ${name} -n ${namespace} --overwrite ${ALLOW_DROP_ANNOTATION}=${verdict.token}`,
    )
  }
}

/** Reads the names of a set's objects; undefined when the set is no longer stored. */
function objectReader({ getBlob }: Pick<BundleRenderPorts, 'getBlob'>): (set: Digest) => Promise<string[] | undefined> {
  const known = new Map<Digest, Promise<string[] | undefined>>()
  const read = async (set: Digest): Promise<string[] | undefined> => {
    const bytes = await getBlob(set)
    const found = bytes && parseObjectSet(bytes)
    // Only the cluster knows the objects that its agent renders; there `prune.max` and the cluster's own limit count.
    return found?.render ? undefined : found?.objects.map(describeObject)
  }
  return (set) => {
    const found = known.get(set) ?? read(set)
    known.set(set, found)
    return found
  }
}
