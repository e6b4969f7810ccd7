import type { Blobs } from '../blobs/blobs.ts'
import { storeTree } from './artifact.ts'
import type { ArtifactFile, StoredArtifact } from './artifact.ts'
import { SourceError } from './source-error.ts'
import { selects } from './tree-entries.ts'
import type { Selection } from './tree-entries.ts'

/** Stores the selected files from memory as an artifact. */
export async function storeFiles(
  files: ReadonlyMap<string, Uint8Array>,
  selection: Selection,
  blobs: Pick<Blobs, 'put'>,
): Promise<StoredArtifact> {
  const isWanted = selects(selection)
  const stored: ArtifactFile[] = []
  for (const [path, bytes] of files) {
    if (isWanted(path)) stored.push({ path, digest: await blobs.put(bytes), size: bytes.byteLength })
  }
  if (stored.length === 0) throw new SourceError('PathNotFound', 'spec.paths and spec.ignore leave no file.')
  return await storeTree(stored, blobs)
}
