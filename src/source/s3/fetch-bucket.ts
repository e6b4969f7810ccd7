// Tested by src/source/s3/fetch-bucket.real.test.ts.
/** Files of a bucket of an S3 server. A bucket has no history: its content is what the list of its keys says. */
import { createS3Client } from '../../blobs/s3/s3-client.ts'
import type { S3Answer, S3Client } from '../../blobs/s3/s3-client.ts'
import type { S3CredentialSource } from '../../blobs/s3/s3-settings.ts'
import type { SendHttp } from '../../blobs/s3/send-http.ts'
import { elementText, elementTexts } from '../../blobs/s3/xml-text.ts'
import { fromUtf8 } from '../../core/bytes.ts'
import { compact } from '../../core/compact.ts'
import { digestOf } from '../../core/crypto/digest.ts'
import { readWholeNumber } from '../../core/read-number.ts'
import type { Source } from '../../kinds/native/source.ts'
import { ARTIFACT_LIMITS, readTree, storeTree } from '../artifact.ts'
import type { ArtifactFile } from '../artifact.ts'
import { credentialsFor } from '../credentials.ts'
import type { Credentials } from '../credentials.ts'
import { reusablePrevious } from '../fetch-request.ts'
import type { FetchContext, FetchOutcome } from '../fetch-request.ts'
import { rewriteToMirror } from '../mirrors.ts'
import { SourceError } from '../source-error.ts'
import { parseSourceUrl } from '../source-url.ts'
import type { SourceScheme, SourceUrl } from '../source-url.ts'
import { checkPath, selects, shownPath } from '../tree-entries.ts'

type S3Spec = NonNullable<Source['spec']['s3']>

const SCHEMES: readonly SourceScheme[] = ['https', 'http']
const DEFAULT_REGION = 'us-east-1'
const MAX_LIST = 16 * 1024 * 1024
/** Keys outside of the selection count, too: they are listed. */
const MAX_KEYS = 200_000
/** Requests at the same time. */
const AT_ONCE = 8
/** The second try has the clock of the server. */
const TRIES = 2

const MISSING = ['NoSuchBucket', 'NoSuchKey']

interface BucketKey {
  readonly key: string
  /** The ETag; of a server without, the time and size. */
  readonly version: string
  readonly hasEtag: boolean
  readonly size: number
}

/** Lists the keys of a bucket, and reads what is new. */
export async function fetchBucket(spec: S3Spec, context: FetchContext): Promise<FetchOutcome> {
  const asked = parseSourceUrl(spec.url, SCHEMES)
  const { url, isMirror } = rewriteToMirror(asked, context.mirrors, SCHEMES)
  const credentials = credentialsFor(url, context.credentials, isMirror)
  const client = clientOf(url, spec, { credentials, context })
  try {
    const keys = await listKeys(client, spec.prefix ?? '')
    const isWanted = selects(context.spec)
    const wanted = keys.filter(({ key }) => !key.endsWith('/') && isWanted(key))
    checkKeys(wanted)
    const { same } = reusablePrevious(context)
    // As Flux does: the digest of the sorted keys with their ETags.
    const revision = digestOf(wanted.map(({ key, version }) => `${key} ${version}\n`).join(''))
    if (same?.commit === revision) return { kind: 'Same' }
    const { files, fetchedBytes } = await readKeys(client, wanted, context)
    const stored = await storeTree(files, context.blobs)
    return { kind: 'New', artifact: { ...stored, revision, commit: revision, fetchedBytes, from: url.text } }
  } catch (caught) {
    throw asSourceError(caught)
  }
}

function clientOf(
  { scheme, host, port, path, text }: SourceUrl,
  { region = DEFAULT_REGION }: S3Spec,
  { credentials, context }: { readonly credentials: Credentials | undefined; readonly context: FetchContext },
): S3Client {
  const bucket = path.replace(/^\/|\/$/g, '')
  if (!/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(bucket)) {
    throw new SourceError('BadUrl', `${text} must be the address of a server and the name of one bucket.`)
  }
  const { clock, ids } = context
  return createS3Client({
    settings: {
      bucket,
      prefix: '',
      region,
      endpoint: `${scheme}://${host}${port === '' ? '' : `:${port}`}`,
      addressing: 'path',
      credentials: keysOf(credentials),
    },
    clock,
    ids,
    http: guardedHttp(credentials, context),
    tries: TRIES,
  })
}

function keysOf(credentials: Credentials | undefined): S3CredentialSource {
  const { accessKey, secretKey, secret } = credentials ?? {}
  if (accessKey && secretKey) return { from: 'values', accessKeyId: accessKey, secretAccessKey: secretKey }
  if (!accessKey && !secretKey) return { from: 'none' }
  throw new SourceError('BadCredentials', `Secret ${secret} needs both accesskey and secretkey.`)
}

/** Requests under the rules of egress, with the certificates of the Source. */
function guardedHttp(credentials: Credentials | undefined, { http, signal: outer }: FetchContext): SendHttp {
  const tls = credentials && compact({ ...credentials, password: undefined, token: undefined })
  return async ({ origin, path, headers, maxBytes }, signal) => {
    // Sent to the host of the address only, and not to one that it redirects to.
    const { authorization, host: _host, ...rest } = headers
    const both = AbortSignal.any([outer, signal])
    const asked = { url: `${origin}${path}`, headers: rest, authorization, credentials: tls, maxBytes, signal: both }
    const answer = await http(asked)
    if (new URL(answer.url).origin === origin) return answer
    throw new SourceError('Redirected', `${origin} redirects to ${answer.url}; name the final address.`)
  }
}

async function listKeys(client: S3Client, prefix: string): Promise<BucketKey[]> {
  const keys: BucketKey[] = []
  let token: string | undefined
  do {
    const query = compact({ 'list-type': '2', prefix: prefix || undefined, 'continuation-token': token })
    const request = { method: 'GET', query: query as Record<string, string>, maxBytes: MAX_LIST } as const
    const xml = fromUtf8((await succeed(client, request)).body)
    for (const entry of elementTexts(xml, 'Contents')) keys.push(keyOf(entry))
    if (keys.length > MAX_KEYS) throw tooMany(keys.length)
    const isMore = elementText(xml, 'IsTruncated')
    token = isMore === 'true' ? elementText(xml, 'NextContinuationToken') : undefined
    // A list that ends too early would look like a bucket with fewer files.
    if ((isMore === 'true') !== (token !== undefined) || isMore === undefined) {
      throw new SourceError('FetchFailed', `${client.url}: a list does not say whether it is complete.`, {
        retry: true,
      })
    }
  } while (token !== undefined)
  return keys.toSorted((a, b) => (a.key < b.key ? -1 : 1))
}

function keyOf(entry: string): BucketKey {
  const key = elementText(entry, 'Key')
  const size = readWholeNumber(elementText(entry, 'Size') ?? '')
  const etag = elementText(entry, 'ETag')?.replaceAll('"', '') ?? ''
  const time = elementText(entry, 'LastModified')
  const version = etag === '' && time !== undefined ? `${time} ${size}` : etag
  if (key === undefined || size === undefined || version === '') {
    throw new SourceError('FetchFailed', 'The list of the bucket has an entry without key, size or ETag.', {
      retry: true,
    })
  }
  return { key, version, hasEtag: etag !== '', size }
}

function checkKeys(keys: readonly BucketKey[]): void {
  if (keys.length === 0) {
    throw new SourceError('PathNotFound', 'spec.s3.prefix, spec.paths and spec.ignore leave no file.', { retry: true })
  }
  if (keys.length > ARTIFACT_LIMITS.files) throw tooMany(keys.length)
  let bytes = 0
  for (const { key, size } of keys) {
    checkPath(key)
    bytes += size
    if (size > ARTIFACT_LIMITS.fileBytes) {
      throw new SourceError(
        'FileTooLarge',
        `${shownPath(key)} is larger than the ${ARTIFACT_LIMITS.fileBytes} bytes a file may have; leave it out with spec.ignore.`,
      )
    }
  }
  if (bytes <= ARTIFACT_LIMITS.bytes) return
  throw new SourceError(
    'TooLarge',
    `The files are together larger than the ${ARTIFACT_LIMITS.bytes} bytes one artifact may have; name the directories you need in spec.paths.`,
  )
}

function tooMany(count: number): SourceError {
  return new SourceError(
    'TooManyFiles',
    `${count} files are more than the ${ARTIFACT_LIMITS.files} one artifact may have; set spec.s3.prefix, or name the directories you need in spec.paths.`,
  )
}

/** Reads what the previous artifact does not have under the same key and ETag. */
async function readKeys(client: S3Client, keys: readonly BucketKey[], { blobs, previous }: FetchContext) {
  const tree = previous ? await readTree(previous.digest, blobs).catch(() => undefined) : undefined
  const known = new Map((tree?.files ?? []).map((file) => [`${file.path} ${file.oid}`, file]))
  const files: ArtifactFile[] = []
  let fetchedBytes = 0
  const waiting = [...keys]
  const work = async (): Promise<void> => {
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      const { key, version } = next
      const before = known.get(`${key} ${version}`)
      if (before && (await blobs.has(before.digest))) {
        files.push(before)
        continue
      }
      const bytes = await readKey(client, next)
      fetchedBytes += bytes.byteLength
      files.push({ path: key, oid: version, digest: await blobs.put(bytes), size: bytes.byteLength })
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
  return { files, fetchedBytes }
}

async function readKey(client: S3Client, { key, version, hasEtag, size }: BucketKey): Promise<Uint8Array> {
  // Between the list and here the file may have changed.
  const headers: Record<string, string> = hasEtag ? { 'if-match': `"${version}"` } : {}
  const { body } = await succeed(client, { method: 'GET', key: encodedKey(key), headers, maxBytes: size + 1 })
  if (body.byteLength === size) return body
  const message = `${shownPath(key)} has ${body.byteLength} bytes, and the list of the bucket says ${size}.`
  throw new SourceError('FetchFailed', message, { retry: true })
}

/** A key as it stands in the path of a request, and in its signature. */
function encodedKey(key: string): string {
  return encodeURIComponent(key)
    .replaceAll('%2F', '/')
    .replaceAll(/[!'()*]/g, (sign) => `%${(sign.codePointAt(0) ?? 0).toString(16).toUpperCase()}`)
}

async function succeed(client: S3Client, request: Parameters<S3Client['send']>[0]): Promise<S3Answer> {
  const answer = await client.send(request)
  if (answer.status === 200) return answer
  const isRefused = answer.status === 401 || answer.status === 403
  const isMissing = MISSING.includes(answer.code)
  const reason = isMissing ? 'NotFound' : isRefused ? 'AuthenticationFailed' : 'FetchFailed'
  throw new SourceError(reason, `${client.refusal(request, answer).message}.`, { retry: true })
}

/** The failure of a request, without the words that the client adds for its own bucket. */
function asSourceError(caught: unknown): unknown {
  if (caught instanceof SourceError) return caught
  const cause = caught instanceof Error ? caught.cause : undefined
  return cause instanceof SourceError ? cause : caught
}
