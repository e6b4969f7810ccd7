// Tested by src/plan/handover/comparison.test.ts
/** A handover from another system, as the hub asks for it: the rule in the document of a cluster. */
import { compact } from '../../core/compact.ts'
import type { Cluster } from '../../kinds/native/cluster.ts'

/** A step of a handover in a document; `Done` is no rule any more. */
export type HandoverStep = Exclude<NonNullable<Cluster['spec']['handover']>['step'], 'Done'>

/** The rule of a document. */
export interface HandoverRule {
  /** The system that the cluster moves over from. */
  readonly from: string
  readonly step: HandoverStep
  readonly acceptDifferences: boolean
  /** A person has stopped the controllers of the peer for this cluster, so the agent stops none. */
  readonly peerStopped?: boolean
  /** Time at which the step began; the report of the agent repeats it. */
  readonly since?: string
}

/** The rule for a cluster; undefined without a handover, and after the last step. */
export function handoverRuleOf({ spec }: Pick<Cluster, 'spec'>): HandoverRule | undefined {
  const { handover } = spec
  if (!handover || handover.step === 'Done') return undefined
  const { from, step, acceptDifferences = false, peerStopped, since } = handover
  return { from, step, acceptDifferences, since, ...compact({ peerStopped: peerStopped || undefined }) }
}

/** True while the peer manages the objects: the agent writes none of them. */
export function isWithPeer(rule: Pick<HandoverRule, 'step'> | undefined): boolean {
  return rule?.step === 'Compare' || rule?.step === 'Undo'
}
