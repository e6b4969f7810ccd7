/** `flotilla login`: saves the credentials of a hub as a kubeconfig context. */
import { existsSync } from 'node:fs'
import { mkdir, open, realpath, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { compact } from '../../../core/compact.ts'
import type { Connection as Server } from '../../../client/connection.ts'
import { createHttpsTransport } from '../../../client/https-transport.ts'
import { kubeconfigFor, KubeconfigError, readKubeconfig } from '../../../client/kubeconfig.ts'
import { createRest } from '../../../client/rest.ts'
import { fromUtf8 } from '../../../core/bytes.ts'
import { readBody } from '../../../core/http.ts'
import { isObject } from '../../../core/json.ts'
import type { JsonObject } from '../../../core/json.ts'
import { Secret } from '../../../core/secret.ts'
import { systemClock } from '../../../core/time/system-clock.ts'
import { readYaml } from '../../../yaml/read/read-yaml.ts'
import { writeYaml } from '../../../yaml/write/write-yaml.ts'
import { requireConfirmation } from '../../input/require-confirmation.ts'
import type { CliEnvironment } from '../../config.ts'
import { CliError, EXIT } from '../../errors/cli-error.ts'
import { explainError } from '../../errors/explain-error.ts'
import { serverOfContext, withContext } from './kubeconfig-context.ts'
import { readText } from '../../input/read-text-file.ts'
import type { Terminal } from '../../print/terminal.ts'
import { whoAmI } from '../../api/who-am-i.ts'
import { userAgentFor } from '../../../core/text/audit-reason.ts'

/** Flags of `login`. */
export interface LoginFlags {
  readonly from?: string
  readonly tokenFile?: string
  readonly oidcIssuer?: string
  readonly oidcClientId?: string
  readonly oidcCa?: string
  readonly ca?: string
  readonly current?: boolean
  readonly yes?: boolean
  /** The file to write. */
  readonly kubeconfig?: string
  /** The name of the context. */
  readonly context?: string
}

export interface LoginInput {
  readonly terminal: Terminal
  readonly environment: CliEnvironment
  readonly stdin: AsyncIterable<Uint8Array>
  readonly flags: LoginFlags
  readonly confirm: (question: string) => Promise<boolean>
}

const CONTEXT = 'flotilla'
const MAX_TOKEN_BYTES = 64 * 1024

/** Writes the context after the hub has authenticated the caller. */
export async function login(server: string | undefined, input: LoginInput): Promise<void> {
  const { terminal, environment, flags } = input
  const name = nameOf(flags.context ?? CONTEXT)
  const connection = await connectionOf(server, input)
  const { username, groups } = await authenticate(connection)
  const file = await fileToWrite(name, flags.kubeconfig, environment)
  const known = serverOfContext(await configOf(file), name)
  if (known !== undefined && known !== connection.server) {
    await requireConfirmation(
      `replace context ${JSON.stringify(name)} of ${file}, which points to ${known || 'no server'}`,
      input,
    )
  }
  const user = await userOf(name, connection, environment)
  const [cluster] = kubeconfigFor(name, { ...connection, user: name })['clusters'] as [{ cluster: JsonObject }]
  await underLock(file, async (real) => {
    const isCurrent = flags.current === true
    const next = withContext(await configOf(real), { name, cluster: cluster.cluster, user, isCurrent })
    await replace(real, writeYaml(next))
  })
  const own = groups.filter((group) => group !== 'system:authenticated').join(', ')
  terminal.step('ok', `logged in to ${connection.server} as ${username}${own === '' ? '' : ` (${own})`}`)
  terminal.step(
    'ok',
    `context ${JSON.stringify(name)} written to ${file}${flags.current ? ' as the current context' : ''}`,
  )
  const isFound = file === environment.defaultKubeconfig || environment.kubeconfigs?.files.includes(file)
  const where = `${isFound ? '' : ` --kubeconfig ${file}`}${name === CONTEXT ? '' : ` --context ${name}`}`
  terminal.step('next', `flotilla status${where}`)
}

/** The name of a context is also the name of its token file. */
function nameOf(name: string): string {
  if (/^[A-Za-z0-9][A-Za-z0-9._@-]{0,100}$/.test(name)) return name
  throw new CliError(EXIT.usage, {
    what: `invalid --context ${JSON.stringify(name)}`,
    todo: 'use letters, digits, dots, dashes, underscores and @',
  })
}

async function connectionOf(server: string | undefined, input: LoginInput): Promise<Server> {
  const { flags } = input
  if ((server === undefined) === (flags.from === undefined)) {
    throw new CliError(EXIT.usage, {
      what: server === undefined ? 'missing argument SERVER or --from' : 'SERVER and --from exclude each other',
      todo: 'use "flotilla login https://HOST:7443 --token-file FILE" or "flotilla login --from KUBECONFIG"',
    })
  }
  if (flags.from !== undefined) return await connectionFrom(flags.from)
  if (!/^https:\/\/[^/\s]+/.test(server!)) {
    throw new CliError(EXIT.usage, { what: `invalid server ${JSON.stringify(server)}`, todo: 'use https://HOST:PORT' })
  }
  const ca = flags.ca === undefined ? undefined : await readText(flags.ca)
  return compact({ server: server!, token: await tokenOf(input), ca })
}

async function tokenOf({ flags, stdin, terminal }: LoginInput): Promise<Secret<string>> {
  const { tokenFile, oidcIssuer, oidcClientId } = flags
  if (oidcIssuer !== undefined && oidcClientId !== undefined && tokenFile === undefined) {
    const { signInWithIssuer } = await import('./login-oidc.ts')
    return (await signInWithIssuer({ issuer: oidcIssuer, clientId: oidcClientId, ca: flags.oidcCa }, terminal)).idToken
  }
  if (oidcIssuer !== undefined || oidcClientId !== undefined) {
    throw new CliError(EXIT.usage, {
      what:
        tokenFile === undefined ? 'missing --oidc-issuer or --oidc-client-id' : '--token-file excludes --oidc-issuer',
      todo: 'use "flotilla login https://HOST:7443 --oidc-issuer URL --oidc-client-id ID"',
    })
  }
  if (tokenFile === undefined) {
    throw new CliError(EXIT.usage, {
      what: 'missing --token-file or --oidc-issuer',
      todo: 'give a token of "kubectl create token" with --token-file FILE (- for stdin), or use --from KUBECONFIG',
    })
  }
  const text = tokenFile === '-' ? fromUtf8(await readBody(stdin, MAX_TOKEN_BYTES)) : await readText(tokenFile)
  const token = text.trim()
  if (!/^[\x21-\x7e]+$/.test(token)) {
    throw new CliError(EXIT.usage, { where: tokenFile, what: 'invalid token: must be one word' })
  }
  return new Secret(token)
}

async function connectionFrom(file: string): Promise<Server> {
  const text = await readText(file)
  const refuse = (why: string, cause?: unknown) =>
    new CliError(EXIT.usage, { where: file, what: 'cannot use the kubeconfig', why }, { cause })
  try {
    const { connection } = await readKubeconfig({ text, file, readFile: readText })
    if (connection.insecure) throw refuse('insecure-skip-tls-verify is set')
    return connection
  } catch (caught) {
    throw caught instanceof KubeconfigError ? refuse(caught.message, caught) : caught
  }
}

async function authenticate(connection: Server): Promise<Awaited<ReturnType<typeof whoAmI>>> {
  const { server } = connection
  const { transport, close } = createHttpsTransport(connection)
  try {
    return await whoAmI(createRest({ transport, clock: systemClock, userAgent: userAgentFor(undefined) }))
  } catch (caught) {
    const { exitCode, report, certificateMismatch = false } = explainError(caught, { server })
    const isUntrusted = certificateMismatch
    throw new CliError(
      exitCode,
      {
        ...report,
        ...(isUntrusted && connection.ca === undefined
          ? {
              what: 'the certificate of the hub is not signed by a public CA',
              todo: 'give the CA of the hub with --ca FILE; the hub has it in DIR/keys/api-ca.crt',
            }
          : {}),
        ...compact({
          todo: exitCode === EXIT.forbidden && !isUntrusted ? 'ask the operator of the hub for a new token' : undefined,
        }),
      },
      { cause: caught },
    )
  } finally {
    await close()
  }
}

/** Stores the token in its own file, so that the kubeconfig can be shown. kubectl and flotilla read it each time. */
async function userOf(name: string, { token, ...proof }: Server, { credentials }: CliEnvironment): Promise<JsonObject> {
  if (token === undefined) {
    const [{ user }] = kubeconfigFor(name, { ...proof, user: name })['users'] as [{ user: JsonObject }]
    return user
  }
  const tokenFile = join(credentials, `${name}.token`)
  await mkdir(credentials, { recursive: true, mode: 0o700 })
  await replace(tokenFile, `${token.reveal()}\n`)
  return { tokenFile }
}

/** The same choice as kubectl: the file with the context, else the first existing file, else the last file. */
async function fileToWrite(
  name: string,
  flag: string | undefined,
  { kubeconfigs, defaultKubeconfig }: CliEnvironment,
): Promise<string> {
  if (flag !== undefined) return resolve(flag)
  const files = kubeconfigs?.files ?? [defaultKubeconfig]
  for (const file of files) if (serverOfContext(await configOf(file), name) !== undefined) return file
  return files.find((file) => existsSync(file)) ?? files.at(-1)!
}

async function configOf(file: string): Promise<JsonObject> {
  if (!existsSync(file)) return {}
  const value = readYaml(await readText(file), { file })[0]?.value
  if (value === undefined || value === null) return {}
  if (isObject(value)) return value
  throw new CliError(EXIT.usage, { where: file, what: 'not a kubeconfig', why: 'the file is not a mapping' })
}

/** Holds the lock file that kubectl uses too. */
async function underLock(file: string, work: (real: string) => Promise<void>): Promise<void> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 })
  const real = existsSync(file) ? await realpath(file) : file
  const lock = `${real}.lock`
  const held = await open(lock, 'wx', 0o600).catch((cause: unknown) => {
    if ((cause as NodeJS.ErrnoException).code !== 'EEXIST') throw cause
    const todo = `try again; if no other process writes it, delete ${lock}`
    throw new CliError(
      EXIT.conflict,
      { where: lock, what: 'the kubeconfig is locked by another process', todo },
      { cause },
    )
  })
  try {
    await work(real)
  } finally {
    await held.close()
    await rm(lock, { force: true })
  }
}

/** Replaces a file atomically, with mode 0600. */
async function replace(file: string, text: string): Promise<void> {
  const half = `${file}.${process.pid}.new`
  try {
    await writeFile(half, text, { mode: 0o600, flag: 'wx' })
    await rename(half, file)
  } finally {
    await rm(half, { force: true })
  }
}
