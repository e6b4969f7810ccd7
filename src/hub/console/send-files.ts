/** The larger answers of the console: the document, its files and the list of clusters. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { promisify } from 'node:util'
import { gunzip, gzip } from 'node:zlib'
import { fromUtf8 } from '../../core/bytes.ts'
import type { Asset, ConsoleAssets } from './console-assets.ts'
import { BEING_BUILT } from './console-assets.ts'
import type { FleetFeed } from './fleet-feed.ts'
import { consoleHeaders, sendText } from './respond.ts'
import { SIGN_IN_ADVICE } from './sign-in.ts'

const compress = promisify(gzip)
const decompress = promisify(gunzip)

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

/** Snapshots are the same for all who may see them, so each is compressed once. */
const snapshots = new WeakMap<FleetFeed, { readonly revision: number; readonly gzip: Promise<Uint8Array> }>()

/** Answers with all clusters. */
export async function sendSnapshot(request: IncomingMessage, response: ServerResponse, feed: FleetFeed): Promise<void> {
  let made = snapshots.get(feed)
  if (made?.revision !== feed.revision()) {
    made = { revision: feed.revision(), gzip: compress(JSON.stringify(feed.snapshot())) }
    snapshots.set(feed, made)
  }
  const headers = { ...consoleHeaders(), 'content-type': 'application/json' }
  await sendCompressed(request, response, { headers, gzip: await made.gzip })
}

async function sendCompressed(
  request: IncomingMessage,
  response: ServerResponse,
  { headers, gzip: bytes }: { readonly headers: Record<string, string>; readonly gzip: Uint8Array },
): Promise<void> {
  const isRead = /\bgzip\b/.test(request.headers['accept-encoding'] ?? '')
  const body = isRead ? bytes : await decompress(bytes)
  response.writeHead(200, {
    ...headers,
    ...(isRead && { 'content-encoding': 'gzip' }),
    vary: 'accept-encoding',
    'content-length': String(body.byteLength),
  })
  response.end(body)
}
