// Tested by src/dialects/argo/served/move-application.sim.test.ts
/** Moves an Application to another cluster: by the rules of a sync, and without a question about the former cluster. */
import { findCondition } from '../../../core/conditions.ts'
import { jsonEqual } from '../../../core/json.ts'
import type { Context } from '../../../engine/reconciler.ts'
import { Bundle } from '../../../kinds/native/bundle.ts'
import { ALLOW_DROP_ANNOTATION, Placement } from '../../../kinds/native/placement.ts'
import type { ArgoPorts } from './ports.ts'
import type { Desired } from './served-objects.ts'

interface Moving {
  readonly ports: ArgoPorts
  readonly context: Pick<Context, 'signal'>
}

/**
 * Pauses the Rollouts of an Application whose Placement is about to select another cluster. A Rollout that was started
 * admits each cluster that its Placement selects later, and the rules of a sync count for that cluster, too.
 */
export async function stopBeforeMove(
  namespace: string,
  desired: readonly Desired[],
  { ports, context }: Moving,
): Promise<void> {
  const isMoved = placements(namespace, desired, ports).some(
    ({ present, wanted }) => present && !jsonEqual(present.spec.predicates, wanted.spec.predicates),
  )
  if (!isMoved) return
  for (const { kind, object } of desired) {
    const bundle = kind === Bundle ? ports.bundleOf(namespace, object.metadata.name) : undefined
    const rollout = bundle && ports.rolloutOf(bundle)
    if (rollout && !rollout.spec.paused) await ports.stop(rollout, context.signal)
  }
}

/**
 * Releases the change of a Placement that the guard stopped because the former cluster is deselected: the objects stay
 * there until a person starts their removal. Another change that the guard stopped is left to a person.
 */
export async function releaseMove(
  namespace: string,
  desired: readonly Desired[],
  { ports, context }: Moving,
): Promise<void> {
  for (const { present } of placements(namespace, desired, ports)) {
    const { metadata, spec, status } = present ?? {}
    if (!present || !status?.held || status.observedGeneration !== metadata?.generation) continue
    const isMove = status.decided !== undefined && !jsonEqual(status.decided.predicates, spec?.predicates)
    const { token } = status.held
    if (!isMove || metadata?.annotations?.[ALLOW_DROP_ANNOTATION] === token) continue
    await ports.annotate(Placement, present, { [ALLOW_DROP_ANNOTATION]: token }, context.signal)
  }
}

/** Why the Placement does not select the destination; undefined when it does, or is not decided yet. */
export function placementProblem(
  namespace: string,
  desired: readonly Desired[],
  ports: Pick<ArgoPorts, 'find'>,
): { readonly reason: string; readonly message: string } | undefined {
  for (const { present } of placements(namespace, desired, ports)) {
    const { generation } = present?.metadata ?? {}
    const { conditions } = present?.status ?? {}
    const ready = findCondition(conditions, 'Ready')
    const isEmpty = findCondition(conditions, 'Empty')?.status === 'True'
    if (ready?.observedGeneration === generation && (ready?.status === 'False' || isEmpty)) return ready
  }
  return undefined
}

function placements(
  namespace: string,
  desired: readonly Desired[],
  ports: Pick<ArgoPorts, 'find'>,
): { readonly present: Placement | undefined; readonly wanted: Placement }[] {
  return desired.flatMap(({ kind, object }) => {
    if (kind !== Placement) return []
    const present = ports.find(kind, namespace, object.metadata.name)
    return [{ present: present as Placement | undefined, wanted: object as Placement }]
  })
}
