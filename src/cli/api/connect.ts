/** Finds the hub of a command and creates the client for it. */
import { X509Certificate } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { createRest } from '../../client/rest.ts'
import type { Rest } from '../../client/rest.ts'
import { KubeconfigError, readKubeconfig } from '../../client/kubeconfig.ts'
import { createHttpsTransport } from '../../client/https-transport.ts'
import { isObject } from '../../core/json.ts'
import { systemClock } from '../../core/time/system-clock.ts'
import { readYaml } from '../../yaml/read/read-yaml.ts'
import type { CliEnvironment } from '../config.ts'
import { announceDemo, readDemoState } from './demo-state.ts'
import { CliError, EXIT } from '../errors/cli-error.ts'
import type { Terminal } from '../print/terminal.ts'
import { userAgentFor } from '../../core/text/audit-reason.ts'

/** A connection to a hub. */
export interface Connection {
  readonly rest: Rest
  readonly server: string
  /** The kubeconfig file that names the server. */
  readonly kubeconfig: string
  /** The namespace of the context. */
  readonly namespace: string | undefined
  /** End of the client certificate. Undefined if the caller has no certificate. */
  certificateEndsMs?(): number | undefined
  close(): Promise<void>
}

/** Flags of all commands that connect to a hub. */
export interface ConnectFlags {
  readonly kubeconfig?: string
  readonly context?: string
  /** Reason recorded in the audit log. */
  readonly reason?: string
}

const CONTEXT = 'flotilla'

/** Connects to the hub that flags, environment, a running demo or `~/.kube/config` name, in this order. */
export async function connect(
  flags: ConnectFlags,
  environment: CliEnvironment,
  terminal: Pick<Terminal, 'say'>,
): Promise<Connection> {
  const { file, context } = await locate(flags, environment, terminal)
  const text = await readConfig(file)
  try {
    const read = await readKubeconfig({
      text,
      file,
      ...(context !== undefined && { context }),
      readFile: (path) => readFile(path, 'utf8'),
    })
    const { transport, close } = createHttpsTransport(read.connection)
    return {
      rest: createRest({ transport, clock: systemClock, userAgent: userAgentFor(flags.reason) }),
      server: read.connection.server,
      kubeconfig: file,
      namespace: read.namespace,
      certificateEndsMs: () => (read.connection.cert === undefined ? undefined : endOf(read.connection.cert)),
      close,
    }
  } catch (caught) {
    if (!(caught instanceof KubeconfigError)) throw caught
    throw new CliError(
      EXIT.usage,
      { where: file, what: 'cannot use the kubeconfig', why: caught.message },
      { cause: caught },
    )
  }
}

function endOf(certificate: string): number | undefined {
  try {
    return new X509Certificate(certificate).validToDate.valueOf()
  } catch {
    return undefined // the TLS handshake reports a damaged certificate
  }
}

interface Located {
  readonly file: string
  readonly context: string | undefined
}

async function locate(
  flags: ConnectFlags,
  environment: CliEnvironment,
  terminal: Pick<Terminal, 'say'>,
): Promise<Located> {
  const files = flags.kubeconfig !== undefined ? [flags.kubeconfig] : environment.kubeconfigs?.files
  if (files !== undefined) return await among(files, flags.context)
  const demo = await readDemoState(environment.demoStateFile)
  if (demo) {
    await announceDemo(demo, environment, terminal)
    return { file: demo.kubeconfig, context: flags.context }
  }
  const context = flags.context ?? CONTEXT
  if ((await contextsOf(environment.defaultKubeconfig)).includes(context)) {
    return { file: environment.defaultKubeconfig, context }
  }
  throw new CliError(EXIT.usage, {
    where: environment.defaultKubeconfig,
    what: `no hub found: no context ${JSON.stringify(context)}, and no demo is running`,
    todo: 'start a demo with "flotilla demo", log in with "flotilla login", or give --kubeconfig DIR/admin.kubeconfig',
  })
}

/** The first file with the wanted context, or with context "flotilla". Defaults to the first file. */
async function among(files: readonly string[], wanted: string | undefined): Promise<Located> {
  for (const file of files) {
    if ((await contextsOf(file)).includes(wanted ?? CONTEXT)) return { file, context: wanted ?? CONTEXT }
  }
  return { file: files[0]!, context: wanted }
}

async function contextsOf(file: string): Promise<readonly string[]> {
  let text: string
  try {
    text = await readFile(file, 'utf8')
  } catch {
    return []
  }
  const value = readYaml(text, { file })[0]?.value
  const contexts = isObject(value) && Array.isArray(value['contexts']) ? value['contexts'].filter(isObject) : []
  return contexts.map(({ name }) => String(name))
}

async function readConfig(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8')
  } catch (cause) {
    throw new CliError(
      EXIT.usage,
      {
        where: file,
        what: 'cannot read the kubeconfig',
        why: cause instanceof Error ? cause.message : String(cause),
        todo: 'give another file with --kubeconfig; a hub writes its own to DIR/admin.kubeconfig',
      },
      { cause },
    )
  }
}
