/** Reads cluster Secrets of Argo CD: name, address, credentials, labels and the maintenance window. Pure. */
import { fromBase64, fromUtf8, utf8, base64 } from '../../../core/bytes.ts'
import { compact } from '../../../core/compact.ts'
import { isObject } from '../../../core/json.ts'
import type { JsonObject } from '../../../core/json.ts'
import { Secret as Sealed } from '../../../core/secret.ts'
import { kubeconfigFor } from '../../../client/kubeconfig.ts'
import type { Secret } from '../../../kinds/builtin/core.ts'
import type { ClusterWindow } from '../../../kinds/native/cluster-window.ts'
import { SECRET_TYPE, fieldOf } from '../repositories/repository-secrets.ts'
import { MAINTENANCE_WINDOW } from '../annotations.ts'

/** Selects the Secrets that Argo CD reads as clusters. */
export const CLUSTER_SECRETS = `${SECRET_TYPE}=cluster`

/** Times of a maintenance window. */
export type MaintenanceWindow = Pick<ClusterWindow['spec'], 'times' | 'zone'>

/** What a cluster Secret says. */
export interface ReadClusterSecret {
  readonly name: string
  /** The address without slashes at its end; '' when there is none. */
  readonly server: string
  /** The AppProject that the cluster belongs to; '' when there is none. */
  readonly project: string
  /** A kubeconfig of the cluster, as JSON; undefined when the Secret has no credentials that can be used. */
  readonly kubeconfig?: string
  readonly labels: Readonly<Record<string, string>>
  readonly annotations: Readonly<Record<string, string>>
  readonly window?: MaintenanceWindow
  /** Whether the annotation of the window cannot be read, so that the present window must stay. */
  readonly isWindowBroken: boolean
  /** What is refused or has no effect. */
  readonly findings: readonly string[]
}

const MAX_CONFIG = 128 * 1024
/** Annotations of tools, and of this hub, that say nothing about the cluster. */
const FOREIGN = /(?:^kubectl\.kubernetes\.io|^argocd\.argoproj\.io|^flotilla\.dev|\.flotilla\.dev)\//
const ADVICE = 'give the Secret a bearerToken or a client certificate, or run an agent in the cluster'

/** Reads a cluster Secret. Findings never contain values of the Secret's configuration. */
export function readClusterSecret(secret: Secret): ReadClusterSecret {
  const findings: string[] = []
  const server = fieldOf(secret, 'server').trim().replace(/\/+$/, '')
  const name = fieldOf(secret, 'name').trim() || server
  const { labels = {}, annotations = {} } = secret.metadata
  const text = annotations[MAINTENANCE_WINDOW]
  const window = text === undefined ? undefined : readWindow(text)
  if (text !== undefined && window === undefined)
    findings.push(
      `annotation ${MAINTENANCE_WINDOW} must be a cron expression of five fields, a duration and optionally a time zone, for example "0 22 * * 6 8h Europe/Berlin"; the window is not changed`,
    )
  for (const field of ['namespaces', 'clusterResources']) {
    if (!['', 'false'].includes(fieldOf(secret, field)))
      findings.push(`${field} has no effect: limit the agent in the cluster, or the Project of the namespace`)
  }
  return {
    name,
    server,
    project: fieldOf(secret, 'project'),
    ...compact({ kubeconfig: kubeconfigOf(secret, server, findings) }),
    labels: Object.fromEntries(Object.entries(labels).filter(([key]) => key !== SECRET_TYPE)),
    annotations: Object.fromEntries(Object.entries(annotations).filter(([key]) => !FOREIGN.test(key))),
    ...compact({ window }),
    isWindowBroken: text !== undefined && window === undefined,
    findings,
  }
}

const DURATION = /^(?:\d{1,6}(?:h|m|s))+$/

/** Reads `CRON DURATION [ZONE]`; a cron expression has five fields or a short form such as `@daily`. */
export function readWindow(text: string): MaintenanceWindow | undefined {
  if (text.length > 512) return undefined
  const words = text.trim().split(/\s+/)
  const fields = words[0]?.startsWith('@') ? 1 : 5
  const [duration, zone, ...more] = words.slice(fields)
  if (words.length <= fields || more.length > 0 || !DURATION.test(duration ?? '')) return undefined
  return { times: [{ schedule: words.slice(0, fields).join(' '), duration: duration! }], ...compact({ zone }) }
}

function kubeconfigOf(secret: Secret, server: string, findings: string[]): string | undefined {
  const config = readConfig(fieldOf(secret, 'config'))
  if (config === undefined) {
    findings.push('config is not a JSON object of at most 128 KiB')
    return undefined
  }
  const refusal = refusalOf(config, server)
  if (refusal !== undefined) {
    findings.push(`${refusal}; ${ADVICE}`)
    return undefined
  }
  const tls = isObject(config['tlsClientConfig']) ? config['tlsClientConfig'] : {}
  const [cert, key, ca] = ['certData', 'keyData', 'caData'].map((field) => pemOf(tls[field]))
  const token = textOf(config['bearerToken'])
  if (token === undefined && (cert === undefined || key === undefined)) return undefined
  return JSON.stringify(
    kubeconfigFor('argo', {
      server,
      user: 'argo',
      ...compact({
        ca,
        cert: key === undefined ? undefined : cert,
        key: cert === undefined || key === undefined ? undefined : new Sealed(key),
        token: token === undefined ? undefined : new Sealed(token),
        serverName: textOf(tls['serverName']),
      }),
    }),
  )
}

function readConfig(text: string): JsonObject | undefined {
  if (text.trim() === '') return {}
  if (text.length > MAX_CONFIG) return undefined
  try {
    const read: unknown = JSON.parse(text)
    return isObject(read) ? read : undefined
  } catch {
    return undefined
  }
}

/** Why credentials cannot be used; the hub runs no programs and verifies each server. */
function refusalOf(config: JsonObject, server: string): string | undefined {
  const tls = isObject(config['tlsClientConfig']) ? config['tlsClientConfig'] : {}
  if (config['execProviderConfig']) return 'config.execProviderConfig is refused: the hub runs no programs'
  if (config['awsAuthConfig']) return 'config.awsAuthConfig is refused: the hub has no identity of AWS'
  if (textOf(config['proxyUrl'])) return 'config.proxyUrl is refused: the address must be reachable directly'
  if (textOf(config['username']) ?? textOf(config['password']))
    return 'config.username and password are refused: Kubernetes has no passwords any more'
  const hasCredential = textOf(config['bearerToken']) ?? textOf(tls['keyData'])
  if (hasCredential === undefined) return undefined
  if (tls['insecure'] === true)
    return 'config.tlsClientConfig.insecure is refused: set caData, so that the server can be verified'
  const url = URL.canParse(server) ? new URL(server) : undefined
  if (url?.protocol !== 'https:' || url.username !== '') return 'server must be https://HOST:PORT'
  return undefined
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}

/** Certificates and keys are base64 of PEM in Argo CD's configuration. */
function pemOf(value: unknown): string | undefined {
  const text = textOf(value)
  if (text === undefined) return undefined
  try {
    return fromUtf8(fromBase64(text))
  } catch {
    return undefined
  }
}

/** The kubeconfig as a Secret of the hub has it. */
export function encodedKubeconfig(kubeconfig: string): Record<string, string> {
  return { value: base64(utf8(kubeconfig)) }
}
