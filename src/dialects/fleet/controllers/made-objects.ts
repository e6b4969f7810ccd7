// Tested by src/dialects/fleet/controllers/fleet-bundle.sim.test.ts and git-repo.sim.test.ts
/** Writes and deletes the objects that a GitRepo or a HelmOp stands for. */
import type { Context } from '../../../engine/reconciler.ts'
import type { Kind } from '../../../kinds/define-kind.ts'
import type { KubeObject } from '../../../kinds/meta.ts'
import { Bundle } from '../../../kinds/native/bundle.ts'
import { RolloutPlan } from '../../../kinds/native/rollout-plan.ts'
import { COMPILED, isOwnedBy, MADE_KINDS } from '../compile/desired-objects.ts'
import type { Desired } from '../compile/desired-objects.ts'
import type { Finding } from '../../read-fields.ts'
import type { GitRepoPorts } from './ports.ts'

/** What writes of compiled objects need. */
export interface Writing {
  readonly ports: Pick<GitRepoPorts, 'find' | 'madeFor' | 'apply' | 'remove' | 'rolloutsOf' | 'pause'>
  readonly context: Context
}

/** Writes objects that are missing or different; returns objects that belong to another owner. */
export async function writeObjects(
  maker: KubeObject,
  desired: readonly Desired[],
  { ports, context }: Writing,
): Promise<Finding[]> {
  const taken: Finding[] = []
  for (const { kind, object } of desired) {
    const { name, namespace = '' } = object.metadata
    const present = ports.find(kind, namespace, name)
    if (present && !isOwnedBy(present, maker)) {
      taken.push({
        level: 'error',
        message: `${kind.kind} ${name} of ${kind.group} is there already and was not made for this ${maker.kind}; rename one of them`,
      })
      continue
    }
    if (present?.metadata.annotations?.[COMPILED] === object.metadata.annotations?.[COMPILED]) continue
    if (present && kind === RolloutPlan)
      await followPause(present as RolloutPlan, object as RolloutPlan, { ports, context })
    await ports.apply(kind, object, context.signal)
    context.log.info({ kind: kind.kind, object: name }, 'made')
  }
  return taken
}

/**
 * Pauses or resumes the running Rollouts of a plan whose `start` changes. As in Fleet, `paused` counts for the change
 * that is on its way, too; a plan alone counts for the next Rollout.
 */
async function followPause(before: RolloutPlan, after: RolloutPlan, { ports, context }: Writing): Promise<void> {
  const paused = after.spec.start === 'Manual'
  if (paused === (before.spec.start === 'Manual')) return
  const { namespace = '', name } = after.metadata
  for (const rollout of ports.rolloutsOf(namespace, name)) {
    const { spec, status } = rollout
    const isOver = spec.aborted || spec.removal || status?.superseded || status?.phase === 'Completed'
    if (isOver || spec.paused === paused) continue
    await ports.pause(rollout, paused, context.signal)
    context.log.info({ rollout: rollout.metadata.name, paused }, 'rollout follows spec.paused')
  }
}

/** Deletes objects that are no longer wanted: first Bundles, then the objects they named. */
export async function prune(
  maker: KubeObject,
  desired: readonly Desired[],
  { ports, context }: Writing,
): Promise<{ readonly again: boolean }> {
  const wanted = new Set(desired.map(({ kind, object }) => idOf(kind, object.metadata.name)))
  const left = ports
    .madeFor(maker.metadata.uid ?? '')
    .filter(({ kind, object }) => !wanted.has(idOf(kind, object.metadata.name)))
  const isBundle = ({ kind }: { readonly kind: Kind }): boolean => kind.plural === Bundle.plural
  const hasBundles = left.some(isBundle)
  const now = left.filter((one) => !one.object.metadata.deletionTimestamp && (!hasBundles || isBundle(one)))
  const again = hasBundles && !left.every(isBundle)
  const order = ({ kind }: { kind: Kind }): number => -MADE_KINDS.indexOf(kind)
  for (const { kind, object } of now.toSorted((a, b) => order(a) - order(b))) {
    await ports.remove(kind, object, context.signal)
    context.log.info({ kind: kind.kind, object: object.metadata.name }, 'no longer wanted')
  }
  return { again }
}

function idOf(kind: Kind, name: string): string {
  return `${kind.group}/${kind.plural}/${name}`
}
