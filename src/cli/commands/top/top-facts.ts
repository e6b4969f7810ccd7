/** What `flotilla top` knows of the hub, and what it can do. */
import type { Cluster } from '../../../kinds/native/cluster.ts'
import type { Rollout } from '../../../kinds/native/rollout.ts'
import type { AttentionItem } from '../../../plan/fleet/attention.ts'
import type { ObjectRow } from '../../api/flotilla-resources.ts'

/** The hub as of one moment. */
export interface TopFacts {
  readonly server: string
  readonly clusters: readonly Cluster[]
  readonly rollouts: readonly Rollout[]
  readonly attention: readonly AttentionItem[]
  /** Kinds that the caller may not list, for example `clusters`. */
  readonly refused: readonly string[]
  /** Time of the reading. */
  readonly atMs: number
}

/** A Bundle on a cluster: a row of the view API. */
export interface BundleRow {
  readonly metadata: { readonly name: string; readonly namespace?: string }
  readonly bundle: string
  readonly state?: string
  readonly message?: string
  readonly generation?: number
  readonly target?: number
  readonly waitsFor?: string
}

/** A cluster with its bundles and objects. */
export interface ClusterDetail {
  readonly cluster: string
  readonly bundles: readonly BundleRow[]
  readonly objects: readonly ObjectRow[]
  /** Why a part is missing. */
  readonly problem?: string
}

/** A change, or a question whose answer is shown. */
export type TopAct =
  | { readonly verb: 'pause' | 'resume'; readonly namespace: string; readonly name: string }
  | { readonly verb: 'approve' | 'reject'; readonly namespace: string; readonly name: string; readonly ring: string }
  | { readonly verb: 'accept'; readonly name: string }
  | { readonly verb: 'trace'; readonly cluster: string; readonly object: string; readonly namespace?: string }

/** What an act does, in words: the title of its question. */
export function actText(act: TopAct): string {
  switch (act.verb) {
    case 'pause':
    case 'resume':
      return `${act.verb === 'pause' ? 'Pause' : 'Resume'} rollout ${act.namespace}/${act.name}`
    case 'approve':
    case 'reject':
      return `${act.verb === 'approve' ? 'Approve' : 'Reject'} ring ${act.ring} of rollout ${act.namespace}/${act.name}`
    case 'accept':
      return `Accept cluster ${act.name}`
    case 'trace':
      return `Trace ${act.object} on ${act.cluster}`
  }
}
