// Tested by src/cli/commands/placement/guard.test.ts.
/** The changes that the guard stopped, read from the objects of a hub. */
import { compact } from '../../../core/compact.ts'
import { findCondition } from '../../../core/conditions.ts'
import type { Bundle } from '../../../kinds/native/bundle.ts'
import type { Cluster } from '../../../kinds/native/cluster.ts'
import type { Placement } from '../../../kinds/native/placement.ts'
import type { Rollout } from '../../../kinds/native/rollout.ts'
import type { ConditionedObject } from '../../../plan/fleet/attention.ts'
import { growthTokenIn } from '../../../plan/placement/growth-guard.ts'
import { shrinkTokenIn } from '../../../plan/placement/shrink-guard.ts'

export type GuardedKind =
  | 'placement'
  | 'bundle'
  | 'cluster'
  | 'rollout'
  | 'gitrepo'
  | 'applicationset'
  | 'resourcebinding'
  | 'clusterresourcebinding'

/** A ResourceBinding of Karmada: the decision about an object of the hub. */
export interface BindingObject extends ConditionedObject {
  readonly spec: {
    readonly resource: {
      readonly apiVersion: string
      readonly kind: string
      readonly namespace?: string
      readonly name: string
    }
  }
}

/** A change that waits until a person releases it. */
export interface HeldChange {
  readonly kind: GuardedKind
  readonly namespace?: string
  readonly name: string
  /** RFC 3339. */
  readonly since?: string
  /** The effect of the change. */
  readonly message: string
  /** Absent for a Rollout: a person resumes it. */
  readonly token?: string
}

/** The objects whose changes the guard can stop. */
export interface GuardedObjects {
  readonly placements: readonly Placement[]
  readonly bundles: readonly Bundle[]
  readonly rollouts: readonly Rollout[]
  readonly clusters: readonly Cluster[]
  readonly repos: readonly ConditionedObject[]
  readonly sets?: readonly ConditionedObject[]
  readonly bindings?: readonly BindingObject[]
}

/** The held changes of these objects. */
export function heldChangesIn(objects: GuardedObjects): readonly HeldChange[] {
  const { placements, bundles, rollouts, clusters, bindings = [], sets = [] } = objects
  const repos = objects.repos.flatMap((one) => heldByCondition('gitrepo', one))
  // A GitRepo repeats the held changes of the objects that it made.
  const told = new Set(repos.map(({ token }) => token))
  return [
    ...repos,
    ...sets.flatMap((one) => heldByCondition('applicationset', one)),
    ...[
      ...placements.flatMap((one) => heldOfObject('placement', one)),
      ...bundles.flatMap((one) => heldOfObject('bundle', one)),
    ].filter(({ token }) => !told.has(token)),
    ...rollouts.flatMap(heldRemoval),
    ...clusters.flatMap(heldOfCluster),
    ...bindings.flatMap(heldOfBinding),
  ]
}

/** The held change of a Placement or a Bundle. */
export function heldOfObject(kind: 'placement' | 'bundle', { metadata, status }: Placement | Bundle): HeldChange[] {
  const held = status?.held
  if (!held) return []
  const message = held.message ?? findCondition(status.conditions, 'Ready')?.message ?? ''
  return [{ kind, ...placeOf(metadata), since: held.since, message, token: held.token }]
}

/** The Bundles that a cluster keeps because it would lose too many at once. */
export function heldOfCluster({ metadata, status }: Cluster): HeldChange[] {
  const condition = findCondition(status?.conditions, 'Assigned')
  const token = condition?.reason === 'DropHeld' ? shrinkTokenIn(condition.message) : undefined
  if (!condition || token === undefined) return []
  const message = condition.message.replace(/ Let them go with: .*$/, '')
  return [{ kind: 'cluster', name: metadata.name, since: condition.lastTransitionTime, message, token }]
}

/** The change of an object of another system that the guard stopped. */
export function heldByCondition(
  kind: 'gitrepo' | 'applicationset',
  { metadata, status }: ConditionedObject,
): HeldChange[] {
  const condition = findCondition(status?.conditions, 'Held')
  if (condition?.status !== 'True') return []
  const token = shrinkTokenIn(condition.message) ?? growthTokenIn(condition.message)
  if (token === undefined) return []
  const message = condition.message.replace(/ Let it through with: .*$/, '')
  return [{ kind, ...placeOf(metadata), since: condition.lastTransitionTime, message, token }]
}

/** The clusters that an object of the hub would leave because of a change of its policy or of labels. */
export function heldOfBinding({ metadata, status }: BindingObject): HeldChange[] {
  const condition = findCondition(status?.conditions, 'Scheduled')
  const token = condition?.reason === 'DropHeld' ? shrinkTokenIn(condition.message) : undefined
  if (!condition || token === undefined) return []
  const kind = metadata.namespace ? 'resourcebinding' : 'clusterresourcebinding'
  const message = condition.message.replace(/ Let it through with: .*$/, '')
  return [{ kind, ...placeOf(metadata), since: condition.lastTransitionTime, message, token }]
}

/** A removal that was created paused because it is larger than the guard allows. */
export function heldRemoval({ metadata, spec, status }: Rollout): HeldChange[] {
  const isOver = status?.phase === 'Completed' || status?.phase === 'Aborted'
  if (spec.removal?.asks === undefined || !spec.paused || isOver) return []
  const since = metadata.creationTimestamp === undefined ? {} : { since: metadata.creationTimestamp }
  return [{ kind: 'rollout', ...placeOf(metadata), ...since, message: `${spec.removal.asks} ${spec.removal.reason}` }]
}

function placeOf({ name, namespace }: Placement['metadata']): Pick<HeldChange, 'name' | 'namespace'> {
  return compact({ name, namespace })
}
