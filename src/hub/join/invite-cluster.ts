/** Inviting clusters: a JoinToken for a name or a pattern, and the code that only its bearer has. */
import type { Client } from '../../client/client.ts'
import type { Clock } from '../../core/time/clock.ts'
import type { Ids } from '../../core/ids.ts'
import { formatTime } from '../../core/time/time.ts'
import { Stalled } from '../../core/errors.ts'
import { JoinToken } from '../../kinds/native/join-token.ts'
import type { SiteClass } from '../../kinds/fields/site-class.ts'
import { acceptRuleProblem } from '../../wire/trust/accept-rule.ts'
import { formatJoinCode, tokenHash, tokenSecret } from '../../wire/trust/join-code.ts'
import { isLoopback } from '../http/listen-address.ts'
import { readHubInfo } from '../home/hub-info.ts'
import type { HubInfo } from '../home/hub-info.ts'
import { joinManifest } from './agent-manifest.ts'
import type { AgentProgram } from './agent-manifest.ts'
import type { AgentProfile } from './agent-rbac.ts'

/** Who is invited (one name, or a pattern of names), and how. */
export type JoinInvitation = Invitee & InvitationTerms

type Invitee = { readonly cluster: string } | { readonly pattern: string }

interface InvitationTerms {
  readonly labels: Readonly<Record<string, string>>
  readonly accept: JoinToken['spec']['accept']
  /** With `accept: Networks`: networks whose clusters are accepted without a person. */
  readonly acceptNetworks?: readonly string[]
  /** With accept Rule: the CEL expression. */
  readonly acceptRule?: string
  readonly siteClass?: SiteClass
  /** Whether the agent replaces the agent that the hub runs for this cluster. */
  readonly takeOver?: boolean
  /** From where the token may be used; anywhere when empty. */
  readonly networks?: readonly string[]
  readonly uses?: number
  readonly ttlMs: number
  /** What the agent of the manifest may do. */
  readonly profile?: AgentProfile
  readonly namespaces?: readonly string[]
  /** The proxy the agent of the manifest goes through. */
  readonly proxy?: string
}

/** A join token and what its bearer needs. */
export interface IssuedJoinToken {
  readonly token: string
  /** Shown once; the hub keeps only a hash of its secret. */
  readonly code: string
  readonly expiresAt: string
  /** Addresses of the gateway that the code has. */
  readonly endpoints: readonly string[]
  /** True if no other machine can connect to these addresses. */
  readonly isLocalOnly: boolean
  /**
   * For `kubectl apply -f -` on the cluster (for patterns: on each of them); absent when this hub names no image of the
   * agent and has no agent bundle to hand out.
   */
  readonly manifest?: string
}

/** What inviting needs. */
export interface InvitePorts {
  readonly client: Client
  readonly clock: Pick<Clock, 'now'>
  readonly ids: Ids
}

/** Makes the token and its code. */
export async function inviteCluster(invitation: JoinInvitation, ports: InvitePorts): Promise<IssuedJoinToken> {
  const { client, clock, ids } = ports
  const { acceptNetworks = [], networks = [], profile, namespaces, acceptRule, siteClass, proxy } = invitation
  const problem = acceptRule === undefined ? undefined : acceptRuleProblem(acceptRule)
  if (problem !== undefined) throw new Stalled('BadRule', `the rule cannot be used: ${problem}`)
  const info = await readHubInfo(client)
  const secret = tokenSecret(ids.bytes(32))
  const name = `${tokenPrefix(invitation)}-${ids.suffix(5)}`
  const expiresAt = formatTime(clock.now() + invitation.ttlMs)
  await client.create(JoinToken, {
    apiVersion: 'flotilla.dev/v1alpha1',
    kind: 'JoinToken',
    metadata: { name },
    spec: {
      tokenHash: tokenHash(secret),
      ...('cluster' in invitation ? { clusterName: invitation.cluster } : { namePattern: invitation.pattern }),
      expiresAt,
      uses: invitation.uses ?? 1,
      labels: { ...invitation.labels },
      accept: invitation.accept,
      ...(acceptRule !== undefined && { acceptRule }),
      ...(siteClass && { siteClass }),
      ...(invitation.takeOver && { takeOver: true }),
      ...(acceptNetworks.length > 0 && { acceptNetworks: [...acceptNetworks] }),
      ...(networks.length > 0 && { networks: [...networks] }),
    },
  })
  const code = formatJoinCode({ endpoints: info.endpoints, root: info.root, token: { name, secret } })
  const agent = agentProgram(info)
  const manifest =
    agent === undefined
      ? undefined
      : joinManifest({
          code,
          isForSeveral: !('cluster' in invitation),
          endpoints: info.endpoints,
          agent,
          ...(profile && { profile }),
          ...(proxy !== undefined && { proxy }),
          ...(namespaces && { namespaces }),
        })
  const { endpoints } = info
  const isLocalOnly = endpoints.every((one) => isLoopback(new URL(one).hostname.replace(/^\[|\]$/g, '')))
  return { token: name, code, expiresAt, endpoints, isLocalOnly, ...(manifest !== undefined && { manifest }) }
}

/** The program for a manifest: the image of the hub, or its bundle; undefined if the hub has neither. */
export function agentProgram({
  agentImage,
  agentBundle,
}: Pick<HubInfo, 'agentImage' | 'agentBundle'>): AgentProgram | undefined {
  if (agentImage !== undefined) return { image: agentImage }
  return agentBundle === undefined ? undefined : { bundle: agentBundle }
}

// The token's own name hints at its cluster: `store-*` becomes `store`.
function tokenPrefix(who: Invitee): string {
  if ('cluster' in who) return who.cluster.slice(0, 50)
  const letters = who.pattern.replaceAll(/[^a-z0-9]+/g, '-').replaceAll(/^-+|-+$/g, '')
  return letters === '' ? 'any' : letters.slice(0, 50).replace(/-+$/, '')
}
