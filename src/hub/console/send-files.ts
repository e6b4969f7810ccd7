// Tested by src/hub/console/console.test.ts
/** The larger answers of the console: the document, its files and the list of clusters. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { promisify } from 'node:util'
import { brotliCompress, constants, gunzip, gzip } from 'node:zlib'
import { fromUtf8, utf8 } from '../../core/bytes.ts'
import type { Asset, ConsoleAssets } from './console-assets.ts'
import { BEING_BUILT } from './console-assets.ts'
import type { FleetFeed } from './fleet-feed.ts'
import { consoleHeaders, sendText } from './respond.ts'
import { SIGN_IN_ADVICE } from './sign-in.ts'

const decompress = promisify(gunzip)

/** Ways to compress the list of clusters, the smallest first: brotli halves what gzip leaves, in the same time. */
const ENCODINGS = {
  br: (bytes: Uint8Array) => promisify(brotliCompress)(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } }),
  gzip: (bytes: Uint8Array) => promisify(gzip)(bytes),
  identity: async (bytes: Uint8Array) => bytes,
} as const
type Encoding = keyof typeof ENCODINGS

/** What stands for the nonce in the built document. */
const NONCE = '__NONCE__'

/** Answers with the document; without a session it shows how to sign in, and says so by its status. */
export async function sendDocument(
  response: ServerResponse,
  {
    assets,
    isSignedIn,
    nonce,
  }: { readonly assets: ConsoleAssets; readonly isSignedIn: boolean; readonly nonce: string },
): Promise<void> {
  const document = await assets.get('/')
  if (document) {
    const html = fromUtf8(await decompress(document.gzip)).replaceAll(NONCE, nonce)
    response.writeHead(isSignedIn ? 200 : 401, { ...consoleHeaders(nonce), 'content-type': document.type })
    return void response.end(html)
  }
  if (!isSignedIn) return sendText(response, 401, SIGN_IN_ADVICE)
  const problem = (await assets.problem()) ?? BEING_BUILT
  const html = `<!doctype html><meta charset="utf-8"><meta http-equiv="refresh" content="3"><title>Flotilla</title><p>${problem.replaceAll('&', '&amp;').replaceAll('<', '&lt;')}</p>`
  sendText(response, 503, html, { 'content-type': 'text/html; charset=utf-8', 'retry-after': '3' })
}

/** Answers with a file of the page. */
export async function sendAsset(request: IncomingMessage, response: ServerResponse, asset: Asset): Promise<void> {
  const headers: Record<string, string> = { ...consoleHeaders(), 'content-type': asset.type }
  if (asset.isImmutable) headers['cache-control'] = 'private, max-age=31536000, immutable'
  await sendCompressed(request, response, { headers, gzip: asset.gzip })
}

interface Snapshot {
  readonly revision: number
  readonly bytes: Uint8Array
  readonly encoded: Map<Encoding, Promise<Uint8Array>>
}

/** Snapshots are the same for all who may see them, so each is compressed once. */
const snapshots = new WeakMap<FleetFeed, Snapshot>()

/** Answers with all clusters. */
export async function sendSnapshot(request: IncomingMessage, response: ServerResponse, feed: FleetFeed): Promise<void> {
  let made = snapshots.get(feed)
  if (made?.revision !== feed.revision()) {
    made = { revision: feed.revision(), bytes: utf8(JSON.stringify(feed.snapshot())), encoded: new Map() }
    snapshots.set(feed, made)
  }
  const encoding = (['br', 'gzip'] as const).find((one) => accepts(request, one)) ?? 'identity'
  const body = made.encoded.get(encoding) ?? ENCODINGS[encoding](made.bytes)
  made.encoded.set(encoding, body)
  const headers = { ...consoleHeaders(), 'content-type': 'application/json' }
  sendEncoded(response, { headers, encoding, body: await body })
}

async function sendCompressed(
  request: IncomingMessage,
  response: ServerResponse,
  { headers, gzip: bytes }: { readonly headers: Record<string, string>; readonly gzip: Uint8Array },
): Promise<void> {
  const isRead = accepts(request, 'gzip')
  const body = isRead ? bytes : await decompress(bytes)
  sendEncoded(response, { headers, encoding: isRead ? 'gzip' : 'identity', body })
}

const REFUSED = /;\s*q=0(?:\.0*)?$/

function accepts({ headers }: IncomingMessage, encoding: Encoding): boolean {
  const named = (headers['accept-encoding'] ?? '').split(',').map((one) => one.trim())
  return named.some((one) => one.split(';')[0]!.trim() === encoding && !REFUSED.test(one))
}

function sendEncoded(
  response: ServerResponse,
  {
    headers,
    encoding,
    body,
  }: { readonly headers: Record<string, string>; readonly encoding: Encoding; readonly body: Uint8Array },
): void {
  response.writeHead(200, {
    ...headers,
    ...(encoding !== 'identity' && { 'content-encoding': encoding }),
    vary: 'accept-encoding',
    'content-length': String(body.byteLength),
  })
  response.end(body)
}
