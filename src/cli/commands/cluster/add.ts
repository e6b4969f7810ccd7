// Tested by src/cli/commands/cluster/acceptance.test.ts.
/** `flotilla cluster add`: creates a join code. */
import type { Client } from '../../../client/client.ts'
import { compact } from '../../../core/compact.ts'
import { clientOver } from '../../../client/create-client.ts'
import { isApiError } from '../../../core/errors.ts'
import { parseTime } from '../../../core/time/time.ts'
import { JoinToken } from '../../../kinds/native/join-token.ts'
import { parseNetwork } from '../../../core/text/cidr.ts'
import { systemClock } from '../../../core/time/system-clock.ts'
import { systemIds } from '../../../core/system-ids.ts'
import type { Connection } from '../../api/connect.ts'
import { readDuration } from '../../input/duration-flag.ts'
import { CliError, EXIT } from '../../errors/cli-error.ts'
import { timeWithDistance } from '../../print/print-time.ts'
import type { Terminal } from '../../print/terminal.ts'
import { clusterNameOf, labelsOf, listOf, refuseTaken, requirePushed } from './add-terms.ts'

export interface ClusterInput {
  readonly connection: Connection
  readonly terminal: Terminal
}

/** Creates a join token for a name or a pattern, and prints the command or manifest that uses it. */
export async function clusterAdd(
  name: string | undefined,
  input: ClusterInput,
  flags: Record<string, unknown>,
): Promise<void> {
  const { connection, terminal } = input
  const who = inviteeOf(name, flags['pattern'] as string | undefined)
  const terms = termsOf(flags, 'pattern' in who)
  const client = clientOver(connection.rest)
  const takeOver = flags['takeOver'] === true
  if (takeOver && 'pattern' in who) {
    throw new CliError(EXIT.usage, {
      what: '--take-over cannot be combined with --pattern',
      todo: 'create a code for each cluster',
    })
  }
  if ('cluster' in who) await (takeOver ? requirePushed(who.cluster, client) : refuseTaken(who.cluster, client))
  const [{ agentProgram, inviteCluster }, { readHubInfo }] = await Promise.all([
    import('../../../hub/join/invite-cluster.ts'),
    import('../../../hub/home/hub-info.ts'),
  ])
  const noManifest =
    'the hub has no agent bundle for a manifest and names no image of the agent; create a bundle with "npm run build", or start the hub with --agent-image'
  // A code that is not printed must not stay valid.
  if (flags['output'] === 'manifest' && agentProgram(await readHubInfo(client)) === undefined)
    throw new CliError(EXIT.failed, { what: noManifest })
  const earlier = 'cluster' in who ? await codesFor(who.cluster, client) : []
  const invited = await inviteCluster({ ...who, ...terms, takeOver }, { client, clock: systemClock, ids: systemIds })
  const { code, token, expiresAt, manifest, endpoints, isLocalOnly } = invited
  const named = 'cluster' in who ? '' : ' --name NAME'
  const folder = 'cluster' in who ? `./agent-${who.cluster}` : './agent-NAME'
  const command = `flotilla agent run --join ${code}${named} --kubeconfig ~/.kube/config --data ${folder}`
  const warn = () => {
    sayEarlier(earlier, terminal)
    if (isLocalOnly) sayLocalOnly(endpoints, terminal)
  }
  if (flags['output'] === 'json') {
    const about = { ...who, code, command, manifest: manifest ?? null, token, expiresAt }
    terminal.data(`${JSON.stringify(about, undefined, 2)}\n`)
    if (manifest === undefined) terminal.say(noManifest)
    return warn()
  }
  if (flags['output'] === 'manifest') {
    terminal.data(manifest ?? '')
    warn()
    terminal.say('The manifest contains the join code: treat it as a secret. Apply it with "kubectl apply -f -".')
    if ('cluster' in who) return
    return terminal.say(
      'The code is for several clusters. Set the name in each cluster: kubectl create configmap flotilla-cluster -n flotilla-agent --from-literal=name=NAME',
    )
  }
  const times = terms.uses === 1 ? 'once' : `${terms.uses} times`
  const invitee = 'cluster' in who ? `cluster "${who.cluster}"` : `clusters named "${who.pattern}"`
  const until = timeWithDistance(expiresAt, systemClock.now())
  terminal.step('ok', `${invitee} can join ${times} until ${until}; run the agent where kubectl reaches the cluster:`)
  terminal.data(`${terminal.command(command)}\n`)
  terminal.say(
    'The code contains the fingerprint of the root key of the hub. Keep it secret: a holder of the code can join as this cluster.',
  )
  warn()
  const waits = 'cluster' in who ? who.cluster : 'NAME'
  const next = terms.accept === 'Auto' ? 'get clusters -w' : `cluster accept ${waits}`
  terminal.step('next', `flotilla ${next}`)
}

/** Join codes for a name that can still be used. A user that may not list them is told of none. */
async function codesFor(name: string, client: Client): Promise<readonly JoinToken[]> {
  const listed = await client.list(JoinToken).catch((caught: unknown) => {
    if (isApiError(caught, 'Forbidden')) return { items: [] }
    throw caught
  })
  const now = systemClock.now()
  return listed.items.filter(
    ({ spec, status }) =>
      spec.clusterName === name && (parseTime(spec.expiresAt) ?? 0) > now && (status?.used ?? 0) < spec.uses,
  )
}

function sayEarlier(earlier: readonly JoinToken[], terminal: Terminal): void {
  for (const { metadata, spec } of earlier)
    terminal.step(
      'warn',
      `an earlier join code of this name stays valid until ${spec.expiresAt}; the first agent that joins gets the name. Delete it with "flotilla delete jointoken ${metadata.name}"`,
    )
}

function sayLocalOnly(endpoints: readonly string[], terminal: Terminal): void {
  terminal.step(
    'warn',
    `the code leads to ${endpoints.join(', ')}, which only agents on the machine of the hub can reach; for others, start the hub with --gateway-listen 0.0.0.0:7444 and --gateway-url https://HOST:7444`,
  )
}

function inviteeOf(name: string | undefined, pattern: string | undefined): { cluster: string } | { pattern: string } {
  if ((name === undefined) === (pattern === undefined)) {
    throw new CliError(EXIT.usage, {
      what: name === undefined ? 'missing argument NAME or --pattern' : 'NAME and --pattern exclude each other',
      todo: 'give one NAME, or --pattern GLOB',
    })
  }
  if (pattern !== undefined) {
    if (/^[a-z0-9.*?-]{1,253}$/.test(pattern)) return { pattern }
    throw new CliError(EXIT.usage, {
      what: `invalid --pattern ${JSON.stringify(pattern)}: must consist of lower-case letters, digits, dashes, * and ?`,
    })
  }
  return { cluster: clusterNameOf(name) }
}

function termsOf(flags: Record<string, unknown>, isPattern: boolean) {
  const accept = ACCEPT[(flags['accept'] as keyof typeof ACCEPT | undefined) ?? (isPattern ? 'manual' : 'auto')]
  const acceptNetworks = networksOf('--accept-from', flags['acceptFrom'])
  const profile = (flags['profile'] as 'full' | 'namespaced' | 'read-only' | undefined) ?? 'full'
  const namespaces = listOf(flags['agentNamespace'])
  const refuse = (what: string, todo: string): never => {
    throw new CliError(EXIT.usage, { what, todo })
  }
  if (isPattern && accept === 'Auto') {
    refuse(
      '--pattern cannot be combined with --accept=auto',
      'use --accept=manual, --accept=networks --accept-from CIDR, or --accept=rule --accept-if CEL',
    )
  }
  if ((accept === 'Networks') !== acceptNetworks.length > 0) {
    refuse('--accept=networks requires --accept-from CIDR', 'give both flags, or none of them')
  }
  const acceptRule = flags['acceptIf'] as string | undefined
  if ((accept === 'Rule') !== (acceptRule !== undefined)) {
    refuse('--accept=rule requires --accept-if CEL', 'give both flags, or none of them')
  }
  const siteClass = flags['siteClass'] as keyof typeof SITE_CLASS | undefined
  const proxy = flags['proxy'] as string | undefined
  if (proxy !== undefined && !/^https?:\/\/[^\s/]+\/?$/.test(proxy))
    refuse(`invalid --proxy ${JSON.stringify(proxy)}`, 'use http://HOST:PORT')
  if ((profile === 'namespaced') !== namespaces.length > 0) {
    refuse('--profile=namespaced requires --agent-namespace NAMESPACE', 'give both flags, or none of them')
  }
  return compact({
    labels: labelsOf(listOf(flags['label'])),
    accept,
    acceptNetworks,
    acceptRule,
    ...compact({ siteClass: siteClass === undefined ? undefined : SITE_CLASS[siteClass] }),
    proxy,
    networks: networksOf('--network', flags['network']),
    uses: usesOf((flags['uses'] as string | undefined) ?? '1', isPattern),
    ttlMs: readDuration(String(flags['expires']), '--expires'),
    profile,
    namespaces,
  })
}

const ACCEPT = { auto: 'Auto', manual: 'Manual', networks: 'Networks', rule: 'Rule' } as const
const SITE_CLASS = { connected: 'Connected', edge: 'Edge', intermittent: 'Intermittent' } as const

function networksOf(option: string, flag: unknown): string[] {
  const networks = listOf(flag)
  const wrong = networks.find((network) => parseNetwork(network) === undefined)
  if (wrong === undefined) return networks
  throw new CliError(EXIT.usage, {
    what: `invalid ${option} ${JSON.stringify(wrong)}: must be a network such as 10.8.0.0/16 or 2001:db8::/32, without bits after the prefix`,
  })
}

function usesOf(text: string, isPattern: boolean): number {
  const uses = /^[1-9]\d{0,5}$/.test(text) ? Number(text) : 0
  if (uses < 1 || uses > 100_000)
    throw new CliError(EXIT.usage, {
      what: `invalid --uses ${JSON.stringify(text)}: must be a number from 1 to 100000`,
    })
  if (uses > 1 && !isPattern)
    throw new CliError(EXIT.usage, { what: '--uses requires --pattern', why: 'a code for one name can be used once' })
  return uses
}
