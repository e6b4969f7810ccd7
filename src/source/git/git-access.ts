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
import { portOf } from '../source-url.ts'
import type { SourceUrl } from '../source-url.ts'
import type { GitAccess } from './git-cache.ts'
import type { GitProgram } from './run-git.ts'

/** What access is made of. */
export interface GitAccessOptions {
  readonly url: SourceUrl
  readonly credentials: Credentials | undefined
  readonly program: GitProgram
  readonly folder: string
  readonly ids: Pick<Ids, 'uid'>
  readonly egress: EgressRules
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
      return await work({ ...base, config: {}, environment: await sshEnvironment(options, write) })
    }
    const addresses = await pinnedAddresses(options)
    const authorization = authorizationOf(credentials)
    const config: Record<string, string> = {
      // Git's HTTP library would look up the new host by itself, and send a credential to it.
      'http.followRedirects': 'false',
      ...(addresses && { 'http.curloptResolve': `${url.host}:${portOf(url)}:${addresses.map(bracketed).join(',')}` }),
    }
    if (authorization !== undefined) config['http.extraHeader'] = `Authorization: ${authorization}`
    if (credentials?.ca !== undefined) config['http.sslCAInfo'] = await write('ca.pem', credentials.ca)
    if (credentials?.certificate !== undefined && credentials.key !== undefined) {
      config['http.sslCert'] = await write('cert.pem', credentials.certificate)
      config['http.sslKey'] = await write('key.pem', credentials.key)
    }
    return await work({ ...base, config })
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
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
