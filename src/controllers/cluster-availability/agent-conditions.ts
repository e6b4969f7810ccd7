/** Conditions about the agent of a cluster: refused documents, clock, sealing key, a hub that is behind. */
import { humanAge } from '../../core/time/time.ts'
import type { Draft } from '../../engine/reconciler.ts'
import type { Assignment } from '../../kinds/native/assignment.ts'
import type { ClusterReport } from '../../kinds/native/cluster-report.ts'
import type { Cluster } from '../../kinds/native/cluster.ts'
import { isSealingKeyRetired } from '../../plan/fleet/sealing-key.ts'

// Advice for the user; the agent's own message says what happened.
const ADVICE: Readonly<Record<string, string>> = {
  Equivocation:
    'Two signed documents have one number: this hub was restored or copied, or its signing key is used elsewhere. The agent follows no document until this is resolved.',
  BrokenChain: 'The hub’s documents and the agent’s have different pasts: this hub was restored or copied.',
  UnknownSigner: 'The document was signed by a key that the trust bundle does not name.',
  BadSignature: 'The document was changed after it was signed.',
  MissingFeature: 'Upgrade the agent.',
  AgentTooOld: 'Upgrade the agent.',
}

/** Shows a wrong clock: windows and certificates depend on the clock. */
export function showClock({ seen, conditions }: Draft<Cluster>): void {
  const skew = seen.status?.clockSkewSeconds ?? 0
  if (skew !== 0) {
    const message = `The agent's clock is ${humanAge(Math.abs(skew) * 1000)} ${skew > 0 ? 'ahead of' : 'behind'} the hub's. Correct the clock of the site: maintenance windows depend on it.`
    conditions.set('ClockSkewed', 'True', skew > 0 ? 'Ahead' : 'Behind', message)
  } else if (conditions.get('ClockSkewed')?.status === 'True') {
    conditions.set(
      'ClockSkewed',
      'False',
      'InStep',
      "The agent's clock differs from the hub's clock by less than a minute.",
    )
  }
}

/** Shows that the agent has a document that the hub does not know. */
export function setHubBehindCondition({ seen, conditions }: Draft<Cluster>, assignment: Assignment | undefined): void {
  const ahead = seen.status?.ahead
  if (ahead && (assignment?.spec.epoch ?? 0) <= ahead.epoch) {
    const message = `The agent holds revision ${ahead.revision} of epoch ${ahead.epoch}, with this hub's own signature; the hub knows ${assignment ? `revision ${assignment.spec.revision} of epoch ${assignment.spec.epoch}` : 'none'}. The hub was restored from an older state: restore the newer state, or start a new epoch with "flotilla hub new-epoch".`
    conditions.set('HubBehind', 'True', 'AgentAhead', message)
  } else if (conditions.get('HubBehind')?.status === 'True') {
    conditions.set(
      'HubBehind',
      'False',
      'NewEpoch',
      'The hub has started a new epoch, which replaces the document that the agent held.',
    )
  }
}

/** Shows that a new sealing key was requested, until the agent has it. */
export function showSealingKey({ seen, conditions }: Draft<Cluster>): void {
  if (isSealingKeyRetired(seen)) {
    const { at, by, reason } = seen.spec.retiredSealingKey!
    const who = `${by === undefined ? '' : ` by ${by}`}${reason === undefined ? '' : `: ${reason}`}`
    const message = `A new sealing key was requested at ${at}${who}. The agent makes the key when it has read its document; until then, values are sealed to the old key.`
    conditions.set('SealingKeyRetired', 'True', 'Asked', message)
  } else if (conditions.get('SealingKeyRetired')?.status === 'True') {
    conditions.set(
      'SealingKeyRetired',
      'False',
      'Replaced',
      'The agent has a new sealing key, and the hub seals values to this key.',
    )
  }
}

/** Shows a refusal as condition DocumentRefused; most clusters never have this condition. */
export function showRefusal({ conditions }: Draft<Cluster>, report: ClusterReport | undefined): void {
  const refusal = report?.spec.refusal
  if (refusal) {
    const advice = ADVICE[refusal.reason]
    const message = `The agent keeps revision ${report.spec.revision}: ${refusal.message}.${advice ? ` ${advice}` : ''}`
    conditions.set('DocumentRefused', 'True', refusal.reason, message)
  } else if (conditions.get('DocumentRefused')?.status === 'True') {
    conditions.set('DocumentRefused', 'False', 'Followed', 'The agent follows the newest document.')
  }
}
