/** The settings of a hub, each with its origin. Flags win over environment variables, and these over the file. */
import type { Static, TProperties } from 'typebox'
import { readWholeNumber } from '../core/read-number.ts'
import { firstSchemaProblem } from '../core/schema/check-schema.ts'
import { Stalled } from '../core/errors.ts'
import { isObject } from '../core/json.ts'
import { Type } from '../core/schema/typebox.ts'
import { readYamlDocument } from '../yaml/read/read-yaml.ts'

const ADDRESS = '^(\\[[0-9A-Fa-f:]+\\]|[A-Za-z0-9.-]*):[0-9]{1,5}$'
// S3 escapes none of these characters.
const S3_URL = '^s3://[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](/[A-Za-z0-9][A-Za-z0-9._-]{0,99}){0,5}/?$'
const NAME = '^[a-z0-9]([a-z0-9-]{0,50}[a-z0-9])?$'
/** An image with a tag, a digest or both: without them, a node may run an earlier image than another node. */
const IMAGE =
  '^[a-z0-9][A-Za-z0-9.-]*(:[0-9]{1,5})?(/[a-z0-9][a-z0-9._-]*){1,8}(:[A-Za-z0-9_][A-Za-z0-9._-]{0,127}(@sha256:[0-9a-f]{64})?|@sha256:[0-9a-f]{64})$'
const DAYS = '^[1-9][0-9]{0,4}d$'
const DRAIN_MS = 10_000
const Address = (description: string, value: string) => Type.String({ description, default: value, pattern: ADDRESS })

/** What a hub process does. */
const HUB_ROLES = ['controllers', 'renderers', 'gateway', 'views', 'console'] as const
export type HubRole = (typeof HUB_ROLES)[number]

const ROLE = `(${HUB_ROLES.join('|')})`
const ROLES = `^${ROLE}(,${ROLE})*$`
const SECONDS = '^[0-9]{1,3}s$'

export const HubConfig = Type.Object({
  data: Type.String({ minLength: 1, description: 'Directory of keys, database and blobs.' }),
  listen: Address(
    'Address of the API. With `kubeconfig`, address of the part of the API that the kube-apiserver forwards to the hub.',
    '127.0.0.1:7443',
  ),
  gatewayListen: Address('Address that agents connect to.', '0.0.0.0:7444'),
  gatewayUrl: Type.Optional(
    Type.String({
      pattern: '^https://([A-Za-z0-9.-]+|\\[[0-9A-Fa-f:]+\\])(:[0-9]{1,5})?$',
      description: 'URL that agents use. Defaults to the host of `gatewayListen`, or the name of this machine.',
    }),
  ),
  viewUrl: Type.Optional(
    Type.String({
      pattern: '^https://([A-Za-z0-9.-]+|\\[[0-9A-Fa-f:]+\\])(:[0-9]{1,5})?$',
      description:
        'With `kubeconfig`: URL by which the kube-apiserver reaches `listen`; https://NAME.NAMESPACE.svc names an existing Service. Defaults to the host of `listen`, or the name of this machine.',
    }),
  ),
  consoleListen: Address(
    'Address of the console. An address other than loopback needs `consoleCert`, `consoleKey` and `oidcIssuer`.',
    '127.0.0.1:7480',
  ),
  consoleUrl: Type.Optional(
    Type.String({
      pattern: '^https://([A-Za-z0-9.-]+|\\[[0-9A-Fa-f:]+\\])(:[0-9]{1,5})?$',
      description: 'URL by which browsers reach the console. Defaults to the address of the listener.',
    }),
  ),
  consoleCert: Type.Optional(
    Type.String({ minLength: 1, description: 'File with the TLS certificate chain of the console in PEM.' }),
  ),
  consoleKey: Type.Optional(
    Type.String({ minLength: 1, description: 'File with the private key of `consoleCert` in PEM.' }),
  ),
  oidcIssuer: Type.Optional(
    Type.String({
      pattern: '^https://[^\\s?#]+$',
      description: 'URL of the OpenID Connect issuer whose users may use console and API, as in its ID tokens.',
    }),
  ),
  oidcClientId: Type.Optional(
    Type.String({ minLength: 1, description: 'ID of this hub at the issuer; the audience of its ID tokens.' }),
  ),
  oidcClientSecretFile: Type.Optional(
    Type.String({
      minLength: 1,
      description: 'File with the secret of the client. If omitted, the client is public and uses PKCE alone.',
    }),
  ),
  oidcUsernameClaim: Type.Optional(
    Type.String({ minLength: 1, description: 'Claim of the user name. Defaults to `sub`.' }),
  ),
  oidcGroupsClaim: Type.Optional(
    Type.String({ minLength: 1, description: 'Claim of the groups. Defaults to `groups`.' }),
  ),
  oidcCa: Type.Optional(
    Type.String({
      minLength: 1,
      description: 'File with the CA certificate of the issuer in PEM. Defaults to the CA certificates of the machine.',
    }),
  ),
  metricsListen: Type.Optional(
    Type.String({
      pattern: ADDRESS,
      description: 'Additional address for scraping /metrics: plain HTTP, for a trusted network.',
    }),
  ),
  webhookListen: Type.Optional(
    Type.String({
      pattern: ADDRESS,
      description: 'Address for webhooks of git servers: plain HTTP, to be placed behind your own TLS.',
    }),
  ),
  sourcePaths: Type.Optional(
    Type.String({
      minLength: 1,
      description:
        'Directories, separated by commas, in which Sources may name local git repositories. If omitted, local repositories are refused.',
    }),
  ),
  sourceHosts: Type.Optional(
    Type.String({
      minLength: 1,
      description:
        'Hosts, separated by commas, that Sources may contact (host, host:port or *.domain). If omitted, all hosts except this machine and its link-local network; a hub that listens only on loopback addresses allows this machine, too.',
    }),
  ),
  gateHosts: Type.Optional(
    Type.String({
      minLength: 1,
      description:
        'Hosts, separated by commas, that gates may contact (host, host:port or *.domain). If omitted, all HTTPS hosts except this machine and its link-local network.',
    }),
  ),
  pushHosts: Type.Optional(
    Type.String({
      minLength: 1,
      description:
        'Hosts, separated by commas, that agents run by the hub may contact (host, host:port or *.domain). If omitted, all HTTPS hosts except link-local addresses and, if a listener is not on a loopback address, this machine.',
    }),
  ),
  push: Type.Optional(
    Type.Unsafe<'Enabled' | 'Disabled'>({
      type: 'string',
      enum: ['Enabled', 'Disabled'],
      description:
        'Whether the hub runs agents for clusters registered by a kubeconfig. `--no-push` disables it. If omitted, enabled.',
    }),
  ),
  dialects: Type.Optional(
    Type.String({
      description:
        'Dialects that this hub serves, separated by commas, for example `fleet,ocm`; `all`, or `none`. Defaults to `all` with the embedded home, and to `none` with `kubeconfig`.',
    }),
  ),
  hubTemplates: Type.Optional(
    Type.Unsafe<'Served' | 'NoControllers'>({
      type: 'string',
      enum: ['Served', 'NoControllers'],
      description:
        'Serves Deployments and other workloads of the hub as templates for clusters, and with them the dialect `karmada`. With `kubeconfig`, `NoControllers` declares that no controller runs the workloads of that kube-apiserver. If omitted, the hub serves no workloads.',
    }),
  ),
  evidenceRetention: Type.Optional(
    Type.String({
      pattern: DAYS,
      description: 'Time for which reports are kept as evidence, in days, for example `400d`. Defaults to 90d.',
    }),
  ),
  name: Type.Optional(
    Type.String({
      pattern: NAME,
      description:
        'Name of this hub among the hubs of its home, for example the name of its Pod. If omitted, a random name that the data directory keeps.',
    }),
  ),
  roles: Type.Optional(
    Type.String({
      pattern: ROLES,
      description:
        'With `kubeconfig`: what this process does, separated by commas: `controllers`, `renderers` (fetch Sources, render Bundles and serve dialects), `gateway`, `views` and `console`. Needs `keys` and `blobs`. If omitted, everything.',
    }),
  ),
  drain: Type.Optional(
    Type.String({
      pattern: SECONDS,
      description:
        'Time for which a gateway that stops sends its agents to other gateways, in seconds, for example `20s`. Defaults to 10s with `kubeconfig`, and to 0s with the embedded home, which has no other gateway.',
    }),
  ),
  keys: Type.Optional(
    Type.String({
      minLength: 1,
      description:
        'With `kubeconfig`: directory with the keys of the hub, which the hub only reads, for example a mounted Secret from `flotilla trust secret`. If omitted, keys in the data directory, created at the first start.',
    }),
  ),
  blobs: Type.Optional(
    Type.String({
      pattern: S3_URL,
      description:
        'With `kubeconfig`: bucket of an S3 server for rendered content and documents, `s3://BUCKET/PREFIX`. If omitted, files in the data directory, which only one hub can use.',
    }),
  ),
  s3Endpoint: Type.Optional(
    Type.String({
      pattern: '^https?://([A-Za-z0-9.-]+|\\[[0-9A-Fa-f:]+\\])(:[0-9]{1,5})?$',
      description: 'URL of the S3 server. Defaults to https://s3.REGION.amazonaws.com.',
    }),
  ),
  s3Region: Type.Optional(
    Type.String({
      pattern: '^[a-z0-9-]{1,64}$',
      description: 'Region of the bucket. Defaults to AWS_REGION of the environment, then to us-east-1.',
    }),
  ),
  s3Addressing: Type.Optional(
    Type.Unsafe<'path' | 'virtual'>({
      type: 'string',
      enum: ['path', 'virtual'],
      description:
        'Place of the bucket in a URL: first part of the path, or of the host name. Defaults to `path` with `s3Endpoint`, otherwise to `virtual`.',
    }),
  ),
  s3Ca: Type.Optional(
    Type.String({
      minLength: 1,
      description:
        'File with the CA certificates of the S3 server in PEM. Defaults to the CA certificates of the machine.',
    }),
  ),
  s3Credentials: Type.Optional(
    Type.String({
      minLength: 1,
      description:
        'Directory with the files access-key-id and secret-access-key, for example a mounted Secret; read again every minute. If omitted, AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_ROLE_ARN and AWS_WEB_IDENTITY_TOKEN_FILE of the environment.',
    }),
  ),
  s3TokenService: Type.Optional(
    Type.String({
      pattern: '^https?://[^\\s?#]+$',
      description:
        'URL of the security token service that exchanges web identities. Defaults to https://sts.REGION.amazonaws.com.',
    }),
  ),
  agentImage: Type.Optional(
    Type.String({
      pattern: IMAGE,
      description:
        'Image of the agent for the manifests of `flotilla cluster add -o manifest`, for example registry.example.com/platform/flotilla-agent:0.1.0. If omitted, the manifests use a stock Node image, and their pods fetch the program of the agent from the hub.',
    }),
  ),
  kubeconfig: Type.Optional(
    Type.String({
      minLength: 1,
      description: 'Kubeconfig of the kube-apiserver that is the home. If omitted, the home is embedded.',
    }),
  ),
  context: Type.Optional(Type.String({ minLength: 1, description: 'Context of the kubeconfig.' })),
  logLevel: Type.Unsafe<'debug' | 'info' | 'warn' | 'error' | 'silent'>({
    type: 'string',
    enum: ['debug', 'info', 'warn', 'error', 'silent'],
    default: 'info',
    description: 'Lowest level that is logged.',
  }),
})
export type HubConfig = Static<typeof HubConfig>

/** The value of a setting and its origin: a flag, a variable, a file or `default`. */
export interface ConfigValue {
  readonly value: unknown
  readonly from: string
}

export interface ReadConfig {
  readonly config: HubConfig
  readonly origins: Readonly<Record<string, ConfigValue>>
}

export interface ConfigInput {
  /** By setting name; undefined if not given. */
  readonly flags: Readonly<Record<string, unknown>>
  readonly env?: Readonly<Record<string, string | undefined>>
  readonly file?: { readonly path: string; readonly text: string }
}

/** Merges and checks the settings. An error names the value and its origin. */
export function readHubConfig(input: ConfigInput): ReadConfig {
  const origins: Record<string, ConfigValue> = {}
  const properties = HubConfig.properties as TProperties
  const fromFile = input.file ? readFileSettings(input.file) : {}
  for (const [name, schema] of Object.entries(properties)) {
    const variable = environmentVariable(name)
    const env = (input.env ?? process.env)[variable]
    if (input.flags[name] !== undefined) origins[name] = { value: input.flags[name], from: flagOf(name) }
    else if (env) origins[name] = { value: env, from: variable }
    else if (fromFile[name] !== undefined) origins[name] = { value: fromFile[name], from: input.file!.path }
    else if ('default' in schema) origins[name] = { value: schema.default, from: 'default' }
    const given = origins[name]
    if (given && firstSchemaProblem(schema, given.value)) {
      throw new Stalled(
        'BadConfig',
        `${given.from}: invalid value ${JSON.stringify(given.value)}; ${requirement(schema)}`,
      )
    }
  }
  const unknown = Object.keys(fromFile).find((name) => !Object.hasOwn(properties, name))
  if (unknown !== undefined) {
    throw new Stalled(
      'BadConfig',
      `${input.file!.path}: unknown setting ${JSON.stringify(unknown)}; valid settings: ${Object.keys(properties).join(', ')}`,
    )
  }
  const values = Object.fromEntries(Object.entries(origins).map(([name, { value }]) => [name, value]))
  if (firstSchemaProblem(HubConfig, values)) {
    throw new Stalled('BadConfig', 'missing data directory', { todo: 'give --data DIR, or set FLOTILLA_HUB_DATA' })
  }
  return { config: values as HubConfig, origins }
}

/** The environment of the git program: the search path and the proxy, and no other variable. */
export function programEnvironment(env: Readonly<Record<string, string | undefined>> = process.env): {
  readonly path: string
  readonly environment: Readonly<Record<string, string>>
} {
  const names = ['HTTPS_PROXY', 'HTTP_PROXY', 'NO_PROXY', 'https_proxy', 'http_proxy', 'no_proxy', 'SSL_CERT_FILE']
  const found = names.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]]))
  return { path: env['PATH'] ?? '/usr/local/bin:/usr/bin:/bin', environment: Object.fromEntries(found) }
}

/** What the environment says about an S3 account, in the names that platforms set. */
export function s3Environment(env: Readonly<Record<string, string | undefined>> = process.env): {
  readonly region?: string | undefined
  readonly accessKeyId?: string | undefined
  readonly secretAccessKey?: string | undefined
  readonly sessionToken?: string | undefined
  readonly roleArn?: string | undefined
  readonly tokenFile?: string | undefined
} {
  return {
    region: env['AWS_REGION'] ?? env['AWS_DEFAULT_REGION'],
    accessKeyId: env['AWS_ACCESS_KEY_ID'],
    secretAccessKey: env['AWS_SECRET_ACCESS_KEY'],
    sessionToken: env['AWS_SESSION_TOKEN'],
    roleArn: env['AWS_ROLE_ARN'],
    tokenFile: env['AWS_WEB_IDENTITY_TOKEN_FILE'],
  }
}

/** The settings with their origins, one per line, for `--print-config`. */
export function printConfig({ origins }: ReadConfig): string {
  const names = Object.keys(origins)
  const width = Math.max(...names.map((name) => name.length))
  return names
    .map((name) => `${name.padEnd(width)}  ${String(origins[name]!.value)}  (${origins[name]!.from})\n`)
    .join('')
}

/** `gatewayListen` → `FLOTILLA_HUB_GATEWAY_LISTEN`. */
export function environmentVariable(name: string): string {
  return `FLOTILLA_HUB_${name.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()}`
}

/** Milliseconds of a setting in days; undefined if omitted. */
export function readDays(text: string | undefined): number | undefined {
  const days = readWholeNumber(text?.slice(0, -1) ?? '')
  return days === undefined ? undefined : days * 86_400_000
}

/** What this process does. A part of the roles needs keys and blobs that the other processes have, too. */
export function hubRoles({ roles, kubeconfig, keys, blobs }: HubConfig): readonly HubRole[] {
  const named = splitList(roles)
  const chosen = roles === undefined ? HUB_ROLES : HUB_ROLES.filter((role) => named.includes(role))
  if (chosen.length === HUB_ROLES.length) return HUB_ROLES
  const missing = kubeconfig === undefined ? 'kubeconfig' : keys === undefined ? 'keys' : blobs ? undefined : 'blobs'
  if (missing === undefined) return chosen
  throw new Stalled('BadConfig', `roles ${chosen.join(',')} need ${missing}`, {
    todo:
      missing === 'kubeconfig'
        ? 'leave roles out: a hub with an embedded home is one process'
        : `set ${missing}, which all processes of the hub share, or leave roles out`,
  })
}

/** Time for which a gateway that stops sends its agents to other gateways. */
export function drainMs({ drain, kubeconfig }: HubConfig): number {
  if (drain !== undefined) return (readWholeNumber(drain.slice(0, -1)) ?? 0) * 1000
  return kubeconfig === undefined ? 0 : DRAIN_MS
}

/** The parts of a list with commas; empty if omitted. */
export function splitList(text: string | undefined): string[] {
  return (text ?? '').split(',').flatMap((part) => (part.trim() === '' ? [] : [part.trim()]))
}

function flagOf(name: string): string {
  return `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`
}

function readFileSettings({ path, text }: { readonly path: string; readonly text: string }): Record<string, unknown> {
  const { value } = readYamlDocument(text, { file: path })
  if (value === null) return {}
  if (isObject(value)) return value
  throw new Stalled('BadConfig', `${path}: must contain settings as "name: value" lines`)
}

function requirement(schema: object): string {
  const { pattern, enum: choices, minLength } = schema as { pattern?: string; enum?: string[]; minLength?: number }
  if (choices) return `must be one of ${choices.join(', ')}`
  if (pattern === NAME) return 'must be lower-case letters, digits and hyphens'
  if (pattern === S3_URL) return 'must be s3://BUCKET or s3://BUCKET/PREFIX'
  if (pattern?.startsWith('^https?://')) return 'must be https://HOST:PORT'
  if (pattern?.startsWith('^https://[^')) return 'must be https://HOST, perhaps with a path'
  if (pattern?.startsWith('^https')) return 'must be https://HOST:PORT'
  if (pattern === ROLES) return `must be a list of ${HUB_ROLES.join(', ')}`
  if (pattern === SECONDS) return 'must be a number of seconds, for example 20s'
  if (pattern === IMAGE) return 'must be REGISTRY/NAME:TAG or REGISTRY/NAME@sha256:DIGEST'
  if (pattern === DAYS) return 'must be a number of days, for example 90d'
  if (pattern) return 'must be HOST:PORT, for example 127.0.0.1:7443'
  return minLength ? 'must not be empty' : 'the type is wrong'
}
