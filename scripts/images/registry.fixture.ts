/** A registry for tests: takes pushes as the OCI distribution specification asks, and refuses what is not whole. */
import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { sha256 } from './oci.ts'
import type { Manifest } from './oci.ts'

export interface RegistryOptions {
  readonly scheme: 'none' | 'basic' | 'bearer'
  /** `user:password`. */
  readonly credentials: string
  /** Where tokens are; defaults to this registry. */
  readonly realm?: string
}

export interface TestRegistry extends AsyncDisposable {
  readonly host: string
  /** The digest of a tag. */
  tag(repository: string, tag: string): string | undefined
  /** Number of blobs that were sent. */
  uploads(): number
}

/** Starts a registry on a free port of this machine. */
export async function startRegistry({ scheme, credentials, realm }: RegistryOptions): Promise<TestRegistry> {
  const blobs = new Map<string, Buffer>()
  const manifests = new Map<string, Buffer>()
  const tags = new Map<string, string>()
  const basic = `Basic ${Buffer.from(credentials).toString('base64')}`
  const counts = { uploads: 0 }
  let host = ''

  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const end = (status: number, headers: Record<string, string> = {}, body = '') =>
      void response.writeHead(status, headers).end(body)
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const body = Buffer.concat(chunks)
    const { pathname, searchParams } = new URL(request.url ?? '/', `http://${host}`)
    const { authorization } = request.headers
    if (pathname === '/token') {
      if (authorization !== basic) return end(401)
      return end(200, {}, JSON.stringify({ token: `for-${searchParams.get('scope')}` }))
    }
    const [, repository = '', kind, name = ''] = /^\/v2\/(.+)\/(blobs|manifests)\/(.*)$/.exec(pathname) ?? []
    const bearer = `Bearer for-repository:${repository}:pull,push`
    const wanted = scheme === 'basic' ? basic : scheme === 'bearer' ? bearer : authorization
    if (authorization !== wanted) {
      const challenge =
        scheme === 'basic' ? 'Basic realm="test"' : `Bearer realm="${realm ?? `http://${host}/token`}",service="test"`
      return end(401, { 'www-authenticate': challenge })
    }
    const at = (digest: string) => `${repository}@${digest}`
    if (kind === 'blobs' && request.method === 'HEAD') return end(blobs.has(at(name)) ? 200 : 404)
    if (kind === 'blobs' && request.method === 'POST') {
      return end(202, { location: `/v2/${repository}/blobs/uploads/${blobs.size}?state=1` })
    }
    const digest = `sha256:${sha256(body)}`
    if (kind === 'blobs' && request.method === 'PUT') {
      if (searchParams.get('digest') !== digest) return end(400, {}, 'DIGEST_INVALID')
      counts.uploads++
      blobs.set(at(digest), body)
      return end(201)
    }
    if (kind === 'manifests' && request.method === 'PUT') {
      const { config, layers = [], manifests: children = [], mediaType } = JSON.parse(body.toString()) as Manifest
      if (request.headers['content-type'] !== mediaType) return end(400, {}, 'MANIFEST_INVALID')
      const hasBlobs = [...(config ? [config] : []), ...layers].every((one) => blobs.has(at(one.digest)))
      if (!hasBlobs || !children.every((child) => manifests.has(at(child.digest)))) {
        return end(404, {}, 'MANIFEST_BLOB_UNKNOWN')
      }
      if (name.startsWith('sha256:') && name !== digest) return end(400, {}, 'DIGEST_INVALID')
      manifests.set(at(digest), body)
      tags.set(`${repository}:${name}`, digest)
      return end(201)
    }
    end(404)
  }

  const server = createServer((request, response) => void answer(request, response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  host = `127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    host,
    tag: (repository, tag) => tags.get(`${repository}:${tag}`),
    uploads: () => counts.uploads,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
