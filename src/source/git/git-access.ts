/** Access to a git server for one fetch: credentials as configuration and files that are removed after the fetch. */
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Ids } from '../../core/ids.ts'
import { authorizationOf } from '../credentials.ts'
import type { Credentials } from '../credentials.ts'
import { SourceError } from '../source-error.ts'
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
    if (url.scheme === 'ssh') {
      return await work({ ...base, config: {}, environment: await sshEnvironment(options, write) })
    }
    if (url.scheme === 'file') return await work({ ...base, config: {} })
    const authorization = authorizationOf(credentials)
    const config: Record<string, string> = {
      // Redirects are disabled with a credential: git's HTTP library would send the header to the new host.
      'http.followRedirects': authorization === undefined ? 'initial' : 'false',
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

type Write = (name: string, text: string) => Promise<string>

async function sshEnvironment(
  { credentials, program }: GitAccessOptions,
  write: Write,
): Promise<Record<string, string>> {
  if (credentials?.sshKey === undefined || credentials.knownHosts === undefined) {
    const secret = credentials ? `Secret ${credentials.secret}` : 'a Secret in spec.credentials'
    throw new SourceError(
      'CredentialsMissing',
      `ssh needs ${secret} with ssh-privatekey and known_hosts (the server's keys, as ssh-keyscan prints them; for all Secrets: key known_hosts of ConfigMap source-known-hosts in flotilla-system).`,
    )
  }
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
