// Tested by src/gateway/enrolment/enrolment.contract.test.ts
/** Join tokens: the checks before an enrolment may use one, and uses counted by compare-and-swap. */
import type { Client } from '../../client/client.ts'
import { isInNetwork } from '../../core/text/cidr.ts'
import { equalBytes, utf8 } from '../../core/bytes.ts'
import { ApiError, isApiError } from '../../core/errors.ts'
import { matchesGlob } from '../../core/text/glob.ts'
import { formatTime, parseTime } from '../../core/time/time.ts'
import { JoinToken } from '../../kinds/native/join-token.ts'
import { isAcceptedBy } from '../../wire/trust/accept-rule.ts'
import { tokenHash } from '../../wire/trust/join-code.ts'
import type { JoinTokenSecret } from '../../wire/trust/join-code.ts'

// Fifty agents may race for a token; in each round one agent wins.
const MAX_ROUNDS = 200
// The maximum of usedBy in the kind. Older entries are dropped; the count keeps them.
const REMEMBERED = 500

/** An enrolment with a token. */
export interface TokenUse {
  readonly cluster: string
  /** Digest of the identity key. */
  readonly key: string
  readonly now: number
  /** The agent's address as the listener's socket knows it. */
  readonly address?: string
  /** The keys of an agent that takes over, which the hub writes to the Cluster. */
  readonly takeOver?: { readonly identityKey: string; readonly sealingKey: string }
}

/** Finds the token of a secret. Unknown names and wrong secrets get the same answer. */
export async function findToken(client: Client, presented: JoinTokenSecret, signal: AbortSignal): Promise<JoinToken> {
  const token = await client.get(JoinToken, { name: presented.name }, signal).catch((caught: unknown) => {
    if (isApiError(caught, 'NotFound', 'Invalid', 'BadRequest')) return undefined
    throw caught
  })
  if (!token || !equalBytes(utf8(token.spec.tokenHash), utf8(tokenHash(presented.secret)))) {
    throw new ApiError('Unauthorized', 'unknown join code; create a new one with "flotilla cluster add NAME"')
  }
  return token
}

/** Refuses a token outside its networks. An unknown address is outside all networks. */
export function checkTokenNetwork({ spec }: JoinToken, address: string | undefined): void {
  const { networks = [] } = spec
  if (networks.length === 0 || isInAnyNetwork(address, networks)) return
  throw new ApiError(
    'Forbidden',
    `the join code cannot be used from ${address ?? 'an unknown address'}; the networks of its token do not include it`,
  )
}

/** Whether a cluster that joins with this token is accepted without a person. A name pattern alone never accepts. */
export function isAutoAccepted(
  { spec }: JoinToken,
  {
    name,
    address,
    agentVersion,
  }: { readonly name: string; readonly address: string | undefined; readonly agentVersion: string },
): boolean {
  switch (spec.accept) {
    case 'Auto':
      return spec.clusterName !== undefined
    case 'Networks':
      return isInAnyNetwork(address, spec.acceptNetworks ?? [])
    case 'Rule': {
      const facts = { name, labels: spec.labels, address: address ?? '', agentVersion }
      return spec.acceptRule !== undefined && isAcceptedBy(spec.acceptRule, facts)
    }
    case 'Manual':
      return false
  }
}

function isInAnyNetwork(address: string | undefined, networks: readonly string[]): boolean {
  return address !== undefined && networks.some((network) => isInNetwork(address, network))
}

/** The name of a joining cluster: the token's name, or the requested name if it matches the token's pattern. */
export function joiningName(token: JoinToken, asked: string | undefined): string {
  const { clusterName, namePattern } = token.spec
  const name = clusterName ?? asked
  if (clusterName === undefined && namePattern === undefined) {
    throw new ApiError(
      'Forbidden',
      'the join code has neither a cluster name nor a name pattern; create a new one with "flotilla cluster add NAME"',
    )
  }
  if (name === undefined) {
    throw new ApiError('BadRequest', 'the join code is for several clusters; pass --name NAME')
  }
  if (asked !== undefined && asked !== name) {
    throw new ApiError('Forbidden', `the join code is for cluster "${name}", not for "${asked}"`)
  }
  if (clusterName === undefined && namePattern !== undefined && !matchesGlob(namePattern, name)) {
    throw new ApiError('Forbidden', `the join code is for names that match "${namePattern}", not for "${name}"`)
  }
  return name
}

/** Counts one use, exactly once also under races. A retry of the same agent is not counted again. */
export async function consumeToken(client: Client, token: JoinToken, use: TokenUse): Promise<void> {
  let current = token
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const status = current.status ?? {}
    const usedBy = status.usedBy ?? []
    const expires = parseTime(current.spec.expiresAt)
    if (expires === undefined || use.now >= expires) {
      throw new ApiError(
        'Unauthorized',
        `the join code expired at ${current.spec.expiresAt}; create a new one with "flotilla cluster add NAME"`,
      )
    }
    if (usedBy.some((entry) => entry.cluster === use.cluster && entry.key === use.key)) return
    const used = status.used ?? 0
    if (used >= current.spec.uses) {
      throw new ApiError(
        'Unauthorized',
        `the join code was used ${used} of ${current.spec.uses} times; create a new one with "flotilla cluster add NAME"`,
      )
    }
    const from = use.address === undefined ? {} : { address: use.address }
    const entry = { cluster: use.cluster, at: formatTime(use.now), key: use.key, ...from }
    const counted = { ...status, used: used + 1, usedBy: [...usedBy, entry].slice(-REMEMBERED) }
    const next = { ...current, status: { ...counted, ...(use.takeOver && { takeOver: use.takeOver }) } }
    try {
      await client.update(JoinToken, next, { subresource: 'status' })
      return
    } catch (caught) {
      if (!isApiError(caught, 'Conflict')) throw caught
      current = await client.get(JoinToken, { name: token.metadata.name })
    }
  }
  throw new ApiError('ServiceUnavailable', 'too many agents are joining with this join code', { retryAfterSeconds: 5 })
}
