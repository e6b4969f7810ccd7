/** Access to a git server for a fetch: credentials as configuration and files that are removed after the fetch. */
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises'
import { isIP } from 'node:net'
import { join } from 'node:path'
import { toError } from '../../core/errors.ts'
import type { Ids } from '../../core/ids.ts'
import type { EgressRules } from '../../core/text/egress.ts'
import { authorizationOf } from '../credentials.ts'
import type { Credentials } from '../credentials.ts'
import { addressesOf, guardHost } from '../guard-source.ts'
import { SourceError } from '../source-error.ts'
import { proxyAddress } from '../source-secrets.ts'
import { isBelow, parseSourceUrl, portOf } from '../source-url.ts'
import type { SourceProxy } from '../source-secrets.ts'
import type { SourceScheme, SourceUrl } from '../source-url.ts'
import type { GitAccess } from './git-cache.ts'
import type { GitProgram } from './run-git.ts'

/** What access is made of. */
export interface GitAccessOptions {
  readonly url: SourceUrl
  readonly credentials: Credentials | undefined
  readonly proxy?: SourceProxy | undefined
  readonly program: GitProgram
  readonly folder: string
  readonly ids: Pick<Ids, 'uid'>
  readonly egress: EgressRules
}

/** The transports of git. */
export const GIT_SCHEMES: readonly SourceScheme[] = ['https', 'http', 'ssh', 'file']

/** Refuses a local path that the hub does not allow. */
export function checkLocal(url: SourceUrl, localPaths: readonly string[]): void {
  const allowed = localPaths.some((path) => isBelow(url, parseSourceUrl(`file://${path}`, ['file'])))
  if (allowed) return
  const which = localPaths.length === 0 ? 'none' : localPaths.join(', ')
  throw new SourceError(
    'LocalPathNotAllowed',
    `${url.path} is a local path, and this hub allows ${which}; start it with --source-paths DIR to allow more.`,
  )
}

const FOLDER = '.access-'

/** Removes files that interrupted fetches left on disk. Must run only while no fetch runs in the directory. */
export async function removeOldAccess(folder: string): Promise<void> {
  const names = await readdir(folder).catch(() => [])
  for (const name of names) if (name.startsWith(FOLDER)) await rm(join(folder, name), { recursive: true, force: true })
}

/** Runs work with access to a repository, and removes the files of the access afterwards. */
export async function withGitAccess<T>(options: GitAccessOptions, work: (access: GitAccess) => Promise<T>): Promise<T> {
  const { url, credentials } = options
  const folder = join(options.folder, `${FOLDER}${options.ids.uid()}`)
  const write = async (name: string, text: string): Promise<string> => {
    const file = join(folder, name)
    await writeFile(file, text.endsWith('\n') ? text : `${text}\n`, { mode: 0o600 })
    return file
  }
  await mkdir(folder, { recursive: true, mode: 0o700 })
  try {
    const base = { url: url.text, protocols: [url.scheme], environment: {} }
    if (url.scheme === 'file') return await work({ ...base, config: {} })
    if (url.scheme === 'ssh') {
      if (options.proxy) {
        throw new SourceError('ProxyNotUsed', `${url.text}: a proxy is used for http and https only, and not for ssh.`)
      }
      return await work({ ...base, config: {}, environment: await sshEnvironment(options, write) })
    }
    const resolved = await resolvedHost(options)
    const authorization = authorizationOf(credentials)
    const config: Record<string, string> = {
      // Git's HTTP library would look up the new host by itself, and send a credential to it.
      'http.followRedirects': 'false',
      ...(resolved !== undefined && { 'http.curloptResolve': resolved }),
      // As Flux does: the credential is sent at once, and not only to a proxy that asks for it.
      ...(options.proxy && { 'http.proxy': proxyAddress(options.proxy), 'http.proxyAuthMethod': 'basic' }),
    }
    if (authorization !== undefined) config['http.extraHeader'] = `Authorization: ${authorization}`
    if (credentials?.ca !== undefined) config['http.sslCAInfo'] = await write('ca.pem', credentials.ca)
    if (credentials?.certificate !== undefined && credentials.key !== undefined) {
      config['http.sslCert'] = await write('cert.pem', credentials.certificate)
      config['http.sslKey'] = await write('key.pem', credentials.key)
    }
    // Git obeys NO_PROXY also with a proxy of its own, and would contact what it names without a look at addresses.
    const environment: Record<string, string> = options.proxy ? { NO_PROXY: '', no_proxy: '' } : {}
    return await work({ ...base, config, environment })
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** The host that git connects to with the addresses it may have there; undefined if git looks the host up itself. */
async function resolvedHost(options: GitAccessOptions): Promise<string | undefined> {
  const { url, proxy, egress } = options
  if (!proxy) return pinned(url, await pinnedAddresses(options))
  // The proxy connects to the repository; the hub itself connects to the proxy alone.
  guardHost(egress, { hostname: url.host, port: portOf(url), protocol: `${url.scheme}:` })
  const via = parseSourceUrl(proxy.address, ['http', 'https'])
  return pinned(via, await pinnedAddresses({ ...options, url: via }))
}

function pinned(url: SourceUrl, addresses: readonly string[] | undefined): string | undefined {
  return addresses && `${url.host}:${portOf(url)}:${addresses.map(bracketed).join(',')}`
}

const bracketed = (address: string): string => (address.includes(':') ? `[${address}]` : address)

/** The name of a server in known_hosts. */
function knownHost({ host, port }: SourceUrl): string {
  return port === '' ? host : `[${host}]:${port}`
}

/**
 * The addresses that git must use; undefined where git looks the host up itself: the operator named the host, the URL
 * has an address, or a proxy knows names that the hub does not know.
 */
async function pinnedAddresses({ url, program, egress }: GitAccessOptions): Promise<string[] | undefined> {
  const target = guardHost(egress, { hostname: url.host, port: portOf(url), protocol: `${url.scheme}:` })
  if (isIP(target.host) !== 0) return undefined
  const names = url.scheme === 'https' ? ['HTTPS_PROXY', 'https_proxy'] : url.scheme === 'http' ? ['http_proxy'] : []
  const hasProxy = names.some((name) => Boolean(program.environment?.[name]))
  try {
    return await addressesOf(egress, target)
  } catch (caught) {
    if (caught instanceof SourceError) throw caught
    if (hasProxy) return undefined
    throw new SourceError(
      'HostNotFound',
      `${url.text}: the name of the host is not known (${toError(caught).message}).`,
      {
        retry: true,
        cause: caught,
      },
    )
  }
}

type Write = (name: string, text: string) => Promise<string>

async function sshEnvironment(options: GitAccessOptions, write: Write): Promise<Record<string, string>> {
  const { url, credentials, program } = options
  if (credentials?.sshKey === undefined || credentials.knownHosts === undefined) {
    const secret = credentials ? `Secret ${credentials.secret}` : 'a Secret in spec.credentials'
    throw new SourceError(
      'CredentialsMissing',
      `ssh needs ${secret} with ssh-privatekey and known_hosts (the server's keys, as ssh-keyscan prints them; for all Secrets: key known_hosts of ConfigMap source-known-hosts in flotilla-system).`,
    )
  }
  const [address] = (await pinnedAddresses(options)) ?? []
  const key = await write('identity', credentials.sshKey)
  const hosts = await write('known_hosts', credentials.knownHosts)
  const config = await write(
    'config',
    [
      `IdentityFile ${quoted(key)}`,
      `UserKnownHostsFile ${quoted(hosts)}`,
      'GlobalKnownHostsFile /dev/null',
      'IdentitiesOnly yes',
      'IdentityAgent none',
      'StrictHostKeyChecking yes',
      'UpdateHostKeys no',
      'BatchMode yes',
      'ConnectTimeout 15',
      'ServerAliveInterval 10',
      'ServerAliveCountMax 3',
      'ForwardAgent no',
      'ClearAllForwardings yes',
      'PermitLocalCommand no',
      'ControlMaster no',
      ...(address === undefined ? [] : [`HostName ${address}`, `HostKeyAlias ${knownHost(url)}`]),
    ].join('\n'),
  )
  // Git passes this text to a shell; both words are quoted paths of the hub.
  return { GIT_SSH_COMMAND: `${shellWord(program.ssh ?? 'ssh')} -F ${shellWord(config)}`, GIT_SSH_VARIANT: 'ssh' }
}

function quoted(path: string): string {
  return `"${path.replaceAll('"', '\\"')}"`
}

function shellWord(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}
