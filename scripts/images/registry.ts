// Tested by scripts/images/images.contract.test.ts.
// Pushes a layout folder to a registry by the OCI distribution protocol.
import { existsSync, readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { layoutBlob, layoutEntries, layoutManifest } from './oci.ts'
import type { Descriptor, Manifest } from './oci.ts'

export interface PushOptions {
  /** Host of the registry with the path before the names of images, for example `registry.example.com/platform`. */
  readonly target: string
  /** Speaks HTTP instead of HTTPS. */
  readonly isPlain: boolean
  /** `user:password`; if omitted, the credentials of the Docker configuration are used. */
  readonly credentials?: string
}

interface RegistryRequest {
  readonly method: 'HEAD' | 'POST' | 'PUT'
  readonly address: string
  /** Answers that are no error. */
  readonly wanted: readonly number[]
  readonly body?: { readonly bytes: Uint8Array; readonly mediaType: string }
}

const REQUEST_MS = 600_000

/** Pushes all entries of a layout; returns their references in the registry. */
export async function pushLayout(folder: string, options: PushOptions): Promise<string[]> {
  const [host = '', ...path] = options.target.replace(/\/+$/, '').split('/')
  const prefix = path.map((part) => `${part}/`).join('')
  const registry = new Registry(host, options)
  const pushed: string[] = []
  for (const { reference, descriptor } of layoutEntries(folder)) {
    const [, name, tag] = /^([^:@]+):([\w][\w.-]{0,127})$/.exec(reference) ?? []
    if (name === undefined || tag === undefined) throw new Error(`${folder}: an entry has no name`)
    await pushManifest(registry, `${prefix}${name}`, { folder, descriptor, tag })
    pushed.push(`${host}/${prefix}${name}:${tag}@${descriptor.digest}`)
  }
  return pushed
}

interface Pushed {
  readonly folder: string
  readonly descriptor: Descriptor
  readonly tag: string
}

/** Blobs before the manifest that names them, manifests before their index. */
async function pushManifest(registry: Registry, name: string, { folder, descriptor, tag }: Pushed): Promise<void> {
  const manifest: Manifest = layoutManifest(folder, descriptor.digest)
  for (const child of manifest.manifests ?? []) {
    await pushManifest(registry, name, { folder, descriptor: child, tag: child.digest })
  }
  const blobs = [...(manifest.config ? [manifest.config] : []), ...(manifest.layers ?? [])]
  for (const { digest } of blobs) {
    if (await registry.hasBlob(name, digest)) continue
    await registry.putBlob(name, digest, layoutBlob(folder, digest))
  }
  await registry.putManifest(name, tag, descriptor.mediaType, layoutBlob(folder, descriptor.digest))
}

/** A registry with the credentials for it. */
class Registry {
  readonly #host: string
  readonly #base: string
  readonly #credentials: string | undefined
  readonly #tokens = new Map<string, string>()

  constructor(host: string, { isPlain, credentials }: PushOptions) {
    this.#host = host
    this.#base = `${isPlain ? 'http' : 'https'}://${host}`
    this.#credentials = credentials ?? dockerCredentials(host)
  }

  async hasBlob(name: string, digest: string): Promise<boolean> {
    const { status } = await this.#request(name, {
      method: 'HEAD',
      address: `${this.#base}/v2/${name}/blobs/${digest}`,
      wanted: [200, 404],
    })
    return status === 200
  }

  async putBlob(name: string, digest: string, bytes: Uint8Array): Promise<void> {
    const begun = await this.#request(name, {
      method: 'POST',
      address: `${this.#base}/v2/${name}/blobs/uploads/`,
      wanted: [202],
    })
    const location = new URL(begun.headers.get('location') ?? '', this.#base)
    if (location.origin !== new URL(this.#base).origin) {
      throw new Error(`${this.#host}: uploads lead to ${location.origin}; credentials are not sent there`)
    }
    location.searchParams.set('digest', digest)
    await this.#request(name, {
      method: 'PUT',
      address: location.href,
      wanted: [201],
      body: { bytes, mediaType: 'application/octet-stream' },
    })
  }

  async putManifest(name: string, tag: string, mediaType: string, bytes: Uint8Array): Promise<void> {
    await this.#request(name, {
      method: 'PUT',
      address: `${this.#base}/v2/${name}/manifests/${tag}`,
      wanted: [201],
      body: { bytes, mediaType },
    })
  }

  async #request(name: string, { method, address, wanted, body }: RegistryRequest): Promise<Response> {
    const send = async (): Promise<Response> => {
      const authorization = this.#tokens.get(name)
      return await fetch(address, {
        method,
        headers: {
          ...(authorization !== undefined && { authorization }),
          ...(body && { 'content-type': body.mediaType }),
        },
        ...(body && { body: new Uint8Array(body.bytes) }),
        redirect: 'error',
        signal: AbortSignal.timeout(REQUEST_MS),
      })
    }
    let answer = await send()
    if (answer.status === 401) {
      this.#tokens.set(name, await this.#authorize(name, answer.headers.get('www-authenticate') ?? ''))
      answer = await send()
    }
    if (!wanted.includes(answer.status)) {
      const said = (await answer.text()).slice(0, 500)
      throw new Error(`${this.#host}: ${method} of ${name} was answered with HTTP ${answer.status}: ${said}`)
    }
    await answer.body?.cancel()
    return answer
  }

  /** Answers the challenge of a registry. */
  async #authorize(name: string, challenge: string): Promise<string> {
    const basic =
      this.#credentials === undefined ? undefined : `Basic ${Buffer.from(this.#credentials, 'utf8').toString('base64')}`
    if (/^basic/i.test(challenge)) {
      if (basic !== undefined) return basic
      throw new Error(`${this.#host}: the registry asks for credentials; run "docker login" or "oras login"`)
    }
    const parameters = Object.fromEntries(
      [...challenge.matchAll(/(\w+)="([^"]*)"/g)].map(([, key, value]) => [key!.toLowerCase(), value!]),
    )
    if (!/^bearer/i.test(challenge) || parameters['realm'] === undefined) {
      throw new Error(`${this.#host}: the registry refused the request and asks for an unknown authorization`)
    }
    const realm = new URL(parameters['realm'])
    const isSafe = realm.protocol === 'https:' || realm.origin === new URL(this.#base).origin
    if (!isSafe) throw new Error(`${this.#host}: tokens are at ${realm.origin}; credentials are not sent without TLS`)
    if (parameters['service'] !== undefined) realm.searchParams.set('service', parameters['service'])
    realm.searchParams.set('scope', `repository:${name}:pull,push`)
    const answer = await fetch(realm, {
      headers: basic === undefined ? {} : { authorization: basic },
      signal: AbortSignal.timeout(REQUEST_MS),
    })
    const given = (await answer.json().catch(() => ({}))) as { readonly token?: string; readonly access_token?: string }
    const token = given.token ?? given.access_token
    if (!answer.ok || token === undefined) {
      throw new Error(`${this.#host}: no token for ${name}: HTTP ${answer.status}; check the credentials`)
    }
    return `Bearer ${token}`
  }
}

/** `user:password` of a host from the Docker configuration; credential helpers are not run. */
function dockerCredentials(host: string): string | undefined {
  const file = join(process.env['DOCKER_CONFIG'] ?? join(homedir(), '.docker'), 'config.json')
  if (!existsSync(file)) return undefined
  const { auths = {} } = JSON.parse(readFileSync(file, 'utf8')) as {
    readonly auths?: Readonly<Record<string, { readonly auth?: string }>>
  }
  const found = auths[host]?.auth ?? auths[`https://${host}`]?.auth
  return found === undefined ? undefined : Buffer.from(found, 'base64').toString('utf8')
}
