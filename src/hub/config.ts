/** The hub's settings: file < environment < flags, read once, each with where it came from. */
import type { Static, TProperties } from 'typebox'
import { firstSchemaProblem } from '../core/schema/check-schema.ts'
import { Stalled } from '../core/errors.ts'
import { isObject } from '../core/json.ts'
import { Type } from '../core/schema/typebox.ts'
import { readYamlDocument } from '../yaml/read/read-yaml.ts'

const ADDRESS = '^(\\[[0-9A-Fa-f:]+\\]|[A-Za-z0-9.-]*):[0-9]{1,5}$'
const Address = (description: string, value: string) => Type.String({ description, default: value, pattern: ADDRESS })

/** Every setting of a hub. */
export const HubConfig = Type.Object({
  data: Type.String({ minLength: 1, description: 'The directory of keys, database and blobs.' }),
  listen: Address(
    'Where the API listens; with kubeconfig, the part of it that the cluster’s own API passes on to the hub.',
    '127.0.0.1:7443',
  ),
  gatewayListen: Address('Where agents connect.', '0.0.0.0:7444'),
  gatewayUrl: Type.Optional(
    Type.String({
      pattern: '^https://([A-Za-z0-9.-]+|\\[[0-9A-Fa-f:]+\\])(:[0-9]{1,5})?$',
      description: 'The address agents use; without it, the host of gatewayListen (or this machine’s name).',
    }),
  ),
  viewUrl: Type.Optional(
    Type.String({
      pattern: '^https://([A-Za-z0-9.-]+|\\[[0-9A-Fa-f:]+\\])(:[0-9]{1,5})?$',
      description:
        'With kubeconfig: the address by which that cluster’s kube-apiserver reaches `listen`; https://NAME.NAMESPACE.svc names a Service that is there. Without it, the host of listen (or this machine’s name).',
    }),
  ),
  consoleListen: Address('Where the live page listens; loopback only.', '127.0.0.1:7480'),
  metricsListen: Type.Optional(
    Type.String({
      pattern: ADDRESS,
      description:
        'Where Prometheus may scrape /metrics besides the console’s address: plain http, for a network you trust.',
    }),
  ),
  webhookListen: Type.Optional(
    Type.String({
      pattern: ADDRESS,
      description: 'Where git servers say that there is news: plain http, to put behind your own TLS.',
    }),
  ),
  sourcePaths: Type.Optional(
    Type.String({
      minLength: 1,
      description:
        'Directories, separated by commas, below which Sources may name local git repositories; none without it.',
    }),
  ),
  gateHosts: Type.Optional(
    Type.String({
      minLength: 1,
      description:
        'Hosts, separated by commas, that gates of rollouts may ask (host, host:port or *.domain); without it, all over https that are not on this machine or its link.',
    }),
  ),
  dialects: Type.Optional(
    Type.String({
      minLength: 1,
      description: 'Other systems whose kinds this hub serves, separated by commas: `fleet`; none without it.',
    }),
  ),
  kubeconfig: Type.Optional(Type.String({ minLength: 1, description: 'Puts the home on this cluster’s API.' })),
  context: Type.Optional(Type.String({ minLength: 1, description: 'The context of that kubeconfig.' })),
  logLevel: Type.Unsafe<'debug' | 'info' | 'warn' | 'error' | 'silent'>({
    type: 'string',
    enum: ['debug', 'info', 'warn', 'error', 'silent'],
    default: 'info',
    description: 'How much is logged.',
  }),
})
export type HubConfig = Static<typeof HubConfig>

/** A setting's value and where it came from. */
export interface ConfigValue {
  readonly value: unknown
  readonly from: string
}

/** The settings and their origins. */
export interface ReadConfig {
  readonly config: HubConfig
  readonly origins: Readonly<Record<string, ConfigValue>>
}

/** Where settings come from. */
export interface ConfigInput {
  /** By setting name; undefined ones were not given. */
  readonly flags: Readonly<Record<string, unknown>>
  readonly env?: Readonly<Record<string, string | undefined>>
  readonly file?: { readonly path: string; readonly text: string }
}

/** Merges and checks; a bad value stops the start with its path and origin. */
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
        `${given.from}: ${JSON.stringify(given.value)} cannot be ${name}: ${wantOf(schema)}`,
      )
    }
  }
  const unknown = Object.keys(fromFile).find((name) => !Object.hasOwn(properties, name))
  if (unknown !== undefined) {
    throw new Stalled('BadConfig', `${input.file!.path}: there is no setting ${JSON.stringify(unknown)}`)
  }
  const values = Object.fromEntries(Object.entries(origins).map(([name, { value }]) => [name, value]))
  if (firstSchemaProblem(HubConfig, values)) {
    throw new Stalled('BadConfig', 'the hub needs a directory: say --data DIR (or FLOTILLA_HUB_DATA)')
  }
  return { config: values as HubConfig, origins }
}

/** What the git program inherits: where programs are, and the proxy. Nothing else of the environment reaches it. */
export function programEnvironment(env: Readonly<Record<string, string | undefined>> = process.env): {
  readonly path: string
  readonly environment: Readonly<Record<string, string>>
} {
  const names = ['HTTPS_PROXY', 'HTTP_PROXY', 'NO_PROXY', 'https_proxy', 'http_proxy', 'no_proxy', 'SSL_CERT_FILE']
  const found = names.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]]))
  return { path: env['PATH'] ?? '/usr/local/bin:/usr/bin:/bin', environment: Object.fromEntries(found) }
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
  throw new Stalled('BadConfig', `${path}: want settings as "name: value" lines`)
}

function wantOf(schema: object): string {
  const { pattern, enum: choices, minLength } = schema as { pattern?: string; enum?: string[]; minLength?: number }
  if (choices) return `want one of ${choices.join(', ')}`
  if (pattern?.startsWith('^https')) return 'want https://host:port'
  if (pattern) return 'want host:port, such as 127.0.0.1:7443'
  return minLength ? 'want some text' : 'it has the wrong type'
}
