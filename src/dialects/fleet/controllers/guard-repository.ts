/**
 * Stops a commit or a change of a GitRepo that would add too many bundles on clusters, or drop too many bundles. The
 * condition Held of the GitRepo has the token, because the GitRepo is the object that people wrote.
 */
import { compact } from '../../../core/compact.ts'
import { compareText } from '../../../core/text/compare-text.ts'
import { nameSome } from '../../../core/text/name-some.ts'
import { Bundle } from '../../../kinds/native/bundle.ts'
import type { KubeObject } from '../../../kinds/meta.ts'
import { ALLOW_DROP_ANNOTATION, Placement } from '../../../kinds/native/placement.ts'
import { judgeGrowth } from '../../../plan/placement/growth-guard.ts'
import type { GrowthVerdict } from '../../../plan/placement/growth-guard.ts'
import { judgeShrink, shrinkTokenIn } from '../../../plan/placement/shrink-guard.ts'
import type { ShrinkVerdict } from '../../../plan/placement/shrink-guard.ts'
import type { CompiledBundle } from '../compile/compile-bundle.ts'
import { COMPILED } from '../compile/desired-objects.ts'
import type { Desired } from '../compile/desired-objects.ts'
import type { GitRepo } from '../kinds.ts'
import type { GitRepoPorts } from './ports.ts'

/** A change that waits until a person releases it. */
export interface HeldChange {
  readonly reason: 'DropHeld' | 'GrowthHeld'
  readonly message: string
}

/** Judges the bundles on clusters that the compiled objects would add to the Bundles of the GitRepo. */
export function judgeAdded(
  repo: GitRepo,
  compiled: { readonly bundles: readonly CompiledBundle[]; readonly desired: readonly Desired[] },
  ports: Pick<GitRepoPorts, 'find'>,
): GrowthVerdict {
  const { namespace = '', generation = 1 } = repo.metadata
  const digestOf = ({ metadata }: KubeObject) => metadata.annotations?.[COMPILED]
  const isPlaced = (name: string) => {
    const wanted = compiled.desired.find(({ kind, object }) => kind === Placement && object.metadata.name === name)
    const present = ports.find(Placement, namespace, name)
    return present !== undefined && wanted !== undefined && digestOf(present) === digestOf(wanted.object)
  }
  let added = 0
  let of = 0
  for (const { name, reach, placement } of compiled.bundles) {
    const found = ports.find(Placement, namespace, placement.name) as Placement | undefined
    const has = ports.find(Bundle, namespace, name) ? (found?.status?.selected ?? 0) : 0
    of += has
    // Clusters that join the targets of a Bundle are no change of the GitRepo.
    const isSame = ports.find(Bundle, namespace, name) !== undefined && isPlaced(placement.name)
    if (!isSame) added += Math.max(0, reach - has)
  }
  const change = compiled.bundles.map(({ name, placement }) => ({ name, placement })).toSorted(byName)
  return judgeGrowth({ added, of, generation, change, release: releaseOf(repo) })
}

/** Judges the Bundles that the repository no longer has. `held` is the message of the condition Held. */
export function judgeRemoved(
  repo: GitRepo,
  { desired, held }: { readonly desired: readonly Desired[]; readonly held: string | undefined },
  ports: Pick<GitRepoPorts, 'madeFor'>,
): ShrinkVerdict {
  const wanted = new Set(desired.flatMap(({ kind, object }) => (kind === Bundle ? [object.metadata.name] : [])))
  const present = ports
    .madeFor(repo.metadata.uid ?? '')
    .flatMap(({ kind, object }) =>
      kind === Bundle && !object.metadata.deletionTimestamp ? [object.metadata.name] : [],
    )
  const dropped = present.filter((name) => !wanted.has(name))
  const verdict = judgeShrink({
    noun: 'bundles',
    dropped,
    of: present.length,
    always: dropped.length === present.length ? 'No Bundle that the GitRepo has now would stay.' : undefined,
    generation: repo.metadata.generation ?? 1,
    release: releaseOf(repo),
    held: held === undefined ? undefined : shrinkTokenIn(held),
  })
  if (verdict.kind !== 'Held') return verdict
  return {
    ...verdict,
    message: `${verdict.message} No longer in the repository: ${nameSome(dropped.sort(compareText))}.`,
  }
}

/** The sentence of the condition Held, with the command that lets the change through. */
export function heldChange(repo: GitRepo, verdict: (GrowthVerdict | ShrinkVerdict) & { kind: 'Held' }): HeldChange {
  const { name, namespace = '' } = repo.metadata
  const message = `${verdict.message} Let it through with: flotilla guard release gitrepo ${name} -n ${namespace} (token ${verdict.token})`
  return { reason: 'added' in verdict ? 'GrowthHeld' : 'DropHeld', message }
}

/** A change of a Placement or Bundle of the GitRepo that the guard stopped. */
export function heldObject(repo: GitRepo, made: ReturnType<GitRepoPorts['madeFor']>): HeldChange | undefined {
  for (const { kind, object } of made) {
    if (kind !== Placement && kind !== Bundle) continue
    const { held } = (object as Placement | Bundle).status ?? {}
    if (!held) continue
    const verdict = { kind: 'Held', token: held.token, allowed: held.allowed } as const
    const message = `${kind.kind} ${object.metadata.name}: ${held.message ?? 'The guard stopped a change.'}`
    return heldChange(repo, { ...verdict, message, ...compact({ added: held.adding }) })
  }
  return undefined
}

/** The token of the change that a person released. */
function releaseOf({ metadata }: GitRepo): string | undefined {
  return metadata.annotations?.[ALLOW_DROP_ANNOTATION]
}

function byName(a: { readonly name: string }, b: { readonly name: string }): number {
  return compareText(a.name, b.name)
}
