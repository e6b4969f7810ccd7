import type { Digest } from '../../../core/crypto/digest.ts'
import type { KeyedThrottle } from '../../../engine/keyed-throttle.ts'
import type { Context } from '../../../engine/reconciler.ts'
import type { Secret } from '../../../kinds/builtin/core.ts'
import type { Kind } from '../../../kinds/define-kind.ts'
import type { KubeObject } from '../../../kinds/meta.ts'
import type { Bundle } from '../../../kinds/native/bundle.ts'
import { Placement } from '../../../kinds/native/placement.ts'
import type { Rollout } from '../../../kinds/native/rollout.ts'
import type { Source } from '../../../kinds/native/source.ts'
import type { LazyFiles } from '../../lazy-files.ts'
import type { BundleCompileContext } from '../compile/compile-bundle.ts'
import type { GitRepoRestriction } from '../kinds.ts'
import type { FirstClusters } from '../status/first-clusters.ts'
import type { RolloutCounts } from '../status/states.ts'
import type { Selection } from '../status/unreached.ts'

/** The ports of the GitRepo controller. */
export interface GitRepoPorts {
  /** An existing object of one of the compiled kinds. */
  find(kind: Kind, namespace: string, name: string): KubeObject | undefined
  /** All objects that were made for the GitRepo with this uid. */
  madeFor(uid: string): readonly { readonly kind: Kind; readonly object: KubeObject }[]
  apply(kind: Kind, object: KubeObject, signal: AbortSignal): Promise<void>
  remove(kind: Kind, object: KubeObject, signal: AbortSignal): Promise<void>
  /** The Rollouts with a copy of a RolloutPlan. */
  rolloutsOf(namespace: string, plan: string): readonly Rollout[]
  /** Pauses or resumes a Rollout, unless it changed meanwhile. */
  pause(rollout: Rollout, paused: boolean, signal: AbortSignal): Promise<void>
  sourceOf(namespace: string, name: string): Source | undefined
  secret(namespace: string, name: string, signal: AbortSignal): Promise<Secret | undefined>
  /** Writes the annotation of a Secret, unless the Secret changed meanwhile. */
  bind(secret: Secret, urls: string, context: Pick<Context, 'signal' | 'log'>): Promise<void>
  workspace(namespace: string): KnownWorkspace
  /** The GitRepoRestrictions of a namespace. */
  restrictionsOf(namespace: string): readonly GitRepoRestriction[]
  /** The files of an artifact, with the bytes of files that were requested before. */
  filesOf(artifact: Digest): Promise<LazyFiles>
  bundleOf(namespace: string, name: string): Bundle | undefined
  /** Limits how often counts are written. */
  readonly statusThrottle: KeyedThrottle
  /** The counts of the newest Release of a Bundle. */
  countsOf(bundle: Bundle): RolloutCounts | undefined
  /** The first cluster of some states in the Rollout of that Release. */
  firstsOf(bundle: Bundle): FirstClusters
}

/** A workspace: the objects that change the meaning of targets. */
export type KnownWorkspace = BundleCompileContext['workspace'] & {
  /** Clusters with other names in Fleet, and these names. */
  readonly named: readonly (readonly [string, readonly string[]])[]
}

/** What decides about the clusters of an object, whose Placement has its name. */
export function selectionOf({ metadata }: KubeObject, ports: Pick<GitRepoPorts, 'find' | 'workspace'>): Selection {
  const { name, namespace = '' } = metadata
  const placement = ports.find(Placement, namespace, name) as Placement | undefined
  return { groups: ports.workspace(namespace).groups, placement }
}
