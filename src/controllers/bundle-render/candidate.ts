/** Content that waits for the other bundles of its commit: kept in the Bundle's status, released by release-gather. */
import { utf8 } from '../../core/bytes.ts'
import { nameSome } from '../../core/text/name-some.ts'
import type { Draft, Result } from '../../engine/reconciler.ts'
import { canonicalJson } from '../../core/json.ts'
import type { Bundle } from '../../kinds/native/bundle.ts'
import type { ExistingRelease } from '../../plan/release/decide-release.ts'
import type { BundleRenderPorts } from './ports.ts'
import type { FoundRecipe } from './recipe.ts'

type Status = NonNullable<Bundle['status']>

/** What to keep of a Release that is not made yet. */
export async function asCandidate(
  { generation, set, placement, revision, variants, bytes }: ExistingRelease,
  { digest }: FoundRecipe,
  ports: Pick<BundleRenderPorts, 'putBlob'>,
): Promise<NonNullable<Status['candidate']>> {
  return {
    generation,
    set,
    placement,
    recipe: digest,
    ...(revision === undefined ? {} : { revision }),
    ...(bytes === undefined ? {} : { bytes }),
    // As many as 5000, and they may be long: too much for a status.
    ...(variants ? { variants: await ports.putBlob(utf8(canonicalJson(variants))) } : {}),
  }
}

/** Takes over what was released meanwhile, and forgets what became of another recipe. */
export function takeReleased(
  status: Status,
  newest: ExistingRelease | undefined,
  { digest }: FoundRecipe,
): 'Waits' | undefined {
  const { candidate } = status
  if (!candidate) return undefined
  if (newest && newest.generation >= candidate.generation) {
    if (newest.generation === candidate.generation && newest.set === candidate.set) {
      status.release = newest.name
      status.recipe = candidate.recipe
    }
    delete status.candidate
    return undefined
  }
  if (candidate.recipe === digest) return 'Waits'
  delete status.candidate
  return undefined
}

/** Says what the content waits for. */
export function waitsForOthers(
  { conditions, next }: Draft<Bundle>,
  ports: Pick<BundleRenderPorts, 'othersOf'>,
): Result {
  const names = ports
    .othersOf(next)
    .filter(({ artifact }) => artifact !== next.status?.artifact)
    .map(({ name }) => name)
  const some = nameSome(names)
  const message = `${next.status?.sourceRevision ?? 'The new content'} is rendered; one Release is made of all bundles that it changes${some === '' ? '' : `, when ${some} are rendered too`}.`
  conditions.set('Ready', 'False', 'Gathering', message)
  conditions.set('Reconciling', 'True', 'Gathering', message)
  return {}
}
