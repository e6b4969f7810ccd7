// Tested by src/controllers/bundle-render/reconcile.test.ts
/** Rendered content that waits in release-gather for the other Bundles of its commit, as bundle-render sees it. */
import { fromUtf8 } from '../../core/bytes.ts'
import { compact } from '../../core/compact.ts'
import { parseTime } from '../../core/time/time.ts'
import type { Draft, Result } from '../../engine/reconciler.ts'
import type { Bundle } from '../../kinds/native/bundle.ts'
import { keyOf } from '../../kinds/meta.ts'
import type { ExistingRelease } from '../../plan/release/decide-release.ts'
import { releaseName } from '../../plan/release/decide-release.ts'
import type { ReleaseVariant } from '../../plan/release/variants.ts'
import type { RenderedContent } from '../release-gather/ports.ts'
import type { BundleRenderPorts } from './ports.ts'
import type { FoundRecipe } from './recipe.ts'

/** The most late Bundles that a message names. */
const MOST_LATE = 2
/** The time after a fetch from which on late Bundles are named. */
const NAMED_AFTER_MS = 10_000

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
 * Late Bundles are named when they take long: otherwise the message of each Bundle would change with each other Bundle
 * that is rendered.
 */
export function showGathering(
  { conditions, seen, next }: Draft<Bundle>,
  { offers, sourceOf }: Pick<BundleRenderPorts, 'offers' | 'sourceOf'>,
  now: number,
): Result {
  const status = (next.status ??= {})
  const { source } = next.spec
  const fetchedAt = source && sourceOf(next.metadata.namespace ?? '', source.name)?.status?.artifact?.fetchedAt
  const isSlow = now - (parseTime(fetchedAt ?? '') ?? now) >= NAMED_AFTER_MS
  const names = isSlow ? offers.lateBundles(next, status.artifact, MOST_LATE + 1) : []
  const late = names.length > MOST_LATE ? `${names.slice(0, MOST_LATE).join(', ')} and others` : names.join(', ')
  const message = `${status.sourceRevision ?? 'The new content'} is rendered; one Release is made of all bundles that it changes${late === '' ? '' : `, when ${late} are rendered too`}.`
  conditions.set('Ready', 'False', 'Gathering', message)
  conditions.set('Reconciling', 'True', 'Gathering', message)
  const recorded = seen.status?.artifact
  if (recorded === undefined) delete status.artifact
  else status.artifact = recorded
  return { requeueAfterMs: NAMED_AFTER_MS }
}
