// Tested by src/dialects/flux/controllers/helm-sources.sim.test.ts.
/** Compiles a HelmRepository, an OCIRepository, a Bucket or a HelmChart to a Source. */
import { compact } from '../../../core/compact.ts'
import { isObject } from '../../../core/json.ts'
import type { JsonObject } from '../../../core/json.ts'
import { formatDuration, parseDuration } from '../../../core/time/duration.ts'
import { SECRETS_ANNOTATION } from '../../../kinds/fields/secrets-annotation.ts'
import type { KubeObject, ResourceType } from '../../../kinds/meta.ts'
import { Source } from '../../../kinds/native/source.ts'
import type { Fields } from '../../field-table.ts'
import { readFields } from '../../read-fields.ts'
import type { Finding } from '../../read-fields.ts'
import { BUCKET, HELM_CHART, HELM_REPOSITORY, OCI_REPOSITORY } from '../source-fields.ts'
import { HelmChart } from '../source-kinds.ts'
import type { Bucket, HelmRepository, OCIRepository } from '../source-kinds.ts'
import { madeFor } from './made-objects.ts'
import type { Desired } from './made-objects.ts'

/** The annotation that asks Flux for a reconciliation now. */
export const REQUESTED = 'reconcile.fluxcd.io/requestedAt'
// A new value starts a fetch at once.
const POLL = 'flotilla.dev/poll'

const DEFAULT_TIMEOUT = '60s'
const DEFAULT_INTERVAL_MS = 60_000
const SHORTEST_MS = 5000

/** A spec, and findings about it. */
export interface ReadSpec<T> {
  readonly spec: T
  readonly findings: readonly Finding[]
}

/** Reads the fields of an object by its table; findings say what is refused and what has no effect. */
export function readSpec(spec: unknown, fields: Fields): { read: JsonObject; findings: Finding[] } {
  const findings: Finding[] = []
  const report = (level: Finding['level'], _path: unknown, message: string): void =>
    void findings.push({ level, message: `spec.${message}` })
  const read = readFields(isObject(spec) ? spec : {}, fields, { system: 'Flux', report })
  return { read, findings }
}

/** Text of a field; empty if it has none. */
export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

/** Objects of a list. */
export function listOf(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : []
}

/** Texts of a list. */
function textsOf(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((item): item is string => typeof item === 'string') : []
}

/** The name in a reference to an object of the same namespace; empty if there is none. */
function nameIn(value: unknown): string {
  return isObject(value) ? textOf(value['name']) : ''
}

/** Findings about fields that all sources have: provider, interval and url. */
function commonFindings(read: JsonObject, url: RegExp | undefined): Finding[] {
  const findings: Finding[] = []
  const wrong = (message: string): void => void findings.push({ level: 'error', message: `spec.${message}` })
  const provider = textOf(read['provider']) || 'generic'
  if (provider !== 'generic') {
    wrong(`provider is ${JSON.stringify(provider)}, which is not served; use generic with a Secret in secretRef`)
  }
  for (const field of ['interval', 'timeout']) {
    const value = textOf(read[field])
    if (value !== '' && !(Number(parseDuration(value)) > 0)) {
      wrong(`${field} is ${JSON.stringify(value)}; write a duration such as 5m`)
    }
  }
  if (url && !url.test(textOf(read['url']))) {
    wrong(`url is ${JSON.stringify(textOf(read['url']))}; write an address such as ${EXAMPLES[url.source] ?? ''}`)
  }
  return findings
}

const OCI_URL = /^oci:\/\/[^/]+/
const HTTP_URL = /^https?:\/\/[^/]+/
const EXAMPLES: Readonly<Record<string, string>> = {
  [OCI_URL.source]: 'oci://ghcr.io/stefanprodan/manifests/podinfo',
  [HTTP_URL.source]: 'https://stefanprodan.github.io/podinfo',
}

/** A Source for an object of Flux; `follows` is its address. */
export function sourceFor<T extends KubeObject>(
  owner: T,
  ownerKind: ResourceType<T>,
  follows: Partial<Source['spec']>,
  read: JsonObject,
): Desired {
  const { annotations = {} } = owner.metadata
  const passed = [
    [POLL, annotations[REQUESTED]],
    [SECRETS_ANNOTATION, annotations[SECRETS_ANNOTATION]],
  ].filter(([, value]) => value !== undefined)
  const intervalMs = parseDuration(textOf(read['interval'])) ?? DEFAULT_INTERVAL_MS
  return madeFor(owner, ownerKind, {
    kind: Source,
    annotations: Object.fromEntries(passed) as Record<string, string>,
    spec: compact({
      ...follows,
      credentials: nameIn(read['secretRef']) || undefined,
      certificates: nameIn(read['certSecretRef']) || undefined,
      interval: formatDuration(Math.max(SHORTEST_MS, intervalMs)),
      timeout: textOf(read['timeout']) || DEFAULT_TIMEOUT,
      suspend: read['suspend'] === true ? true : undefined,
    }),
  })
}

/** A HelmRepository as Flux reads it. */
export interface HelmRepositorySpec {
  readonly url: string
  readonly isOci: boolean
  readonly suspend: boolean
  readonly read: JsonObject
}

/** The spec, and findings about it. */
export function readHelmRepository({ spec }: HelmRepository): ReadSpec<HelmRepositorySpec> {
  const { read, findings } = readSpec(spec, HELM_REPOSITORY)
  const type = textOf(read['type']) || 'default'
  const url = textOf(read['url'])
  if (type !== 'default' && type !== 'oci') {
    findings.push({ level: 'error', message: `spec.type is ${JSON.stringify(type)}; use default or oci` })
  }
  const isOci = type === 'oci'
  findings.push(...commonFindings(read, isOci ? OCI_URL : HTTP_URL))
  return { findings, spec: { url, isOci, suspend: read['suspend'] === true, read } }
}

/** An OCIRepository as Flux reads it. */
export interface OciRepositorySpec {
  readonly ref: { readonly digest?: string; readonly semver?: string; readonly tag?: string }
  readonly ignore: string
  readonly suspend: boolean
  readonly read: JsonObject
}

/** The spec, and findings about it. */
export function readOciRepository({ spec }: OCIRepository): ReadSpec<OciRepositorySpec> {
  const { read, findings } = readSpec(spec, OCI_REPOSITORY)
  findings.push(...commonFindings(read, OCI_URL))
  const ref = isObject(read['ref']) ? read['ref'] : {}
  const digest = textOf(ref['digest'])
  if (digest !== '' && !/^sha256:[0-9a-f]{64}$/.test(digest)) {
    findings.push({
      level: 'error',
      message: `spec.ref.digest is ${JSON.stringify(digest)}; write sha256: and 64 hexadecimal digits`,
    })
  }
  return { findings, spec: { ref, ignore: textOf(read['ignore']), suspend: read['suspend'] === true, read } }
}

/** What an OCIRepository follows. */
export function followsOci({ ref, read }: OciRepositorySpec): Partial<Source['spec']> {
  const { digest, semver, tag } = ref
  const layer = isObject(read['layerSelector']) ? textOf(read['layerSelector']['mediaType']) : ''
  return {
    oci: compact({
      url: textOf(read['url']).replace(/\/+$/, ''),
      ...(digest ? { digest: digest as `sha256:${string}` } : semver ? { semver } : { tag: tag || 'latest' }),
      mediaType: layer || undefined,
      insecure: read['insecure'] === true ? true : undefined,
    }),
  }
}

/** A Bucket as Flux reads it. */
export interface BucketSpec {
  readonly ignore: string
  readonly suspend: boolean
  readonly read: JsonObject
}

/** The spec, and findings about it. */
export function readBucket({ spec }: Bucket): ReadSpec<BucketSpec> {
  const { read, findings } = readSpec(spec, BUCKET)
  findings.push(...commonFindings(read, undefined))
  const wrong = (message: string): void => void findings.push({ level: 'error', message: `spec.${message}` })
  const endpoint = textOf(read['endpoint'])
  if (!/^[A-Za-z0-9.[\]:-]+$/.test(endpoint)) {
    wrong(`endpoint is ${JSON.stringify(endpoint)}; write a host such as minio.example.com, without https://`)
  }
  const name = textOf(read['bucketName'])
  if (!/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(name)) {
    wrong(`bucketName is ${JSON.stringify(name)}, which is no name of a bucket`)
  }
  return { findings, spec: { ignore: textOf(read['ignore']), suspend: read['suspend'] === true, read } }
}

/** The bucket that is followed. */
export function followsBucket({ read }: BucketSpec): Partial<Source['spec']> {
  const scheme = read['insecure'] === true ? 'http' : 'https'
  return {
    s3: compact({
      url: `${scheme}://${textOf(read['endpoint'])}/${textOf(read['bucketName'])}`,
      prefix: textOf(read['prefix']).replace(/^\/+/, '') || undefined,
      region: textOf(read['region']) || undefined,
    }),
  }
}

/** A HelmChart as Flux reads it. */
export interface HelmChartSpec {
  readonly chart: string
  readonly version: string
  readonly source: { readonly kind: string; readonly name: string }
  readonly valuesFiles: readonly string[]
  readonly ignoreMissing: boolean
  /** Whether the version has the revision of the source. */
  readonly hasRevision: boolean
  readonly suspend: boolean
  readonly read: JsonObject
}

const CHART_SOURCES = ['HelmRepository', 'GitRepository']

/** The spec, and findings about it. */
export function readHelmChart({ spec }: Pick<HelmChart, 'spec'>): ReadSpec<HelmChartSpec> {
  const { read, findings } = readSpec(spec, HELM_CHART)
  const wrong = (message: string): void => void findings.push({ level: 'error', message: `spec.${message}` })
  findings.push(...commonFindings(read, undefined))
  const source = isObject(read['sourceRef']) ? read['sourceRef'] : {}
  const kind = textOf(source['kind'])
  if (!CHART_SOURCES.includes(kind)) {
    wrong(`sourceRef.kind is ${JSON.stringify(kind)}; use one of ${CHART_SOURCES.join(', ')}`)
  }
  const chart = textOf(read['chart'])
  if (kind === 'HelmRepository' && !/^[A-Za-z0-9][A-Za-z0-9._/-]*$/.test(chart)) {
    wrong(`chart is ${JSON.stringify(chart)}; write the name of a chart of the HelmRepository`)
  }
  const strategy = textOf(read['reconcileStrategy']) || 'ChartVersion'
  if (strategy !== 'ChartVersion' && strategy !== 'Revision') {
    wrong(`reconcileStrategy is ${JSON.stringify(strategy)}; use ChartVersion or Revision`)
  }
  return {
    findings,
    spec: {
      chart,
      version: textOf(read['version']) || '*',
      source: { kind, name: textOf(source['name']) },
      valuesFiles: textsOf(read['valuesFiles']),
      ignoreMissing: read['ignoreMissingValuesFiles'] === true,
      hasRevision: strategy === 'Revision' && kind !== 'HelmRepository',
      suspend: read['suspend'] === true,
      read,
    },
  }
}

/** The Source of a chart of a HelmRepository. */
export function sourceOfChart(object: HelmChart, chart: HelmChartSpec, repository: HelmRepositorySpec): Desired {
  const { interval, suspend } = chart.read
  const read = { ...repository.read, interval, suspend: suspend === true || repository.suspend }
  const url = repository.url.replace(/\/+$/, '')
  const follows: Partial<Source['spec']> = repository.isOci
    ? {
        oci: compact({
          url: `${url}/${chart.chart}`,
          ...(isExact(chart.version) ? { tag: chart.version.replaceAll('+', '_') } : { semver: chart.version }),
          insecure: repository.read['insecure'] === true ? true : undefined,
        }),
      }
    : { helm: { url, chart: chart.chart, version: chart.version } }
  return sourceFor(object, HelmChart, follows, read)
}

/** A version that is pulled without a look at the other tags. */
function isExact(version: string): boolean {
  return /^\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?$/.test(version)
}
