// Tested by scripts/images/images.contract.test.ts.
// Images as the OCI image specification describes them: blobs by digest, manifests, indexes and a layout folder.
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { constants, zstdCompressSync } from 'node:zlib'
import type { Architecture } from './downloads.ts'

export const MEDIA = {
  index: 'application/vnd.oci.image.index.v1+json',
  manifest: 'application/vnd.oci.image.manifest.v1+json',
  config: 'application/vnd.oci.image.config.v1+json',
  layer: 'application/vnd.oci.image.layer.v1.tar+zstd',
  empty: 'application/vnd.oci.empty.v1+json',
} as const

/** A reference to a blob. */
export interface Descriptor {
  readonly mediaType: string
  readonly digest: string
  readonly size: number
  readonly artifactType?: string
  readonly platform?: { readonly os: string; readonly architecture: string }
  readonly annotations?: Readonly<Record<string, string>>
}

export interface Manifest {
  readonly schemaVersion: 2
  readonly mediaType: string
  readonly artifactType?: string
  readonly config?: Descriptor
  readonly layers?: readonly Descriptor[]
  readonly manifests?: readonly Descriptor[]
  readonly subject?: Descriptor
  readonly annotations?: Readonly<Record<string, string>>
}

/** A compressed layer, and the digest of its tar. */
export interface Layer {
  readonly descriptor: Descriptor
  readonly diffId: string
  /** What made it, for the history of the image. */
  readonly says: string
}

/** What a container of the image runs, and how. */
export interface RunSettings {
  readonly entrypoint: readonly string[]
  readonly command?: readonly string[]
  readonly environment: Readonly<Record<string, string>>
  readonly labels: Readonly<Record<string, string>>
}

/** The user of all images: no user of a node has this number. */
export const IMAGE_USER = 65532
/** Images have no time of their own: the same inputs are the same bytes. */
const CREATED = '1970-01-01T00:00:00Z'
/** zstd compresses to the same bytes on every processor, which zlib does not. */
const LEVEL = 9

/** An image layout: https://github.com/opencontainers/image-spec/blob/main/image-layout.md */
export class Layout {
  readonly folder: string
  readonly #entries: Descriptor[] = []

  /** Begins an empty layout in a folder, whose earlier content is removed. */
  constructor(folder: string) {
    this.folder = folder
    rmSync(folder, { recursive: true, force: true })
    mkdirSync(join(folder, 'blobs/sha256'), { recursive: true })
    writeFileSync(join(folder, 'oci-layout'), '{"imageLayoutVersion":"1.0.0"}')
  }

  blob(bytes: Uint8Array, mediaType: string): Descriptor {
    const hex = sha256(bytes)
    const file = join(this.folder, 'blobs/sha256', hex)
    if (!existsSync(file)) writeFileSync(file, bytes)
    return { mediaType, digest: `sha256:${hex}`, size: bytes.length }
  }

  json(value: object, mediaType: string): Descriptor {
    return this.blob(Buffer.from(JSON.stringify(value)), mediaType)
  }

  layer(tar: Uint8Array, says: string): Layer {
    const params = { [constants.ZSTD_c_compressionLevel]: LEVEL }
    return {
      descriptor: this.blob(zstdCompressSync(tar, { params }), MEDIA.layer),
      diffId: `sha256:${sha256(tar)}`,
      says,
    }
  }

  /** The image of one platform. */
  image(architecture: Architecture, layers: readonly Layer[], settings: RunSettings): Descriptor {
    const { entrypoint, command, environment, labels } = settings
    const config = {
      created: CREATED,
      architecture,
      os: 'linux',
      config: {
        User: `${IMAGE_USER}:${IMAGE_USER}`,
        Env: Object.entries(environment).map(([name, value]) => `${name}=${value}`),
        Entrypoint: entrypoint,
        ...(command && { Cmd: command }),
        WorkingDir: '/',
        Labels: labels,
        StopSignal: 'SIGTERM',
      },
      rootfs: { type: 'layers', diff_ids: layers.map(({ diffId }) => diffId) },
      history: layers.map(({ says }) => ({ created: CREATED, created_by: says })),
    }
    const manifest: Manifest = {
      schemaVersion: 2,
      mediaType: MEDIA.manifest,
      config: this.json(config, MEDIA.config),
      layers: layers.map(({ descriptor }) => descriptor),
      annotations: labels,
    }
    return { ...this.json(manifest, MEDIA.manifest), platform: { os: 'linux', architecture } }
  }

  /** Names a manifest or index: `repository:tag`. */
  name(descriptor: Descriptor, reference: string): void {
    const annotations = {
      'io.containerd.image.name': reference,
      'org.opencontainers.image.ref.name': reference,
    }
    this.#entries.push({ ...descriptor, annotations })
  }

  /** Writes the list of all named entries. */
  end(): void {
    const index = { schemaVersion: 2, mediaType: MEDIA.index, manifests: this.#entries }
    writeFileSync(join(this.folder, 'index.json'), `${JSON.stringify(index, undefined, 2)}\n`)
  }
}

/** The named entries of a layout on disk. */
export function layoutEntries(folder: string): { readonly reference: string; readonly descriptor: Descriptor }[] {
  const { manifests = [] } = JSON.parse(readFileSync(join(folder, 'index.json'), 'utf8')) as Manifest
  return manifests.map(({ annotations, ...descriptor }) => ({
    reference: annotations?.['org.opencontainers.image.ref.name'] ?? '',
    descriptor,
  }))
}

/** A blob of a layout on disk; its bytes are verified. */
export function layoutBlob(folder: string, digest: string): Buffer {
  const hex = /^sha256:([0-9a-f]{64})$/.exec(digest)?.[1]
  if (hex === undefined) throw new Error(`${folder}: ${JSON.stringify(digest)} is not a digest`)
  const bytes = readFileSync(join(folder, 'blobs/sha256', hex))
  if (sha256(bytes) !== hex) throw new Error(`${folder}: the blob ${digest} was changed`)
  return bytes
}

/** A manifest or index of a layout on disk. */
export function layoutManifest(folder: string, digest: string): Manifest {
  return JSON.parse(layoutBlob(folder, digest).toString('utf8')) as Manifest
}

export function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}
