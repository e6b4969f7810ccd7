/**
 * OCI registries: manifests by tag, range or digest; token authentication; layers are checked against their digests.
 */
import { compact } from '../core/compact.ts'
import { fromUtf8 } from '../core/bytes.ts'
import { digestOf, isDigest } from '../core/crypto/digest.ts'
import type { Digest } from '../core/crypto/digest.ts'
import { isObject } from '../core/json.ts'
import type { JsonObject } from '../core/json.ts'
import { compareVersions } from '../core/text/semver.ts'
import type { Source } from '../kinds/native/source.ts'
import { authorizationOf, credentialsFor, isBoundTo, URLS_ANNOTATION } from './credentials.ts'
import type { Credentials } from './credentials.ts'
import { reusablePrevious, isAccepted } from './fetch-request.ts'
import type { FetchContext, FetchOutcome } from './fetch-request.ts'
import { newestVersion, versionOf } from './git/choose-commit.ts'
import type { HttpAnswer } from './http-get.ts'
import { rewriteToMirror } from './mirrors.ts'
import { SourceError } from './source-error.ts'
import { parseSourceUrl } from './source-url.ts'
import type { SourceUrl } from './source-url.ts'
import { storeFiles } from './store-files.ts'
import { checkPath } from './tree-entries.ts'
import { extractFiles } from './untar.ts'

type OciSpec = NonNullable<Source['spec']['oci']>

const MAX_MANIFEST = 4 * 1024 * 1024
const MAX_LAYER = 256 * 1024 * 1024
const MAX_TAG_PAGES = 20
const MANIFESTS = 'application/vnd.oci.image.manifest.v1+json, application/vnd.docker.distribution.manifest.v2+json'
const HELM_LAYER = 'application/vnd.cncf.helm.chart.content.v1.tar+gzip'
const HELM_PROVENANCE = 'application/vnd.cncf.helm.chart.provenance.v1.prov'

interface Registry {
  readonly url: SourceUrl
  get(path: string, options: { readonly accept?: string; readonly maxBytes: number }): Promise<HttpAnswer>
}

export async function fetchOci(spec: OciSpec, context: FetchContext): Promise<FetchOutcome> {
  const asked = parseSourceUrl(spec.url, ['oci'])
  const { url, isMirror } = rewriteToMirror(asked, context.mirrors, ['oci'])
  const { followed, same } = reusablePrevious(context)
  const credentials = credentialsFor(url, context.credentials, isMirror)
  if (spec.insecure && authorizationOf(credentials) !== undefined) {
    throw new SourceError(
      'CredentialsOverHttp',
      `Secret ${credentials!.secret} is not sent over plain http to ${url.text}; take spec.oci.insecure or spec.credentials out.`,
    )
  }
  const registry = registryOf(url, credentials, context)
  if (spec.digest !== undefined && same?.commit === spec.digest) {
    await confirmReadable(registry, spec.digest, context.signal)
    return { kind: 'Same' }
  }
  const name =
    spec.digest ?? (spec.semver === undefined ? (spec.tag ?? 'latest') : await newestTag(registry, spec.semver))
  const manifest = await registry.get(`manifests/${name}`, { accept: MANIFESTS, maxBytes: MAX_MANIFEST })
  const digest = digestOf(manifest.body)
  if (spec.digest !== undefined && digest !== spec.digest)
    throw mismatch(`The manifest of ${spec.url}`, digest, spec.digest)
  if (same?.commit === digest) return { kind: 'Same' }
  const revision = spec.digest === undefined ? `${name}@${digest}` : digest
  if (spec.semver !== undefined && followed && !isAccepted(context.spec, digest, name)) {
    const last = followed.revision.split('@')[0] ?? ''
    const [was, is] = [versionOf(last), versionOf(name)]
    if (last === name) {
      const message = `Version ${name} has other content than before (${digest}, was ${followed.commit})`
      return { kind: 'Held', revision, reason: 'ContentChanged', message }
    }
    if (was && is && compareVersions(is, was) < 0) {
      const message = `The newest tag in the range is ${name} now, older than ${last}`
      return { kind: 'Held', revision, reason: 'WentBack', message }
    }
  }
  const { files, bytes } = await readLayers(manifest.body, spec.mediaType, registry)
  const stored = await storeFiles(files, context.spec, context.blobs)
  const fetchedBytes = bytes + manifest.body.byteLength
  return { kind: 'New', artifact: { ...stored, revision, commit: digest, fetchedBytes, from: url.text } }
}

/** The reasons of a registry that does not let a reader in. Some registries say that there is nothing. */
const REFUSALS: ReadonlySet<string> = new Set(['AuthenticationFailed', 'NotFound'])

/**
 * A digest never changes, but the right to read it can end. A registry that does not answer takes no right away, so
 * the artifact stays.
 */
async function confirmReadable(registry: Registry, digest: string, signal: AbortSignal): Promise<void> {
  try {
    await registry.get(`manifests/${digest}`, { accept: MANIFESTS, maxBytes: MAX_MANIFEST })
  } catch (caught) {
    signal.throwIfAborted()
    if (caught instanceof SourceError && REFUSALS.has(caught.reason)) throw caught
  }
}

function mismatch(what: string, is: Digest, should: string): SourceError {
  return new SourceError('DigestMismatch', `${what} has the digest ${is}, not ${should}.`, { retry: true })
}

async function readLayers(
  manifest: Uint8Array,
  mediaType: string | undefined,
  registry: Registry,
): Promise<{ readonly files: Map<string, Uint8Array>; readonly bytes: number }> {
  const value = parsed(manifest)
  const layers = isObject(value) && Array.isArray(value['layers']) ? value['layers'].filter(isObject) : []
  if (layers.length === 0) {
    throw new SourceError(
      'BadManifest',
      `${registry.url.text} holds no layers; an index of several platforms is no source.`,
    )
  }
  const wanted =
    mediaType === undefined ? layers : layers.filter((layer) => layer['mediaType'] === mediaType).slice(0, 1)
  if (wanted.length === 0) {
    const types = layers.map((layer) => String(layer['mediaType'])).join(', ')
    throw new SourceError('NoLayer', `${registry.url.text} has no layer of type ${mediaType ?? ''}; it has ${types}.`)
  }
  const files = new Map<string, Uint8Array>()
  let bytes = 0
  for (const layer of wanted) {
    const { mediaType: type, digest } = layer
    if (type === HELM_PROVENANCE) continue
    if (!isDigest(digest))
      throw new SourceError('BadManifest', `${registry.url.text} names a layer without a sha256 digest.`)
    const { body } = await registry.get(`blobs/${digest}`, { maxBytes: MAX_LAYER })
    if (digestOf(body) !== digest) throw mismatch(`A layer of ${registry.url.text}`, digestOf(body), digest)
    bytes += body.byteLength
    for (const [path, content] of filesOfLayer(layer, body)) files.set(path, content)
  }
  return { files, bytes }
}

function filesOfLayer(layer: JsonObject, body: Uint8Array): ReadonlyMap<string, Uint8Array> {
  const type = typeof layer['mediaType'] === 'string' ? layer['mediaType'] : ''
  const annotations = isObject(layer['annotations']) ? layer['annotations'] : {}
  const title = annotations['org.opencontainers.image.title']
  if (/tar(\+gzip)?$|tar\.gzip$/.test(type)) {
    return extractFiles(body, { name: `layer ${String(layer['digest'])}`, stripFirst: type === HELM_LAYER })
  }
  if (typeof title !== 'string') {
    throw new SourceError(
      'BadManifest',
      `Layer ${String(layer['digest'])} of type ${type} is neither an archive nor a file with a title.`,
    )
  }
  checkPath(title)
  return new Map([[title, body]])
}

async function newestTag(registry: Registry, range: string): Promise<string> {
  const tags: string[] = []
  let path: string | undefined = 'tags/list'
  for (let page = 0; path !== undefined && page < MAX_TAG_PAGES; page++) {
    const answer: HttpAnswer = await registry.get(path, { maxBytes: MAX_MANIFEST })
    const value = parsed(answer.body)
    const more = isObject(value) && Array.isArray(value['tags']) ? value['tags'] : []
    tags.push(
      ...more.filter((tag): tag is string => typeof tag === 'string' && /^[A-Za-z0-9_][\w.-]{0,127}$/.test(tag)),
    )
    const next = /<[^>]*\?([^>]*)>\s*;\s*rel="?next"?/.exec(String(answer.headers['link'] ?? ''))?.[1]
    path = next === undefined ? undefined : `tags/list?${next}`
  }
  // Tags cannot contain "+"; Helm writes "_" instead.
  const newest = newestVersion(tags, range)
  if (newest !== undefined) return newest
  const some = tags.slice(0, 5).join(', ')
  throw new SourceError(
    'VersionNotFound',
    `${registry.url.text} has no tag in the range ${JSON.stringify(range)}; it has ${some || 'none'}.`,
    { retry: true },
  )
}

function parsed(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(fromUtf8(bytes))
  } catch (error) {
    throw new SourceError('BadManifest', 'The registry answered with text that is not JSON.', {
      retry: true,
      cause: error,
    })
  }
}

/** Registries on loopback addresses are for development, as in docker. */
function isPlain({ host }: SourceUrl, credentials: Credentials | undefined, { spec }: FetchContext): boolean {
  if (spec.oci?.insecure) return true
  return credentials?.ca === undefined && (host === 'localhost' || host === '127.0.0.1')
}

function registryOf(url: SourceUrl, credentials: Credentials | undefined, context: FetchContext): Registry {
  const port = url.port === '' ? '' : `:${url.port}`
  const base = `${isPlain(url, credentials, context) ? 'http' : 'https'}://${url.host}${port}/v2/${url.path.replace(/^\/|\/$/g, '')}`
  let token: string | undefined
  const { http, signal } = context
  return {
    url,
    get: async (path, { accept, maxBytes }) => {
      const headers: Record<string, string> = accept === undefined ? {} : { accept }
      // No password or token is sent before the registry asks for one.
      const ask = (authorization: string | undefined): Promise<HttpAnswer> =>
        http({ url: `${base}/${path}`, headers, credentials: tlsOf(credentials), authorization, maxBytes, signal })
      let answer = await ask(token)
      if (answer.status === 401) {
        token = await authorize(answer, { url, credentials, context })
        answer = await ask(token)
      }
      if (answer.status === 200) return answer
      const isAuth = answer.status === 401 || answer.status === 403
      const reason = answer.status === 404 ? 'NotFound' : isAuth ? 'AuthenticationFailed' : 'FetchFailed'
      const says =
        answer.status === 404
          ? 'it is not there'
          : isAuth
            ? 'the registry refuses these credentials'
            : 'the registry failed'
      throw new SourceError(reason, `${url.text} ${path}: ${says} (HTTP ${answer.status}).`, { retry: true })
    },
  }
}

// Client certificates are used at once; passwords and tokens only where `authorize` allows.
function tlsOf(credentials: Credentials | undefined): Credentials | undefined {
  if (!credentials) return undefined
  const { password: _password, token: _token, ...rest } = credentials
  return rest
}

async function authorize(
  refusal: HttpAnswer,
  { url, credentials, context }: { url: SourceUrl; credentials: Credentials | undefined; context: FetchContext },
): Promise<string | undefined> {
  const challenge = String(refusal.headers['www-authenticate'] ?? '')
  if (/^basic/i.test(challenge)) return authorizationOf(credentials)
  const realm = /realm="([^"]*)"/i.exec(challenge)?.[1]
  if (!/^bearer/i.test(challenge) || realm === undefined) return authorizationOf(credentials)
  const service = /service="([^"]*)"/i.exec(challenge)?.[1]
  const scope = `repository:${url.path.replace(/^\/|\/$/g, '')}:pull`
  const target = parseSourceUrl(realm.replace(/\?.*$/, ''), ['https', 'http'])
  const isHome = target.host === url.host && target.port === url.port
  if (authorizationOf(credentials) !== undefined && target.scheme === 'http' && !isPlain(url, credentials, context)) {
    throw new SourceError(
      'CredentialsNotForUrl',
      `${url.host} asks to sign in at ${target.text}, which is not https; credentials are not sent there.`,
    )
  }
  if (credentials && authorizationOf(credentials) !== undefined && !isHome && !isBoundTo(credentials, target)) {
    throw new SourceError(
      'CredentialsNotForUrl',
      `${url.host} asks to sign in at ${target.text}; Secret ${credentials.secret} is not bound to that. Its owner may add the address to its annotation ${URLS_ANNOTATION}.`,
    )
  }
  const query = new URLSearchParams(compact({ service, scope }))
  const answer = await context.http({
    url: `${target.text}?${query.toString()}`,
    credentials,
    maxBytes: MAX_MANIFEST,
    signal: context.signal,
  })
  if (answer.status !== 200) {
    throw new SourceError('AuthenticationFailed', `${target.text} refuses these credentials (HTTP ${answer.status}).`, {
      retry: true,
    })
  }
  const value = parsed(answer.body)
  const token = isObject(value) ? (value['token'] ?? value['access_token']) : undefined
  if (typeof token !== 'string' || token === '') {
    throw new SourceError('AuthenticationFailed', `${target.text} gave no token.`, { retry: true })
  }
  return `Bearer ${token}`
}
