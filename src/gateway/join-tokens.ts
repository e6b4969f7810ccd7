/** Join tokens at the door: who may use one, and uses counted by compare-and-swap. */
import type { Client } from '../client/client.ts'
import { isInNetwork } from '../core/text/cidr.ts'
import { equalBytes, utf8 } from '../core/bytes.ts'
import { ApiError, isApiError } from '../core/errors.ts'
import { matchesGlob } from '../core/text/glob.ts'
import { formatTime, parseTime } from '../core/time/time.ts'
import { JoinToken } from '../kinds/native/join-token.ts'
import { isAcceptedBy } from '../wire/trust/accept-rule.ts'
import { tokenHash } from '../wire/trust/join-code.ts'
import type { JoinTokenSecret } from '../wire/trust/join-code.ts'

// Fifty agents may race for one token; each round one of them wins.
const MAX_ROUNDS = 200
// What the kind allows in usedBy; older ones are forgotten, the count is not.
const REMEMBERED = 500

/** One enrolment that wants to use a token. */
export interface TokenUse {
  readonly cluster: string
  /** Digest of the identity key. */
  readonly key: string
  readonly now: number
  /** Where it comes from, as the listener proved it. */
  readonly address?: string
}

/** Finds the token a secret belongs to. Unknown names and wrong secrets are answered alike. */
export async function findToken(client: Client, presented: JoinTokenSecret, signal: AbortSignal): Promise<JoinToken> {
  const token = await client.get(JoinToken, { name: presented.name }, signal).catch((caught: unknown) => {
    if (isApiError(caught, 'NotFound', 'Invalid', 'BadRequest')) return undefined
    throw caught
  })
  if (!token || !equalBytes(utf8(token.spec.tokenHash), utf8(tokenHash(presented.secret)))) {
    throw new ApiError('Unauthorized', 'this join code is not known here; make a new one with "flotilla cluster add"')
  }
  return token
}

/** Refuses a token outside its networks; an address nobody knows is outside all of them. */
export function checkTokenNetwork({ spec }: JoinToken, address: string | undefined): void {
  const { networks = [] } = spec
  if (networks.length === 0 || isInAny(address, networks)) return
  throw new ApiError('Forbidden', `this join code may not be used from ${address ?? 'an unknown address'}`)
}

/** Whether whoever joins with it is accepted without a person. A pattern alone is no rule: it needs networks or an expression. */
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
      return isInAny(address, spec.acceptNetworks ?? [])
    case 'Rule': {
      const facts = { name, labels: spec.labels, address: address ?? '', agentVersion }
      return spec.acceptRule !== undefined && isAcceptedBy(spec.acceptRule, facts)
    }
    case 'Manual':
      return false
  }
}

function isInAny(address: string | undefined, networks: readonly string[]): boolean {
  return address !== undefined && networks.some((network) => isInNetwork(address, network))
}

/** The name a cluster joins under: the token's own, or the asked one when the token's pattern has it. */
export function nameFor(token: JoinToken, asked: string | undefined): string {
  const { clusterName, namePattern } = token.spec
  const name = clusterName ?? asked
  if (clusterName === undefined && namePattern === undefined) {
    throw new ApiError('Forbidden', 'this join code is for no name at all; make a new one with "flotilla cluster add"')
  }
  if (name === undefined) {
    throw new ApiError('BadRequest', 'this join code is for several clusters; say which one with --name')
  }
  if (asked !== undefined && asked !== name) {
    throw new ApiError('Forbidden', `this join code is for ${name}, not for ${asked}`)
  }
  if (clusterName === undefined && namePattern !== undefined && !matchesGlob(namePattern, name)) {
    throw new ApiError('Forbidden', `this join code is for names like ${namePattern}, not for ${name}`)
  }
  return name
}

/** Counts one use, exactly once per use whoever else tries at the same time; an agent that tries again is not counted twice. */
export async function consumeToken(client: Client, token: JoinToken, use: TokenUse): Promise<void> {
  let current = token
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const status = current.status ?? {}
    const usedBy = status.usedBy ?? []
    const expires = parseTime(current.spec.expiresAt)
    if (expires === undefined || use.now >= expires) {
      throw new ApiError('Unauthorized', `this join code expired at ${current.spec.expiresAt}; make a new one`)
    }
    if (usedBy.some((entry) => entry.cluster === use.cluster && entry.key === use.key)) return
    const used = status.used ?? 0
    if (used >= current.spec.uses) {
      throw new ApiError(
        'Unauthorized',
        `this join code was used ${used} of ${current.spec.uses} times; make a new one`,
      )
    }
    const from = use.address === undefined ? {} : { address: use.address }
    const entry = { cluster: use.cluster, at: formatTime(use.now), key: use.key, ...from }
    const next = { ...current, status: { ...status, used: used + 1, usedBy: [...usedBy, entry].slice(-REMEMBERED) } }
    try {
      await client.update(JoinToken, next, { subresource: 'status' })
      return
    } catch (caught) {
      if (!isApiError(caught, 'Conflict')) throw caught
      current = await client.get(JoinToken, { name: token.metadata.name })
    }
  }
  throw new ApiError('ServiceUnavailable', 'too many agents join with this code at once', { retryAfterSeconds: 5 })
}
