// Tested by src/controllers/bundle-render/reconcile.test.ts
/** Rendered content that waits in release-gather for the other Bundles of its commit, as bundle-render sees it. */
import { fromUtf8 } from '../../core/bytes.ts'
import { compact } from '../../core/compact.ts'
import { nameSome } from '../../core/text/name-some.ts'
import type { Draft, Result } from '../../engine/reconciler.ts'
import type { Bundle } from '../../kinds/native/bundle.ts'
import { keyOf } from '../../kinds/meta.ts'
import type { ExistingRelease } from '../../plan/release/decide-release.ts'
import { releaseName } from '../../plan/release/decide-release.ts'
import type { ReleaseVariant } from '../../plan/release/variants.ts'
import type { RenderedContent } from '../release-gather/ports.ts'
import type { BundleRenderPorts } from './ports.ts'
import type { FoundRecipe } from './recipe.ts'

type WaitingPorts = Pick<BundleRenderPorts, 'offers' | 'getBlob'>

/**
 * Whether content of this recipe still waits. Content that was released meanwhile is recorded in the Bundle's status,
 * and content of another recipe is forgotten.
 */
export async function stillWaits(
  bundle: Bundle,
  newest: ExistingRelease | undefined,
  { digest }: FoundRecipe,
  ports: WaitingPorts,
): Promise<boolean> {
  const key = keyOf(bundle)
  const status = (bundle.status ??= {})
  const content = ports.offers.waiting(key) ?? (await readCandidate(bundle, ports))
  delete status.candidate
  if (!content) return false
  const { release, recipe } = content
  if (newest && newest.generation >= release.generation) {
    if (newest.generation === release.generation && newest.set === release.set) {
      status.release = newest.name
      status.recipe = recipe
    }
  } else if (recipe === digest) {
    ports.offers.wait({ ...content, bundle, artifact: status.artifact })
    return true
  }
  ports.offers.forget(key)
  return false
}

/**
 * Version 0.1 kept waiting content in the Bundle's status. It becomes a Release without being rendered again; when its
 * variants are no longer stored, the Bundle is rendered again.
 */
async function readCandidate(
  bundle: Bundle,
  { getBlob }: Pick<WaitingPorts, 'getBlob'>,
): Promise<RenderedContent | undefined> {
  const candidate = bundle.status?.candidate
  if (!candidate) return undefined
  const { variants: digest, recipe, ...content } = candidate
  const bytes = digest === undefined ? undefined : await getBlob(digest)
  if (digest !== undefined && !bytes) return undefined
  const variants = bytes && (JSON.parse(fromUtf8(bytes)) as readonly ReleaseVariant[])
  const name = releaseName(bundle.metadata.name, content.generation)
  return { bundle, recipe, release: { ...content, name, ...compact({ variants }) } }
}

/**
 * Shows that the content waits. The recorded artifact stays: after a restart, the Bundle counts as not rendered yet.
 */
export function showGathering(
  { conditions, seen, next }: Draft<Bundle>,
  { offers }: Pick<BundleRenderPorts, 'offers'>,
): Result {
  const status = (next.status ??= {})
  const names = offers.lateBundles(next, status.artifact)
  const late = nameSome(names)
  const message = `${status.sourceRevision ?? 'The new content'} is rendered; one Release is made of all bundles that it changes${late === '' ? '' : `, when ${late} are rendered too`}.`
  conditions.set('Ready', 'False', 'Gathering', message)
  conditions.set('Reconciling', 'True', 'Gathering', message)
  const recorded = seen.status?.artifact
  if (recorded === undefined) delete status.artifact
  else status.artifact = recorded
  return {}
}
