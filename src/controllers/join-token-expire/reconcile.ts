import { parseNetwork } from '../../core/text/cidr.ts'
import { parseTime } from '../../core/time/time.ts'
import type { Context, Draft, Reconciler, Result } from '../../engine/reconciler.ts'
import type { JoinToken } from '../../kinds/native/join-token.ts'

/** Writes into a JoinToken's status whether a cluster can still join with the token. */
export function joinTokenExpireReconciler(): Reconciler<JoinToken> {
  return {
    name: 'join-token-expire',
    async reconcile({ next: token, conditions }: Draft<JoinToken>, { clock }: Context): Promise<Result> {
      const { expiresAt, uses } = token.spec
      const leftMs = (parseTime(expiresAt) ?? 0) - clock.now()
      const used = token.status?.used ?? 0
      if (leftMs <= 0) {
        conditions.set('Usable', 'False', 'Expired', `Expired at ${expiresAt}; make another: flotilla cluster add NAME`)
        return {}
      }
      if (used >= uses) {
        conditions.set(
          'Usable',
          'False',
          'UsedUp',
          `All ${uses} uses are spent; make another: flotilla cluster add NAME`,
        )
        return {}
      }
      const wrong = unreadableNetworks(token)
      if (wrong.length > 0) {
        // A network that cannot be parsed contains no address: the user should learn this here and not at the site.
        conditions.set(
          'Usable',
          'False',
          'BadNetwork',
          `No network: ${wrong.join(', ')}; want CIDR such as 10.8.0.0/16 with nothing set after its prefix`,
        )
        return { requeueAfterMs: Math.min(leftMs, LONGEST_SLEEP_MS) }
      }
      const person = token.spec.namePattern !== undefined && token.spec.accept === 'Auto'
      const note = person ? ' A pattern is never accepted at once: a person accepts.' : ''
      conditions.set('Usable', 'True', 'Valid', `Valid until ${expiresAt}.${note}`)
      return { requeueAfterMs: Math.min(leftMs, LONGEST_SLEEP_MS) }
    },
  }
}

function unreadableNetworks({ spec }: JoinToken): string[] {
  const networks = [...(spec.networks ?? []), ...(spec.acceptNetworks ?? [])]
  return networks.filter((network) => parseNetwork(network) === undefined)
}

// Timers count milliseconds in 31 bits; a token of two months needs a pass in between.
const LONGEST_SLEEP_MS = 24 * 24 * 3600 * 1000
