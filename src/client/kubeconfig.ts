import { dirname, resolve } from 'node:path'
import { base64, fromBase64, fromUtf8, utf8 } from '../core/bytes.ts'
import { compact } from '../core/compact.ts'
import { isObject } from '../core/json.ts'
import type { JsonObject } from '../core/json.ts'
import { Secret } from '../core/secret.ts'
import { readYaml } from '../yaml/read/read-yaml.ts'
import type { Connection } from './connection.ts'

/** What a kubeconfig says about a context. */
export interface KubeconfigContext {
  readonly context: string
  readonly connection: Connection
  /** The namespace commands use when none is given. */
  readonly namespace: string
}

/** Which kubeconfig, which context, and how to read the files it names. */
export interface KubeconfigOptions {
  readonly text: string
  /** Shown in errors; relative files are next to it. */
  readonly file: string
  /** The current context when absent. */
  readonly context?: string
  /** If omitted, a kubeconfig that names files is refused. */
  readonly readFile?: (path: string) => Promise<string>
}

/** A kubeconfig that cannot be used; the message says where and what to do. */
export class KubeconfigError extends Error {
  override readonly name = 'KubeconfigError'
}

/** Reads one context of a kubeconfig: CA, client certificate or token, given inline or as files. */
export async function readKubeconfig(options: KubeconfigOptions): Promise<KubeconfigContext> {
  const config = readYaml(options.text, { file: options.file })[0]?.value
  if (!isObject(config)) throw refuse(options, 'is not a kubeconfig: it holds no mapping')
  const name = options.context ?? text(config['current-context'])
  if (!name)
    throw refuse(options, 'has no current-context: name a context, or set one with `kubectl config use-context`')
  const context = named(options, config, { list: 'contexts', item: 'context', name })
  const cluster = named(options, config, { list: 'clusters', item: 'cluster', name: text(context['cluster']) ?? '' })
  const userName = text(context['user'])
  const user = userName ? named(options, config, { list: 'users', item: 'user', name: userName }) : {}
  return {
    context: name,
    namespace: text(context['namespace']) ?? 'default',
    connection: { ...(await serverOf(options, cluster)), ...(await credentialsOf(options, user, userName ?? '')) },
  }
}

/** The value of a kubeconfig with one cluster, one user and one context; write it as YAML or JSON. */
export function kubeconfigFor(name: string, connection: Connection & { readonly user: string }): JsonObject {
  const { server, ca, cert, key, token, tokenFile, user, serverName } = connection
  return {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': name,
    clusters: [
      {
        name,
        cluster: compact({
          server,
          'certificate-authority-data': ca === undefined ? undefined : base64(utf8(ca)),
          'tls-server-name': serverName,
        }),
      },
    ],
    users: [
      {
        name: user,
        user: compact({
          'client-certificate-data': cert === undefined ? undefined : base64(utf8(cert)),
          'client-key-data': key === undefined ? undefined : base64(utf8(key.reveal())),
          token: tokenFile === undefined ? token?.reveal() : undefined,
          tokenFile,
        }),
      },
    ],
    contexts: [{ name, context: { cluster: name, user } }],
  }
}

async function serverOf(options: KubeconfigOptions, cluster: JsonObject): Promise<Connection> {
  const server = text(cluster['server'])
  if (!server) throw refuse(options, 'names a cluster without a server')
  if (!/^https?:\/\//.test(server))
    throw refuse(options, `has the server ${JSON.stringify(server)}: want https://host:port`)
  if (text(cluster['proxy-url']))
    throw refuse(options, 'uses proxy-url, which is not supported: give an address that is reachable directly')
  const ca = await material(options, cluster, 'certificate-authority')
  const serverName = text(cluster['tls-server-name'])
  return compact({ server, ca, serverName, insecure: cluster['insecure-skip-tls-verify'] === true ? true : undefined })
}

async function credentialsOf(options: KubeconfigOptions, user: JsonObject, name: string): Promise<Partial<Connection>> {
  const advice = 'make a context with a client certificate or a token, for example with `kubectl create token`'
  const plugin = REFUSED.find((field) => user[field] !== undefined)
  if (plugin)
    throw refuse(options, `has the user ${JSON.stringify(name)} with "${plugin}", which is not supported: ${advice}`)
  const cert = await material(options, user, 'client-certificate')
  const key = await material(options, user, 'client-key')
  if ((cert === undefined) !== (key === undefined)) {
    throw refuse(
      options,
      `has the user ${JSON.stringify(name)} with only one of client-certificate and client-key: both are needed`,
    )
  }
  const tokenFile = text(user['tokenFile'])
  const fixed = text(user['token'])
  const token = fixed ?? (tokenFile && (await readNextTo(options, tokenFile, 'tokenFile')).trim())
  return compact({
    cert,
    key: key === undefined ? undefined : new Secret(key),
    token: token ? new Secret(token) : undefined,
    tokenFile: fixed === undefined && tokenFile ? resolve(dirname(options.file), tokenFile) : undefined,
  })
}

// Plugins run programs of the user's machine, passwords are gone from Kubernetes, impersonation would change who acts.
const REFUSED = ['exec', 'auth-provider', 'username', 'as', 'as-groups', 'as-uid', 'as-user-extra']

async function material(options: KubeconfigOptions, from: JsonObject, field: string): Promise<string | undefined> {
  const data = text(from[`${field}-data`])
  if (data) return fromUtf8(fromBase64(data))
  const file = text(from[field])
  return file ? readNextTo(options, file, field) : undefined
}

async function readNextTo(options: KubeconfigOptions, file: string, field: string): Promise<string> {
  if (!options.readFile)
    throw refuse(
      options,
      `names a file in "${field}", which is on another machine: write the content into it with \`kubectl config view --raw --flatten --minify\``,
    )
  const path = resolve(dirname(options.file), file)
  try {
    return await options.readFile(path)
  } catch (cause) {
    throw new KubeconfigError(`${options.file} names the file ${path}, which cannot be read`, { cause })
  }
}

function named(
  options: KubeconfigOptions,
  config: JsonObject,
  { list, item, name }: { readonly list: string; readonly item: string; readonly name: string },
): JsonObject {
  const entries = Array.isArray(config[list]) ? config[list].filter(isObject) : []
  const found = entries.find((entry) => entry['name'] === name)?.[item]
  if (isObject(found)) return found
  const names = entries.map((entry) => String(entry['name'])).join(', ')
  throw refuse(options, `has no ${item} ${JSON.stringify(name)}: it has ${names || 'none'}`)
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}

function refuse(options: KubeconfigOptions, why: string): KubeconfigError {
  return new KubeconfigError(`${options.file} ${why}`)
}
