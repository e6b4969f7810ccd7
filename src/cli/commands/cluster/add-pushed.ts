/** `flotilla cluster add NAME --kubeconfig FILE`: registers a cluster whose agent the hub runs. */
import { readFile } from 'node:fs/promises'
import type { Client } from '../../../client/client.ts'
import type { Connection } from '../../../client/connection.ts'
import { clientOver, createClient } from '../../../client/create-client.ts'
import { createHttpsTransport } from '../../../client/https-transport.ts'
import { requireVerified } from '../../../client/inline-kubeconfig.ts'
import { KubeconfigError, kubeconfigFor, readKubeconfig } from '../../../client/kubeconfig.ts'
import type { KubeconfigContext } from '../../../client/kubeconfig.ts'
import { base64, utf8 } from '../../../core/bytes.ts'
import { compact } from '../../../core/compact.ts'
import { isApiError } from '../../../core/errors.ts'
import { systemClock } from '../../../core/time/system-clock.ts'
import { Secret } from '../../../kinds/builtin/core.ts'
import { apiVersionOf } from '../../../kinds/meta.ts'
import { Cluster } from '../../../kinds/native/cluster.ts'
import { writeYaml } from '../../../yaml/write/write-yaml.ts'
import { CliError, EXIT } from '../../errors/cli-error.ts'
import { readText } from '../../input/read-text-file.ts'
import type { ClusterInput } from './add.ts'
import { clusterNameOf, labelsOf, listOf, refuseTaken } from './add-terms.ts'

const SECRET_NAMESPACE = 'flotilla-system'
const SECRET_KEY = 'value'
const HUB_CONTEXT = 'flotilla'
const PROBE_MS = 5000

/** The kubeconfig that --kubeconfig and --context name. */
export interface NamedKubeconfig {
  readonly file: string
  readonly context?: string | undefined
}

/**
 * True if the kubeconfig is the one of a hub, which every command takes as its connection. Only the kubeconfig of
 * another API server names a cluster to register. A server that does not answer is not taken for a hub.
 */
export async function isHubKubeconfig(named: NamedKubeconfig): Promise<boolean> {
  if (named.context === undefined && (await hasHubContext(named.file))) return true
  const read = await readNamed(named)
  const { transport, close } = createHttpsTransport(read.connection)
  try {
    const { readHubInfo } = await import('../../../hub/home/hub-info.ts')
    await readHubInfo(createClient({ transport, clock: systemClock, timeoutMs: PROBE_MS }))
    return true
  } catch {
    return false
  } finally {
    await close()
  }
}

async function hasHubContext(file: string): Promise<boolean> {
  try {
    await readNamed({ file, context: HUB_CONTEXT })
    return true
  } catch {
    return false
  }
}

/** Stores the kubeconfig in a Secret of the hub and creates the Cluster that names it. */
export async function clusterAddPushed(
  given: string | undefined,
  { connection, terminal }: ClusterInput,
  named: NamedKubeconfig,
  flags: Readonly<Record<string, unknown>>,
): Promise<void> {
  const name = clusterNameOf(given)
  refuseTerms(flags)
  const labels = labelsOf(listOf(flags['label']))
  const read = await readNamed(named, requireVerified)
  const client = clientOver(connection.rest)
  await refuseTaken(name, client)
  // A single context, with all data inline: no other credential of the file leaves this machine.
  const { tokenFile: _file, ...inline } = read.connection
  const kubeconfig = writeYaml(kubeconfigFor(name, { ...inline, user: name }))
  const namespace = (flags['namespace'] as string | undefined) ?? SECRET_NAMESPACE
  const secret = { namespace, name: `${name}-kubeconfig` }
  const undo = await createSecret(client, secret, kubeconfig)
  const siteClass = flags['siteClass'] as keyof typeof SITE_CLASS | undefined
  const cluster: Cluster = {
    apiVersion: apiVersionOf(Cluster),
    kind: Cluster.kind,
    metadata: { name, labels },
    // The hub issues the id and the keys.
    spec: {
      accepted: true,
      kubeconfigSecret: { ...secret, key: SECRET_KEY },
      ...(siteClass && { siteClass: SITE_CLASS[siteClass] }),
    } as Cluster['spec'],
  }
  await client.create(Cluster, cluster).catch(async (caught: unknown) => {
    await undo()
    throw caught
  })
  if (flags['output'] === 'json') {
    terminal.data(`${JSON.stringify({ cluster: name, server: read.connection.server, secret }, undefined, 2)}\n`)
    return
  }
  terminal.step('ok', `cluster "${name}" is registered; the hub runs its agent with Secret ${namespace}/${secret.name}`)
  terminal.say(
    `The hub connects to ${read.connection.server} and creates the account flotilla-agent/flotilla-agent there. It uses the kubeconfig for nothing else.`,
  )
  terminal.step('next', 'flotilla get clusters -w')
}

const SITE_CLASS = { connected: 'Connected', edge: 'Edge', intermittent: 'Intermittent' } as const

/** Terms of join codes, which mean nothing without one. */
const OF_JOIN_CODES = [
  'pattern',
  'takeOver',
  'accept',
  'acceptIf',
  'acceptFrom',
  'network',
  'proxy',
  'profile',
  'agentNamespace',
] as const

function refuseTerms(flags: Readonly<Record<string, unknown>>): void {
  const one = OF_JOIN_CODES.find((flag) => flags[flag] !== undefined)
  if (one === undefined && flags['output'] !== 'manifest') return
  const flag = one === undefined ? '-o manifest' : `--${one.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`
  throw new CliError(EXIT.usage, {
    what: `${flag} cannot be combined with the kubeconfig of a cluster`,
    why: 'the hub runs the agent, so there is no join code',
    todo: `omit ${flag}, or omit --kubeconfig to create a join code`,
  })
}

async function readNamed(
  { file, context }: NamedKubeconfig,
  check: (connection: Connection, file: string) => void = () => {},
): Promise<KubeconfigContext> {
  const text = await readText(file)
  try {
    const read = await readKubeconfig({
      text,
      file,
      readFile: (path) => readFile(path, 'utf8'),
      ...compact({ context }),
    })
    check(read.connection, file)
    return read
  } catch (caught) {
    if (!(caught instanceof KubeconfigError)) throw caught
    const about = { where: file, what: 'cannot use the kubeconfig', why: caught.message }
    throw new CliError(EXIT.usage, about, { cause: caught })
  }
}

/** Returns how to delete the Secret again. */
async function createSecret(
  client: Client,
  { namespace, name }: { readonly namespace: string; readonly name: string },
  kubeconfig: string,
): Promise<() => Promise<void>> {
  const secret = {
    apiVersion: apiVersionOf(Secret),
    kind: Secret.kind,
    metadata: { namespace, name },
    type: 'Opaque',
    data: { [SECRET_KEY]: base64(utf8(kubeconfig)) },
  }
  try {
    await client.create(Secret, secret)
  } catch (caught) {
    if (isApiError(caught, 'AlreadyExists')) {
      throw new CliError(EXIT.conflict, {
        what: `Secret ${namespace}/${name} already exists`,
        todo: `delete it if it is not in use, or give another namespace with -n NAMESPACE`,
      })
    }
    throw caught
  }
  return () => client.delete(Secret, { namespace, name })
}
