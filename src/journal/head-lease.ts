// Tested by src/journal/journal-writer.test.ts
/** The Lease that holds the head of a stream: read, and written by compare-and-swap. */
import type { Client, Reader } from '../client/client.ts'
import { compact } from '../core/compact.ts'
import { isApiError } from '../core/errors.ts'
import { formatMicroTime } from '../core/time/time.ts'
import { Lease } from '../kinds/builtin/coordination.ts'
import {
  formatJournalHead,
  JOURNAL_ANNOTATION,
  JOURNAL_LABEL,
  JOURNAL_NAMESPACE,
  journalLeaseName,
  parseJournalHead,
} from '../kinds/fields/journal-head.ts'
import type { JournalHead } from '../kinds/fields/journal-head.ts'
import { apiVersionOf } from '../kinds/meta.ts'

/** A stream: the records of a writer for a single purpose. */
export interface JournalStream {
  /** For example `evidence`. */
  readonly purpose: string
  /** Name of the writer, unique among the writers of the purpose. */
  readonly writer: string
}

/** Name of a stream. */
export function streamName({ purpose, writer }: JournalStream): string {
  return `${purpose}-${writer}`
}

/** A Lease and the head in it; undefined if the head cannot be read. */
export interface StoredHead {
  readonly lease: Lease
  readonly head: JournalHead | undefined
}

/** The head of a stream; undefined before its first start. */
export async function readHead(
  client: Pick<Reader, 'get'>,
  stream: JournalStream,
  signal?: AbortSignal,
): Promise<StoredHead | undefined> {
  const key = { namespace: JOURNAL_NAMESPACE, name: journalLeaseName(streamName(stream)) }
  try {
    return withHead(await client.get(Lease, key, signal))
  } catch (caught) {
    if (isApiError(caught, 'NotFound')) return undefined
    throw caught
  }
}

/** All heads of a purpose, or of all purposes; an unreadable head is an error, because its blobs would be unknown. */
export async function listHeads(
  client: Pick<Reader, 'list'>,
  purpose: string | undefined,
  signal?: AbortSignal,
): Promise<JournalHead[]> {
  const labelSelector = purpose === undefined ? JOURNAL_LABEL : `${JOURNAL_LABEL}=${purpose}`
  const heads: JournalHead[] = []
  let next: string | undefined
  do {
    const page = await client.list(
      Lease,
      compact({ namespace: JOURNAL_NAMESPACE, labelSelector, limit: 500, continue: next || undefined }),
      signal,
    )
    for (const item of page.items) {
      const { head } = withHead(item)
      if (!head) {
        const { name } = item.metadata
        throw new Error(
          `Lease ${JOURNAL_NAMESPACE}/${name}: annotation ${JOURNAL_ANNOTATION} is not the head of a journal; restore the annotation or delete the Lease`,
        )
      }
      heads.push(head)
    }
    next = page.continue
  } while (next !== undefined && next !== '')
  return heads
}

/** Writes a head over the Lease that was read; a Conflict if another writer was faster. */
export async function writeHead(
  client: Pick<Client, 'create' | 'update'>,
  stream: JournalStream,
  head: JournalHead,
  { before, now }: { readonly before: Lease | undefined; readonly now: number },
): Promise<Lease> {
  const annotations = { [JOURNAL_ANNOTATION]: formatJournalHead(head) }
  const labels = { [JOURNAL_LABEL]: stream.purpose }
  const spec = { holderIdentity: stream.writer, renewTime: formatMicroTime(now) }
  if (before) {
    const metadata = {
      ...before.metadata,
      labels: { ...before.metadata.labels, ...labels },
      annotations: { ...before.metadata.annotations, ...annotations },
    }
    return await client.update(Lease, { ...before, metadata, spec: { ...before.spec, ...spec } })
  }
  const metadata = { namespace: JOURNAL_NAMESPACE, name: journalLeaseName(streamName(stream)), labels, annotations }
  return await client.create(Lease, { apiVersion: apiVersionOf(Lease), kind: Lease.kind, metadata, spec })
}

function withHead(lease: Lease): StoredHead {
  return { lease, head: parseJournalHead(lease.metadata.annotations?.[JOURNAL_ANNOTATION]) }
}
