/**
 * What needs a person: failed Rollouts, failing Sources, Bundles without content, changes that a guard stopped, Bundles
 * whose content was rolled back, Secrets in repositories, and settings that let one mistake reach the whole fleet.
 * `status`, `check` and the console show the same list.
 *
 * Each section is one function, so that a new kind of item is one more function in SECTIONS.
 */
import { compact } from '../../core/compact.ts'
import { findCondition } from '../../core/conditions.ts'
import type { Bundle } from '../../kinds/native/bundle.ts'
import type { Condition, KubeObject } from '../../kinds/meta.ts'
import type { Cluster } from '../../kinds/native/cluster.ts'
import type { Placement } from '../../kinds/native/placement.ts'
import type { Rollout } from '../../kinds/native/rollout.ts'
import type { Source } from '../../kinds/native/source.ts'

/** The objects that can need a person. */
export interface AttentionFacts {
  readonly rollouts: readonly Rollout[]
  readonly sources: readonly Source[]
  readonly bundles: readonly Bundle[]
  readonly placements: readonly Placement[]
  readonly clusters?: readonly Cluster[]
  /** Objects of other systems that have the condition Held, for example GitRepos. */
  readonly repositories?: readonly ConditionedObject[]
}

/** An object with conditions. */
export interface ConditionedObject extends KubeObject {
  readonly status?: { readonly conditions?: Condition[] }
}

export const ATTENTION_KINDS = [
  'FailedRollout',
  'FailingSource',
  'UnbuiltBundle',
  'HeldPlacement',
  'HeldChange',
  'HeldBack',
  'PlaintextSecret',
  'OpenDefault',
] as const

/** An object that needs a person. */
export interface AttentionItem {
  readonly kind: (typeof ATTENTION_KINDS)[number]
  /** Absent for a cluster. */
  readonly namespace?: string
  readonly name: string
  /** The reason of the condition, for example `RenderFailed`. */
  readonly reason: string
  readonly message: string
  /** RFC 3339; absent if unknown. */
  readonly since?: string
  /** The command to run next. */
  readonly command: string
}

const SECTIONS: readonly ((facts: AttentionFacts) => readonly AttentionItem[])[] = [
  failedRollouts,
  failingSources,
  unbuiltBundles,
  heldPlacements,
  heldChanges,
  heldBackBundles,
  plaintextSecrets,
  openDefaults,
]

/** All that needs a person; failed Rollouts come first. */
export function attentionItems(facts: AttentionFacts): readonly AttentionItem[] {
  return SECTIONS.flatMap((section) => section(facts))
}

function failedRollouts({ rollouts }: AttentionFacts): AttentionItem[] {
  return rollouts
    .filter(({ status }) => status?.phase === 'Failed')
    .map((rollout) => {
      const ready = findCondition(rollout.status?.conditions, 'Ready')
      const message = ready?.message ?? 'The Rollout stopped.'
      return itemOf('FailedRollout', rollout, {
        reason: ready?.reason ?? 'RolloutFailed',
        message,
        ...compact({ lastTransitionTime: ready?.lastTransitionTime }),
        command: 'rollout status NAME',
      })
    })
}

function failingSources({ sources }: AttentionFacts): AttentionItem[] {
  return sources.flatMap((source) => {
    const ready = findCondition(source.status?.conditions, 'Ready')
    // A suspended Source is as a person wants it.
    if (ready?.status !== 'False' || ready.reason === 'Suspended') return []
    const isHeld = findCondition(source.status?.conditions, 'Held')?.status === 'True'
    return [itemOf('FailingSource', source, { ...ready, command: `source ${isHeld ? 'accept' : 'poll'} NAME` })]
  })
}

/** Reasons of Ready while the content of the Bundle is on its way, or has its own item. */
const ON_ITS_WAY: ReadonlySet<string> = new Set([
  'RollingOut',
  'Gathering',
  'RolloutPaused',
  'RolloutFailed',
  'HeldBack',
])

function unbuiltBundles({ bundles }: AttentionFacts): AttentionItem[] {
  return bundles.flatMap((bundle) => {
    if (bundle.metadata.deletionTimestamp !== undefined) return []
    const rendered = findCondition(bundle.status?.conditions, 'Rendered')
    const ready = findCondition(bundle.status?.conditions, 'Ready')
    const isPartly = rendered?.reason === 'PartlyRendered'
    // A Bundle that reaches no cluster has the condition Unplaced, which is shown by itself.
    const isUnplaced = findCondition(bundle.status?.conditions, 'Unplaced')?.status === 'True'
    const isTold = isUnplaced && ready?.reason === 'NoClusters'
    const isStopped = ready?.status === 'False' && !ON_ITS_WAY.has(ready.reason) && !isTold
    const found = isPartly ? rendered : isStopped ? ready : undefined
    return found ? [itemOf('UnbuiltBundle', bundle, { ...found, command: commandFor(bundle, found.reason) })] : []
  })
}

function commandFor({ spec }: Bundle, reason: string): string {
  switch (reason) {
    case 'SourceNotFound':
    case 'SourceNotReady':
      return 'get sources'
    case 'NoClusters':
      return `explain ${spec.placement}`
    case 'RolloutAborted':
      return 'rollout history NAME'
    default:
      return 'events --for bundle/NAME'
  }
}

function heldPlacements({ placements }: AttentionFacts): AttentionItem[] {
  return placements.flatMap((placement) => {
    const ready = findCondition(placement.status?.conditions, 'Ready')
    return ready?.status === 'False' ? [itemOf('HeldPlacement', placement, { ...ready, command: 'explain NAME' })] : []
  })
}

/**
 * Changes that a guard stopped and that no Placement or Bundle shows: of a repository, of a removal, and of a cluster
 * that would lose many Bundles.
 */
function heldChanges({ repositories = [], rollouts, clusters = [] }: AttentionFacts): AttentionItem[] {
  return [
    ...repositories.flatMap((object) => {
      const held = findCondition(object.status?.conditions, 'Held')
      const command = `guard release ${object.kind.toLowerCase()} NAME`
      return held?.status === 'True' ? [itemOf('HeldChange', object, { ...held, command })] : []
    }),
    ...rollouts.flatMap((rollout) => {
      const { removal, paused } = rollout.spec
      const isOver = rollout.status?.phase === 'Completed' || rollout.status?.phase === 'Aborted'
      if (removal?.asks === undefined || !paused || isOver) return []
      const message = `${removal.asks} ${removal.reason}`
      const since = compact({ lastTransitionTime: rollout.metadata.creationTimestamp })
      const command = 'guard release rollout NAME'
      return [itemOf('HeldChange', rollout, { reason: 'DropHeld', message, ...since, command })]
    }),
    ...clusters.flatMap((cluster) => {
      const assigned = findCondition(cluster.status?.conditions, 'Assigned')
      if (assigned?.reason !== 'DropHeld') return []
      return [itemOf('HeldChange', cluster, { ...assigned, command: 'guard release cluster NAME' })]
    }),
  ]
}

function heldBackBundles({ bundles }: AttentionFacts): AttentionItem[] {
  return bundles.flatMap((bundle) => {
    const reverted = findCondition(bundle.status?.conditions, 'Reverted')
    if (reverted?.status !== 'True' || bundle.metadata.deletionTimestamp !== undefined) return []
    return [itemOf('HeldBack', bundle, { ...reverted, reason: 'HeldBack', command: 'rollout history NAME' })]
  })
}

function plaintextSecrets({ bundles }: AttentionFacts): AttentionItem[] {
  return bundles.flatMap((bundle) => {
    const found = trueCondition(bundle, 'PlaintextSecret')
    return found
      ? [itemOf('PlaintextSecret', bundle, { ...found, reason: 'PlaintextSecret', command: 'get bundle NAME -o yaml' })]
      : []
  })
}

/** Settings that let one mistake reach the whole fleet. */
function openDefaults({ bundles, placements }: AttentionFacts): AttentionItem[] {
  const of = (object: Bundle | Placement, type: string, command: string) => {
    const found = trueCondition(object, type)
    return found ? [itemOf('OpenDefault', object, { ...found, command })] : []
  }
  return [
    ...bundles.flatMap((bundle) => of(bundle, 'Unstaged', 'get bundle NAME -o yaml')),
    ...placements.flatMap((placement) => of(placement, 'Unguarded', 'get placement NAME -o yaml')),
  ]
}

function trueCondition({ metadata, status }: Bundle | Placement, type: string) {
  if (metadata.deletionTimestamp !== undefined) return undefined
  const found = findCondition(status?.conditions, type)
  return found?.status === 'True' ? found : undefined
}

interface Words {
  readonly reason: string
  readonly message: string
  readonly lastTransitionTime?: string
  /** Without the program; `NAME` stands for the object. */
  readonly command: string
}

function itemOf(kind: AttentionItem['kind'], { metadata }: KubeObject, words: Words): AttentionItem {
  const { name, namespace } = metadata
  const { reason, message, lastTransitionTime: since } = words
  const within = namespace === undefined ? '' : ` -n ${namespace}`
  const command = `flotilla ${words.command.replace('NAME', name)}${within}`
  return compact({ kind, namespace, name, reason, message, since, command })
}
