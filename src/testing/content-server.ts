/** Servers of content for tests: https on loopback, git over smart HTTP through git's own backend, files, and a registry. */
import { execFileSync, spawn } from 'node:child_process'
import { createServer as createHttpServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { dirname, join } from 'node:path'
import { digestOf } from '../core/crypto/digest.ts'
import { newAuthority } from './control-plane-certificates.ts'

/** Answers a request; false leaves it to the next one. */
export type ContentHandler = (request: IncomingMessage, response: ServerResponse) => boolean | void

/** A running server. */
export interface ContentServer {
  /** `https://127.0.0.1:port`. */
  readonly url: string
  /** PEM of its CA; empty for plain http. */
  readonly ca: string
  /** `METHOD path authorization` of every request, in order. */
  readonly log: string[]
  close(): Promise<void>
}

/** Serves on loopback; what no handler takes is a 404. */
export async function startContentServer(
  handlers: readonly ContentHandler[],
  options: { readonly plain?: boolean } = {},
): Promise<ContentServer> {
  const log: string[] = []
  const authority = options.plain ? undefined : newAuthority()
  const listener = (request: IncomingMessage, response: ServerResponse): void => {
    log.push(`${request.method} ${request.url} ${request.headers.authorization ?? '-'}`)
    for (const handle of handlers) if (handle(request, response) !== false) return
    response.writeHead(404).end('not found')
  }
  const keys = authority?.server()
  const server = keys
    ? createHttpsServer({ cert: keys.certificate, key: keys.privateKey }, listener)
    : createHttpServer(listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `${authority ? 'https' : 'http'}://127.0.0.1:${port}`,
    ca: authority?.certificate ?? '',
    log,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

/** Lets only this user through. */
export function requireBasic(user: string, password: string): ContentHandler {
  const expected = `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`
  return (request, response) => {
    if (request.headers.authorization === expected) return false
    response.writeHead(401, { 'www-authenticate': 'Basic realm="test"' }).end()
    return true
  }
}

/** Serves a bare repository at `/repo.git`, as git servers do. */
export function serveGit(path: string): ContentHandler {
  const backend = join(execFileSync('git', ['--exec-path']).toString().trim(), 'git-http-backend')
  return (request, response) => {
    const url = new URL(request.url ?? '/', 'http://server')
    if (!url.pathname.startsWith('/repo.git/')) return false
    const child = spawn(backend, [], {
      env: {
        PATH: process.env['PATH'],
        GIT_PROJECT_ROOT: dirname(path),
        GIT_HTTP_EXPORT_ALL: '1',
        GIT_CONFIG_COUNT: '2',
        GIT_CONFIG_KEY_0: 'uploadpack.allowFilter',
        GIT_CONFIG_VALUE_0: 'true',
        GIT_CONFIG_KEY_1: 'uploadpack.allowAnySHA1InWant',
        GIT_CONFIG_VALUE_1: 'true',
        PATH_INFO: url.pathname,
        QUERY_STRING: url.search.slice(1),
        REQUEST_METHOD: request.method,
        CONTENT_TYPE: request.headers['content-type'] ?? '',
        ...(request.headers['content-encoding'] ? { HTTP_CONTENT_ENCODING: request.headers['content-encoding'] } : {}),
        ...(request.headers['git-protocol'] ? { GIT_PROTOCOL: String(request.headers['git-protocol']) } : {}),
      },
    })
    request.pipe(child.stdin)
    child.stdin.on('error', () => {})
    let head = Buffer.alloc(0)
    let isBody = false
    child.stdout.on('data', (chunk: Buffer) => {
      if (isBody) return void response.write(chunk)
      head = Buffer.concat([head, chunk])
      const end = head.indexOf('\r\n\r\n')
      if (end < 0) return
      isBody = true
      let status = 200
      for (const line of head.subarray(0, end).toString('latin1').split('\r\n')) {
        const [name = '', ...rest] = line.split(': ')
        if (name === 'Status') status = Number(rest[0]?.slice(0, 3))
        else response.setHeader(name, rest.join(': '))
      }
      response.writeHead(status)
      response.write(head.subarray(end + 4))
    })
    child.on('close', () => response.end())
    return true
  }
}

/** Serves files by path. */
export function serveFiles(files: ReadonlyMap<string, Uint8Array | string>): ContentHandler {
  return (request, response) => {
    const content = files.get(new URL(request.url ?? '/', 'http://server').pathname)
    if (content === undefined) return false
    response.writeHead(200).end(content)
    return true
  }
}

/** A registry's repository: blobs and manifests by digest, tags to manifests. */
export interface TestRegistry {
  readonly handle: ContentHandler
  addBlob(bytes: Uint8Array): { readonly digest: string; readonly size: number }
  /** Stores a manifest and tags it; returns its digest. */
  push(tag: string, layers: readonly object[], config?: object): string
  /** Replaces the bytes of a blob or manifest: a registry that lies. */
  corrupt(digest: string, bytes: Uint8Array): void
}

/** Serves one repository of a registry at `/v2/NAME/…`. */
export function createTestRegistry(name: string): TestRegistry {
  const blobs = new Map<string, Uint8Array>()
  const tags = new Map<string, string>()
  const add = (bytes: Uint8Array) => {
    const digest = digestOf(bytes)
    blobs.set(digest, bytes)
    return { digest, size: bytes.byteLength }
  }
  return {
    addBlob: add,
    push: (tag, layers, config = {}) => {
      const mediaType = 'application/vnd.oci.image.manifest.v1+json'
      const { digest } = add(Buffer.from(JSON.stringify({ schemaVersion: 2, mediaType, config, layers })))
      tags.set(tag, digest)
      return digest
    },
    corrupt: (digest, bytes) => void blobs.set(digest, bytes),
    handle: (request, response) => {
      const { pathname } = new URL(request.url ?? '/', 'http://server')
      const rest = pathname.startsWith(`/v2/${name}/`) ? pathname.slice(`/v2/${name}/`.length) : undefined
      if (rest === undefined) return false
      if (rest === 'tags/list') {
        response.writeHead(200).end(JSON.stringify({ name, tags: [...tags.keys()] }))
        return true
      }
      const reference = rest.replace(/^(manifests|blobs)\//, '')
      const bytes = blobs.get(tags.get(reference) ?? reference)
      if (!bytes) return false
      response.writeHead(200).end(bytes)
      return true
    },
  }
}
