/**
 * Artifacts: an immutable list of files by digest, and the files as blobs. Content that two commits share is stored
 * once.
 */
import type { Blobs } from '../blobs/blobs.ts'
import { fromUtf8, utf8 } from '../core/bytes.ts'
import { BoundedCache } from '../core/collections/bounded-cache.ts'
import { isDigest } from '../core/crypto/digest.ts'
import type { Digest } from '../core/crypto/digest.ts'
import { canonicalJson, isObject } from '../core/json.ts'

/** A file of an artifact. */
export interface ArtifactFile {
  /** A clean relative path with slashes. */
  readonly path: string
  readonly digest: Digest
  readonly size: number
  /** The object name of the same bytes in git, so that the next fetch does not read them again. */
  readonly oid?: string
}

/** The blob that lists an artifact's files. */
export interface ArtifactTree {
  readonly format: 'flotilla.dev/tree/v1'
  readonly files: readonly ArtifactFile[]
}

/** The limits of an artifact. A file that exceeds a limit is named in the error. */
export const ARTIFACT_LIMITS = {
  files: 50_000,
  fileBytes: 16 * 1024 * 1024,
  bytes: 256 * 1024 * 1024,
  depth: 64,
  pathBytes: 1024,
} as const

export interface StoredArtifact {
  readonly digest: Digest
  readonly files: number
  readonly bytes: number
}

/** Stores the list of files. The files themselves must be stored before. */
export async function storeTree(files: readonly ArtifactFile[], blobs: Pick<Blobs, 'put'>): Promise<StoredArtifact> {
  const sorted = files.toSorted((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0))
  const tree: ArtifactTree = { format: 'flotilla.dev/tree/v1', files: sorted }
  return {
    digest: await blobs.put(utf8(canonicalJson(tree))),
    files: files.length,
    bytes: files.reduce((sum, file) => sum + file.size, 0),
  }
}

/** Enough for the Sources that are read at a time. The objects of one commit all read the same list. */
const MAX_TREES = { most: 8, weight: 2 * ARTIFACT_LIMITS.files }
const trees = new WeakMap<Pick<Blobs, 'get'>, BoundedCache<Digest, ArtifactTree>>()

/** Reads an artifact's list of files. Returns undefined when the artifact does not exist. */
export async function readTree(digest: Digest, blobs: Pick<Blobs, 'get'>): Promise<ArtifactTree | undefined> {
  const known = trees.get(blobs) ?? new BoundedCache<Digest, ArtifactTree>(MAX_TREES)
  trees.set(blobs, known)
  const found = known.get(digest) ?? (await parseTree(digest, blobs))
  if (found) known.set(digest, found, found.files.length)
  return found
}

async function parseTree(digest: Digest, blobs: Pick<Blobs, 'get'>): Promise<ArtifactTree | undefined> {
  const bytes = await blobs.get(digest)
  if (!bytes) return undefined
  const value: unknown = JSON.parse(fromUtf8(bytes))
  if (!isObject(value) || value['format'] !== 'flotilla.dev/tree/v1' || !Array.isArray(value['files'])) {
    throw new Error(`blob ${digest} is no artifact`)
  }
  return value as unknown as ArtifactTree
}

/** Reads the files of an artifact at or below a path; paths stay relative to the artifact's root. */
export async function readFiles(
  tree: ArtifactTree,
  path: string,
  blobs: Pick<Blobs, 'get'>,
): Promise<Map<string, Uint8Array>> {
  const folder = path === '' || path === '.' ? '' : `${path.replace(/\/+$/, '')}/`
  const files = new Map<string, Uint8Array>()
  for (const file of tree.files) {
    if (file.path !== path && !file.path.startsWith(folder)) continue
    const bytes = isDigest(file.digest) ? await blobs.get(file.digest) : undefined
    if (!bytes) throw new Error(`blob ${file.digest} of file ${file.path} is missing`)
    files.set(file.path, bytes)
  }
  return files
}
