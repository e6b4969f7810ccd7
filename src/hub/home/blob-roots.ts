/** Every blob that an object of the hub names: what the collector must keep. */
import type { Blobs } from '../../blobs/blobs.ts'
import { digestsIn } from '../../blobs/reachable-digests.ts'
import type { Reader } from '../../client/client.ts'
import { compact } from '../../core/compact.ts'
import type { Digest } from '../../core/crypto/digest.ts'
import { listHeads } from '../../journal/head-lease.ts'
import { keptBlobs } from '../../journal/journal-reader.ts'
import { NATIVE_KINDS } from '../../kinds/native/native-kinds.ts'

const PAGE = 500

/** Reads all objects of all our kinds; a list that cannot be read to its end is an error, never a shorter answer. */
export async function blobRoots(client: Pick<Reader, 'list'>, signal: AbortSignal): Promise<Set<Digest>> {
  const roots = new Set<Digest>()
  for (const kind of NATIVE_KINDS) {
    let next: string | undefined
    do {
      const page = await client.list(kind, compact({ limit: PAGE, continue: next }), signal)
      for (const item of page.items) for (const digest of digestsIn(JSON.stringify(item))) roots.add(digest)
      next = page.continue
    } while (next !== undefined && next !== '')
  }
  return roots
}

/**
 * The blobs of the journal that its retention keeps. Records speak of documents and sets; that does not keep these.
 */
export async function journalBlobs(
  client: Pick<Reader, 'list'>,
  blobs: Pick<Blobs, 'get'>,
  { now, signal }: { readonly now: number; readonly signal: AbortSignal },
): Promise<Set<Digest>> {
  const kept = new Set<Digest>()
  for (const head of await listHeads(client, undefined, signal)) {
    for (const digest of await keptBlobs(head, blobs, now)) kept.add(digest)
  }
  return kept
}
