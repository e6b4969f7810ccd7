/**
 * Helm repositories: reads index.yaml, chooses the newest version in a range, and checks the archive's digest and
 * signature. Also fetches a single archive by its address.
 */
import { utf8 } from '../../core/bytes.ts'
import { digestOf, digestOfJson } from '../../core/crypto/digest.ts'
import type { Digest } from '../../core/crypto/digest.ts'
import { isObject } from '../../core/json.ts'
import { compareVersions } from '../../core/text/semver.ts'
import type { Source } from '../../kinds/native/source.ts'
import { readYamlDocument } from '../../yaml/read/read-yaml.ts'
import { YamlError } from '../../yaml/yaml.ts'
import { credentialsFor, isBoundTo } from '../credentials.ts'
import { reusablePrevious, isAccepted } from '../fetch-request.ts'
import type { FetchContext, FetchOutcome } from '../fetch-request.ts'
import { pollIntervalMs } from '../poll-interval.ts'
import { versionOf } from '../git/choose-commit.ts'
import type { HttpAnswer } from '../http-get.ts'
import { rewriteToMirror } from '../mirrors.ts'
import { chooseVersion, MAX_INDEX, readIndex } from './helm-index.ts'
import type { ChartVersion, HelmIndex } from './helm-index.ts'
import { verifyProvenance } from '../signatures/provenance.ts'
import { SourceError } from '../source-error.ts'
import { parseSourceUrl } from '../source-url.ts'
import type { SourceScheme } from '../source-url.ts'
import { storeFiles } from '../store-files.ts'
import { extractFiles } from '../untar.ts'

type HelmSpec = NonNullable<Source['spec']['helm']>

const SCHEMES: readonly SourceScheme[] = ['https', 'http']
const MAX_CHART = 64 * 1024 * 1024
const MAX_PROVENANCE = 1024 * 1024

/** Fetches a chart: the newest version in a repository, or the archive at an address; or the index of a repository. */
export async function fetchHelmChart(spec: HelmSpec, context: FetchContext): Promise<FetchOutcome> {
  if (spec.index) return fetchIndex(spec, context)
  return spec.chart === undefined
    ? fetchArchive(spec, context)
    : fetchFromIndex({ ...spec, chart: spec.chart }, context)
}

/** Fetches an archive by its address; the version is in its Chart.yaml. */
async function fetchArchive(spec: HelmSpec, context: FetchContext): Promise<FetchOutcome> {
  if (spec.version !== undefined) {
    throw new SourceError(
      'BadSource',
      `spec.helm.version is for a chart of a repository, and spec.helm.url is an archive; name spec.helm.chart, or leave the version out.`,
    )
  }
  const archive = await get(spec.url, MAX_CHART, context)
  const digest = digestOf(archive.body)
  const { followed, same } = reusablePrevious(context)
  if (same?.commit === digest) return { kind: 'Same' }
  const chart = openChart(archive.body, fileOf(spec.url))
  const found = { version: chart.version, url: spec.url, digest }
  return (followed ? whyHeld(found, followed, context) : undefined) ?? (await store(found, { chart, archive }, context))
}

const LISTED = 'charts.json'
/** Hints are answered by what was heard within a second. */
const HINT_AGE_MS = 1000

/** Reads an index; the artifact lists the charts and their versions. */
async function fetchIndex(spec: HelmSpec, context: FetchContext): Promise<FetchOutcome> {
  if (spec.chart !== undefined || spec.version !== undefined) {
    throw new SourceError(
      'BadSource',
      'spec.helm.index reads the index alone; leave spec.helm.chart and spec.helm.version out.',
    )
  }
  const url = indexUrlOf(spec)
  const { digest, bytes, charts } = await indexAt(url, context)
  if (reusablePrevious(context).same?.commit === digest) return { kind: 'Same' }
  const listed = [...charts].map(([chart, versions]) => [chart, versions.map(({ version }) => version)])
  const files = new Map([[LISTED, utf8(JSON.stringify(Object.fromEntries(listed)))]])
  const stored = await storeFiles(files, context.spec, context.blobs)
  return { kind: 'New', artifact: { ...stored, revision: digest, commit: digest, fetchedBytes: bytes, from: url } }
}

function indexUrlOf({ url }: HelmSpec): string {
  return `${url.replace(/\/+$/, '')}/index.yaml`
}

/** The index of a repository as this reader sees it. Readers share no answer. */
async function indexAt(url: string, context: FetchContext): Promise<HelmIndex> {
  const { credentials, indexes, isHinted, spec } = context
  const key = digestOfJson({ url, mirrors: context.mirrors, reader: credentials ?? null })
  const maxAgeMs = isHinted ? HINT_AGE_MS : pollIntervalMs(spec) * 0.8
  return await indexes.answer(key, maxAgeMs, async () => readIndex((await get(url, MAX_INDEX, context)).body, url))
}

async function fetchFromIndex(spec: HelmSpec & { chart: string }, context: FetchContext): Promise<FetchOutcome> {
  const indexUrl = indexUrlOf(spec)
  const found = chooseVersion(await indexAt(indexUrl, context), spec, indexUrl)
  const { followed, same } = reusablePrevious(context)
  const held = followed ? whyHeld(found, followed, context) : undefined
  if (held) return held
  // Without a digest in the index, a changed archive cannot be detected: an unchanged version counts as unchanged
  // content.
  if (same && versionOfRevision(same.revision) === found.version && (found.digest ?? same.commit) === same.commit) {
    return { kind: 'Same' }
  }
  const url = URL.parse(found.url, spec.url.replace(/\/*$/, '/'))?.href
  if (url === undefined) {
    const why = `chart ${spec.chart} ${found.version}: ${JSON.stringify(found.url)} is no address of an archive`
    throw new SourceError('BadIndex', `${indexUrl}: ${why}.`, { retry: true })
  }
  const archive = await get(url, MAX_CHART, context)
  const digest = digestOf(archive.body)
  if (found.digest !== undefined && found.digest !== digest) {
    throw new SourceError(
      'DigestMismatch',
      `${url} has the digest ${digest}, and index.yaml says ${found.digest}; the archive or the index was damaged or replaced.`,
      { retry: true },
    )
  }
  const changed = followed && found.digest === undefined ? whyHeld({ ...found, digest }, followed, context) : undefined
  if (changed) return changed
  const chart = openChart(archive.body, `${spec.chart}-${found.version}.tgz`)
  return store({ version: found.version, url, digest }, { chart, archive }, context)
}

/** An extracted chart, with the version of its Chart.yaml. */
interface OpenChart {
  readonly files: ReadonlyMap<string, Uint8Array>
  readonly version: string
}

function openChart(archive: Uint8Array, name: string): OpenChart {
  const files = extractFiles(archive, { name, stripFirst: true })
  const bytes = files.get('Chart.yaml')
  if (!bytes) throw new SourceError('BadArchive', `${name} is no chart: it has no Chart.yaml.`)
  let value: unknown
  try {
    value = readYamlDocument(bytes, { file: 'Chart.yaml', duplicateKeys: 'last' }).value
  } catch (caught) {
    if (!(caught instanceof YamlError)) throw caught
    throw new SourceError('BadArchive', `${name}: ${caught.message}.`, { cause: caught })
  }
  const version = isObject(value) ? value['version'] : undefined
  if (typeof version !== 'string' || !/^[0-9A-Za-z.+-]{1,128}$/.test(version)) {
    throw new SourceError('BadArchive', `${name} is no chart: its Chart.yaml has no version.`)
  }
  return { files, version }
}

async function store(
  { version, url, digest }: ChartVersion & { readonly digest: Digest },
  { chart, archive }: { readonly chart: OpenChart; readonly archive: HttpAnswer },
  context: FetchContext,
): Promise<FetchOutcome> {
  if (context.spec.helm?.verify) {
    const provenance = await get(`${url}.prov`, MAX_PROVENANCE, context)
    await verifyProvenance({
      provenance: provenance.body,
      keyring: context.credentials?.keyring,
      file: fileOf(url),
      digest,
      now: context.clock.now(),
    })
  }
  const stored = await storeFiles(chart.files, context.spec, context.blobs)
  const artifact = {
    ...stored,
    revision: `${version}@${digest}`,
    commit: digest,
    fetchedBytes: archive.body.byteLength,
    from: archive.url,
  }
  return { kind: 'New', artifact }
}

/** The last path segment of an address, for messages and signatures. */
function fileOf(url: string): string {
  const last = new URL(url).pathname.split('/').at(-1) ?? ''
  try {
    return decodeURIComponent(last)
  } catch {
    return last // a "%" that escapes nothing stands for itself
  }
}

function versionOfRevision(revision: string): string {
  return revision.slice(0, Math.max(0, revision.indexOf('@')))
}

/** Returns a Held outcome for an older version, and for changed content of the same version. */
function whyHeld(
  found: ChartVersion,
  last: NonNullable<FetchContext['previous']>,
  { spec }: FetchContext,
): FetchOutcome | undefined {
  const was = versionOfRevision(last.revision)
  const revision = `${found.version}@${found.digest ?? 'unknown'}`
  const accept = found.digest ?? found.version
  if (isAccepted(spec, accept, found.version)) return undefined
  if (was === found.version) {
    if (found.digest === undefined || found.digest === last.commit) return undefined
    const message = `Version ${was} has other content than before (${found.digest}, was ${last.commit})`
    return { kind: 'Held', revision, reason: 'ContentChanged', message }
  }
  const [before, now] = [versionOf(was), versionOf(found.version)]
  if (!before || !now || compareVersions(now, before) > 0) return undefined
  const message = `The newest version in the range is ${found.version} now, older than ${was}`
  return { kind: 'Held', revision, reason: 'WentBack', message }
}

async function get(url: string, maxBytes: number, context: FetchContext): Promise<HttpAnswer> {
  const asked = parseSourceUrl(url.replace(/[?#].*$/, ''), SCHEMES)
  const target = rewriteToMirror(asked, context.mirrors, SCHEMES)
  const given = context.credentials
  // A repository may name archives on another host; its credential is not sent there.
  const isHome = asked.host === parseSourceUrl(context.spec.helm!.url.replace(/[?#].*$/, ''), SCHEMES).host
  const mayOmit =
    target.isMirror || !isHome || (given !== undefined && given.password === undefined && !isBoundTo(given, target.url))
  const credentials = credentialsFor(target.url, given, mayOmit)
  const query = target.isMirror ? '' : (/\?.*$/.exec(url)?.[0] ?? '')
  const answer = await context.http({
    url: `${target.url.text}${query}`,
    credentials,
    maxBytes,
    signal: context.signal,
  })
  if (answer.status === 200) return answer
  const says: Readonly<Record<number, string>> = {
    401: 'the server refuses these credentials',
    403: 'the server refuses these credentials',
    404: 'there is nothing at this address',
  }
  throw new SourceError(
    answer.status === 404
      ? 'NotFound'
      : answer.status === 401 || answer.status === 403
        ? 'AuthenticationFailed'
        : 'FetchFailed',
    `${target.url.text}: ${says[answer.status] ?? 'the server failed'} (HTTP ${answer.status}).`,
    { retry: true },
  )
}
