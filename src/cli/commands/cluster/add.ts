/** `flotilla cluster add`. */
import { clientOver } from '../../../client/create-client.ts'
import { parseNetwork } from '../../../core/text/cidr.ts'
import { isApiError } from '../../../core/errors.ts'
import { systemClock } from '../../../core/time/system-clock.ts'
import { systemIds } from '../../../core/system-ids.ts'
import type { Connection } from '../../api/connect.ts'
import { readDuration } from '../../input/duration-flag.ts'
import { CliError, EXIT } from '../../errors/cli-error.ts'
import { CLUSTERS } from '../../api/flotilla-resources.ts'
import type { Terminal } from '../../print/terminal.ts'

/** What the cluster commands work with. */
export interface ClusterInput {
  readonly connection: Connection
  readonly terminal: Terminal
}

const NAME = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/

/** Makes a join token for a name or a pattern and prints the line to paste. */
export async function clusterAdd(
  name: string | undefined,
  input: ClusterInput,
  flags: Record<string, unknown>,
): Promise<void> {
  const { connection, terminal } = input
  const who = inviteeOf(name, flags['pattern'] as string | undefined)
  const terms = termsOf(flags, 'pattern' in who)
  const client = clientOver(connection.rest)
  if ('cluster' in who) await refuseTaken(who.cluster, client)
  const { inviteCluster } = await import('../../../hub/join/invite-cluster.ts')
  const invited = await inviteCluster({ ...who, ...terms }, { client, clock: systemClock, ids: systemIds })
  const { code, token, expiresAt, manifest } = invited
  const named = 'cluster' in who ? '' : ' --name NAME'
  const command = `flotilla agent run --join ${code}${named} --kubeconfig FILE --data DIR`
  const noManifest = 'this hub has no agent bundle to hand out, so there is no manifest (npm run build makes one)'
  if (flags['output'] === 'json') {
    const about = { ...who, code, command, manifest: manifest ?? null, token, expiresAt }
    terminal.data(`${JSON.stringify(about, undefined, 2)}\n`)
    if (manifest === undefined) terminal.say(noManifest)
    return
  }
  if (flags['output'] === 'manifest') {
    if (manifest === undefined) throw new CliError(EXIT.failed, { what: 'there is no manifest', why: noManifest })
    terminal.data(manifest)
    terminal.say('It holds the join code, so treat it as a secret: … | kubectl apply -f -')
    if ('cluster' in who) return
    return terminal.say(
      'It is for several clusters: tell each its name, kubectl create configmap flotilla-cluster -n flotilla-agent --from-literal=name=NAME',
    )
  }
  const times = terms.uses === 1 ? 'once' : `${terms.uses} times`
  const invitee = 'cluster' in who ? who.cluster : `clusters named ${who.pattern}`
  terminal.step('ok', `${invitee} may join until ${expiresAt}, ${times}; run this where FILE reaches its API:`)
  terminal.data(`${terminal.command(command)}\n`)
  terminal.say('The code verifies the hub by its root key; whoever has it can join as this cluster.')
  const waits = 'cluster' in who ? who.cluster : 'NAME'
  const next = terms.accept === 'Auto' ? 'get clusters -w' : `cluster accept ${waits}`
  terminal.step('next', `flotilla ${next}`)
}

function inviteeOf(name: string | undefined, pattern: string | undefined): { cluster: string } | { pattern: string } {
  if ((name === undefined) === (pattern === undefined)) {
    throw new CliError(EXIT.usage, { what: 'add which cluster?', todo: 'give one NAME, or --pattern GLOB and no name' })
  }
  if (pattern !== undefined) {
    if (/^[a-z0-9.*?-]{1,253}$/.test(pattern)) return { pattern }
    throw new CliError(EXIT.usage, {
      what: `--pattern ${pattern}`,
      why: 'want lower-case letters, digits, dashes, * and ?',
    })
  }
  if (NAME.test(name!)) return { cluster: name! }
  throw new CliError(EXIT.usage, {
    what: `${JSON.stringify(name)} cannot be a cluster’s name`,
    why: 'a name has lower-case letters, digits and dashes, begins and ends with a letter or digit, and is at most 63 long',
  })
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
      'a pattern lets in names nobody has looked at',
      'use --accept=manual, --accept=networks --accept-from CIDR, or --accept=rule --accept-if CEL',
    )
  }
  if ((accept === 'Networks') !== acceptNetworks.length > 0) {
    refuse('--accept=networks and --accept-from CIDR go together', 'give both, or none')
  }
  const acceptRule = flags['acceptIf'] as string | undefined
  if ((accept === 'Rule') !== (acceptRule !== undefined)) {
    refuse('--accept=rule and --accept-if CEL go together', 'give both, or none')
  }
  const siteClass = flags['siteClass'] as keyof typeof SITE_CLASS | undefined
  const proxy = flags['proxy'] as string | undefined
  if (proxy !== undefined && !/^https?:\/\/[^\s/]+\/?$/.test(proxy)) refuse(`--proxy ${proxy}`, 'want http://host:port')
  if ((profile === 'namespaced') !== namespaces.length > 0) {
    refuse('--profile=namespaced and --agent-namespace NAMESPACE go together', 'give both, or none')
  }
  return {
    labels: labelsOf(listOf(flags['label'])),
    accept,
    acceptNetworks,
    ...(acceptRule === undefined ? {} : { acceptRule }),
    ...(siteClass === undefined ? {} : { siteClass: SITE_CLASS[siteClass] }),
    ...(proxy === undefined ? {} : { proxy }),
    networks: networksOf('--network', flags['network']),
    uses: usesOf((flags['uses'] as string | undefined) ?? '1', isPattern),
    ttlMs: readDuration(String(flags['expires']), '--expires'),
    profile,
    namespaces,
  }
}

const ACCEPT = { auto: 'Auto', manual: 'Manual', networks: 'Networks', rule: 'Rule' } as const
const SITE_CLASS = { connected: 'Connected', edge: 'Edge', intermittent: 'Intermittent' } as const

function listOf(flag: unknown): string[] {
  return ((flag as readonly string[] | undefined) ?? []).flatMap((text) => text.split(','))
}

function networksOf(option: string, flag: unknown): string[] {
  const networks = listOf(flag)
  const wrong = networks.find((network) => parseNetwork(network) === undefined)
  if (wrong === undefined) return networks
  throw new CliError(EXIT.usage, {
    what: `${option} ${wrong}`,
    why: 'want a network such as 10.8.0.0/16 or 2001:db8::/32, with nothing set after its prefix',
  })
}

function usesOf(text: string, isPattern: boolean): number {
  const uses = /^[1-9]\d{0,5}$/.test(text) ? Number(text) : 0
  if (uses < 1 || uses > 100_000) throw new CliError(EXIT.usage, { what: `--uses ${text}`, why: 'want 1 to 100000' })
  if (uses > 1 && !isPattern)
    throw new CliError(EXIT.usage, { what: '--uses is for patterns', why: 'one name joins once' })
  return uses
}

async function refuseTaken(name: string, client: ReturnType<typeof clientOver>): Promise<void> {
  try {
    await client.get(CLUSTERS, { name })
  } catch (caught) {
    if (isApiError(caught, 'NotFound')) return
    throw caught
  }
  throw new CliError(EXIT.conflict, {
    what: `there is a cluster ${JSON.stringify(name)} already`,
    why: 'a name belongs to the key that joined under it',
    todo: `choose another name, or remove it first: flotilla delete cluster ${name}`,
  })
}

function labelsOf(pairs: readonly string[]): Record<string, string> {
  const labels: Record<string, string> = {}
  for (const pair of pairs) {
    const at = pair.indexOf('=')
    if (at <= 0) throw new CliError(EXIT.usage, { what: `--label ${pair}`, why: 'a label is KEY=VALUE' })
    labels[pair.slice(0, at)] = pair.slice(at + 1)
  }
  return labels
}
