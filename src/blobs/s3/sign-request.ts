/** AWS Signature Version 4 for S3. Pure: the time is given. */
import { hex, hmacSha256, sha256, utf8 } from '../../core/bytes.ts'
import type { Secret } from '../../core/secret.ts'
import { formatTime } from '../../core/time/time.ts'

/** Keys of an account, perhaps with an end. */
export interface S3Credentials {
  readonly accessKeyId: string
  readonly secretAccessKey: Secret<string>
  readonly sessionToken?: Secret<string> | undefined
}

/** What is signed. Keys and prefixes have no character that S3 escapes in paths. */
export interface UnsignedRequest {
  readonly method: string
  readonly host: string
  readonly path: string
  readonly query: Readonly<Record<string, string>>
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>
}

export interface Signing {
  readonly credentials: S3Credentials
  readonly region: string
  /** Milliseconds since 1970, by the clock of the server. */
  readonly at: number
}

const ALGORITHM = 'AWS4-HMAC-SHA256'

/** The headers of a signed request. The server refuses a body with another digest. */
export function signHeaders(
  request: UnsignedRequest,
  bodyDigest: string,
  { credentials, region, at }: Signing,
): Record<string, string> {
  const stamp = stampOf(at)
  const token = credentials.sessionToken?.reveal()
  const headers: Record<string, string> = {
    ...request.headers,
    host: request.host,
    'x-amz-content-sha256': bodyDigest,
    'x-amz-date': stamp,
    ...(token !== undefined && { 'x-amz-security-token': token }),
  }
  const scope = scopeOf(stamp, region)
  const signature = signatureOf({ ...request, headers }, bodyDigest, { credentials, region, stamp })
  const signed = Object.keys(headers).toSorted().join(';')
  const authorization = `${ALGORITHM} Credential=${credentials.accessKeyId}/${scope}, SignedHeaders=${signed}, Signature=${signature}`
  return { ...headers, authorization }
}

/** The query of a request that the server refuses some seconds later. */
export function signQuery(
  request: UnsignedRequest,
  seconds: number,
  { credentials, region, at }: Signing,
): Record<string, string> {
  const stamp = stampOf(at)
  const headers = { ...request.headers, host: request.host }
  const token = credentials.sessionToken?.reveal()
  const query: Record<string, string> = {
    ...request.query,
    'X-Amz-Algorithm': ALGORITHM,
    'X-Amz-Credential': `${credentials.accessKeyId}/${scopeOf(stamp, region)}`,
    'X-Amz-Date': stamp,
    'X-Amz-Expires': String(seconds),
    'X-Amz-SignedHeaders': Object.keys(headers).toSorted().join(';'),
    ...(token !== undefined && { 'X-Amz-Security-Token': token }),
  }
  const signature = signatureOf({ ...request, query, headers }, 'UNSIGNED-PAYLOAD', { credentials, region, stamp })
  return { ...query, 'X-Amz-Signature': signature }
}

/** A query as it is sent and signed: sorted and escaped. */
export function queryText(query: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(query).map(([name, value]) => `${escapeText(name)}=${escapeText(value)}`)
  return pairs.toSorted().join('&')
}

function signatureOf(
  { method, path, query, headers }: UnsignedRequest,
  bodyDigest: string,
  {
    credentials,
    region,
    stamp,
  }: { readonly credentials: S3Credentials; readonly region: string; readonly stamp: string },
): string {
  const names = Object.keys(headers).toSorted()
  const lines = names.map((name) => `${name}:${headers[name]!.trim()}\n`).join('')
  const canonical = [method, path, queryText(query), lines, names.join(';'), bodyDigest].join('\n')
  const text = [ALGORITHM, stamp, scopeOf(stamp, region), hex(sha256(canonical))].join('\n')
  const day = hmacSha256(utf8(`AWS4${credentials.secretAccessKey.reveal()}`), stamp.slice(0, 8))
  const key = hmacSha256(hmacSha256(hmacSha256(day, region), 's3'), 'aws4_request')
  return hex(hmacSha256(key, text))
}

function scopeOf(stamp: string, region: string): string {
  return `${stamp.slice(0, 8)}/${region}/s3/aws4_request`
}

/** `20261119T014500Z`. */
function stampOf(at: number): string {
  return formatTime(at).replaceAll(/[-:]/g, '')
}

function escapeText(text: string): string {
  return encodeURIComponent(text).replaceAll(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`)
}
